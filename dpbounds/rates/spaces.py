"""Logarithmic axes on which orders of growth are compared: the quantities that grow, and their relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from sympy import Ge, Le, Symbol
from sympy.core.relational import Relational

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import (
    QUANTITIES,
    dataset_size,
    delta,
    dimension,
    epsilon,
    gaussian_width,
    rank,
    rho,
)
from dpbounds.rates.cones import Cone, Vector, primitive
from dpbounds.rates.orders import LOG_DELTA, LOGARITHMS, Monomial, Order
from dpbounds.theorems.lettering import letter

Form = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """Axes, and the inequalities that hold everywhere.

    Attributes:
        axes: The free quantities; a point holds their logarithms.
        at_least_one: Monomials that are at least 1 throughout: n, d, 1/ε, n/rank, ...
        tied: Quantities that are a monomial of the axes: ε = d^(-1/4). All others are constants.
    """

    axes: tuple[Symbol, ...]
    at_least_one: tuple[Monomial, ...]
    tied: tuple[tuple[Symbol, Monomial], ...] = ()

    def form(self, monomial: Monomial) -> Form:
        """Return the linear form that the logarithm of a monomial is; logarithms and constants count as 1.

        Raises:
            InvalidValue: A power of δ outside a logarithm: no growth of δ is assumed here.
        """
        if monomial.exponent(delta):
            raise InvalidValue("order", monomial, "δ inside logarithms only")
        tied = dict(self.tied)
        whole = monomial.without((*tied, *(one for one in LOGARITHMS if one not in self.axes)))
        for symbol, value in self.tied:
            whole = whole * value ** monomial.exponent(symbol)
        return tuple(whole.exponent(axis) for axis in self.axes)

    def value(self, order: Order, point: Sequence[Fraction | int]) -> Fraction:
        """Return the logarithm of an order at a point: a maximum of minima of linear forms."""
        return max(
            min(sum((a * b for a, b in zip(self.form(one), point, strict=True)), Fraction(0)) for one in term)
            for term in order.terms
        )

    @property
    def whole(self) -> Cone:
        """All points."""
        cone = Cone.where([self.form(one) for one in self.at_least_one])
        if cone is None:
            raise InvalidValue("space", self.axes, "conditions that leave room")
        return cone

    def inequality(self, normal: Vector) -> str:
        """<normal, logarithms> >= 0 in the quantities themselves.

        >>> standard().inequality((1, -1, 1))
        'n ε >= d'
        """
        left, sign, right = self._sides(normal)
        return f"{in_letters(left)} {'>=' if sign > 0 else '<='} {in_letters(right)}"

    def relation(self, normal: Vector) -> Relational:
        """Return the same as a formula."""
        left, sign, right = self._sides(normal)
        return (Ge if sign > 0 else Le)(left.expression, right.expression)

    def _sides(self, normal: Vector) -> tuple[Monomial, int, Monomial]:
        sign = 1 if next(entry for entry in normal if entry) > 0 else -1
        powers = dict(zip(self.axes, (sign * entry for entry in normal), strict=True))
        left = Monomial.of({axis: power for axis, power in powers.items() if power > 0})
        right = Monomial.of({axis: -power for axis, power in powers.items() if power < 0})
        if len({power for _, power in left.powers}) == 1:
            power = left.powers[0][1]
            left, right = left ** (1 / power), right ** (1 / power)
        return left, sign, right

    def reduced(self, monomial: Monomial) -> Monomial:
        """Return the order in the axes alone: tied quantities replaced, constants and logarithms dropped."""
        return Monomial.of(dict(zip(self.axes, self.form(monomial), strict=True)))

    def inequalities(self, cone: Cone) -> tuple[str, ...]:
        """Return the inequalities of a cone, without those that hold everywhere."""
        return tuple(map(self.inequality, self.facets(cone)))

    def facets(self, cone: Cone) -> tuple[Vector, ...]:
        """Return the normals of a cone's inequalities, without those that hold everywhere."""
        known = {primitive(self.form(one)) for one in self.at_least_one}
        return tuple(sorted(cone.facets - known, reverse=True))


_LETTERS = {record.name: letter(record.latex) for record in QUANTITIES} | {
    "log": "log",
    "log_1_delta": "log(1/δ)",
    "log_1_zeta": "log(1/ζ)",
}


def in_letters(monomial: Monomial) -> str:
    """Return a monomial in the papers' letters, in one line.

    >>> in_letters(Monomial.of({dimension: Fraction(1, 2), dataset_size: -1, epsilon: -1}))
    '√d/(n ε)'
    """
    over = [_factor(symbol, power) for symbol, power in monomial.by_sign() if power > 0]
    under = [_factor(symbol, -power) for symbol, power in monomial.by_sign() if power < 0]
    top = " ".join(over) or "1"
    if not under:
        return top
    return f"{top}/{under[0]}" if len(under) == 1 else f"{top}/({' '.join(under)})"


def _factor(symbol: Symbol, power: Fraction) -> str:
    letter = _LETTERS.get(symbol.name) or symbol.name
    if power == 1:
        return letter
    if power == Fraction(1, 2):
        return f"√{letter}"
    return f"{letter}^{power}" if power.denominator == 1 else f"{letter}^({power})"


def _space(axes: Sequence[Symbol], *at_least_one: Mapping[Symbol, int], tied_epsilon: Monomial | None = None) -> Space:
    """Return a space in which ρ follows from ε, and ε may be tied, too.

    ρ = ε²/log(1/δ), up to a constant, is what (ε, δ)-DP with ε <= log(1/δ) asks of zCDP (Bun & Steinke 2016).
    """
    power = tied_epsilon or Monomial.of({epsilon: 1})
    tied = () if tied_epsilon is None else ((epsilon, tied_epsilon),)
    budget = (rho, power**2 * Monomial.of({LOG_DELTA: -1}))
    return Space(tuple(axes), tuple(map(Monomial.of, at_least_one)), (*tied, budget))


@cache
def standard() -> Space:
    """Return the space of n, d and ε: n and d at least 1, ε at most 1."""
    return _space((dataset_size, dimension, epsilon), {dataset_size: 1}, {dimension: 1}, {epsilon: -1})


@cache
def with_delta() -> Space:
    """The space of n, d, ε and log 1/δ, which is at least 1 and at most n: beyond that δ is below every probability."""
    least = ({dimension: 1}, {epsilon: -1}, {LOG_DELTA: 1}, {dataset_size: 1, LOG_DELTA: -1})
    return _space((dataset_size, dimension, epsilon, LOG_DELTA), *least)


def at_epsilon(power: Fraction | int) -> Space:
    """Return the plane of n and d, with ε = d^(-power).

    >>> at_epsilon(0).axes
    (dataset_size, dimension)
    """
    if power < 0:
        raise InvalidValue("power", power, "at least 0: ε is at most 1")
    value = Monomial.of({dimension: -Fraction(power)})
    return _space((dataset_size, dimension), {dataset_size: 1}, {dimension: 1}, tied_epsilon=value)


@cache
def with_rank() -> Space:
    """Return the space of n, d, ε and the rank of the features, which is at most n and at most d."""
    least = ({epsilon: -1}, {rank: 1}, {dataset_size: 1, rank: -1}, {dimension: 1, rank: -1})
    return _space((dataset_size, dimension, epsilon, rank), *least)


@cache
def with_width() -> Space:
    """Return the space of n, d, ε and the Gaussian width of a set of unit radius: between 1 and √d, up to constants."""
    least = ({dataset_size: 1}, {epsilon: -1}, {gaussian_width: 1}, {dimension: 1, gaussian_width: -2})
    return _space((dataset_size, dimension, epsilon, gaussian_width), *least)
