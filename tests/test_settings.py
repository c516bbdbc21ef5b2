from __future__ import annotations

import dataclasses
import pathlib
import re

import pytest

from mangen import errors, settings

ROOT = pathlib.Path(__file__).resolve().parent.parent


def test_every_setting_is_documented():
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \| (.*) \|$", text, re.MULTILINE)
    assert rows == [
        (
            settings.PREFIX + field.name.upper(),
            str(field.default),
            field.metadata["doc"].replace("|", "\\|"),
        )
        for field in dataclasses.fields(settings.Settings)
    ]


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path):
    file = tmp_path / "mangen.toml"
    file.write_text("width = 360\nheight = 640\n")
    chosen = settings.load({"MANGEN_HEIGHT": "800"}, file)
    assert (chosen.width, chosen.height, chosen.window) == (360, 800, settings.Settings().window)


def test_settings_survive_being_handed_to_a_child(tmp_path):
    chosen = settings.load({"MANGEN_LEASE_S": "3", "MANGEN_HOME": str(tmp_path)}, tmp_path / "no")
    handed = settings.environment_of(chosen)
    assert settings.load(handed, tmp_path / "no") == chosen


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"MANGEN_WIDTH": "wide"}, "MANGEN_WIDTH"),
        ({"MANGEN_WIDTH": "361"}, "MANGEN_WIDTH"),
        ({"MANGEN_WIDTH": "99998"}, "MANGEN_WIDTH"),
        ({"MANGEN_LEASE_S": "0"}, "MANGEN_LEASE_S"),
        ({"MANGEN_WINDOW": "0"}, "MANGEN_WINDOW"),
        ({"MANGEN_WITDH": "720"}, "did you mean MANGEN_WIDTH"),
    ],
)
def test_a_wrong_setting_is_named(environment, named, tmp_path):
    with pytest.raises(errors.SettingsError, match=named):
        settings.load(environment, tmp_path / "no")


def test_a_named_file_that_is_missing_is_refused(tmp_path):
    with pytest.raises(errors.SettingsError, match=r"nope\.toml"):
        settings.load({"MANGEN_CONFIG": str(tmp_path / "nope.toml")})


def test_an_unknown_setting_in_the_file_is_named(tmp_path):
    file = tmp_path / "mangen.toml"
    file.write_text("widht = 3\n")
    with pytest.raises(errors.SettingsError, match="widht"):
        settings.load({}, file)


def test_a_broken_file_is_named(tmp_path):
    file = tmp_path / "mangen.toml"
    file.write_text("width =")
    with pytest.raises(errors.SettingsError, match=re.escape(str(file))):
        settings.load({}, file)


#: they read and set the variables of CUDA, of torch and of diffusers, never ours
CUDAS = (
    "mangen/pooling/devices/cuda.py",
    "mangen/pooling/devices/nvml.py",
    "mangen/engines/diffusion/loading.py",
)


def test_only_settings_reads_the_environment():
    readers = [
        path.relative_to(ROOT)
        for path in (ROOT / "mangen").rglob("*.py")
        if re.search(r"(environ\b.*|getenv\(.)(MANGEN_|PREFIX)", path.read_text("utf-8"))
        or (
            not str(path).endswith(CUDAS)
            and re.search(r"os\.environ(?! *[,})]|\.get\(\"P|\.pop| *\[)", path.read_text("utf-8"))
        )
    ]
    assert [str(path) for path in readers] == ["mangen/settings.py"]


@pytest.mark.parametrize("name", ["LEASE_S", "MID_LIMIT_S", "GPU_BUDGET_S", "KEEP_TAKES_DAYS"])
@pytest.mark.parametrize("text", ["inf", "nan", "1e300"])
def test_a_setting_stays_within_the_calendar(name, text):
    with pytest.raises(errors.SettingsError, match=f"MANGEN_{name}.*at most"):
        settings.load({f"MANGEN_{name}": text})
