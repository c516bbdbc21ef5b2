import inspect
import pathlib
import re

import pytest

from mangen.ledger import ledger, queries, states

FOLDER = pathlib.Path(queries.__file__).parent
ROOMS = {room: queries.load(FOLDER / f"{room}.sql") for room in queries.ROOMS}
TEXTS = {name: text for texts in ROOMS.values() for name, text in texts.items()}


@pytest.mark.parametrize("name", states.TRANSITIONS)
def test_every_transition_is_a_query_with_its_method_and_says_where_it_leads(name):
    assert callable(getattr(ledger.Ledger, name))
    first = TEXTS[name].splitlines()[0]
    assert re.fullmatch(r"-- .+ -> .+", first), first
    left, right = first[3:].split(";")[0].split(" -> ")
    pairs = states.TRANSITIONS[name]
    assert set(left.split(", ")) == {"-" if frm is None else str(frm) for frm, _ in pairs}
    assert set(right.split(", ")) == {str(to) for _, to in pairs}


def test_every_query_is_used_by_a_method_of_the_ledger():
    modules = [inspect.getsource(base) for base in ledger.Ledger.__mro__[:-1]]
    used = set(re.findall(r"\b\w+\b", " ".join(modules)))
    assert [name for name in TEXTS if name not in used] == []


def test_no_two_rooms_name_a_query_alike():
    assert sum(len(texts) for texts in ROOMS.values()) == len(TEXTS)


def test_only_transitions_write_a_state_and_each_writes_its_events():
    for name, text in TEXTS.items():
        sets = re.findall(r"UPDATE jobs\b.*?\bSET\b(.*?)\b(?:FROM|WHERE)\b", text, re.DOTALL)
        moves = "INSERT INTO jobs (" in text or any(
            re.search(r"\bstate = (CASE|'|d\.)", part) for part in sets
        )
        assert moves == (name in states.TRANSITIONS), name
        assert ("INSERT INTO events" in text) == (name in states.TRANSITIONS), name
        if moves:
            assert f"'{name}'" in text, f"{name} signs its events with another name"


def test_rows_are_locked_in_the_order_of_their_ids():
    """Several rows by id or name; else two who lock the same ones could wait for each other."""
    for name, text in TEXTS.items():
        text = re.sub(r"--[^\n]*", "", text)
        for lock in re.finditer(r"\bFOR (NO KEY )?UPDATE", text):
            chosen = text[: lock.start()]
            chosen = chosen[chosen.rfind("SELECT") :]
            one = re.search(r"WHERE (\w\.)?(id|name) = :", chosen)
            assert one or re.search(r"ORDER BY (\w\.)?(id|name)\b", chosen), name


def test_casts_are_spelled_out():
    for file in FOLDER.glob("*.sql"):
        assert "::" not in file.read_text("utf-8"), file.name


def test_a_query_named_twice_is_refused(tmp_path):
    file = tmp_path / "twice.sql"
    file.write_text("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n")
    with pytest.raises(ValueError, match="names a query twice"):
        queries.load(file)
