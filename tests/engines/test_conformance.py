"""What every engine of pictures must do, whoever wrote it: add a new one to ENGINES."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pathlib
import subprocess
import sys

import av
import numpy as np
import pytest

from mangen import errors
from mangen.engines import protocol

ENGINES = [
    "mangen.engines.animatic.engine:Animatic",
    "mangen.engines.diffusion.engine:Diffusion",
]
#: engines of models, which draw on tiny ones here: no cards, and what they work in is a model's
MODELS = {"diffusion"}
#: OpenCV, Pillow, PyAV and torch are for the child alone, and only once a model is loaded
HEAVY = ("cv2", "PIL", "av", "torch")

SHEET = protocol.CharacterSheet(name="闰土", sex="male", age="child", words=("毡帽", "银圈"))
ANCHOR = protocol.AnchorRequest(sheet=SHEET, width=256, height=384)


#: torch 2.13 beside numpy 2.4: theirs to mend
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"
)


def load(path, scratch, home):
    module, name = path.split(":")
    return getattr(importlib.import_module(module), name)(scratch, home)


@pytest.fixture(scope="module", params=ENGINES)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def home(path, tmp_path_factory):
    """The data folder: engines of models find some of the smallest there."""
    root = tmp_path_factory.mktemp("home")
    if path.endswith(":Diffusion"):
        torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
        torch.set_num_threads(1)  # sums come out alike in every process, and none waits for others
        _register(root)
    return root


def _register(root):
    from mangen.engines.diffusion import enrolment, registry, tiny  # noqa: PLC0415 - with torch

    limits = registry.Limits(pixels=64 * 112, frames=4)
    for name in ("sdxl", "i2vgen_xl"):
        folder = tiny.make(name, root / "models" / name)
        model = enrolment.enrol(name, folder, dtype="float32", steps=2, limits=limits)
        registry.Registry(root).add(model)


@pytest.fixture(scope="module")
def engine(path, scratch, home):
    return load(path, scratch, home)


@pytest.fixture(scope="module")
def features(engine, make):
    return make(engine, ANCHOR).features


def panel_request(features, *, width=180, height=320, kind="shot", seed=7):
    return protocol.PanelRequest(
        kind=kind,
        width=width,
        height=height,
        seed=seed,
        scene=protocol.SceneLabels(place="river", time="dusk"),
        figures=(protocol.Figure(sheet=SHEET, features=features, emotion="happy"),),
        title="故乡",
    )


@pytest.fixture(scope="module")
def panel(engine, make, features):
    return make(engine, panel_request(features))


def clip_request(panel, *, frames=30, width=180, height=320, motion="push", seed=7):
    return protocol.ClipRequest(
        panel=panel,
        motion=motion,
        frames=frames,
        width=width,
        height=height,
        fps=24,
        seed=seed,
        weather="rain",
    )


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def decoded(clip):
    with av.open(str(clip.path)) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def test_importing_and_asking_an_engine_loads_nothing_heavy(path, home, tmp_path):
    code = f"""
import importlib, pathlib, sys
from mangen.engines import protocol
module, name = {path!r}.split(":")
unused = pathlib.Path({str(tmp_path / "unused")!r})
engine = getattr(importlib.import_module(module), name)(unused, pathlib.Path({str(home)!r}))
request = protocol.AnchorRequest(sheet=protocol.CharacterSheet(name="x"))
engine.bucket(request), engine.peak(request, 1), engine.models()
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []


def test_the_models_name_their_roles_and_weights(engine):
    specs = engine.models()
    assert {"anchor", "illustrate", "animate"} <= set(specs)
    assert all(spec.weight_bytes > 0 and spec.key for spec in specs.values())


def test_an_anchor_is_a_picture_of_the_asked_size_and_json_features(engine, make):
    product = make(engine, ANCHOR)
    assert product.reference.shape == (384, 256, 3)
    assert product.reference.dtype == np.uint8
    assert product.reference.std() > 10
    assert json.loads(json.dumps(product.features)) == product.features


@pytest.mark.parametrize("kind", ["shot", "title", "end"])
@pytest.mark.parametrize("size", [(180, 320), (360, 640), (320, 180)])
def test_a_panel_covers_the_frame_and_its_layers_the_panel(engine, make, features, kind, size):
    width, height = size
    request = panel_request(features, kind=kind, width=width, height=height)
    if kind != "shot" and engine.name in MODELS:
        with pytest.raises(errors.EngineError, match=f"card.*{kind}.*animatic"):
            make(engine, request)
        return
    product = make(engine, request)
    assert product.image.shape[0] >= height
    assert product.image.shape[1] >= width
    assert product.image.shape[2] == 3
    assert product.image.dtype == np.uint8
    for layer in product.layers:
        assert layer.image.shape == (*product.image.shape[:2], 4)
        assert 0 <= layer.depth <= 1
    depths = [layer.depth for layer in product.layers]
    assert depths == sorted(depths)


@pytest.mark.parametrize("frames", [1, 2, 24, 25, 61])
def test_a_clip_has_exactly_the_frames_asked_for(engine, make, panel, frames):
    clip = make(engine, clip_request(panel, frames=frames))
    assert clip.frames == frames
    with av.open(str(clip.path)) as file:
        (stream,) = file.streams
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.average_rate) == (180, 320, 24)
        times = [float(frame.pts * stream.time_base) for frame in file.decode(video=0)]
    assert times == pytest.approx([n / 24 for n in range(frames)], abs=1e-6)


def test_a_panel_without_layers_is_filmed_too(engine, make, panel):
    clip = make(engine, clip_request(protocol.Panel(image=panel.image), frames=3))
    assert len(decoded(clip)) == 3


@pytest.mark.parametrize("size", [(100, 90), (333, 777), (1600, 900), (2000, 3000)])
def test_a_panel_of_any_size_fills_the_frame(engine, make, size):
    image = np.full((*size, 3), (200, 120, 60), np.uint8)
    clip = make(engine, clip_request(protocol.Panel(image=image), frames=2))
    (first, last) = decoded(clip)
    for frame in (first, last):  # no black bar beside the picture
        inner = frame[60:260, 20:160].astype(float)
        if engine.name not in MODELS:  # what those draw is their own
            assert inner.min() > 25
        assert inner.mean(axis=(0, 2)).min() > 25
        assert inner.mean(axis=(1, 2)).min() > 25


def test_the_same_request_gives_the_same_bytes_in_another_process(
    path, home, engine, make, tmp_path
):
    request = panel_request({})
    here = make(engine, request)
    film = make(engine, clip_request(here, frames=26)).path.read_bytes()
    anchor = make(engine, ANCHOR)
    code = f"""
import contextlib, hashlib, importlib, json, pathlib, sys
sys.path[:0] = [{str(pathlib.Path(__file__).parent)!r}]
import test_conformance as suite
class Runtime:
    owner, device, kind = "test/0/1", "cpu", "cpu"
    class cache:
        def get(kind, signature): pass
        def put(kind, signature, value, *, seconds, by=None): pass
    @contextlib.contextmanager
    def use(self, spec): yield spec.load()
    def progress(self, key, done, of): pass
engine = suite.load({path!r}, pathlib.Path({str(tmp_path)!r}), pathlib.Path({str(home)!r}))
def make(request):
    run = engine.open(engine.bucket(request), Runtime())
    run.add({{"one": request}})
    while not (ended := run.step()): pass
    return ended["one"]
panel = make(suite.panel_request({{}}))
film = make(suite.clip_request(panel, frames=26)).path.read_bytes()
anchor = make(suite.ANCHOR)
print(json.dumps([suite.digest(panel.image), [suite.digest(x.image) for x in panel.layers],
    hashlib.sha256(film).hexdigest(), suite.digest(anchor.reference), dict(anchor.features)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert json.loads(done.stdout) == [
        digest(here.image),
        [digest(layer.image) for layer in here.layers],
        hashlib.sha256(film).hexdigest(),
        digest(anchor.reference),
        dict(anchor.features),
    ]


def test_another_seed_gives_another_panel(engine, make):
    one, other = (make(engine, panel_request({}, seed=seed)) for seed in (1, 2))
    assert digest(one.image) != digest(other.image)


def test_requests_of_one_bucket_may_run_together_and_each_ends_by_itself(engine, runtime, panel):
    requests = {f"r{n}": clip_request(panel, frames=n) for n in (20, 50, 30)}
    (bucket,) = {engine.bucket(request) for request in requests.values()}
    run = engine.open(bucket, runtime)
    run.add(requests)
    ended = {}
    while len(ended) < 3:
        for key, product in run.step().items():
            assert key not in ended
            ended[key] = product
    run.close()
    assert {key: product.frames for key, product in ended.items()} == {
        "r20": 20,
        "r30": 30,
        "r50": 50,
    }


def test_a_bad_member_fails_alone(engine, runtime, panel):
    bad = clip_request(panel, motion="somersault")
    run = engine.open(engine.bucket(bad), runtime)
    run.add({"bad": bad, "good": clip_request(panel, frames=2)})
    ended = {}
    while len(ended) < 2:
        ended |= run.step()
    run.close()
    assert isinstance(ended["bad"], errors.EngineError)
    assert ended["bad"].permanent
    assert "motion" in str(ended["bad"])
    assert ended["good"].frames == 2


def test_a_dropped_clip_leaves_no_file_and_its_neighbour_goes_on(
    path, home, runtime, panel, tmp_path
):
    engine = load(path, tmp_path, home)
    long = clip_request(panel, frames=200)
    run = engine.open(engine.bucket(long), runtime)
    run.add({"dropped": long, "kept": clip_request(panel, frames=40)})
    assert run.step() == {}
    run.drop("dropped")
    run.drop("never there")
    ended = {}
    while not ended:
        ended = run.step()
    run.close()
    assert set(ended) == {"kept"}
    assert [str(file) for file in tmp_path.iterdir()] == [str(ended["kept"].path)]


def test_closing_a_run_frees_the_model_and_leaves_nothing_half_made(
    path, home, runtime, panel, tmp_path
):
    engine = load(path, tmp_path, home)
    request = clip_request(panel, frames=200)
    before = runtime.pinned
    run = engine.open(engine.bucket(request), runtime)
    run.add({"one": request})
    run.step()
    assert runtime.pinned == before + 1
    run.close()
    assert runtime.pinned == before
    assert list(tmp_path.iterdir()) == []


def test_a_long_clip_tells_its_progress_between_steps(engine, make, runtime, panel):
    runtime.told.clear()
    make(engine, clip_request(panel, frames=100)).path.unlink()
    done = [done for _, done, _ in runtime.told]
    assert len(done) >= 3
    assert done == sorted(done)
    (of,) = {of for _, _, of in runtime.told}
    assert of == 100 or (engine.name in MODELS and of == 100 + 2)  # and the model's steps


def test_the_peak_grows_with_members_and_pixels(engine, panel):
    for small, large in (
        (ANCHOR, protocol.AnchorRequest(sheet=SHEET, width=512, height=768)),
        (panel_request({}), panel_request({}, width=720, height=1280)),
        (clip_request(panel), clip_request(panel, width=720, height=1280)),
    ):
        peaks = [engine.peak(small, members) for members in (1, 2, 3)]
        assert 0 < peaks[0] <= peaks[1] <= peaks[2]
        if engine.name in MODELS:  # they decode one by one, and at the size that a model is for
            assert engine.peak(small, 32) > peaks[0]
            assert engine.peak(large, 1) >= peaks[0]
        else:
            assert peaks[0] < peaks[1] < peaks[2]
            assert engine.peak(large, 1) > peaks[0]


def test_buckets_tell_stages_and_sizes_apart(engine, panel):
    requests = [
        ANCHOR,
        panel_request({}),
        panel_request({}, width=640, height=360),
        clip_request(panel),
    ]
    assert len({engine.bucket(request) for request in requests}) == 4


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"width": 181}, "width"),
        ({"height": 0}, "height"),
        ({"frames": 0}, "frames"),
        ({"motion": ""}, "motion"),
    ],
)
def test_a_request_that_cannot_be_made_names_its_field(engine, make, panel, change, field):
    with pytest.raises(errors.EngineError, match=field) as caught:
        make(engine, clip_request(panel, **change))
    assert caught.value.permanent
