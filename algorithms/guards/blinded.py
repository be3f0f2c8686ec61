"""A problem with synthetic records, for replay checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpbounds.algorithms.noise import Array

_MOST = 100_000  # made-up answers between two released ones: a walk that asks for more waits for what never comes


class MadeUp:
    """Source of synthetic values of record-dependent numbers: finite, of ordinary size, the same in every process."""

    def __init__(self) -> None:
        self._source = np.random.default_rng(271828)
        self._count = 0

    def numbers(self, *shape: int) -> Array:
        """Return numbers in (0.1, 0.9)."""
        self._count += 1
        if self._count > _MOST:
            raise RuntimeError(f"{_MOST} questions about the records, and none to an oracle")
        drawn: Array = self._source.uniform(0.1, 0.9, shape)
        return drawn

    def like(self, values: Any) -> Any:
        """Return an array of that shape and kind: floats from (0.1, 0.9), others those that occur, in another order."""
        if values.dtype.kind == "f":
            return self.numbers(*values.shape).astype(values.dtype)
        return self._source.permutation(values.ravel()).reshape(values.shape)

    def records(self, values: Any) -> Any:
        """Return other records within the same bounds: rows in another order, entries shrunk."""
        mixed = self._source.permutation(values)
        if values.dtype.kind == "f":
            mixed = mixed * self.numbers(*values.shape)
        mixed.flags.writeable = values.flags.writeable
        return mixed

    def answered(self) -> None:
        """Reset the count when a released answer arrives."""
        self._count = 0


def blinded(problem: Any, made_up: MadeUp) -> Any:
    """Return the same problem, with other records: of its own class, its public constants, sets and start unchanged.

    What every ``FiniteSum`` answers about its records is made up. Of its attributes, arrays with a row for each record
    are replaced by others; what else it keeps is taken to be public. A problem that wraps another one wraps a blinded
    one.
    """
    kind = type(problem)
    answers: dict[str, Callable[..., Any]] = {
        "objective_and_gradient": lambda self, X: (made_up.numbers(len(X)), made_up.numbers(*np.shape(X))),
        "objective": lambda self, X: made_up.numbers(len(X)),
        "objective_at": lambda self, points: made_up.numbers(len(points)),
        "gradient": lambda self, X: made_up.numbers(*np.shape(X)),
        "batch_gradient": lambda self, X, rows: made_up.numbers(*np.shape(X)),
        "summed_gradients": lambda self, x, rows: made_up.numbers(len(x)),
        "summed_differences": lambda self, x, y, rows: made_up.numbers(len(x)),
        "summed_products": lambda self, x, v, rows: made_up.numbers(len(x)),
        "sums_within": lambda self, x, rows, clip: (made_up.numbers(len(x)), 0),
        "hessian_products": lambda self, X, V: made_up.numbers(*np.shape(X)),
        "hessian": lambda self, X: made_up.numbers(len(X), np.shape(X)[1], np.shape(X)[1]),
    }
    known = {name: answer for name, answer in answers.items() if hasattr(kind, name)}
    blind: Any = object.__new__(type(kind.__name__, (kind,), known))
    for name, value in _attributes(problem).items():
        object.__setattr__(blind, name, _blinded_attribute(problem, value, made_up))
    return blind


def _blinded_attribute(problem: Any, value: Any, made_up: MadeUp) -> Any:
    if isinstance(value, np.ndarray) and value.ndim and len(value) == problem.records:
        start = getattr(problem, "initial_point", None)
        return value if start is not None and np.array_equal(value, start) else made_up.records(value)
    if isinstance(value, tuple):
        return tuple(_blinded_attribute(problem, each, made_up) for each in value)
    if hasattr(value, "objective_and_gradient") and hasattr(value, "records"):
        return blinded(value, made_up)
    return value


def _attributes(problem: Any) -> dict[str, Any]:
    slots = [name for kind in type(problem).__mro__ for name in _slots(kind)]
    held = {name: getattr(problem, name) for name in slots if hasattr(problem, name)}
    return held | dict(getattr(problem, "__dict__", {}))


def _slots(kind: type) -> tuple[str, ...]:
    named = kind.__dict__.get("__slots__", ())
    names = (named,) if isinstance(named, str) else tuple(named)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))
