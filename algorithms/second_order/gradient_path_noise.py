"""Noise along the path without searches: from any start to a small gradient, of the records and of what they come from.

The theorem is this library's own, ``dpbounds/population-path-noise``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np
import sympy
from attrs import evolve, field, frozen
from scipy.optimize import minimize

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import norms
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, OpenRun, Outcome
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space, known
from dpbounds.algorithms.second_order.guarantees import SecondOrderMethod, at_the_smallest, demand_drop, value_of
from dpbounds.algorithms.second_order.path_walk import Caps, Found, Rows, along
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import formatted_float
from dpbounds.papers.ours import population_path_noise as theorem
from dpbounds.papers.ours.second_order_path_noise import path, w, window
from dpbounds.privacy.mechanisms import Gaussian

Values = Mapping[sympy.Symbol, sympy.Expr]

_SLACK = Fraction(1, 2**28)  # relative excess of the noise over the planned noise
_DIGITS = 10**5  # parameters are multiples of one over this number


@frozen(field_transformer=fields.named)
class GradientPathNoise(SecondOrderMethod):
    """Descent along gradients whose noise fades with the path, until one is small, on all of R^p.

    ::

        g = ∇F(w) + √V h
        while ‖g‖ > (1 - ω)α:
            w' = w - g/L
            if the move does not fit into the path P, return w
            u = L ‖w' - w‖/G;  g = e^{-u} g + [∇F(w') - e^{-u} ∇F(w)] + √(V(1 - e^{-2u})) h;  w = w'
        return w

    A point is always returned; ``outputs["found"]`` is False where a cap ended the run. Measured: "failure", 1 if the
    gradient of the empirical risk is larger than α at the returned point; the exact "gradient_norm" there, and the
    length of the "path".

    For the population, ‖∇F_P‖ is at most α + u there (u of the theorem), but with twice the failure probability.

    Attributes:
        gradient_multiplier: z of the whole path: as one gradient, standard deviation on the sum in units of G.
        steps: T, the largest number of moves.
        path_length: P, in the unit of a distance.
        stationarity: α > 0, in the unit of a gradient.
        failure_probability: That of the walk, in (0, 1): half of the theorem's ζ.
        gradient_error, window: ω and v of the theorem.
        initial_gap: As for ``Spider``.
    """

    title: ClassVar[str] = "path-noise descent to a small gradient"

    gradient_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    path_length: Fraction = field(converter=fields.positive)
    stationarity: Fraction = field(converter=fields.positive)
    failure_probability: Fraction = field(default=Fraction(1, 10), converter=fields.share)
    gradient_error: Fraction = field(default=Fraction(1, 5), converter=fields.share)
    window: Fraction = field(default=Fraction(1, 50), converter=fields.positive)
    initial_gap: Fraction | None = field(default=None, converter=fields.initial_gap)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        stationarity: ExactLike | None = None,
        failure_probability: ExactLike = "1/10",
        relation: str | Relation = Relation.REPLACE_ONE,
        gradient_error: ExactLike | None = None,
        window: ExactLike | None = None,
        initial_gap: ExactLike | None = None,
    ) -> GradientPathNoise:
        """Plan for a budget, see ``Method``: the path and noise of the theorem, at parameters that need few records.

        - ``stationarity`` None: the smallest α that n records are enough for
        - ``gradient_error``, ``window``: ω and v; None: a search finds them
        - ``initial_gap``: a public bound on F(w_0) - inf F, whatever the records are; None: the problem's
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        zeta = fields.share(failure_probability, "failure_probability")
        z, gap = planning.multiplier_of_one(budget), fields.initial_gap(initial_gap)
        made = cls.of_noise(problem, z, stationarity, zeta, gap, gradient_error, window)
        return evolve(made, budget=budget)

    @classmethod
    def of_noise(
        cls,
        problem: FiniteSum,
        multiplier: Fraction,
        stationarity: ExactLike | None,
        failure_probability: Fraction,
        initial_gap: Fraction | None = None,
        gradient_error: ExactLike | None = None,
        window: ExactLike | None = None,
    ) -> GradientPathNoise:
        """Return the same where all of the path may be one Gaussian release of that noise multiplier."""
        demand_all_of_space(problem)
        public = _constants(problem, initial_gap) | {_ZETA: 2 * sympy.Rational(failure_probability)}
        own = (gradient_error, window)

        def at(alpha: Fraction) -> GradientPathNoise:
            values = {**public, symbols.stationarity: sympy.Rational(alpha)}
            found = _parameters(tuple(float(values[symbol]) for symbol in _PUBLIC))
            free = [each if given is None else given for given, each in zip(own, found, strict=True)]
            error, windows = (kind(each) for kind, each in zip((fields.share, fields.positive), free, strict=True))
            values |= {w: sympy.Rational(error), _WINDOW: sympy.Rational(windows)}
            demand_drop(values)
            length = Fraction(value_of(theorem.least_path, values))
            values[path] = sympy.Rational(length)
            moves = math.ceil(evaluate(theorem.moves.subs(values), {}).exact_upper)
            return cls(multiplier, moves, length, alpha, failure_probability, error, windows, initial_gap)

        if stationarity is not None:
            return at(fields.positive(stationarity, "stationarity"))
        return at_the_smallest(at, problem)

    @property
    def planned(self) -> Mechanism:
        """The gradients of a path."""
        return Gaussian(self.gradient_multiplier)

    def records_needed(self, problem: FiniteSum) -> Enclosure:
        """Enclose the number of records that the guarantee needs, at the actual noise; n is not used.

        Times n, the noise is z√(G² + 2GLP); it may be √V.
        """
        values = self._values(problem)
        G, L, P = (values[symbol] for symbol in (symbols.lipschitz, symbols.smoothness, path))
        drawn = (1 + sympy.Rational(_SLACK)) * self.gradient_multiplier * sympy.sqrt(G**2 + 2 * G * L * P)
        return evaluate(drawn / theorem.gradient_stddev.subs(values), {})

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability of ``failure``, where records and caps are enough.

        Raises:
            InvalidValue: There are too few records, or T or P is smaller than the theorem's; or a move may lower the
                risk by less than the theorem says.
        """
        values = self._values(problem)
        demand_drop(values)
        for name, formula in (("path_length", theorem.least_path), ("steps", theorem.moves)):
            needed, planned = evaluate(formula.subs(values), {}), Fraction(getattr(self, name))
            if planned < needed.exact_lower:
                allowed = f"at least {formatted_float(needed.exact_upper, 'g', 'up')}"
                raise InvalidValue(name, float(planned), allowed, "the risk may fall for so long")
        return super().bound(problem)

    def walk(self, problem: FiniteSum, run: OpenRun, start: Array | None = None) -> Outcome:
        """Run the pseudo-code above, from ``start``, shape (R, p), or the problem's own."""
        values = self._values(problem)

        def searching() -> Callable[[Rows, Array], Found]:
            """Return a search that stops: at a small gradient the walk has ended."""
            return lambda flat, w: Found(np.zeros_like(flat), flat, np.zeros_like(w))

        caps = Caps(self.gradient_multiplier, self.path_length, self.steps, searches=1)
        made = along(problem, run, caps, values, searching, 0.0, start)
        steepness, alpha = norms(run.exact(made.points)[1]), value_of(symbols.stationarity, values)
        return Outcome(
            made.points,
            outputs={"found": made.ended},
            output_step=made.ended_at,
            measured={
                "failure": (steepness > alpha).astype(np.float64),
                "gradient_norm": steepness,
                "path": made.path,
            },
            parameters={"step_size": 1 / value_of(symbols.smoothness, values), "stationarity": alpha},
        )

    def _values(self, problem: FiniteSum) -> Values:
        demand_all_of_space(problem)
        return {
            **_constants(problem, self.initial_gap),
            symbols.stationarity: sympy.Rational(self.stationarity),
            _ZETA: 2 * sympy.Rational(self.failure_probability),
            w: sympy.Rational(self.gradient_error),
            _WINDOW: sympy.Rational(self.window),
            path: sympy.Rational(self.path_length),
        }


# --- what a plan chooses

_ZETA, _WINDOW = symbols.failure_probability, window
_PUBLIC = (
    symbols.lipschitz,
    symbols.smoothness,
    symbols.initial_gap,
    symbols.dimension,
    symbols.failure_probability,
    symbols.stationarity,
)


def _constants(problem: FiniteSum, initial_gap: Fraction | None) -> dict[sympy.Symbol, sympy.Expr]:
    """Return G, L, Δ_F (of another start than the problem's own, if it is given) and d: all public."""
    gap = known(problem.initial_gap, "initial_gap") if initial_gap is None else sympy.Rational(initial_gap)
    found = {
        symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
        symbols.smoothness: known(problem.smoothness, "smoothness"),
        symbols.initial_gap: gap,
        symbols.dimension: sympy.Integer(problem.dimension),
    }
    for name in ("lipschitz", "smoothness"):
        if found[symbols.by_name()[name].symbol].is_zero:
            raise InvalidValue(f"problem.{name}", 0, "greater than 0", "the clock of a path is L/G, a step is 1/L")
    return found


@cache
def _account() -> Callable[..., float]:
    """Return A_g at the least P, in doubles: where to look for parameters."""
    formula = theorem.account.subs(path, theorem.least_path)
    compiled: Callable[..., float] = sympy.lambdify((w, window, *_PUBLIC), formula, "math")
    return compiled


@lru_cache(maxsize=256)
def _parameters(public: tuple[float, ...]) -> tuple[Fraction, Fraction]:
    """Return ω and v with few records, rounded; any of them are sound, so that a search in doubles is enough."""

    def cost(point: Array) -> float:
        error, windows = float(point[0]), math.exp(float(point[1]))
        return math.log(_account()(error, windows, *public)) if 0 < error < 0.25 else math.inf

    found = minimize(cost, np.array([0.2, -4.5]), method="Nelder-Mead").x
    error, windows = (Fraction(round(float(each) * _DIGITS), _DIGITS) for each in (found[0], math.exp(found[1])))
    return error, max(windows, Fraction(1, _DIGITS))
