"""The Celery application, built at its first use, so that importing this costs little."""

from __future__ import annotations

import functools
import os
import re
from typing import Any

import celery
import psutil

from mangen import errors, services, settings

_GIB = 1 << 30
#: share of a card that is never promised: what drivers and libraries take unasked
_MARGIN = 0.02
#: what models draw is left to cards, and what is drawn by rule to cpu devices, where a worker has
#: both: beginnings of buckets
_PLACES = {"diffusion": "card", "animatic": "cpu", "storyboard": "cpu", "assemble": "cpu"}
#: what repeats, and how much a second that it saves is worth; voice and films are not among it
_CACHED = {
    "character": {"worth": 3.0},
    "text": {"worth": 2.0},
    "style": {"worth": 1.0},
    "image": {"worth": 1.0},
    "latent": {"worth": 1.0},
    "panel": {
        "worth": 0.01,
        "only_while": ["mangen.repaint", "mangen.upscale", "mangen.outpaint", "mangen.encode"],
    },
}


def devices(chosen: settings.Settings) -> list[str]:
    """Spell out the device setting: `cpu*2` is two CPU devices, `auto` one a core."""
    if chosen.devices == "auto":
        return ["cpu"] * (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    named: list[str] = []
    for word in chosen.devices.split(","):
        match = re.fullmatch(r"\s*(cpu|cuda:\d+|sim:\w+(?:/\d+)?)(?:\*(\d+))?\s*", word)
        if match is None or (match[2] and not 1 <= int(match[2]) <= 256):
            raise errors.SettingsError(
                f"MANGEN_DEVICES: {word!r} is no device; write cpu, cpu*2, cuda:0 or sim:card_24g"
            )
        if match[2] and match[1] != "cpu":
            raise errors.SettingsError(
                f"MANGEN_DEVICES: {word!r} names one card {match[2]} times; a card has one child"
            )
        named += [match[1]] * int(match[2] or 1)
    return named


def pool_configuration(chosen: settings.Settings) -> dict[str, Any]:
    """What the pool reads from `app.conf.resident_pool`."""
    named = devices(chosen)
    share = 0.7 * psutil.virtual_memory().total / max(1, named.count("cpu"))
    return {
        "app": "mangen.app:app",
        "work": "mangen.worker:make_work",
        "listener": "mangen.worker:make_listener",
        "devices": named,
        "places": _PLACES | ({"diffusion/encode": "cpu"} if chosen.encode_queue == "cpu" else {}),
        "cpu_bytes": int(chosen.cpu_memory_gib * _GIB or share),
        "margin": _MARGIN,
        "cache_bytes": int(chosen.cache_memory_gib * _GIB),
        "cache_folder": str(chosen.root / "cache" / "features"),
        "cache_disk_bytes": int(chosen.cache_disk_gib * _GIB),
        "cache_kinds": _CACHED,
        "reports": str(chosen.root / "reports"),
        "restart_after": chosen.restart_after,
        "patience_s": chosen.patience_s,
        "hard_factor": chosen.hard_limit_factor,
        "hard_min_s": chosen.hard_limit_min_s,
        "linger_s": 0.05,
        "settings": settings.environment_of(chosen),
    }


def configure(target: celery.Celery, chosen: settings.Settings) -> celery.Celery:
    """Point an application at one deployment."""
    urls = services.read(chosen)
    pool = pool_configuration(chosen)
    target.conf.update(
        broker_url=urls.broker_url,
        result_backend=urls.result_url,
        resident_pool=pool,
        worker_concurrency=len(pool["devices"]),
        worker_prefetch_multiplier=chosen.window,
    )
    return target


@functools.cache
def build() -> celery.Celery:
    """Make the application of this process, by its settings."""
    return configure(celery.Celery("mangen", config_source="celeryconfig"), settings.load())


def __getattr__(name: str) -> Any:
    """Build the application when `celery -A mangen.app` asks for it."""
    if name == "app":
        return build()
    raise AttributeError(f"module 'mangen.app' has no attribute {name!r}")
