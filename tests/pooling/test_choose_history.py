"""`choose` over whole histories: nobody starves, whatever comes."""

from __future__ import annotations

import hypothesis
from choosing import POLICY, device
from hypothesis import strategies as st

from mangen.pooling import choose, window, work


class History:
    """A pool of simulated devices, played against `choose`; sessions take `session_s`."""

    session_s = 7.0

    def __init__(self, devices):
        self.now = 0.0
        self.window = window.Window()
        self.residents = [set() for _ in range(devices)]
        self.until = [0.0] * devices
        self.barred = [frozenset()] * devices
        self.first_passed = {}
        self.arrived = self.placed = 0

    def arrive(self, bucket, klass, rank):
        self.arrived += 1
        item = work.Item(
            key=str(self.arrived), name="t", bucket=bucket, model=bucket,
            klass=klass, rank=rank, cap=3,
        )  # fmt: skip
        self.window.add(item, self.now)

    def schedule(self):
        """Place what may be placed; fails when one is passed over for longer than patience."""
        slots = [n for n, until in enumerate(self.until) if until <= self.now]
        devices = [device(n, *self.residents[n], barred=self.barred[n]) for n in slots]
        for choice in choose.choose(self.window, devices, self.now, POLICY):
            self.window.mark_passed(choice.passed, self.now)
            self._place(choice.slot, choice.keys)

    def join(self):
        for slot, until in enumerate(self.until):
            if until > self.now and self.residents[slot]:
                (bucket,) = self.residents[slot]
                here = device(slot, barred=self.barred[slot])
                going = choose.join(self.window, bucket, 1, self.now, POLICY, device=here)
                self.window.mark_passed(choose.overtaken(self.window, going), self.now)
                if going:
                    self._place(slot, going)

    def _place(self, slot, going):
        taken = [self.window.take(key) for key in going]
        last = min(one.order for one in taken)
        for one in self.window:
            if one.order < last:
                since = self.first_passed.setdefault(one.item.key, self.now)
                late = self.now - since - POLICY.patience_s
                barred = one.item.bucket in self.barred[slot]
                assert late < 0 or (barred and int(late / POLICY.patience_s) % 2 == 1)
        self.placed += len(going)
        self.residents[slot] = {taken[0].item.bucket}
        self.until[slot] = self.now + self.session_s


@hypothesis.given(
    st.lists(
        st.tuples(
            st.sampled_from("wxyz"), st.integers(0, 2), st.integers(0, 40), st.integers(0, 5),
            st.none() | st.frozensets(st.sampled_from("wxyz")),
        ),
        min_size=10, max_size=80,
    ),
    st.integers(1, 3),
)  # fmt: skip
def test_nobody_is_passed_over_for_longer_than_patience_in_any_history(steps, devices):
    pool = History(devices)
    for number, (bucket, klass, rank, pause, barred) in enumerate(steps):
        pool.arrive(bucket, klass, rank / 20)
        pool.now += pause
        if barred is not None:
            pool.barred[number % devices] = barred
        pool.schedule()
        pool.join()
    pool.barred = [frozenset()] * devices
    for _ in range(2 * len(steps)):
        pool.now += pool.session_s
        pool.schedule()
    assert pool.placed == pool.arrived


def test_a_tenant_that_never_leaves_starves_nobody_else():
    pool = History(2)
    pool.barred = [frozenset("x")] * 2
    pool.arrive("x", 0, 9.0)
    served = []
    for _ in range(60):
        for _ in range(6):
            pool.arrive("y", 1, 0.0)
        before = pool.placed
        pool.schedule()
        served.append(pool.placed > before)
        pool.now += 10.0
    assert served[:8] == [True, True, False, False, True, True, False, False]
    assert 25 <= sum(served) <= 35
