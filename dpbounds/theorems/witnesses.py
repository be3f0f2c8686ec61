"""Witnesses: problems that satisfy the assumptions of statements together; none has a constant risk.

A witness is a sum of one-dimensional functions over two coordinates, on R² or on the unit l1 or l2 ball. Every
coordinate w is a rational function of a parameter t, and so is every loss (√(1 + w²) is, with w = (t - 1/t)/2). So
suprema, infima and signs are decided exactly, by counting roots, and each question below, which an ``Assumption`` asks,
is answered by a proof. On a ball they are asked on the square around it, which holds more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property

from sympy.polys.fields import FracElement

from dpbounds.theorems.rational_functions import (
    EVERYWHERE,
    ONE,
    POSITIVE,
    ZERO,
    Interval,
    T,
    after,
    at,
    infimum,
    never_negative,
    number,
    parts,
    roots,
    supremum,
)

DIMENSION = 2


@dataclass(frozen=True, slots=True)
class Chart:
    """A coordinate as a rational function of t on an open interval, where it is increasing."""

    place: FracElement
    interval: Interval


LINE = Chart(T, EVERYWHERE)
HYPERBOLA = Chart((T - 1 / T) / 2, POSITIVE)  # w = sinh(ln t), so that √(1 + w²) = (t + 1/t)/2
SEGMENT = Chart(T, Interval(Fraction(-1), Fraction(1)))


class ParameterSpace(Enum):
    """The space of the parameters."""

    SPACE = "R²"
    CROSS_POLYTOPE = "the unit l1 ball"
    DISC = "the unit l2 ball"


@dataclass(frozen=True)
class Witness:
    """A problem: F(w) = mean over records of Σ_i f_i(w_i), plus Σ_i r(w_i).

    Attributes:
        records: For each record its function of each coordinate, in t.
        regulariser: r, public, in t; not part of any loss.
        centre: The t of a coordinate's minimiser, if it is known exactly.
        labels: For data with features e_i, the labels; the records are then one for each feature and label.
        link: σ of (σ(<w, x>) - y)², in t, if that is the loss.
        robust: ψ of ψ(<w, x> - y), in t, if that is the loss.
    """

    name: str
    domain: ParameterSpace
    chart: Chart
    records: tuple[tuple[FracElement, ...], ...]
    regulariser: FracElement = ZERO
    centre: Fraction | None = None
    labels: tuple[Fraction, ...] = ()
    link: FracElement | None = None
    robust: FracElement | None = None

    # --- the functions

    @cached_property
    def losses(self) -> frozenset[FracElement]:
        """All functions of one coordinate that occur in a loss."""
        return frozenset(one for record in self.records for one in record)

    @cached_property
    def risks(self) -> tuple[FracElement, ...]:
        """F, coordinate by coordinate."""
        count = len(self.records)
        return tuple(sum(each, ZERO) / count + self.regulariser for each in zip(*self.records, strict=True))

    def slope(self, function: FracElement, order: int = 1) -> FracElement:
        """Return a derivative by w."""
        return _slope(function, self.chart.place, order)

    def _largest(self, function: FracElement) -> Fraction | None:
        """Sup |function|, from above; None if it is not bounded."""
        return _of_all(max, (supremum(sign * function, self.chart.interval) for sign in (1, -1)))

    def _all(self, functions: Iterable[FracElement], order: int) -> Fraction | None:
        """Return the largest absolute value of the derivatives of that order."""
        return _of_all(max, (self._largest(self.slope(one, order)) for one in functions))

    def _holds(self, function: FracElement) -> bool:
        return never_negative(function, self.chart.interval)

    # --- constants: finite and proven, or None

    @cached_property
    def partial_bound(self) -> Fraction | None:
        """Bound on |∂_i f(w, z)|."""
        return self._all(self.losses, 1)

    @cached_property
    def lipschitz_square(self) -> Fraction | None:
        """Bound on |∇f(w, z)|²."""
        return self._norm_square(self.records)

    @cached_property
    def field_square(self) -> Fraction | None:
        """Bound on |∇f(w, z) - ∇F(w)|²: the mean of the gradients is a common field."""
        return self._norm_square(
            tuple(
                tuple(one + self.regulariser - mean for one, mean in zip(record, self.risks, strict=True))
                for record in self.records
            )
        )

    @cached_property
    def smoothness(self) -> Fraction | None:
        """Bound on |∇²f(w, z)| and |∇²F(w)|, whose Hessians are diagonal."""
        return self._all([*self.losses, *self.risks], 2)

    @cached_property
    def risk_smoothness(self) -> Fraction | None:
        """Bound on |∇²F(w)|."""
        return self._all(self.risks, 2)

    @cached_property
    def hessian_lipschitz(self) -> Fraction | None:
        """Bound on |∂_i³f(w, z)|."""
        return self._all(self.losses, 3)

    @cached_property
    def loss_range(self) -> Fraction | None:
        """Sup f - inf f over all records and points."""
        largest = self._all(self.losses, 0)
        return None if largest is None else 2 * DIMENSION * largest

    @cached_property
    def infimum(self) -> Fraction | None:
        """A number that F never falls below; exact if there is a centre."""
        if self.has_centre:
            return sum((self._least(risk) for risk in self.risks), Fraction(0))
        return _of_all(sum, (infimum(risk, self.chart.interval) for risk in self.risks))

    @cached_property
    def pl_constant(self) -> Fraction | None:
        """The largest μ (from below) with |∇F|² >= 2μ(F - inf F): the smallest of the coordinates'."""
        return self._inverse_of_largest(lambda slope, gap: 2 * gap / slope**2)

    @cached_property
    def kl_slope(self) -> Fraction | None:
        """The largest s (from below) with |∂_i F|² >= s(F_i - inf F_i)²: KL with k = 1."""
        return self._inverse_of_largest(lambda slope, gap: gap**2 / slope**2)

    @cached_property
    def quasar_convexity(self) -> Fraction | None:
        """The largest q (from below) with <∇F(w), w - w*> >= q(F(w) - inf F)."""
        return self._inverse_of_largest(lambda slope, gap: gap / (slope * self._from_centre))

    @cached_property
    def strong_convexity(self) -> Fraction | None:
        """The smallest second derivative of a coordinate of F, from below."""
        return _of_all(min, (infimum(self.slope(risk, 2), self.chart.interval) for risk in self.risks))

    def _norm_square(self, records: tuple[tuple[FracElement, ...], ...]) -> Fraction | None:
        def square(entries: list[Fraction]) -> Fraction:
            return sum((entry**2 for entry in entries), Fraction(0))

        norms = (_of_all(square, (self._largest(self.slope(one)) for one in record)) for record in records)
        return _of_all(max, norms)

    @property
    def _from_centre(self) -> FracElement:
        return self.chart.place - number(at(self.chart.place, self.centre or 0))

    def _least(self, risk: FracElement) -> Fraction:
        return at(risk, self.centre or 0)

    def _inverse_of_largest(self, ratio: Callable[[FracElement, FracElement], FracElement]) -> Fraction | None:
        if not self.has_centre:
            return None
        found = []
        for risk in self.risks:
            gap = risk - number(self._least(risk))
            end = supremum(ratio(self.slope(risk), gap), self.chart.interval)
            if end is None or end <= 0:
                return None
            found.append(1 / end)
        return min(found)

    # --- what can be asked

    def is_constant(self) -> bool:
        """Return whether F is constant: such a problem is not a witness."""
        return all(self.slope(risk) == 0 for risk in self.risks)

    @cached_property
    def has_centre(self) -> bool:
        """Whether ``centre`` is where every coordinate of F is smallest (and lies in the domain, as 0 does)."""
        return (
            self.centre is not None
            and (at(self.chart.place, self.centre) == 0 or self.domain is ParameterSpace.SPACE)
            and all(self._holds(risk - number(self._least(risk))) for risk in self.risks)
        )

    def has_bounded_range(self) -> bool:
        """F is bounded."""
        return all(self._largest(risk) is not None for risk in self.risks)

    def is_kl(self) -> bool:
        """KL, with k = 2 or k = 1."""
        return self.pl_constant is not None or self.kl_slope is not None

    def is_star_convex(self) -> bool:
        """With q = 1."""
        return self.has_centre and all(
            self._holds(self.slope(risk) * self._from_centre - risk + number(self._least(risk))) for risk in self.risks
        )

    def is_convex(self) -> bool:
        """Every loss is, and has a minimiser of the mean: the first-order inequality holds at one."""
        return self.has_centre and all(self._holds(self.slope(one, 2)) for one in self.losses)

    def is_strongly_convex(self) -> bool:
        """F is."""
        return self.is_convex() and (self.strong_convexity or 0) > 0

    def is_dissipative(self) -> bool:
        """<w, ∇F> >= m|w|² - b, for an m of 1/10."""
        place = self.chart.place
        return all(
            infimum(place * self.slope(risk) - place**2 / 10, self.chart.interval) is not None for risk in self.risks
        )

    def has_strict_saddles_only(self) -> bool:
        """No critical point of a coordinate is degenerate; at a saddle point one coordinate is at its maximum there."""
        pairs = [[parts(self.slope(risk, order))[0] for order in (1, 2)] for risk in self.risks]
        return not any(roots(first.gcd(second), self.chart.interval) for first, second in pairs)

    def is_generalised_linear(self) -> bool:
        """Every loss is a function of one coordinate: of <w, e_i>."""
        return all(sum(1 for one in record if self.slope(one) != 0) <= 1 for record in self.records)

    def is_realisable(self) -> bool:
        """Labels are generated by the parameter 0, with symmetric noise, or with the link's probability."""
        if self.link is not None:
            return set(self.labels) <= {0, 1} and at(self.link, 0) == sum(self.labels) / Fraction(len(self.labels))
        return self.robust is not None and sorted(self.labels) == sorted(-label for label in self.labels)

    def has_monotone_link(self) -> bool:
        """σ and its two derivatives are bounded on [-1, 1], σ' from below by a positive number, features by 1."""
        if self.link is None or self.domain is ParameterSpace.SPACE or not self.is_realisable():
            return False
        bounded = all(self._largest(self.slope(self.link, order)) is not None for order in range(3))
        return bounded and (infimum(self.slope(self.link), self.chart.interval) or 0) > 0

    def is_robust_regression(self) -> bool:
        """ψ' is odd and positive on s > 0, ψ' and ψ'' are bounded, the noise symmetric, h'(0) > 0."""
        if self.robust is None or not self.is_realisable():
            return False
        first, second = (_slope(self.robust, T, order) for order in (1, 2))
        odd = first + after(first, -T) == 0
        bounded = all(supremum(sign * one, EVERYWHERE) is not None for one in (first, second) for sign in (1, -1))
        positive = never_negative(first, POSITIVE) and not roots(parts(first)[0], POSITIVE)
        return odd and bounded and positive and sum(at(second, label) for label in self.labels) > 0

    def restores(self) -> bool:
        """Robust regression with h(s) >= κs for 0 < s <= 2 and some κ > 0."""
        if not self.is_robust_regression():
            return False
        assert self.robust is not None
        pull = sum((after(_slope(self.robust, T, 1), T + number(label)) for label in self.labels), ZERO)
        return (infimum(pull / T, Interval(Fraction(0), Fraction(2))) or 0) > 0

    def is_unconstrained(self) -> bool:
        """R², and no regulariser."""
        return self.domain is ParameterSpace.SPACE and self.regulariser == 0

    def is_everywhere(self) -> bool:
        """R², maybe with a regulariser."""
        return self.domain is ParameterSpace.SPACE

    def is_on_a_bounded_set(self) -> bool:
        """Return a ball: convex, closed, centrally symmetric."""
        return self.domain is not ParameterSpace.SPACE

    def is_on_the_l1_ball(self) -> bool:
        """It is the convex hull of four points."""
        return self.domain is ParameterSpace.CROSS_POLYTOPE

    def is_normalised(self) -> bool:
        """1-Lipschitz on the unit ball."""
        on_the_disc = self.domain is ParameterSpace.DISC
        return on_the_disc and self.lipschitz_square is not None and self.lipschitz_square <= 1

    def has_convex_regulariser(self) -> bool:
        """R is convex (0 is)."""
        return self._holds(self.slope(self.regulariser, 2))

    def has_ridge(self) -> bool:
        """R = λw²/2 with λ > 0, on R²."""
        weight = self.slope(self.regulariser, 2)
        constant = self.slope(weight) == 0
        return self.domain is ParameterSpace.SPACE and constant and at(self.regulariser, 0) == 0 < at(weight, 0)

    def can_be_chosen(self) -> bool:
        """Return True: the assumption is a way to sample, to query or to start, which exists for every problem."""
        return True


def _of_all(join: Callable[[list[Fraction]], Fraction | int], values: Iterable[Fraction | None]) -> Fraction | None:
    """Return the values put together; None if one of them is None."""
    found = list(values)
    known = [value for value in found if value is not None]
    return Fraction(join(known)) if len(known) == len(found) else None


@cache
def _slope(function: FracElement, place: FracElement, order: int) -> FracElement:
    found = function
    for _ in range(order):
        found = found.diff(T) / place.diff(T)
    return found


def _by_feature(functions: tuple[FracElement, ...]) -> tuple[tuple[FracElement, ...], ...]:
    """One record for each feature vector e_i and function: the others' functions are 0."""
    both = range(DIMENSION)
    return tuple(tuple(one if i == j else ZERO for j in both) for one in functions for i in both)


def regression(
    name: str,
    robust: FracElement,
    labels: tuple[int | Fraction, ...],
    domain: ParameterSpace,
    regulariser: FracElement = ZERO,
    centre: Fraction | None = None,
) -> Witness:
    """ψ(<w, e_i> - y) for both features and all labels."""
    known = tuple(Fraction(label) for label in labels)
    records = _by_feature(tuple(after(robust, T - number(label)) for label in known))
    chart = LINE if domain is ParameterSpace.SPACE else SEGMENT
    return Witness(name, domain, chart, records, regulariser, centre, known, robust=robust)


def classification(name: str, link: FracElement, labels: tuple[int, ...], domain: ParameterSpace) -> Witness:
    """(σ(<w, e_i>) - y)² for both features and all labels."""
    known = tuple(Fraction(label) for label in labels)
    records = _by_feature(tuple((link - number(label)) ** 2 for label in known))
    return Witness(name, domain, SEGMENT, records, labels=known, link=link)


def tilted(name: str, risk: FracElement, tilt: Fraction, domain: ParameterSpace) -> Witness:
    """Σ_i φ(w_i) ± <u, w>: the mean is φ, every gradient within |u| of ∇φ."""
    records = tuple(tuple(risk + sign * number(tilt) * T for _ in range(DIMENSION)) for sign in (1, -1))
    chart = LINE if domain is ParameterSpace.SPACE else SEGMENT
    return Witness(name, domain, chart, records, centre=Fraction(0))


_BOWL = T**2 / (1 + T**2)  # bounded, with all its derivatives; not convex
_DENT = T**2 / 2 + 4 * T**2 / (1 + T**2)  # second derivative from -1 to 9, no critical point but 0
_ROOT = (T + 1 / T) / 2
_SIGMOID = ONE / 2 + T / 4 - T**3 / 24

WITNESSES: tuple[Witness, ...] = (
    regression("robust regression in the plane", _BOWL, (Fraction(-1, 2), 0, Fraction(1, 2)), ParameterSpace.SPACE),
    regression("three wells in each coordinate", _BOWL, (-4, 0, 4), ParameterSpace.SPACE),
    regression("robust regression with a ridge", _BOWL, (-2, 0, 2), ParameterSpace.SPACE, T**2 / 20),
    regression("robust regression on the l1 ball", _BOWL, (-1, 0, 1), ParameterSpace.CROSS_POLYTOPE, T**2 / 20),
    regression("short robust regression on the disc", _BOWL / 2, (-1, 0, 1), ParameterSpace.DISC),
    classification("two classes on the l1 ball", _SIGMOID, (0, 1), ParameterSpace.CROSS_POLYTOPE),
    tilted("a dented bowl with tilted records", _DENT, Fraction(1), ParameterSpace.SPACE),
    tilted("a dented bowl on the l1 ball", _DENT, Fraction(1), ParameterSpace.CROSS_POLYTOPE),
    tilted("a quadratic on the l1 ball", T**2 / 2, Fraction(1), ParameterSpace.CROSS_POLYTOPE),
    Witness(
        "hyperbolas of two weights",
        ParameterSpace.SPACE,
        HYPERBOLA,
        tuple((weight * _ROOT,) * DIMENSION for weight in (1, 2)),
        centre=Fraction(1),
    ),
)
