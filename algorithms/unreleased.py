"""Private intermediate values: arithmetic works with them, but no output or query may be computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from dpbounds.errors import BudgetExceeded

T = TypeVar("T")
Q = ParamSpec("Q")

# The form of their answer reveals numbers: of entries that are not 0, or that differ.
_TELLING = {
    *(np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.compress, np.extract, np.trim_zeros),
    *(np.intersect1d, np.setdiff1d, np.union1d, np.setxor1d),
}
_WRITING = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}


class Unreleased(NDArrayOperatorsMixin):
    """An array that was computed from records and not released: for recorders only.

    NumPy's functions and operators take it (NEP 13 and 18), and what they make of it is unreleased again, comparisons
    included; its shape is public. Whatever would let a number out raises ``BudgetExceeded``: as a truth value, as a
    Python number, as an index, as a plain array, written into one. ``run.measure``, ``Outcome.measured`` and the
    private choice ``run.choose`` open it; ``computed`` applies a function that NumPy does not know.

    >>> Unreleased(np.ones(2)) + 1
    Unreleased(shape=(2,))
    """

    __slots__ = ("_values",)
    __hash__ = None  # type: ignore[assignment]  # comparison is elementwise

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Any:
        if method == "__call__" and not named:  # what every step does
            return closed(ufunc(*[each._values if type(each) is Unreleased else each for each in inputs]))
        if method == "at":
            raise _kept("written into an array")
        out = named.pop("out", None)
        if out is not None:
            if not all(isinstance(each, Unreleased) for each in out):
                raise _kept("written into an array")
            named["out"] = tuple(each._values for each in out)
        found = computed(getattr(ufunc, method), *inputs, **named)
        return found if out is None else out[0]

    def __array_function__(self, function: Callable[..., Any], types: Any, inputs: Any, named: Any) -> Any:
        if function in _TELLING:
            raise _kept(f"given to {function.__name__}, as the shape of its answer shows")
        if (named and named.get("out") is not None) or function in _WRITING:
            raise _kept("written into an array")
        return computed(function, *inputs, **named)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise _kept("made a plain array")

    def __bool__(self) -> bool:
        raise _kept("branched on")

    def __float__(self) -> float:
        raise _kept("made a number")

    __int__ = __complex__ = __index__ = __float__

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return map(closed, self._values)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Unreleased) or (isinstance(key, tuple) and any(isinstance(k, Unreleased) for k in key)):
            raise _kept("used as an index")
        return closed(self._values[key])

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype"):
            return getattr(self._values, name)
        if name.startswith("_"):  # and so are not what other libraries ask an array for
            raise AttributeError(name)
        found = getattr(self._values, name)
        return (lambda *args, **named: computed(found, *args, **named)) if callable(found) else closed(found)

    def __repr__(self) -> str:
        return f"Unreleased(shape={self.shape})"


def closed(values: T) -> T:
    """Mark values as unreleased (each of a tuple or a mapping), without changing their static type."""
    kind: Any = type(values)
    found: Any = values
    if kind is np.ndarray:
        found = Unreleased(found)
    elif isinstance(found, tuple):
        found = tuple(map(closed, found))
    elif kind is dict:
        found = {name: closed(value) for name, value in found.items()}
    elif found is not None and kind is not Unreleased:
        found = Unreleased(np.asarray(found))
    same: T = found  # rather than ``cast``, which is a call, at every step of a run
    return same


def opened(values: T) -> T:
    """Return the numbers themselves, also of the items of a list, a tuple or a mapping: for recorders."""
    kind: Any = type(values)
    found: Any = values
    if kind is Unreleased:
        found = found._values
    elif kind is list or kind is tuple:
        found = kind(map(opened, found))
    elif kind is dict:
        found = {name: opened(value) for name, value in found.items()}
    same: T = found
    return same


def computed(function: Callable[Q, T], *args: Q.args, **named: Q.kwargs) -> T:
    """Return the result of a function of unreleased values, unreleased again; itself it gets the numbers."""
    found = function(*map(opened, args), **opened(named)) if named else function(*map(opened, args))  # type: ignore
    return closed(found)


def demand_released(what: str, *values: object) -> None:
    """Raise ``BudgetExceeded`` where one of the values was not released."""
    for value in values:
        if type(value) is Unreleased:
            raise _kept(f"part of {what}")


def _kept(use: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"an exact value of the records was {use}: only noisy answers may steer a run; measure it, or ask an oracle"
    )
