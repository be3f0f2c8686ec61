"""Common parts of the algorithms of this package: constants, curvatures, and required numbers of records."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np
import sympy
from numpy.typing import NDArray

from dpbounds.algorithms.fields import WhichNoise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, Outcome, computed
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, Mechanism
from dpbounds.algorithms.problems.domain import demand_objective, hessian_rank, known
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import formatted_float
from dpbounds.papers.ours import second_order_path_noise as path_noise
from dpbounds.privacy.mechanisms import Gaussian

# Noise is drawn at the planned level rounded up (to a double; √r and irrational constants before that): by less than
# this factor in all. Guarantees are stated for what is drawn.
_ROUNDED_UP = 1 + Fraction(1, 2**38)

# How finely a stationarity is searched for: it is too large by this factor at most.
_RATIO = Fraction(65, 64)

M = TypeVar("M", bound="SecondOrderMethod")

# √(ρ_H α): an α-SOSP has no curvature below minus this.
CURVATURE = sympy.sqrt(symbols.hessian_lipschitz * symbols.stationarity)


def constants(problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
    """Return G, L, ρ_H, Δ_F and d of a problem: all public.

    Raises:
        InvalidValue: One of them is missing; or L or ρ_H is 0: steps are made from 1/L and from 1/ρ_H.
    """
    return {
        symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
        symbols.smoothness: _positive(problem.smoothness, "smoothness"),
        symbols.hessian_lipschitz: _positive(problem.hessian_lipschitz, "hessian_lipschitz"),
        symbols.initial_gap: known(problem.initial_gap, "initial_gap"),
        symbols.dimension: sympy.Integer(problem.dimension),
    }


def _positive(constant: sympy.Expr | None, name: str) -> sympy.Expr:
    found = known(constant, name)
    if found.is_zero:
        advice = "steps are made from its inverse; any positive number above it will do as a constant of the problem"
        raise InvalidValue(f"problem.{name}", 0, "greater than 0", advice)
    return found


def largest_stationarity(problem: FiniteSum) -> Fraction:
    """Return L²/ρ_H: the largest α at which curvature matters."""
    L, bend = at_least(problem.smoothness, "smoothness"), at_least(problem.hessian_lipschitz, "hessian_lipschitz")
    return L**2 / bend


def demand_curvature(alpha: Fraction, problem: FiniteSum) -> None:
    """Raise ``InvalidValue`` where α is above L²/ρ_H: no curvature is too low there."""
    if alpha > (largest := largest_stationarity(problem)):
        advice = "beyond that no curvature is too low: ask for a small gradient only"
        allowed = f"at most L²/ρ_H = {formatted_float(largest, 'g', 'down')}"
        raise InvalidValue("stationarity", float(alpha), allowed, advice)


def demand_drop(values: Mapping[sympy.Symbol, sympy.Expr], drop: sympy.Expr | None = None) -> None:
    """Raise ``InvalidValue`` where a move of a walk with path noise may lower the risk by less than the theorem says.

    A curvature move of length l lowers it by lα times c_s, which has to be positive. A gradient move lowers it by
    lα((1-ω)/2 - ω) at least, and that is no less than lα c_s if ω <= 1/4 (``second_order_path_noise.md``, section 2).

    Args:
        values: The parameters; ω, and those of ``drop``.
        drop: c_s; None for a walk without curvature moves.
    """
    error = values[path_noise.w]
    if error > sympy.Rational(1, 4):
        advice = "a gradient move must lower the risk by as much as the theorem says"
        raise InvalidValue("gradient_error", float(error), "at most 1/4", advice)
    if drop is not None and not evaluate(drop.subs(dict(values)), {}).exact_lower > 0:
        advice = "a curvature move must lower the risk by more than its error may raise it"
        raise InvalidValue("gradient_error", float(error), "less than cs/2 - s²/6", advice)


def value_of(formula: sympy.Expr, values: Mapping[sympy.Symbol, sympy.Expr]) -> float:
    """Return a formula as a double."""
    return evaluate(formula.subs(dict(values)), {}).upper


def steps_of(formula: sympy.Expr, values: Mapping[sympy.Symbol, sympy.Expr]) -> int:
    """Return a number of steps: the larger one where its enclosure leaves a choice."""
    return math.floor(evaluate(formula.subs(dict(values)), {}).exact_upper)


class SecondOrderMethod(Method[FiniteSum]):
    """An algorithm with gradients and Hessians, whose guarantee fails with probability ζ at most.

    How many answers it asks for depends on what they say; the ledger holds the most, from the start.
    """

    __slots__ = ()

    metric: ClassVar[str] = "failure"
    sample_size: ClassVar[sympy.Expr]
    enough_steps: ClassVar[sympy.Expr | None] = None

    gradient_multiplier: Fraction
    hessian_multiplier: Fraction
    failure_probability: Fraction
    noise: WhichNoise

    @property
    def points(self) -> int:
        """T, the largest number of points."""
        return self.steps

    @property
    def most_hessians(self) -> int:
        """The largest number of Hessians."""
        return self.points

    @property
    def planned(self) -> Mechanism:
        """The largest release of a run as a mechanism: gradients at all points, and Hessians."""
        gradient, hessian = (
            Gaussian(multiplier) ** count
            for multiplier, count in (
                (self.gradient_multiplier, self.points),
                (self.hessian_multiplier, self.most_hessians),
            )
        )
        return gradient @ hessian

    @abstractmethod
    def _values(self, problem: FiniteSum) -> Mapping[sympy.Symbol, sympy.Expr]:
        """Return the values for the theorem's formulas; ``InvalidValue`` if the problem does not fit."""

    def records_needed(self, problem: FiniteSum) -> Enclosure:
        """Enclose the number of records that the guarantee needs, at the actual noise; n is not used.

        The theorems set noise 2√(N/ρ) per unit of what a record moves, for N gradients and for N Hessians of rank d. At
        a multiplier z that is ρ = 4N/z²; each multiplier has its own ρ. The larger of two terms is asked for, one for
        gradients, in proportion to G, one for Hessians, in proportion to L: either is what is left when the other
        constant is 0. Records with Hessians of rank r instead of d have √(r/d) of the noise, as if L were smaller by
        that.
        """
        values = self._values(problem)
        rank, p = hessian_rank(problem), problem.dimension
        share = sympy.sqrt(sympy.Rational(p if rank is None else min(rank, p), p))

        def at(multiplier: Fraction, count: int, silenced: dict[sympy.Symbol, sympy.Expr]) -> Enclosure:
            rho = sympy.Rational(4 * count / (multiplier * _ROUNDED_UP) ** 2)
            return evaluate(self.sample_size.subs({**values, **silenced, symbols.rho: rho}), {})

        zero, softer = sympy.Integer(0), values[symbols.smoothness] * share
        return at(self.gradient_multiplier, self.points, {symbols.smoothness: zero}).larger(
            at(self.hessian_multiplier, self.most_hessians, {symbols.lipschitz: zero, symbols.smoothness: softer})
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability of ``failure``: ζ, where the problem has records enough.

        Raises:
            InvalidValue: It has too few, or T is smaller than the theorem's, or gradients are clipped: there is no
                guarantee.
        """
        demand_objective(problem)
        values = self._values(problem)
        if self.enough_steps is not None and self.steps < (least := steps_of(self.enough_steps, values)):
            raise InvalidValue("steps", self.steps, f"at least {least}", "the risk can decrease for that many steps")
        needed = math.ceil(self.records_needed(problem).exact_upper)
        if problem.records < needed:
            raise InvalidValue("records", problem.records, f"at least {needed}", "below that there is no guarantee")
        return Enclosure.exactly(self.failure_probability)

    def _ledger(self) -> OpenLedger:
        return ReservedLedger()


def at_the_smallest(at: Callable[[Fraction], M], problem: FiniteSum, largest: Fraction | None = None) -> M:
    """Return the algorithm of the smallest tolerance, up to a factor of 65/64, for which there are records enough.

    Args:
        at: The algorithm of a tolerance; the records that it needs fall with it.
        problem: Has the records; no tolerance above its G is of use, as no gradient is longer.
        largest: Tolerance to begin with, where ``at`` takes no larger one.

    Raises:
        InvalidValue: There are too few even there.
    """

    def enough(tolerance: Fraction) -> bool:
        return at(tolerance).records_needed(problem).exact_upper <= problem.records

    high = at_least(problem.lipschitz, "lipschitz")
    high = high if largest is None else min(high, largest)
    if not enough(high):
        advice = "there is no guarantee at this budget: take more records"
        raise InvalidValue("records", "too few", f"enough for a tolerance of {float(high):g}", advice)
    while enough(high / 2):
        high /= 2
    low = high / 2
    while high / low > _RATIO:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return at(high)


def smallest_eigenvectors(matrices: Array) -> tuple[Array, Array]:
    """Return the smallest eigenvalue, shape (m,), and a unit eigenvector of it, shape (m, p), of symmetric matrices."""
    values, vectors = np.linalg.eigh(matrices)
    return values[:, 0], vectors[:, :, 0]


def exact_hessians(problem: FiniteSum, X: Array) -> Array:
    """Return ∇²F at every row, unreleased; one at a time, so that none depends on its neighbours."""
    return computed(_hessians, problem, X)


def smallest_where(problem: FiniteSum, X: Array, rows: NDArray[np.bool_]) -> Array:
    """Return the smallest eigenvalue of ∇²F at some rows, -∞ at the others: exact, for ``computed``."""
    found = np.full(len(X), -np.inf)
    found[rows] = smallest_eigenvectors(_hessians(problem, X[rows]))[0]
    return found


def _hessians(problem: FiniteSum, X: Array) -> Array:
    one_each = [problem.hessian(row[None]) for row in X]
    return np.concatenate(one_each) if one_each else np.zeros((0, X.shape[1], X.shape[1]))


def ended(
    points: Array, found: NDArray[np.bool_], looked_at: NDArray[np.int64], measured: Mapping[str, Array], **rest: Any
) -> Outcome:
    """Return the points, and NaN where none was found: an output that cannot be mistaken for a point."""
    return Outcome(
        np.where(found[:, None], points, np.nan),
        outputs={"found": found},
        output_step=np.where(found, looked_at, 0),
        measured=measured,
        **rest,
    )
