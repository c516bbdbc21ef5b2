"""The kept contact sheet: run this file after looking at a new one, to keep that instead."""

from __future__ import annotations

import pathlib

import cv2
import numpy as np

from mangen.engines.animatic import contact

FILE = pathlib.Path(__file__).with_name("contact.jpg")
SIZE = (36, 64)


def small(picture):
    """A cell as it is compared: small, soft, in Lab, so that only looks count."""
    shrunk = cv2.resize(picture, SIZE, interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(shrunk.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    return cv2.GaussianBlur(lab, (0, 0), 1.2)


def strip(cells):
    """Cells side by side, each `SIZE`, RGB."""
    shrunk = [cv2.resize(cell.draw(), SIZE, interpolation=cv2.INTER_AREA) for cell in cells]
    return np.concatenate(shrunk, axis=1)


def kept():
    """The kept cells, in the order of `contact.sections`."""
    data = np.fromfile(FILE, np.uint8)
    picture = cv2.cvtColor(cv2.imdecode(data, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    width, height = SIZE
    return [
        picture[y : y + height, x : x + width]
        for y in range(0, picture.shape[0], height)
        for x in range(0, picture.shape[1], width)
    ]


def cells():
    return [cell for part in contact.sections().values() for cell in part]


def main():
    every, columns = cells(), 16
    blank = contact.Cell("", lambda: np.zeros((*SIZE[::-1], 3), np.uint8))
    every += [blank] * (-len(every) % columns)
    rows = [strip(every[n : n + columns]) for n in range(0, len(every), columns)]
    picture = cv2.cvtColor(np.concatenate(rows), cv2.COLOR_RGB2BGR)
    ok, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 88])
    assert ok
    FILE.write_bytes(data.tobytes())
    print(f"{FILE}: {len(data)} bytes")


if __name__ == "__main__":
    main()
