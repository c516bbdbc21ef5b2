"""How long one may be passed over, and what happens then. Pure, without state.

Both answers follow from the time at which others first went before it.
"""

from __future__ import annotations

from mangen.pooling import window

_LEAST_HOLD_S = 1.0


def overdue(one: window.Waiting, now: float, patience_s: float) -> bool:
    """Whether it was passed over for too long: nobody behind it may go first any more."""
    return one.passed is not None and now - one.passed >= patience_s


def holds(one: window.Waiting, now: float, patience_s: float) -> bool:
    """Whether devices that refused it are held for it now: it is overdue, in every other turn.

    Held devices empty, which makes room. What never comes free, as beside a tenant that stays,
    must not starve all: after each `patience_s` of holding, others are served as long.
    """
    if one.passed is None or not overdue(one, now, patience_s):
        return False
    late = now - one.passed - patience_s
    return int(late / max(patience_s, _LEAST_HOLD_S)) % 2 == 0
