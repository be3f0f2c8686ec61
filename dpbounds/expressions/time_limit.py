"""Time limits of proofs: one limit for everything inside it, checked in every loop that may be long."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import DpboundsError, InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, to_float

Clock = Callable[[], float]

_LONGEST = 10**9  # seconds: as good as none
_clock: ContextVar[Clock] = ContextVar("clock", default=time.monotonic)


class TimeIsUp(DpboundsError):
    """The time limit has passed: raised at a checkpoint, and handled with the best proven value."""


@dataclass(slots=True)
class Limit:
    """A time limit, and whether a checkpoint has found it passed."""

    clock: Clock
    end: float
    passed: bool = False


_limit: ContextVar[Limit | None] = ContextVar("time limit", default=None)


@contextmanager
def time_limited(seconds: ExactLike | None, clock: Clock | None = None) -> Iterator[Limit]:
    """Let every checkpoint within raise ``TimeIsUp`` once ``seconds`` have passed.

    Args:
        seconds: Greater than 0, of the clock on the wall. None: the limit that surrounds this one, if any.
        clock: Returns the time in seconds (tests pass their own); ``time.monotonic`` by default.

    Raises:
        InvalidValue: The limit is not a number greater than 0.
    """
    outer = _limit.get()
    if seconds is None:
        yield outer or Limit(time.monotonic, math.inf)
        return
    length = exact(seconds, "time_limit")
    if length <= 0:
        raise InvalidValue("time_limit", seconds, "a number of seconds greater than 0")
    tell = clock or _clock.get()
    limit = Limit(tell, tell() + to_float(min(length, Fraction(_LONGEST)), "down"))
    if outer is not None and outer.clock is tell:
        limit.end = min(limit.end, outer.end)
    token = _limit.set(limit)
    try:
        yield limit
    finally:
        _limit.reset(token)


@contextmanager
def clocked(clock: Clock) -> Iterator[None]:
    """Let the limits that are set within go by another clock: for tests."""
    token = _clock.set(clock)
    try:
        yield
    finally:
        _clock.reset(token)


@contextmanager
def without_time_limit() -> Iterator[None]:
    """Suspend the limit, for quick work that must be finished once begun."""
    token = _limit.set(None)
    try:
        yield
    finally:
        _limit.reset(token)


def checkpoint() -> None:
    """Raise ``TimeIsUp`` if the limit has passed."""
    limit = _limit.get()
    if limit is not None and limit.clock() >= limit.end:
        limit.passed = True
        raise TimeIsUp("the time limit has passed")


def is_limited() -> bool:
    """Return whether a time limit is set."""
    return _limit.get() is not None
