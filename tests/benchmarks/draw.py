"""How fast the animatic draws at 720x1280: panels, moving frames and their encoding.

Two processes, one thread each, as a worker on two cores; a shot is one panel and 3 s of it.
Columns: frames_per_s (all of them over the wall's time, panels included), panel_s (one panel, the
mean), frame_ms (one frame drawn and encoded, the mean).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import pathlib
import sys
import tempfile
import time

from mangen.engines import protocol
from mangen.engines.animatic import studio

WIDTH, HEIGHT, FPS, FRAMES = 720, 1280, 24, 72
SHOTS = (
    ("sea", "night", "clear", "establish", "pan_left"),
    ("street", "dusk", "rain", "medium", "push"),
    ("courtyard", "day", "snow", "close", "pull"),
    ("forest", "dawn", "fog", "medium", "pan_right"),
    ("room", "night", "clear", "over_shoulder", "push"),
    ("market", "night", "clear", "action", "shake"),
    ("office", "day", "clear", "split", "push"),
    ("mountain", "day", "wind", "reaction", "hold"),
)


def request(place, sky, weather, framing):
    people = [
        protocol.Figure(
            sheet=protocol.CharacterSheet(name=name, sex=sex, seed=len(name) + 3, era="ancient"),
            emotion=emotion,
            speaking=k == 0,
        )
        for k, (name, sex, emotion) in enumerate(
            (("林若雪", "female", "happy"), ("陈默", "male", "surprised"))
        )
    ]
    scene = protocol.SceneLabels(place=place, time=sky, weather=weather, framing=framing)
    return protocol.PanelRequest(
        kind="shot", width=WIDTH, height=HEIGHT, seed=11, scene=scene, figures=tuple(people),
        lettering=(protocol.Lettering(line=1, text="你来晚了！", by="林若雪"),),
    )  # fmt: skip


def made(product):
    """Run a request of the studio to its end."""
    while True:
        try:
            next(product)
        except StopIteration as end:
            return end.value


def shoot(job):
    shot, folder = job
    place, sky, weather, framing, motion = shot
    desk = studio.load()
    began = time.perf_counter()
    panel = made(desk.make(request(place, sky, weather, framing), pathlib.Path()))
    drawn = time.perf_counter()
    heard = protocol.Heard(
        line=1, start=6, frames=48, by="林若雪", levels=tuple((n % 6) / 6 for n in range(48))
    )
    clip = protocol.ClipRequest(
        panel=panel, motion=motion, frames=FRAMES, width=WIDTH, height=HEIGHT, fps=FPS, seed=11,
        weather=weather, lines=(heard,), framing=framing,
    )  # fmt: skip
    made(desk.make(clip, pathlib.Path(folder) / f"{place}.mp4"))
    return drawn - began, time.perf_counter() - drawn


def measure(shots=SHOTS):
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(2) as pool,
    ):
        jobs = [(shot, folder) for shot in shots]
        pool.map(abs, range(4))  # both processes are up
        began = time.perf_counter()
        times = pool.map(shoot, jobs, chunksize=1)
        wall = time.perf_counter() - began
    panels, clips = zip(*times, strict=True)
    return {
        "frames_per_s": round(len(shots) * FRAMES / wall, 1),
        "panel_s": round(sum(panels) / len(panels), 2),
        "frame_ms": round(1000 * sum(clips) / (len(clips) * FRAMES), 1),
    }


def main(arguments):
    parser = argparse.ArgumentParser(prog="bench draw", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one object as the last line")
    asked = parser.parse_args(arguments)
    figures = measure()
    for name, value in figures.items():
        print(f"{name:14} {value}")
    if asked.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
