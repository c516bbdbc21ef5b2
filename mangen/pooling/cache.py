"""Products that repeat, kept on the device, in host memory and on disk: the least worth goes first.

A product is *proved* once the member that it was made for is done. Until then it serves whoever
asks, lies in memory only, and is rolled back when its maker fails.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mangen.pooling import cache_disk, cache_ledger, cache_policy, errors, faults, tensors, work
from mangen.pooling.devices import device

Policy = cache_policy.Policy
What = cache_ledger.What

_log = logging.getLogger(__name__)
_TOLD = 256  #: different values that can't be measured


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Limits in bytes. `host_is_device`: this memory is what the gate counts (a cpu device)."""

    host_bytes: int = 2**29
    host_is_device: bool = True
    folder: str = ""
    disk_bytes: int = 2**33
    kinds: Mapping[str, Policy] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Noted:
    """Something happened to a product; `seconds` is what it took to make, 0 where unknown."""

    what: What
    kind: str
    seconds: float = 0.0
    nbytes: int = 0


def unheard(noted: Noted) -> None:
    """Listen to nothing."""


class Cache:
    """A FeatureCache for one child and one session at a time.

    A product is one object for all who get it, so nobody may change it in place, its maker neither
    once it is put. It comes back from the device tier as it was put; from the other two in host
    memory. One thread calls; any may read `nbytes`, `device_bytes` and `counters`.
    """

    def __init__(
        self,
        options: Options,
        *,
        note: Callable[[Noted], None] = unheard,
        mover: tensors.Mover | None = None,
    ) -> None:
        self._options = options
        self._note = note
        self._mover = mover or tensors.TorchMover()
        self._device = cache_ledger.Tier()
        self._host = cache_ledger.Tier(options.host_bytes)
        self._disk: cache_disk.Disk | None = None
        if options.folder and options.disk_bytes > 0:
            self._disk = cache_disk.Disk(options.folder, options.disk_bytes)
        cache_policy.check_names(options.kinds)
        self._counters = cache_ledger.Counters(options.kinds)
        self._lookups = 0
        self._awaited: frozenset[str] = frozenset()
        #: what isn't proved yet, by who made it
        self._made: dict[work.Key | None, dict[cache_ledger.Name, cache_ledger.Entry]] = {}
        self._failed = False
        self._unmeasurable: set[str] = set()
        self._faults = faults.Faults()

    @property
    def nbytes(self) -> int:
        return self._device.nbytes + self._host.nbytes

    @property
    def device_bytes(self) -> int:
        """What the gate must count."""
        return self.nbytes if self._options.host_is_device else self._device.nbytes

    @property
    def device_limit(self) -> int:
        """The watermark: what it may hold of the device now."""
        return (self._host if self._options.host_is_device else self._device).limit

    def counters(self) -> Mapping[str, Mapping[str, float]]:
        """By kind, and under `total`: hit, disk_hit, miss, bypass, evictions, rollbacks, ..."""
        return self._counters.read()

    def get(self, kind: str, signature: str) -> Any | None:
        """Answer the product, or None; raises CacheRefused for a kind that isn't configured."""
        self._policy(kind)
        self._lookups += 1
        name = (kind, signature)
        entry, tier = self._find(name)
        if entry is not None:
            entry.used(self._lookups)
            tier.rank(entry)
            self._tell(What.HIT, kind, entry.seconds, entry.nbytes)
            return entry.value
        return self._from_disk(name)

    def put(
        self, kind: str, signature: str, value: Any, *, seconds: float, by: work.Key | None = None
    ) -> None:
        """Keep what took `seconds` to make: see FeatureCache.

        Raises CacheRefused for a kind that isn't configured, and for files, recordings and films.
        """
        policy = self._policy(kind)
        if found := self._media(value):
            raise errors.CacheRefused(f"the feature cache takes no {found}: {kind} {signature}")
        name = (kind, signature)
        old, _ = self._find(name)
        if old is not None and old.proved:
            return  # the same signature is the same product, and this one's maker did not fail
        seconds = _seconds(seconds)
        kept = self._measured(value) if self._wanted(policy) else None
        if kept is None:
            self._tell(What.BYPASS, kind, seconds)
            return
        if old is not None:
            # The last maker answers for it: had the first one's value stayed, its failure would
            # take a product that the second made well, or the second's success prove it.
            self._forget(old)
        value, nbytes = kept
        entry = cache_ledger.Entry(
            name=name, value=value, nbytes=nbytes, seconds=seconds, weight=policy.worth, by=by
        )
        if not self._place(entry):
            self._tell(What.BYPASS, kind, seconds, nbytes)

    def compress(self, wanted: int) -> int:
        """Give bytes of the device back, least worth first; answers how many."""
        tier = self._host if self._options.host_is_device else self._device
        before = tier.nbytes
        while tier.nbytes and before - tier.nbytes < wanted:
            self._lower(tier)
        self._fit()
        return before - tier.nbytes

    def limit_device(self, nbytes: int) -> int:
        """Move the watermark; answers the bytes that the device gets back."""
        before = self.device_bytes
        if self._options.host_is_device:
            self._host.limit = max(0, min(nbytes, self._options.host_bytes))
        else:
            self._device.limit = max(0, nbytes)
        self._fit()
        return before - self.device_bytes

    def waiting(self, names: Mapping[str, int]) -> None:
        """Take note of how many wait under each task's name; what none waits for goes at once."""
        before = self._awaited_kinds()
        self._awaited = frozenset(name for name, count in names.items() if count > 0)
        gone = before - self._awaited_kinds()
        if not gone:
            return
        for tier in (self._device, self._host):
            for entry in tier:
                if entry.name[0] in gone:
                    self._forget(entry)
                    self._tell(What.EVICTION, entry.name[0], entry.seconds, entry.nbytes)

    def settle(self, key: work.Key, done: bool) -> None:  # noqa: FBT001 - the pool's own verb
        """Member `key` ended: what it put in is proved, or gone.

        What others made out of it meanwhile is theirs: they are judged by their own end, and what
        they put in with it. All that a needless rollback costs is the product's seconds; a bad
        product that stayed would spoil whoever comes after, and on disk other processes too.
        """
        self._failed = self._failed or not done
        self._end(key, done=done)

    def close_session(self) -> None:
        """Prove what was made for all members, unless one failed; forget the session.

        Members that didn't end in it (given back) proved nothing: what they made is rolled back.
        """
        for key in list(self._made):
            self._end(key, done=key is None and not self._failed)
        self._failed = False

    def _end(self, key: work.Key | None, *, done: bool) -> None:
        for entry in self._made.pop(key, {}).values():
            if done:
                entry.proved = True
                self._write(entry)
            else:
                self._forget(entry)
                self._tell(What.ROLLBACK, entry.name[0], entry.seconds, entry.nbytes)

    def _from_disk(self, name: cache_ledger.Name) -> Any | None:
        kind, signature = name
        policy = self._options.kinds[kind]
        stored = None
        if self._disk is not None and not policy.only_while:
            stored = self._disk.get(kind, signature)
        if stored is None:
            self._tell(What.MISS, kind)
            return None
        self._tell(What.DISK_HIT, kind, stored.seconds, stored.nbytes)
        kept = self._measured(stored.value)
        if kept is None:
            return stored.value
        entry = cache_ledger.Entry(
            name=name,
            value=kept[0],
            nbytes=kept[1],
            seconds=_seconds(stored.seconds),
            weight=policy.worth,
            proved=True,
        )
        self._place(entry)
        return entry.value

    def _policy(self, kind: str) -> Policy:
        policy = self._options.kinds.get(kind)
        if policy is None:
            known = ", ".join(sorted(self._options.kinds)) or "none"
            raise errors.CacheRefused(
                f"the feature cache takes no {kind!r}: its configured kinds are {known}"
            )
        return policy

    def _wanted(self, policy: Policy) -> bool:
        return not policy.only_while or not self._awaited.isdisjoint(policy.only_while)

    def _awaited_kinds(self) -> set[str]:
        return {kind for kind, policy in self._options.kinds.items() if self._wanted(policy)}

    def _find(self, name: cache_ledger.Name) -> tuple[cache_ledger.Entry | None, cache_ledger.Tier]:
        entry = self._device.get(name)
        return (entry, self._device) if entry else (self._host.get(name), self._host)

    def _measured(self, value: Any) -> tuple[Any, int] | None:
        """The value as it is kept, and its bytes; None: it can't be kept."""
        if value is None:
            return None  # `get` could not tell it from a miss
        try:
            value = tensors.compact(value)
            return value, tensors.nbytes(value)
        except Exception as error:  # noqa: BLE001 - a value that holds itself, a broken property
            if not device.out_of_memory(error):
                self._tell_unmeasurable(value, error)
            return None

    def _media(self, value: Any) -> str:
        """Name the file or film in it; a value that can't be walked is left to `_measured`."""
        try:
            return tensors.media(value)
        except Exception:  # noqa: BLE001 - as there
            return ""

    def _tell_unmeasurable(self, value: Any, error: Exception) -> None:
        what = f"a {type(value).__qualname__}: {error!r}"
        if isinstance(error, tensors.Unmeasurable):
            what = str(error)
        if what not in self._unmeasurable and len(self._unmeasurable) < _TOLD:
            self._unmeasurable.add(what)
            _log.warning("feature cache: it can't tell the bytes of %s", what)

    def _place(self, entry: cache_ledger.Entry) -> bool:
        """Take an entry into the nearest tier that could hold it; answers whether it stayed."""
        if not self._options.host_is_device and any(
            self._mover.on_device(leaf) for leaf in tensors.leaves(entry.value)
        ):
            if entry.nbytes <= self._device.limit:
                self._add(self._device, entry)
            elif not self._bring_down(entry):
                return False
        elif not self._bring_down(entry):
            return False
        if not entry.proved:
            self._made.setdefault(entry.by, {})[entry.name] = entry
        self._fit(entry)
        return self._find(entry.name)[0] is entry

    def _bring_down(self, entry: cache_ledger.Entry) -> bool:
        """Add an entry that is in no tier to the host's; answers whether it could be."""
        if entry.nbytes > self._host.limit:
            return False
        if not self._options.host_is_device:
            value = self._on_host(entry)
            if value is None:
                return False
            entry.value, entry.nbytes = value, tensors.nbytes(value)
        self._add(self._host, entry)
        return True

    def _on_host(self, entry: cache_ledger.Entry) -> Any | None:
        """The value in host memory; None: there is no memory for the copy."""
        try:
            return tensors.mapped(entry.value, self._mover.to_host)
        except (MemoryError, RuntimeError) as error:
            if not device.out_of_memory(error):
                raise
            return None

    def _fit(self, new: cache_ledger.Entry | None = None) -> None:
        for tier in (self._device, self._host):
            while tier.over:
                self._lower(tier, new)

    def _lower(self, tier: cache_ledger.Tier, new: cache_ledger.Entry | None = None) -> None:
        """Move the least worthy entry one tier down; `new` was never in, so it isn't evicted."""
        entry = tier.pop()
        assert entry is not None
        self._counters.hold(entry.name[0], -entry.nbytes)
        if tier is self._device and self._bring_down(entry):
            return
        self._unmake(entry)
        if entry is new:
            return
        self._write(entry)
        self._tell(What.EVICTION, entry.name[0], entry.seconds, entry.nbytes)

    def _add(self, tier: cache_ledger.Tier, entry: cache_ledger.Entry) -> None:
        tier.add(entry)
        self._counters.hold(entry.name[0], entry.nbytes)

    def _forget(self, entry: cache_ledger.Entry) -> None:
        found, tier = self._find(entry.name)
        if found is entry:
            tier.remove(entry)
            self._counters.hold(entry.name[0], -entry.nbytes)
        self._unmake(entry)

    def _unmake(self, entry: cache_ledger.Entry) -> None:
        made = self._made.get(entry.by, {})
        if made.get(entry.name) is entry:
            del made[entry.name]

    def _write(self, entry: cache_ledger.Entry) -> None:
        """Bring a proved product to disk, unless it lies there.

        Not what is kept only while somebody waits: it ends with the waiting.
        """
        kind, signature = entry.name
        if self._disk is None or not entry.proved or self._options.kinds[kind].only_while:
            return
        try:
            if self._disk.has(kind, signature):
                return
            value = self._on_host(entry)
            if value is not None:
                self._disk.put(kind, signature, value, seconds=entry.seconds)
        except Exception as error:  # noqa: BLE001 - it stays in memory: that is all it costs
            self._faults.note(error, "feature cache: a product can't be written to disk")

    def _tell(self, what: What, kind: str, seconds: float = 0.0, nbytes: int = 0) -> None:
        self._counters.count(what, kind, seconds)
        self._note(Noted(what=what, kind=kind, seconds=seconds, nbytes=nbytes))


def _seconds(given: Any) -> float:
    """Seconds as they are counted with: what is no time at all is worth nothing."""
    try:
        seconds = float(given)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return seconds if 0.0 < seconds < float("inf") else 0.0
