from __future__ import annotations

import pytest

from mangen.pooling import errors, once, testing, work

DONE = work.Outcome.done


def items(*keys):
    return [work.Item(key=key, name="toy", bucket="toy", data={}) for key in keys]


class Toy:
    """A Work of one function; `runs` are the keys that each call was given."""

    def __init__(self, answer):
        self.answer, self.runs = answer, []

    def open(self, _bucket, rt):
        def run(members):
            self.runs.append([item.key for item in members])
            return self.answer(members, rt)

        return once.Once(run)

    def spec(self, _model):
        return None

    def give_back(self, _item, why):
        return work.Outcome.aborted(why)


def test_all_members_run_in_one_step():
    toy = Toy(lambda members, _rt: {item.key: DONE(item.key.upper()) for item in members})
    ended = testing.drive(toy, items("a", "b"))
    assert ended == {"a": DONE("A"), "b": DONE("B")}
    assert toy.runs == [["a", "b"]]


def test_each_member_has_its_own_end():
    answers = {"a": DONE(1), "b": ValueError("no such word"), "c": work.Outcome.stale("had it")}
    ended = testing.drive(Toy(lambda _members, _rt: answers), items("a", "b", "c", "d"))
    assert ended == {
        "a": DONE(1),
        "b": work.Outcome.failed("ValueError: no such word"),
        "c": work.Outcome.stale("had it"),
        "d": work.Outcome.failed("the work gave no answer"),
    }


def test_what_the_function_raises_ends_all_members():
    def answer(members, rt):
        raise OSError("the disk is gone")

    ended = testing.drive(Toy(answer), items("a", "b"))
    assert ended == dict.fromkeys("ab", work.Outcome.failed("OSError: the disk is gone"))


def test_raised_out_of_memory_parks_all_and_they_run_again():
    def run(members):
        if len(members) > 1:
            raise MemoryError
        return {item.key: DONE() for item in members}

    session = once.Once(run)
    session.add(items("a", "b"))
    with pytest.raises(MemoryError):
        session.step()
    assert session.drop("a", work.Why.OOM) == session.drop("b", work.Why.OOM)
    assert session.step() == {}
    for key in "ab":
        assert session.add(items(key)) == {}
        assert session.step() == {key: DONE()}


def test_answered_out_of_memory_ends_nobody_but_those_who_are_through():
    full = MemoryError("too large")
    session = once.Once(
        lambda members: {item.key: full if item.key == "b" else DONE() for item in members}
    )
    session.add(items("a", "b"))
    assert session.step() == {"a": DONE()}
    with pytest.raises(MemoryError, match="too large"):
        session.step()
    assert session.drop("b", work.Why.OOM) == work.Outcome.parked()


def test_what_never_fits_fails_and_what_is_stopped_is_aborted():
    session = once.Once(lambda _members: {})
    session.add(items("a", "b"))
    never = session.drop("a", work.Why.NEVER_FITS)
    assert (never.status, "memory" in never.error) == (work.Status.FAILED, True)
    assert session.drop("b", work.Why.ABORT) == work.Outcome.aborted(work.Why.ABORT)


def test_a_function_that_reports_progress_can_be_stopped():
    def answer(members, rt):
        if not rt.told:
            rt.stop("a")
            rt.progress("a", 1, 2)
        raise AssertionError("it went on")

    ended = testing.drive(Toy(answer), items("a"))
    assert ended == {"a": work.Outcome.aborted(work.Why.ABORT)}


def test_a_drop_leaves_the_function_through():
    def run(members):
        raise errors.Dropped("a", work.Why.ABORT)

    session = once.Once(run)
    session.add(items("a"))
    with pytest.raises(errors.Dropped):
        session.step()
    assert session.drop("a", work.Why.ABORT).status is work.Status.ABORTED
