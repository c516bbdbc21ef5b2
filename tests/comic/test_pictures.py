import io
import types

import numpy as np
import pytest
from PIL import Image

from mangen import errors
from mangen.comic.stages import pictures
from mangen.engines import protocol
from mangen.ledger import jobs

JOB = types.SimpleNamespace(id=7, attempt=1)


def patch(seed, height, width, x=3, y=-5):
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)
    image[0] = (9, 8, 7, 0)  # what is transparent keeps its colour
    return protocol.Patch(image=image, x=x, y=y)


def read_back(panel, folder):
    files = pictures.panel_files(panel, folder, JOB, {})
    artifacts = [
        jobs.Artifact(kind=one.kind, path=str(one.path), sha256="", meta=one.meta) for one in files
    ]
    made = types.SimpleNamespace(
        artifacts=artifacts,
        find=lambda kind: next((one for one in artifacts if one.kind == kind), None),
    )
    tools = types.SimpleNamespace(file_of=lambda one: folder / one.path)
    return pictures.read_panel(made, tools), made


def alike(one, other):
    if one is None or other is None:
        return one is other
    return (one.x, one.y) == (other.x, other.y) and np.array_equal(one.image, other.image)


def test_faces_and_letters_come_back_whole_and_exact(tmp_path):
    faces = (
        protocol.Face(
            name="闰土",
            layer=2,
            box=(1, 2, 30, 40),
            mouth=(15, 30),
            mouths=tuple(patch(n, 6 + n, 11) for n in range(4)),
            blink=patch(9, 5, 21),
        ),
        protocol.Face(name="", layer=0, box=(0, 0, 1, 1), mouth=(0, 0)),
    )
    letters = (protocol.Letter(line=2, patch=patch(30, 60, 24, x=100, y=0)),)
    image = np.zeros((40, 30, 3), np.uint8)
    panel = protocol.Panel(image=image, faces=faces, letters=letters)
    back, made = read_back(panel, tmp_path)
    assert [(f.name, f.layer, f.box, f.mouth) for f in back.faces] == [
        (f.name, f.layer, f.box, f.mouth) for f in faces
    ]
    for one, other in zip(faces, back.faces, strict=True):
        assert alike(one.blink, other.blink)
        assert len(one.mouths) == len(other.mouths)
        assert all(alike(a, b) for a, b in zip(one.mouths, other.mouths, strict=True))
    assert [one.line for one in back.letters] == [2]
    assert alike(back.letters[0].patch, letters[0].patch)
    assert pictures.lettered(made) == {2}


def test_a_panel_without_faces_and_letters_has_no_file_for_them(tmp_path):
    panel = protocol.Panel(image=np.zeros((4, 4, 3), np.uint8))
    back, made = read_back(panel, tmp_path)
    assert (back.faces, back.letters) == ((), ())
    assert [one.kind for one in made.artifacts] == ["panel"]
    assert pictures.lettered(made) == frozenset()
    assert pictures.lettered(None) == frozenset()


def test_a_face_without_patches_is_kept(tmp_path):
    face = protocol.Face(name="她", layer=1, box=(0, 0, 2, 2), mouth=(1, 1))
    panel = protocol.Panel(image=np.zeros((4, 4, 3), np.uint8), faces=(face,))
    assert read_back(panel, tmp_path)[0].faces == (face,)


SEEN = np.random.default_rng(8).integers(0, 256, (33, 41, 3), dtype=np.uint8)
DEEP = np.random.default_rng(9).integers(0, 65536, (33, 41), dtype=np.uint16)


def encoded(image, kind="PNG", **options):
    file = io.BytesIO()
    Image.fromarray(image).save(file, kind, **options)
    return file.getvalue()


def read(tmp_path, data):
    path = tmp_path / "picture"
    path.write_bytes(data)
    return pictures.read(path)


def converted(mode):
    file = io.BytesIO()
    Image.fromarray(SEEN).convert(mode).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("kind", "options"), [("PNG", {}), ("BMP", {}), ("WEBP", {"lossless": True})]
)
def test_a_plain_picture_is_read_to_the_byte(tmp_path, kind, options):
    assert np.array_equal(read(tmp_path, encoded(SEEN, kind, **options)), SEEN)


@pytest.mark.parametrize("mode", ["L", "1", "LA", "P", "RGBA"])
def test_greys_palettes_and_alpha_are_read_as_colours(tmp_path, mode):
    found = read(tmp_path, converted(mode))
    assert found.dtype == np.uint8
    wanted = np.asarray(Image.open(io.BytesIO(converted(mode))).convert("RGBA"))
    assert np.array_equal(found[..., :3], wanted[..., :3])
    assert found.shape[2] == (4 if "A" in mode else 3)


def test_sixteen_bits_are_read_as_the_nearest_eight(tmp_path):
    found = read(tmp_path, encoded(DEEP))
    wanted = np.rint(DEEP.astype(float) / 257).astype(np.uint8)
    assert np.array_equal(found, np.repeat(wanted[..., None], 3, axis=2))


def test_cmyk_is_read_as_the_colours_it_prints(tmp_path):
    plain = np.zeros((40, 40, 3), np.uint8)
    plain[:20], plain[20:] = (200, 30, 60), (10, 120, 220)
    file = io.BytesIO()
    Image.fromarray(plain).convert("CMYK").save(file, "JPEG", quality=98)
    found = read(tmp_path, file.getvalue()).astype(int)
    assert found.shape == plain.shape
    assert abs(found[5, 5] - plain[5, 5]).max() <= 2
    assert abs(found[30, 30] - plain[30, 30]).max() <= 2


def test_one_pixel_is_a_picture(tmp_path):
    assert read(tmp_path, encoded(SEEN[:1, :1])).shape == (1, 1, 3)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "TIFF"])
def test_a_picture_that_moves_is_refused_by_name(tmp_path, kind):
    first, second = Image.fromarray(SEEN), Image.fromarray(SEEN[::-1].copy())
    file = io.BytesIO()
    first.save(file, kind, save_all=True, append_images=[second])
    with pytest.raises(errors.StorageError, match="picture in the artifact store moves"):
        read(tmp_path, file.getvalue())


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_picture_is_refused_by_name(tmp_path, kind, share):
    data = encoded(SEEN, kind)
    with pytest.raises(errors.StorageError, match="picture in the artifact store is no whole"):
        read(tmp_path, data[: int(len(data) * share)])


def test_numbers_that_are_no_bytes_are_refused_by_name(tmp_path):
    with pytest.raises(errors.StorageError, match="1 channels of float32"):
        read(tmp_path, encoded(DEEP.astype(np.float32), "TIFF"))


def test_what_is_no_picture_is_refused(tmp_path):
    with pytest.raises(errors.StorageError, match="no whole picture"):
        read(tmp_path, b"%PDF-1.7 and more")


def test_a_picture_that_is_gone_is_named_as_a_lost_file(tmp_path):
    with pytest.raises(errors.StorageError, match=r"gone\.png has no file in the artifact store"):
        pictures.read(tmp_path / "gone.png")
