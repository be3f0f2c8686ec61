"""How long a proof may take: one limit for all that happens inside it, looked at in every loop that may be long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dpbounds.errors import DpboundsError, InvalidValue
from dpbounds.expressions.exact import ExactLike, exact

Clock = Callable[[], float]

_LONGEST = 10**9  # seconds: as good as none


class TimeIsUp(DpboundsError):
    """The time limit has passed: raised at a checkpoint, and answered with what was proven by then."""


_ends: ContextVar[tuple[Clock, float] | None] = ContextVar("time limit", default=None)


@contextmanager
def time_limited(seconds: ExactLike | None, clock: Clock = time.monotonic) -> Iterator[None]:
    """Let every checkpoint within raise ``TimeIsUp`` once ``seconds`` have passed; None: no limit of its own.

    Limits may be nested: the one that ends first counts.

    Args:
        seconds: Greater than 0, of the clock on the wall.
        clock: What tells the time, in seconds (tests bring their own).

    Raises:
        InvalidValue: The limit is not a number greater than 0.
    """
    if seconds is None:
        yield
        return
    limit = exact(seconds, "time_limit")
    if limit <= 0:
        raise InvalidValue("time_limit", seconds, "a number of seconds greater than 0")
    outer = _ends.get()
    end = clock() + float(limit if limit < _LONGEST else _LONGEST)
    token = _ends.set((clock, end) if outer is None or outer[0] is not clock else (clock, min(end, outer[1])))
    try:
        yield
    finally:
        _ends.reset(token)


@contextmanager
def without_time_limit() -> Iterator[None]:
    """Suspend the limit: for what is quick, and has to be finished once it is begun."""
    token = _ends.set(None)
    try:
        yield
    finally:
        _ends.reset(token)


def checkpoint() -> None:
    """Do nothing, or raise ``TimeIsUp`` where the limit has passed."""
    ends = _ends.get()
    if ends is not None and ends[0]() >= ends[1]:
        raise TimeIsUp("the time limit has passed")


def is_limited() -> bool:
    """Whether a time limit is set."""
    return _ends.get() is not None
