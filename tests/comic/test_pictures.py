import types

import numpy as np

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
