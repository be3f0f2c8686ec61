"""The working precision of ball arithmetic: set here and nowhere else, and never taken from the caller.

FLINT's context (bits, terms of a series, threads) belongs to the whole process, not to a thread. Whatever computes
with balls does so inside ``working(bits)``, which holds one lock, sets all of the context that a result could depend
on, and puts it back, also after an exception. So results do not depend on what a caller has set in ``flint.ctx``, or
on what other threads ask dpbounds for; these wait for each other. (Processes do not: use them to compute in parallel.)
Only a thread that sets ``flint.ctx`` itself, while another one is inside dpbounds, is outside of what this can protect.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

import flint

from dpbounds.expressions.time_limit import checkpoint

P = ParamSpec("P")
R = TypeVar("R")

OUTER_PRECISION = 128  # bits at which a public function starts, whatever the caller's context is
_SERIES_TERMS = 10  # FLINT's default

_lock = threading.RLock()


def _unlocked() -> None:
    """A child process starts with the lock free: the thread that held it, if any, does not exist there."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlocked)


class working:  # noqa: N801 (used like a function: ``with working(bits):`` and ``@working(bits)``)
    """A context, or a decorator, in which balls are computed at ``bits`` bits. May be nested, each level restored.

    Raises:
        TimeIsUp: On entry of a ``with``, where a time limit has passed.
    """

    __slots__ = ("_before", "_held", "_looks", "bits")

    def __init__(self, bits: int, looks: bool = True) -> None:
        self.bits, self._looks = bits, looks

    def __enter__(self) -> None:
        if self._looks:
            checkpoint()
        self._held = _lock
        self._held.acquire()
        context = flint.ctx
        self._before = (context.prec, context.cap, context.threads)
        context.prec = self.bits
        if self._before[1:] != (_SERIES_TERMS, 1):
            context.cap, context.threads = _SERIES_TERMS, 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        context = flint.ctx
        context.prec, cap, threads = self._before
        if (cap, threads) != (_SERIES_TERMS, 1):
            context.cap, context.threads = cap, threads
        self._held.release()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Run all of a function at this precision."""

        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            with working(self.bits, looks=False):
                return function(*args, **kwargs)

        return wrapped


def working_bits() -> int:
    """Return the precision of the ``working`` that surrounds the caller."""
    return int(flint.ctx.prec)
