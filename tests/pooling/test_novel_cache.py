"""The shape of the measurement, on a short novel; `bench pool` prints the figures of a long one."""

from __future__ import annotations

import novel_cache
import pytest

from mangen.comic import model, plan, text


@pytest.fixture(scope="module")
def board():
    return plan.plan(text.decode(novel_cache.novel(6).encode(), "novel"), title="novel")


@pytest.fixture
def asked(board):
    return [one for number in range(5) for one in novel_cache._asked(board, number)]


def small(monkeypatch):
    """Make a host tier that eight episodes do not fit into, either."""
    monkeypatch.setattr(novel_cache, "HOST_BYTES", 6 * 2**20)


def test_the_novel_has_the_episodes_and_a_cast(board):
    assert len(board.episodes) >= 6
    names = {character.name for character in board.characters}
    assert set(novel_cache.LEADS) <= names
    assert len(names) > len(novel_cache.LEADS)


def test_each_shot_is_drawn_encoded_and_moved(board):
    shots = sum(len(episode.shots) for episode in board.episodes[:1])
    asked = list(novel_cache._asked(board, 0))
    assert len(asked) == 3 * shots
    figures = sum(len(shot.characters) for shot in board.episodes[0].shots)
    kinds = [one.kind for member in asked for one in member]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "text": 4 * shots, "character": figures, "style": shots,
        "image": 2 * shots, "latent": 2 * shots,
    }  # fmt: skip


def test_nothing_that_never_repeats_is_asked_for(asked):
    assert {one.kind for member in asked for one in member} == set(novel_cache.KINDS)
    assert not {"voice", "film", "clip", "panel"} & set(novel_cache.KINDS)


def test_a_signature_names_one_product(asked):
    made = {}
    for member in asked:
        for one in member:
            assert made.setdefault((one.kind, one.signature), one) == one


def test_products_have_their_full_size():
    values = {
        635_904: 2 * novel_cache.PICTURE_TEXT, 157_696: novel_cache.CLIP_TEXT,
        1_315_840: novel_cache.CHARACTER, 49_152: novel_cache.LATENT, 2_048: novel_cache.IMAGE,
    }  # fmt: skip
    assert all(2 * count == nbytes for nbytes, count in values.items())
    one = novel_cache._encode(model.Shot(no=1, identity="a"))[0]
    assert one.make().nbytes == 2_048
    assert one.make().tobytes() == one.make().tobytes()


def test_most_of_an_episode_is_found_and_a_restart_forgets_none_of_it(tmp_path, monkeypatch):
    small(monkeypatch)
    found = novel_cache.measure(tmp_path, 8, since=5)
    assert found.evictions > 0
    assert 0.6 < found.hit_rate < 0.9
    assert found.by_kind["character"] > 0.9
    assert 0.45 < found.by_kind["image"] < 0.6  # every new panel is made once and used once
    assert found.disk_hit_rate >= 0.95
    assert not list(tmp_path.iterdir())


def test_nothing_is_made_twice_while_a_session_fits_the_memory(tmp_path):
    assert novel_cache.measure(tmp_path, 5, since=3).made_again == 0


def test_without_a_disk_a_restart_forgets_and_a_small_memory_too(tmp_path, monkeypatch):
    monkeypatch.setattr(novel_cache, "DISK_BYTES", 0)
    found = novel_cache.measure(tmp_path, 5, since=3)
    assert found.disk_hit_rate < 0.95
    assert found.disk_bytes == 0
    small(monkeypatch)
    assert novel_cache.measure(tmp_path, 5, since=3).made_again > 0


def test_a_text_that_is_too_short_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(novel_cache, "novel", lambda _episodes: "第1章\n陆子轩走进客栈。\n")
    with pytest.raises(ValueError, match="makes 1 episodes, not 3"):
        novel_cache.measure(tmp_path, 3, since=2)
