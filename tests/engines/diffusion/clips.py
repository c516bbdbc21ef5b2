"""Clips to be made by tests, and a house that is too small for everything."""

from __future__ import annotations

import numpy as np

from mangen.pooling import residents, testing


def picture(width, height, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


class Tight:
    """A house of so many bytes for weights, which evicts as a gate does; what it loads is kept."""

    def __init__(self, limit):
        self.limit, self.told = limit, []
        self.residents = residents.Residents(self)

    def make_room(self, wanted, keep):
        self.residents.evict(self.residents.nbytes + wanted - self.limit, keep)
        return self.fits(wanted)

    def fits(self, wanted):
        return self.residents.nbytes + wanted <= self.limit

    def loading(self):
        pass

    def loaded(self, spec, _seconds, *, ahead):
        assert not ahead
        self.told.append(spec.key.rpartition(":")[2])

    def warmed(self, _spec, _seconds):
        pass

    def evicted(self, _spec):
        pass


def tight(limit, kinds):
    """A runtime in such a house."""
    made = testing.Here(kinds=kinds)
    house = Tight(limit)
    made.residents = house.residents
    return made, house
