"""The free parameters of a bound at which it is small, within limits: found in floating point, proven elsewhere.

Nothing rests on the search. The result is rounded, and the plan evaluates the statement at the rounded parameters, with
every condition checked; a poor search costs utility and never truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sympy import And, Expr, Function, Ge, Gt, Le, Lt, Max, Min, Symbol, ceiling, erfc, floor, lambdify, log
from sympy.logic.boolalg import Boolean, BooleanTrue

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import Domain, Quantity, Unit, by_name, rho, steps as step_count
from dpbounds.rates.growth import Prescriptions
from dpbounds.rates.promises import prescriptions
from dpbounds.theorems.record import REAL, Theorem

_Array: TypeAlias = NDArray[np.float64]
_ROOM = 1e-6  # relative, that every condition is kept away from its boundary: parameters are rounded afterwards
_FEWEST_DIGITS, _MOST_DIGITS = 4, 17  # significant, of a parameter
_POINTS, _STARTS = 2000, 3
_FEW_AXES, _MORE_POINTS = 4, 20_000  # where there are more axes, descents end early more often,
_STARTS_PER_AXIS = 3
_WIDE = 14.0  # powers of e around the natural scale of a quantity, where a search begins
_FARTHEST = 230.0  # and where it ends: beyond, floating point does not reach
_NEAR_AN_END = 0.5  # distance from an end of an axis, beyond which the best value may lie
_GAIN = 1e-4  # gain in the logarithm of the goal for which a search goes on beyond an end
_STEP = 1e-6  # step of a derivative, in logarithms
_HUGE = 10**101
_NOWHERE = 1e3  # the logarithm of a bound that is not defined


@dataclass(frozen=True, slots=True)
class Axis:
    """One free parameter, as a function of a coordinate that the search moves.

    Attributes:
        low: The least coordinate at which it is looked for.
        value: From coordinates to values: a power of e, or a logistic curve between two ends.
        most: The largest value of what is a whole number, at least 1; 0 for others.
        below: Whether there are values below that of ``low``, of which the logarithm is as fine as elsewhere.
        above: The same for ``high``.
        domain: The exact domain of the values: a value that is rounded to few digits may fall on an end.
    """

    low: float
    high: float
    value: Callable[[_Array], _Array]
    most: int = 0
    below: bool = False
    above: bool = False
    domain: Domain = REAL

    @property
    def whole(self) -> bool:
        """Whether it counts something."""
        return self.most > 0

    def presses(self, coordinate: float) -> bool:
        """Return whether the best may lie beyond an end: the coordinate is near one that is open, or further out."""
        below, above = coordinate < self.low + _NEAR_AN_END, coordinate > self.high - _NEAR_AN_END
        return (self.below and below) or (self.above and above)

    def around(self, coordinate: float) -> Axis:
        """Return the axis with the coordinate in its middle, as far as its ends are open."""
        low = max(-_FARTHEST, coordinate - _WIDE) if self.below else self.low
        high = min(_FARTHEST, coordinate + _WIDE) if self.above else self.high
        return replace(self, low=low, high=max(high, low + _WIDE))


@dataclass(frozen=True, slots=True)
class Search:
    """The goal of a minimisation, and its parameters.

    Attributes:
        of_values: From values (a row for each parameter) to the logarithm of what is made small and, for each
            condition, by how much it holds, relative to its sides.
    """

    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    of_values: Callable[[_Array], tuple[_Array, _Array]]

    def measure(self, points: _Array) -> tuple[_Array, _Array]:
        """Return the same of coordinates, one point a row."""
        return self.of_values(np.array([axis.value(each) for axis, each in zip(self.axes, points.T, strict=True)]))

    def presses(self, point: _Array) -> bool:
        """Return whether the best value may lie beyond the searched range."""
        return any(axis.presses(float(each)) for axis, each in zip(self.axes, point, strict=True))

    def around(self, point: _Array) -> Search:
        """Return the search with a point in its middle."""
        return replace(self, axes=tuple(axis.around(float(each)) for axis, each in zip(self.axes, point, strict=True)))


@dataclass(frozen=True, slots=True)
class Tuned:
    """Parameters that were found.

    Attributes:
        values: Rounded: exact.
        point: The coordinates, where another search may begin.
    """

    values: dict[str, Fraction]
    point: tuple[float, ...]


def freedom(theorem: Theorem, symbols: set[Symbol], given: Mapping[str, Any]) -> tuple[Symbol, ...]:
    """Return the free quantities on which some symbols depend, after all prescriptions."""
    declared = [one for one in theorem.free if one.name not in given]
    if not declared:
        return ()
    prescribed = _without(prescriptions(theorem), {*given, *(one.name for one in declared)})
    seen: set[Symbol] = set()
    pending = set(symbols)
    while pending:
        seen |= pending
        pending = {found for one in pending if one in prescribed for found in prescribed[one].free_symbols} - seen
    return tuple(one for one in declared if one in seen)


def inlined(theorem: Theorem, formula: Expr, given: Mapping[str, Any]) -> Expr:
    """Return a formula in given and free quantities, with all prescriptions inserted."""
    return _inlined(formula, _without(prescriptions(theorem), {*given, *(one.name for one in theorem.free)}))


def search(
    theorem: Theorem,
    goal: Expr,
    conditions: Sequence[Boolean | bool],
    free: tuple[Symbol, ...],
    values: Mapping[str, Fraction],
    most_steps: int | None,
) -> Search:
    """Return the search for given numbers.

    Args:
        theorem: The statement, for what it prescribes.
        goal: The quantity to minimise.
        conditions: The conditions.
        free: The free quantities.
        values: Numbers for all else.
        most_steps: The largest number of steps.

    Raises:
        InvalidValue: A number is missing, or out of range.
    """
    names = tuple(one.name for one in free)
    fixed = frozenset(values) - set(names)
    arguments, function, constraints = _compiled(theorem, goal, tuple(conditions), free, fixed)
    missing = [name for name in arguments if name not in fixed and name not in names]
    if missing:
        raise InvalidValue(", ".join(missing), "no value", "a value for each")
    for name, value in values.items():
        if value and not Fraction(1, _HUGE) < abs(value) < _HUGE:
            raise InvalidValue(name, value, "within the range of floating point where parameters are chosen")
    known = {name: float(values[name]) for name in arguments if name in fixed}
    axes = tuple(_axis(_record(theorem, one), values, most_steps if one == step_count else None) for one in free)

    def measure(chosen: _Array) -> tuple[_Array, _Array]:
        numbers = {**known, **dict(zip(names, chosen, strict=True))}
        with np.errstate(all="ignore"):
            found = function(*(numbers[name] for name in arguments))
        table = np.empty((1 + constraints, chosen.shape[1]))
        for row, each in zip(table, found, strict=True):
            row[:] = each
        size = np.where(np.isfinite(table[0]), table[0], _NOWHERE)
        return size, np.where(np.isfinite(table[1:]), table[1:], -1.0)

    return Search(names, axes, measure)


def tuned(where: Search, near: Sequence[float] | None = None) -> Tuned | None:
    """Return the parameters at which the goal is least, as far as the search finds them; None where none satisfies all.

    Args:
        where: The searched ranges.
        near: A further starting point; by default only the best of many points in the allowed range.
    """
    if near is not None and where.presses(np.array(near)):
        where = where.around(np.array(near))
    starts = _scattered(where)
    if near is not None:
        starts = np.array([near, starts[0]])
    best = _least(where, starts)
    if best is None:
        return None
    where, best = _followed(where, best)
    whole = [i for i, axis in enumerate(where.axes) if axis.whole]
    rounded = []
    for ends in product(*(_neighbours(where.axes[i], best[i]) for i in whole)):
        start = best.copy()
        start[whole] = [math.log(end) for end in ends]
        settled = best if np.array_equal(start, best) else _descend(where, start, tuple(whole))
        rounded += [] if settled is None else [settled]
    if not rounded:
        return None
    point = min(rounded, key=lambda one: _size(where, one))
    return Tuned(dict(zip(where.names, _rounded(where, point), strict=True)), tuple(map(float, point)))


def likely_rho(guess: Expr, values: Mapping[str, Fraction]) -> float:
    """Return the ρ of ``Privacy.guess``, in floating point."""
    arguments = sorted(guess.free_symbols, key=str)
    found: float = lambdify(arguments, guess, modules="math")(*(float(values[one.name]) for one in arguments))
    return found


# --- The search -------------------------------------------------------------------------------------------------------


def _scattered(where: Search) -> _Array:
    """Return the best of random points, those first that satisfy all; the same ones each time."""
    low, high = (np.array([getattr(axis, end) for axis in where.axes]) for end in ("low", "high"))
    whole = [axis.whole for axis in where.axes]
    few = len(low) <= _FEW_AXES
    points_drawn, starts = (_POINTS, _STARTS) if few else (_MORE_POINTS, _STARTS_PER_AXIS * len(low))
    drawn = np.random.default_rng(0).random((points_drawn, len(low)))
    central = (1 + (2 * drawn - 1) ** 3) / 2  # more around natural scales, and the middle of intervals
    points = low + (high - low) * np.where(whole, drawn, central)
    points[::2, whole] = high[whole]  # as many steps as are allowed: often the best
    size, holds = where.measure(points)
    violated = np.minimum(holds - _ROOM, 0).sum(axis=0) if len(holds) else np.zeros(len(points))
    order = np.lexsort((size, -violated))
    best: _Array = points[order[:starts]]
    return best


def _least(where: Search, starts: _Array) -> _Array | None:
    """Return the best local minimum from several starts; None where each of them violates a condition."""
    found = [one for start in starts if (one := _descend(where, start, ())) is not None]
    return min(found, key=lambda one: _size(where, one), default=None)


def _followed(where: Search, best: _Array) -> tuple[Search, _Array]:
    """Search anew around a minimum near an end of the search interval, as long as that gains."""
    while where.presses(best):
        wider = where.around(best)
        further = _least(wider, np.vstack([best, _scattered(wider)]))
        if further is None or _size(wider, further) > _size(where, best) - _GAIN:
            break
        where, best = wider, further
    return where, best


def _descend(where: Search, start: _Array, kept: tuple[int, ...]) -> _Array | None:
    """Return a local minimum, with some coordinates kept; None where a condition is violated."""
    from scipy.optimize import minimize

    moved = [i for i in range(len(start)) if i not in kept]
    steps = np.zeros((1 + len(moved), len(start)))
    for row, i in enumerate(moved, 1):
        steps[row, i] = _STEP
    seen: dict[bytes, tuple[_Array, _Array]] = {}

    def at(point: _Array) -> tuple[_Array, _Array]:
        """Goal and conditions, there and a step further along each coordinate."""
        key = point.tobytes()
        if key not in seen:
            seen.clear()
            full = start.copy()
            full[moved] = point
            signs = np.where(full + _STEP > [axis.high for axis in where.axes], -1.0, 1.0)
            size, holds = where.measure(full + steps * signs)
            seen[key] = np.vstack([size, holds]), signs[moved] * _STEP
        return seen[key]

    def slopes(point: _Array) -> _Array:
        table, step = at(point)
        difference: _Array = (table[:, 1:] - table[:, :1]) / step
        return difference

    best = start.copy()
    if moved:
        limits = [(where.axes[i].low, where.axes[i].high) for i in moved]
        room = {
            "type": "ineq",
            "fun": lambda point: at(point)[0][1:, 0] - _ROOM,
            "jac": lambda point: slopes(point)[1:],
        }
        done = minimize(
            lambda point: at(point)[0][0, 0],
            start[moved],
            jac=lambda point: slopes(point)[0],
            method="SLSQP",
            bounds=limits,
            constraints=[room] if len(where.measure(start[None])[1]) else [],
            options={"maxiter": 40, "ftol": 1e-10},
        )
        best[moved] = np.clip(done.x, *np.array(limits).T)
    back = best + np.concatenate(([0.0], np.geomspace(1e-9, 1, 64)))[:, None] * (start - best)  # to where all holds
    size, holds = where.measure(back)
    size = np.where((holds > _ROOM / 2).all(axis=0), size, _NOWHERE)
    least = int(np.argmin(size))
    return back[least] if size[least] < _NOWHERE else None


def _size(where: Search, point: _Array) -> float:
    return float(where.measure(point[None])[0][0])


def _neighbours(axis: Axis, coordinate: float) -> tuple[int, ...]:
    """Return the whole numbers around a value."""
    value = math.exp(coordinate)
    ends = {max(1, math.floor(value * (1 + 1e-9))), math.ceil(value * (1 - 1e-9))}
    return tuple(sorted({min(end, axis.most) for end in ends}))


def _rounded(where: Search, point: _Array) -> list[Fraction]:
    """The values with as few digits as keep their domains, lose a millionth of the goal and half a condition's room."""
    exact = [float(axis.value(np.array(each))) for axis, each in zip(where.axes, point, strict=True)]
    best = _size(where, point)
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        values = [
            Fraction(min(round(each), axis.most)) if axis.whole else Fraction(f"{each:.{digits}g}")
            for axis, each in zip(where.axes, exact, strict=True)
        ]
        if not all(axis.domain.contains(value) for axis, value in zip(where.axes, values, strict=True)):
            continue
        size, holds = where.of_values(np.array(values, dtype=float)[:, None])
        if size[0] <= best + _ROOM and (holds > _ROOM / 4).all():
            break
    return values


# --- What is searched -------------------------------------------------------------------------------------------------


def _record(theorem: Theorem, symbol: Symbol) -> Quantity:
    return next((one for one in theorem.local if one.symbol == symbol), None) or by_name()[symbol.name]


def _axis(record: Quantity, values: Mapping[str, Fraction], most: int | None) -> Axis:
    domain = record.domain
    if domain.whole:
        most = most or math.floor(math.exp(_WIDE))
        return Axis(0.0, math.log(most), np.exp, most, domain=domain)
    if domain.upper is not None:
        low, high = float(domain.lower or 0), float(domain.upper)
        # near its upper bound floating point is coarse; near a lower bound that is not 0, too
        return Axis(
            -_WIDE, _WIDE, lambda point: low + (high - low) / (1 + np.exp(-point)), below=low == 0, domain=domain
        )
    scale = _natural(record.unit, values)
    return Axis(-_WIDE, _WIDE, lambda point: scale * np.exp(point), below=True, above=True, domain=domain)


def _natural(unit: Unit, values: Mapping[str, Fraction]) -> float:
    """The number of that unit which the problem's own constants suggest: measured otherwise, it scales as they do."""
    constants = []
    for name, size in values.items():
        record = by_name().get(name)
        if record is not None and size > 0 and not record.unit.samples:
            powers = (float(record.unit.exponent("loss")), float(record.unit.exponent("length")))
            constants += [(*powers, math.log(size))] if any(powers) else []
    loss, length = _bases(tuple(sorted(constants)))
    scale = float(unit.exponent("loss")) * loss + float(unit.exponent("length")) * length
    return math.exp(min(600.0, max(-600.0, scale)))


@cache
def _bases(constants: tuple[tuple[float, float, float], ...]) -> tuple[float, float]:
    """Logarithms of a loss and of a length, by least squares of constants' powers of them and logarithms."""
    if not constants:
        return 0.0, 0.0
    table = np.array(constants)
    loss, length = np.linalg.lstsq(table[:, :2], table[:, 2], rcond=None)[0]
    return float(loss), float(length)


def _without(prescribed: Prescriptions, names: set[str]) -> Prescriptions:
    return {symbol: formula for symbol, formula in prescribed.items() if symbol.name not in names}


@cache
def _compiled(
    theorem: Theorem,
    goal: Expr,
    conditions: tuple[Boolean | bool, ...],
    free: tuple[Symbol, ...],
    fixed: frozenset[str],
) -> tuple[tuple[str, ...], Callable[..., list[Any]], int]:
    """Return the names of its arguments, the function for NumPy, and the number of conditions on free parameters."""
    guess = theorem.privacy.guess if theorem.privacy is not None else None
    likely = {} if guess is None else {rho: guess}
    own = {symbol: _uncompared(formula) for symbol, formula in {**prescriptions(theorem), **likely}.items()}
    prescribed = _without(own, {*fixed, *(one.name for one in free)})
    inner = _inlined(_uncompared(goal), prescribed)
    gaps = []
    for condition in conditions:
        for less, more in _sides(condition):
            if {less, more} & prescribed.keys():  # what is prescribed is prescribed so that it holds
                continue
            small, large = (_inlined(_uncompared(each), prescribed) for each in (less, more))
            if set(free) & (small.free_symbols | large.free_symbols):
                gaps.append((large - small) / (_SIZE(large) + _SIZE(small)))
    arguments = sorted(set().union(inner.free_symbols, *(gap.free_symbols for gap in gaps)), key=str)
    compiled = lambdify(
        arguments,
        [_smooth(one, free) for one in (log(inner), *gaps)],
        modules=[_BROADCAST, "scipy" if any(one.has(erfc) for one in (inner, *gaps)) else "numpy"],
        cse=True,
    )
    return tuple(one.name for one in arguments), compiled, len(gaps)


# SymPy would compare the sides of the first two, and of an absolute value it would ask whether what is inside is real
_LEAST, _LARGEST, _SIZE = Function("least"), Function("largest"), Function("size")
_BROADCAST = {
    "size": np.abs,
    "least": lambda *sides: reduce(np.minimum, sides),
    "largest": lambda *sides: reduce(np.maximum, sides),
}


def _uncompared(formula: Expr) -> Expr:
    """Rename Min and Max, whose sides SymPy compares at every substitution."""
    return formula.replace(Min, _LEAST).replace(Max, _LARGEST)


def _inlined(formula: Expr, prescribed: Prescriptions) -> Expr:
    """Return the formula with the prescriptions put in."""
    while inner := {symbol: prescribed[symbol] for symbol in formula.free_symbols if symbol in prescribed}:
        formula = formula.xreplace(inner)
    return formula


def _smooth(formula: Expr, free: tuple[Symbol, ...]) -> Expr:
    """Without the jumps of rounding, which a search cannot see across; never less where more costs more."""

    def moves(node: Any) -> bool:
        return isinstance(node, floor | ceiling) and bool(node.free_symbols & set(free))

    return formula.replace(moves, lambda node: node.args[0] + (1 if isinstance(node, ceiling) else 0))


def _sides(condition: Boolean | bool) -> Iterator[tuple[Expr, Expr]]:
    """Pairs whose first must not be above the second."""
    match condition:
        case And():
            for one in condition.args:
                yield from _sides(one)
        case Le() | Lt():
            yield condition.args
        case Ge() | Gt():
            yield condition.args[1], condition.args[0]
        case BooleanTrue() | True:
            return
        case _:
            raise InvalidValue("condition", condition, "a comparison: parameters are searched within it")
