from mangen.dispatch import vigil


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_a_lease_without_a_heartbeat_lapses_and_one_mends_it():
    clock = Clock()
    one = vigil.Vigil(3.0, clock)
    for _ in range(11):
        assert not one.lapsed()
        clock.now += 0.25
    clock.now += 0.25
    assert one.lapsed()
    began = one.begin()
    clock.now += 0.5
    one.beaten(began)
    assert not one.lapsed()


def test_a_lease_counts_from_when_the_last_heartbeat_set_out():
    clock = Clock()
    one = vigil.Vigil(3.0, clock)
    began = one.begin()
    for _ in range(4):
        clock.now += 0.5
        one.lapsed()
    one.beaten(began)  # its answer took two seconds
    assert not one.lapsed()
    clock.now += 1.0
    assert one.lapsed()


def test_whoever_was_stopped_lets_a_heartbeat_go_first():
    clock = Clock()
    one = vigil.Vigil(3.0, clock)
    one.lapsed()
    clock.now += 60.0
    assert not one.lapsed()
    clock.now += 0.9
    assert not one.lapsed(), "a third of a lease is left to it"
    clock.now += 0.2
    assert one.lapsed()
