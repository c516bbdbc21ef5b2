"""What a picture of somebody is like: small numbers from pixels alone, to compare pictures by."""

from __future__ import annotations

import cv2
import numpy as np

SIZE = 48
#: around a face box, in its own widths and heights: left, top, right, bottom
ROOM = (0.75, 0.95, 0.75, 0.42)
HEAD = (0.1, 0.34, 0.1, 0.0)  #: the head alone, where the layer of the people has a ground


def crop(panel, face, room=ROOM):
    """Head and shoulders of a face that a panel reports, from its own layer, RGBA, square."""
    left, top, right, bottom = face.box
    wide, high = right - left, bottom - top
    x0, y0 = round(left - room[0] * wide), round(top - room[1] * high)
    x1, y1 = round(right + room[2] * wide), round(bottom + room[3] * high)
    image = panel.layers[face.layer].image
    out = np.zeros((y1 - y0, x1 - x0, 4), np.uint8)
    part = image[max(0, y0) : y1, max(0, x0) : x1]
    out[max(0, -y0) :, max(0, -x0) :][: part.shape[0], : part.shape[1]] = part
    return cv2.resize(out, (SIZE, SIZE), interpolation=cv2.INTER_AREA)


def feature(picture):
    """A vector: colours of a coarse grid relative to the skin, and where the edges run."""
    alpha = picture[..., 3].astype(np.float32) / 255
    rgb = picture[..., :3].astype(np.float32) / 255
    lab = cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)
    cheeks = lab[round(0.56 * SIZE) : round(0.68 * SIZE), round(0.38 * SIZE) : round(0.62 * SIZE)]
    skin = np.median(cheeks.reshape(-1, 3), axis=0)
    spread = max(12.0, float(skin[0]))  # dim light takes contrast
    around = (lab - skin) / spread * alpha[..., None]
    cells = cv2.resize(around, (8, 8), interpolation=cv2.INTER_AREA)
    colours = np.concatenate([0.7 * cells[..., 0].ravel(), 1.6 * cells[..., 1:].ravel()])
    return np.concatenate([colours, 0.5 * _edges(lab[..., 0] / spread, alpha)])


def _edges(grey, alpha):
    """Histograms of the directions of edges, 6 x 6 cells, 6 ways."""
    grey = cv2.GaussianBlur(grey * alpha, (0, 0), 1.0)
    dx, dy = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    size, way = np.hypot(dx, dy), (np.arctan2(dy, dx) % np.pi) / np.pi * 6
    step = SIZE // 6
    found = np.zeros((6, 6, 6), np.float32)
    for k in range(6):
        near = np.clip(1 - np.abs((way - k + 3) % 6 - 3), 0, 1) * size
        found[..., k] = near.reshape(6, step, 6, step).sum((1, 3))
    norm = np.linalg.norm(found, axis=2, keepdims=True)
    return (found / np.maximum(norm, 0.6 * norm.mean())).ravel()


def distances(features):
    """Euclidean distances between all pictures."""
    stack = np.array(features)
    return np.linalg.norm(stack[:, None] - stack[None], axis=2)
