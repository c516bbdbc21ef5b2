"""Ad-hoc clips: bad pictures, and one through the ledger and a stage, in a child's place."""

from __future__ import annotations

import dataclasses
import io
import os
import struct
import zlib

import av
import pytest
import sqlalchemy as sa
from PIL import Image

from mangen import errors, settings, storage
from mangen.comic import clips, makers
from mangen.comic.stages import door, kit
from mangen.ledger import ledger, migrate
from mangen.pooling import testing, work
from tests.comic import drawers


def png(mode="RGB", size=(160, 120), color=None, file_format="PNG"):
    data = io.BytesIO()
    Image.new(mode, size, color).save(data, file_format)
    return data.getvalue()


def huge():
    """A PNG that says it has ten billion pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + chunk


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no picture at all", "give a whole PNG, JPEG or WebP file"),
        (b"", "give a whole PNG"),
        (png(color="red", size=(300, 300))[:-200], "can't be read as a picture"),
        (png(size=(1, 1)), "is 1 x 1: a picture has at least 64"),
        (png(size=(4000, 8)), "at least 64"),
        (huge(), "make|million|can't be read"),
        (png(file_format="BMP"), "give a whole PNG"),
        (None, "there is no file"),
    ],
)
def test_a_bad_picture_is_refused_with_its_reason(tmp_path, data, said):
    path = tmp_path / "a.png"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(errors.UsageError, match=said) as caught:
        clips.read(path, clips.Wish())
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "file_format", "color", "seen"),
    [
        ("CMYK", "JPEG", (0, 255, 255, 0), (255, 0, 0)),
        ("RGBA", "PNG", (255, 0, 0, 0), (255, 255, 255)),
        ("LA", "PNG", (0, 255), (0, 0, 0)),
        ("P", "PNG", 0, (0, 0, 0)),
        ("I;16", "PNG", 0, (0, 0, 0)),
        ("1", "PNG", 1, (255, 255, 255)),
    ],
)
def test_pictures_of_every_mode_become_plain(tmp_path, mode, file_format, color, seen):
    path = tmp_path / "a"
    path.write_bytes(png(mode, color=color, file_format=file_format))
    read = clips.read(path, clips.Wish())
    with Image.open(io.BytesIO(read.data)) as found:
        assert (found.mode, found.size) == ("RGB", (200, 150))
        assert max(abs(a - b) for a, b in zip(found.getpixel((9, 9)), seen, strict=True)) < 8
    assert (read.width, read.height) == (160, 120)


def test_a_frame_has_the_pictures_shape_or_the_wished_one(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(size=(641, 481)))
    found = clips.read(path, clips.Wish())
    assert (found.width, found.height) == (640, 480)
    path.write_bytes(png(size=(3000, 1000)))
    found = clips.read(path, clips.Wish())
    assert (found.width, found.height) == (1280, 426)
    found = clips.read(path, clips.Wish(width=90, height=160))
    with Image.open(io.BytesIO(found.data)) as room:
        assert room.size == (112, 200)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"motion": "spin"}, "choose push, pull"),
        ({"seconds": 0.0}, "can't be made"),
        ({"seconds": 61.0}, "up to 60"),
        ({"seconds": float("nan")}, "can't be made"),
        ({"width": 100}, "together"),
        ({"width": 101, "height": 100}, "even"),
        ({"width": 32, "height": 100}, "64 to"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_refused(wish, said):
    with pytest.raises(errors.UsageError, match=said):
        clips.Wish(**wish)


class Place:
    """A ledger, a store, a child's work; asks and makes clips."""

    def __init__(self, url, folder):
        migrate.upgrade(url)
        self.book = ledger.Ledger(url)
        self.chosen = settings.Settings(home=folder, voice_engine="mangen.engines.voice.tone:Tone")
        self.store = storage.Store(self.chosen.artifact_root)
        self.tools = kit.Kit(self.chosen, self.book)
        self.picture = folder / "picture.png"
        self.picture.write_bytes(png(color="teal"))

    def ask(self, *, expires_s=60.0, engine="animatic", **wish):
        asked = clips.Wish(**{"seconds": 0.5, **wish})
        return clips.ask(
            self.book, self.store, clips.read(self.picture, asked), asked, chosen=self.chosen,
            engine=self.tools.makers.named(engine), expires_s=expires_s,
            scratch=self.chosen.root / "scratch",
        )  # fmt: skip

    def find(self, job):
        with self.book.transaction() as conn:
            return clips.clip(conn, job)

    def make(self, number):
        with self.book.transaction() as conn:
            self.book.ready_jobs(conn, {number: 0.0})
        [job] = self.book.jobs([number])
        session = door.ComicWork(self.tools, ("cpu",)).open(job.bucket, testing.Here())
        data = {"job": number, "attempt": 0}
        ended = dict(session.add([
            work.Item(key="a", name="mangen.animate", bucket=job.bucket, data=data)
        ]))  # fmt: skip
        while not ended:
            ended = dict(session.step())
        session.close()
        return ended["a"]

    def expire(self):
        with self.book.transaction() as conn:
            conn.execute(sa.text("update jobs set expires_at = now() - interval '1 s'"))
            return self.book.expire_jobs(conn)


@pytest.fixture
def place(empty_database, tmp_path):
    one = Place(empty_database, tmp_path)
    yield one
    one.book.close()


def test_a_clip_is_made_once_and_found_again(place):
    job = place.ask()
    assert place.ask() == job
    assert place.ask(motion="hold") != job
    assert (place.find(job).state, place.find(job).project) == ("blocked", 1)
    assert place.make(job).status is work.Status.DONE
    done = place.find(job)
    with av.open(place.store.locate(done.path)) as file:
        stream = file.streams.video[0]
        assert (stream.width, stream.height) == (160, 120)
        assert sum(1 for _ in file.decode(stream)) == 12
    assert place.ask() == job
    assert place.find(job) == dataclasses.replace(done, expires_at=place.find(job).expires_at)
    place.store.remove(done.path)
    again = place.ask()
    assert (again != job, place.find(again).state) == (True, "blocked")
    assert place.make(again).status is work.Status.DONE


def test_a_clip_by_a_video_model_is_told_its_prompt(place, tmp_path):
    with pytest.raises(errors.UsageError, match=r"no model for clips: .*--role video"):
        place.ask(engine="diffusion")
    with pytest.raises(errors.UsageError, match="a camera move reads no prompt"):
        place.ask(prompt="she turns")
    painter = drawers.Tints(tmp_path)
    place.tools.makers._made[makers.ENGINES["diffusion"]] = painter
    job = place.ask(engine="diffusion", prompt="she turns")
    assert place.ask(engine="diffusion", prompt="she turns") == job
    assert place.ask(engine="diffusion", prompt="he turns") != job
    [row] = place.book.jobs([job])
    assert (row.queue, row.cap, len(row.peaks)) == ("gpu.mid", 2, 2)
    assert place.make(job).status is work.Status.DONE
    [request] = painter.seen
    assert (request.prompt, request.frames, request.quality) == ("she turns", 12, "final")
    assert place.find(job).path


def test_a_request_that_expired_says_so_and_may_be_made_again(place):
    job = place.ask()
    assert place.expire() == [job]
    assert place.find(job).state == "expired"
    assert place.ask() == job
    assert place.find(job).state == "blocked"
    place.store.locate(place.book.jobs([job])[0].params["picture"]).unlink()
    for _ in range(3):
        outcome = place.make(job)
        with place.book.transaction() as conn:
            conn.execute(sa.text("update jobs set not_before = null"))
    assert "ask for it again" in outcome.error
    assert place.find(job).state == "failed"
    assert place.ask() == job
    assert (place.find(job).state, place.find(job).expires_at is None) == ("blocked", False)


def test_pictures_go_when_no_request_needs_them(place):
    job, other = place.ask(), place.ask(width=90, height=160)
    pictures = [place.store.locate(one.params["picture"]) for one in place.book.jobs([job, other])]
    place.make(job)
    assert clips.sweep(place.book, place.store) == 0, "just stored"
    for picture in pictures:
        os.utime(picture, (0, 0))
    assert clips.sweep(place.book, place.store) == 1
    assert [picture.exists() for picture in pictures] == [False, True]


def test_a_job_that_is_no_clip_is_refused(place):
    with pytest.raises(errors.UsageError, match="job 7 is no clip"):
        place.find(7)
