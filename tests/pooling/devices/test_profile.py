from __future__ import annotations

import json

import pytest

from mangen.pooling import errors
from mangen.pooling.devices import profile

GIB = 2**30

#: GiB over the weights that full-size models were measured to need, with fake tensors
MEASURED = {
    "sdxl.unet/512x768/1": 0.116,
    "sdxl.unet/512x768/2": 0.232,
    "sdxl.unet/1024x1024/1": 0.308,
    "sdxl.unet/1024x1024/2": 0.617,
    "sdxl.vae/512x768/1": 1.125,
    "sdxl.vae/512x768/2": 2.25,
    "sdxl.vae/1024x1024/1": 3.00,
    "sdxl.vae/1024x1024/2": 6.00,
    "i2vgenxl.unet/512x512x16/1": 2.59,
    "i2vgenxl.unet/512x512x16/2": 5.18,
    "i2vgenxl.unet/512x768x16/1": 3.88,
    "i2vgenxl.unet/512x768x16/2": 7.76,
    "i2vgenxl.unet/704x1280x16/1": 8.88,
    "i2vgenxl.vae/512x512/1": 0.375,
}


@pytest.fixture
def card():
    return profile.find("card_24g")


@pytest.mark.parametrize(("name", "gib"), MEASURED.items())
def test_a_recorded_stream_peaks_where_the_stage_was_measured_to(name, gib):
    assert profile.highest(profile.recorded(name)) / GIB == pytest.approx(gib, rel=0.03)


def test_every_recorded_pass_frees_each_allocation_once():
    for name in profile.names():
        events = profile.recorded(name)
        if name.startswith("weights/"):
            assert min(events) > 0
            continue
        born, freed = 0, []
        for event in events:
            if event > 0:
                born += 1
            else:
                freed.append(born + event)
        assert sorted(freed) == list(range(born)), name


def test_the_weights_are_those_of_the_full_size_models(card):
    assert card.models["sdxl"].nbytes / GIB == pytest.approx(6.46, abs=0.01)
    assert card.models["i2vgenxl"].nbytes / GIB == pytest.approx(4.64, abs=0.01)


def test_the_recordings_are_small_enough_to_ship():
    assert profile._HERE.joinpath("streams.bin").stat().st_size < 500_000


def test_the_bundled_card_takes_the_seconds_that_were_agreed(card):
    assert card.total == 22 * GIB
    assert card.context == 450 * 2**20
    assert {model.load_s for model in card.models.values()} == {45.0}
    assert all(0 < model.fetch_s < model.load_s for model in card.models.values())
    clip = [
        card.stage(f"i2vgenxl.{name}").seconds(1)
        for name in ("encode/512x512", "denoise/512x512x16", "decode/512x512x16")
    ]
    assert sum(clip) == pytest.approx(86_400 / 680, abs=0.1)
    assert card.stage("sdxl.denoise/512x768").seconds(1) == pytest.approx(136 / 40, abs=0.001)
    assert card.stage("sdxl.denoise/1024x1024").seconds(1) == pytest.approx(358 / 40, abs=0.001)


def test_four_large_pictures_together_gain_nine_hundredths(card):
    stage = card.stage("sdxl.denoise/1024x1024")
    assert 4 * stage.seconds(1) / stage.seconds(4) == pytest.approx(1.09)


def test_every_number_states_its_source(card):
    named = [*card.models.items(), *card.stages.items()]
    assert card.source
    assert not [name for name, one in named if not one.source]


def test_theory_agrees_with_what_is_recorded(card):
    for name, stage in card.stages.items():
        for members in stage.streams:
            highest = profile.highest(stage.stream(members))
            assert highest == pytest.approx(stage.peaks(members), rel=0.03), (name, members)


def test_a_count_that_was_not_recorded_is_taken_in_proportion(card):
    stage = card.stage("i2vgenxl.denoise/512x512x16")
    two, three, six = (profile.highest(stage.stream(members)) for members in (2, 3, 6))
    assert three == pytest.approx(two * 1.5, rel=0.001)
    assert six == pytest.approx(two * 3, rel=0.001)


def test_members_that_go_one_by_one_take_no_more_bytes_but_more_seconds(card):
    stage = card.stage("i2vgenxl.decode/512x512x16")
    assert stage.stream(3) == stage.stream(1)
    assert stage.peaks(3) == stage.peaks(1)
    assert stage.seconds(3) == pytest.approx(3 * stage.seconds(1))


def test_gain_is_interpolated_and_flat_beyond_what_was_measured():
    stage = profile.Stage(step_s=1.0, peak=1, gain={2: 1.5, 4: 2.0})
    assert stage.seconds(1) == 1.0
    assert stage.seconds(2) == pytest.approx(2 / 1.5)
    assert stage.seconds(3) == pytest.approx(3 / 1.75)
    assert stage.seconds(8) == pytest.approx(8 / 2.0)
    assert stage.seconds(2, 10) == pytest.approx(10 * 2 / 1.5)


def test_a_stage_without_a_stream_takes_one_block_of_its_actual_bytes():
    assert profile.Stage(step_s=1.0, peak=100).stream(3) == [300, -1]
    assert profile.Stage(step_s=1.0, peak=100, actual=130).stream(2) == [260, -1]


def test_streams_of_one_stage_run_one_after_another():
    names = ("sdxl.text_encoder/1", "sdxl.text_encoder_2/1")
    stage = profile.Stage(step_s=1.0, peak=1, streams={1: names})
    highest = max(profile.highest(profile.recorded(name)) for name in names)
    assert profile.highest(stage.stream(1)) == highest


def test_a_registered_profile_is_found_before_the_bundled_one(tmp_path):
    data = {
        "total": 1000,
        "source": "a test",
        "models": {"tiny": {"weights": [1, 2], "load_s": 1.0}, "one": {"weights": 7, "load_s": 2}},
        "stages": {"draw": {"step_s": 0.5, "peak": 10, "gain": {"2": 1.5}}},
    }
    made = profile.register(str(tmp_path), "card_24g", data)
    assert made == profile.find("card_24g", str(tmp_path))
    assert made.total == 1000
    assert made.models["tiny"].nbytes == 3
    assert made.models["one"].weights == (7,)
    assert made.stages["draw"].seconds(2) == pytest.approx(1 / 1.5)
    assert profile.find("card_24g").total == 22 * GIB
    assert [path.name for path in (tmp_path / "profiles").iterdir()] == ["card_24g.json"]


def test_what_is_wrong_with_a_profile_is_a_configuration_error(tmp_path):
    folder = str(tmp_path)
    with pytest.raises(errors.ConfigError, match="card_24g"):
        profile.find("nowhere", folder)
    with pytest.raises(errors.ConfigError, match="letters"):
        profile.register(folder, "../out", {"total": 1, "source": ""})
    for data in (
        {"source": ""},
        {"total": 1, "source": "", "colour": "red"},
        {"total": 1, "source": "", "stages": {"draw": {"peak": 1}}},
        {"total": 1, "source": "", "models": {"tiny": {"load_s": 1}}},
        [1],
    ):
        with pytest.raises(errors.ConfigError, match="odd"):
            profile.register(folder, "odd", data)
    (tmp_path / "profiles").mkdir(exist_ok=True)
    (tmp_path / "profiles" / "torn.json").write_text(json.dumps({"total": 1})[:-1])
    with pytest.raises(errors.ConfigError, match="not JSON"):
        profile.find("torn", folder)


def test_a_profile_may_bring_streams_of_its_own(tmp_path):
    stages = {"own": {"step_s": 1.0, "peak": 300, "streams": {"1": [[200, 100, -2, -1], [50, -1]]}}}
    profile.register(str(tmp_path), "bringer", {"total": GIB, "source": "", "stages": stages})
    stage = profile.find("bringer", str(tmp_path)).stage("own")
    assert stage.stream(1) == [200, 100, -2, -1, 50, -1]
    assert profile.highest(stage.stream(2)) == 600


def test_an_unknown_model_stage_or_stream_is_named(card):
    with pytest.raises(errors.ConfigError, match="'flux'"):
        card.model("flux")
    with pytest.raises(errors.ConfigError, match="'dance'"):
        card.stage("dance")
    with pytest.raises(errors.ConfigError, match="'silence'"):
        profile.recorded("silence")
