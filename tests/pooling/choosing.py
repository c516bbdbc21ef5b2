"""What the tests of `choose` are made of: a policy, who waits, and devices."""

from __future__ import annotations

from mangen.pooling import choose, window, work

POLICY = choose.Policy(patience_s=20.0, linger_s=0.5, resident_gain=0.3, full_gain=0.1)


def wait(key, bucket="b", *, since=0.0, place=0, passed=None, **more):
    item = work.Item(key=key, name="t", bucket=bucket, **more)
    return window.Waiting(item=item, since=since, place=place, passed=passed)


def keys(choices):
    return [(choice.slot, choice.keys) for choice in choices]


def device(slot=0, *residents, barred=(), hopeless=(), strange=(), **more):
    return choose.Device(
        slot=slot, residents=frozenset(residents), barred=frozenset(barred),
        hopeless=frozenset(hopeless), strange=frozenset(strange), **more,
    )  # fmt: skip
