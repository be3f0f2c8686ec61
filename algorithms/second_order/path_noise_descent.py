"""DP-PN: noise along the path. Gradients cost privacy in proportion to the path; where they are small, Hessians follow.

The theorem is this library's own, ``dpbounds/second-order-path-noise``. It proves what Ganesh, Liu, Oh & Thakurta 2023
claim of Stochastic Spider: their proof that it leaves saddle points uses a lemma that is false.
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
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, OpenRun, Outcome
from dpbounds.algorithms.oracles.rows import asked
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space, hessian_rank
from dpbounds.algorithms.second_order.guarantees import (
    SecondOrderMethod,
    at_the_smallest,
    constants,
    demand_curvature,
    demand_drop,
    largest_stationarity,
    smallest_eigenvectors,
    value_of,
)
from dpbounds.algorithms.second_order.path_walk import Caps, Found, Rows, walked
from dpbounds.algorithms.second_order.reserved import reserved
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import formatted_float
from dpbounds.papers.ours import searches as searches_symbol, second_order_path_noise as theorem
from dpbounds.privacy.mechanisms import Gaussian

Values = Mapping[sympy.Symbol, sympy.Expr]

_SLACK = Fraction(1, 2**28)  # relative excess of the noise over the planned noise
_DIGITS = 10**5  # parameters are multiples of one over this number
_SHARES = 10**9  # and shares of the budget


@frozen(field_transformer=fields.named)
class PathNoiseDescent(SecondOrderMethod):
    """Descent along gradients whose noise fades with the path, and along noisy negative curvature, on all of R^p.

    ::

        g = ∇F(w) + √V h
        repeat:
            if ‖g‖ > (1 - ω)α:  w' = w - g/L
            else H = ∇²F(w) + symmetric noise (of K at most);
                 if λ_min(H) < -(1 + c)/2 √(ρ_H α), with eigenvector v:
                                w' = w ± s √(α/ρ_H) v, the sign for which <g, ·> <= 0
                 else return w
            if the move does not fit into the path P, return w
            u = L ‖w' - w‖/G;  g = e^{-u} g + [∇F(w') - e^{-u} ∇F(w)] + √(V(1 - e^{-2u})) h;  w = w'

    A point is always returned; ``outputs["found"]`` is True if the search found no more negative curvature there, and
    False if a cap ended the run (T moves, K Hessians, the path). Measured: "failure", 1 if the returned point is not an
    α-SOSP; the exact "gradient_norm" and "curvature" (the smallest eigenvalue) there, and the length of the "path".

    Attributes:
        gradient_multiplier: z of the whole path: as one gradient, standard deviation on the sum in units of G.
        hessian_multiplier: Standard deviation on the sum of Hessians in units of √r L (see ``HessianOracle``).
        steps: T, the largest number of moves.
        searches: K.
        path_length: P, in the unit of a distance.
        stationarity: α > 0, in the unit of a gradient: the target is ‖∇F‖ <= α and λ_min(∇²F) >= -√(ρ_H α).
        failure_probability: ζ in (0, 1) of the guarantee.
        curvature_kept, curvature_length, gradient_error, window: c, s, ω and v of the theorem.
        initial_gap: As for ``Spider``.
    """

    title: ClassVar[str] = "path-noise descent"

    gradient_multiplier: Fraction = field(converter=fields.multiplier)
    hessian_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    searches: int = field(converter=fields.count)
    path_length: Fraction = field(converter=fields.positive)
    stationarity: Fraction = field(converter=fields.positive)
    failure_probability: Fraction = field(default=Fraction(1, 10), converter=fields.share)
    curvature_kept: Fraction = field(default=Fraction(4, 5), converter=fields.share)
    curvature_length: Fraction = field(default=Fraction(5, 4), converter=fields.positive)
    gradient_error: Fraction = field(default=Fraction(1, 10), converter=fields.share)
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
        curvature_kept: ExactLike | None = None,
        curvature_length: ExactLike | None = None,
        gradient_error: ExactLike | None = None,
        window: ExactLike | None = None,
    ) -> PathNoiseDescent:
        """Plan for a budget, see ``Method``: caps and noise of the theorem, at parameters that need few records.

        - ``stationarity`` None: the smallest α that n records are enough for; at most L²/ρ_H
        - ``curvature_kept``, ``curvature_length``, ``gradient_error``, ``window``: c, s, ω and v, all of them; None: a
          search finds them
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        zeta = fields.share(failure_probability, "failure_probability")
        chosen = chosen_parameters(curvature_kept, curvature_length, gradient_error, window)
        single = planning.multiplier_of_one(budget)
        return evolve(cls.of_noise(problem, single, stationarity, zeta, chosen=chosen), budget=budget)

    @classmethod
    def of_noise(
        cls,
        problem: FiniteSum,
        multiplier: Fraction,
        stationarity: ExactLike | None,
        failure_probability: Fraction,
        initial_gap: Fraction | None = None,
        chosen: tuple[Fraction, ...] | None = None,
    ) -> PathNoiseDescent:
        """Return the same where all releases together may be one Gaussian of that noise multiplier."""
        demand_all_of_space(problem)
        known = _known(problem, initial_gap) | {symbols.failure_probability: sympy.Rational(failure_probability)}
        if known[symbols.lipschitz].is_zero:
            raise InvalidValue("problem.lipschitz", 0, "greater than 0", "the clock of a path is L/G")

        def at(alpha: Fraction) -> PathNoiseDescent:
            demand_curvature(alpha, problem)
            values = {**known, symbols.stationarity: sympy.Rational(alpha)}
            public = tuple(float(values[symbol]) for symbol in _PUBLIC)
            own = _parameters(public, _rank(problem)) if chosen is None else chosen
            values |= {symbol: sympy.Rational(value) for symbol, value in zip(_FREE, own, strict=True)}
            demand_drop(values, theorem.drop)
            length = Fraction(value_of(theorem.least_path, values))
            values[theorem.path] = sympy.Rational(length)
            searches = math.floor(evaluate(theorem.least_searches.subs(values), {}).exact_upper)
            values[searches_symbol] = sympy.Integer(searches)
            moves = math.ceil(evaluate(theorem.moves.subs(values), {}).exact_upper)
            gradients, hessians = _accounts(values, _rank(problem))
            share = Fraction(min(round(_SHARES * gradients / (gradients + hessians)) or 1, _SHARES - 1), _SHARES)
            path, single = (
                multiplier * planning.root_above(count / part) for count, part in ((1, share), (searches, 1 - share))
            )
            c, s, w, v = own
            caps = (path, single, moves, searches, length)
            return cls(*caps, alpha, failure_probability, c, s, w, v, initial_gap)

        if stationarity is not None:
            return at(fields.positive(stationarity, "stationarity"))
        return at_the_smallest(at, problem, largest_stationarity(problem))

    @property
    def most_hessians(self) -> int:
        """K."""
        return self.searches

    @property
    def planned(self) -> Mechanism:
        """The largest release of a run as a mechanism: the gradients of a path, and K Hessians."""
        return Gaussian(self.gradient_multiplier) @ Gaussian(self.hessian_multiplier) ** self.searches

    def records_needed(self, problem: FiniteSum) -> Enclosure:
        """Enclose the number of records that the guarantee needs, at the actual noise; n is not used.

        The noise times n is z√(G² + 2GLP) on gradients and z√r L on Hessians of rank r. The guarantee needs that it is
        at most n√V and n s_H, with √V and s_H of the theorem.
        """
        values = self._values(problem)
        G, L, P = (values[symbol] for symbol in (symbols.lipschitz, symbols.smoothness, theorem.path))
        drawn = {
            theorem.gradient_stddev: self.gradient_multiplier * sympy.sqrt(G**2 + 2 * G * L * P),
            theorem.hessian_stddev: self.hessian_multiplier * sympy.sqrt(_rank(problem)) * L,
        }
        gradients, hessians = (
            evaluate((1 + sympy.Rational(_SLACK)) * amount / allowed.subs(values), {})
            for allowed, amount in drawn.items()
        )
        return gradients.larger(hessians)

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability of ``failure``: ζ, where records and caps are enough.

        Raises:
            InvalidValue: There are too few records, or T, K or P is smaller than the theorem's; or α is above L²/ρ_H,
                or a move may lower the risk by less than the theorem says.
        """
        values = self._values(problem)
        demand_curvature(self.stationarity, problem)
        demand_drop(values, theorem.drop)
        least = {
            "path_length": (self.path_length, theorem.least_path),
            "searches": (Fraction(self.searches), theorem.least_searches),
            "steps": (Fraction(self.steps), theorem.moves),
        }
        for name, (planned, formula) in least.items():
            needed = evaluate(formula.subs(values), {})
            if planned < needed.exact_lower:
                allowed = f"at least {formatted_float(needed.exact_upper, 'g', 'up')}"
                raise InvalidValue(name, float(planned), allowed, "the risk may fall until then")
        return super().bound(problem)

    def walk(self, problem: FiniteSum, run: OpenRun, start: Array | None = None) -> Outcome:
        """Run the pseudo-code above, from ``start``, shape (R, p), or the problem's own."""
        values = self._values(problem)
        bent = value_of(theorem.curvature_threshold, values)

        def searching() -> Callable[[Rows, Array], Found]:
            hessians = reserved(run.hessians(self.hessian_multiplier), self.searches)

            def search(flat: Rows, w: Array) -> Found:
                curvature, v = smallest_eigenvectors(asked(hessians, flat, w))
                directions, turns = np.zeros_like(w), flat.copy()
                directions[flat], turns[flat] = v, curvature < bent
                return Found(turns, flat & ~turns, directions)

            return search

        caps = Caps(self.gradient_multiplier, self.path_length, self.steps, self.searches)
        return walked(problem, run, caps, values, searching, start)

    def _values(self, problem: FiniteSum) -> Values:
        demand_all_of_space(problem)
        own = (self.curvature_kept, self.curvature_length, self.gradient_error, self.window)
        return {
            **_known(problem, self.initial_gap),
            symbols.stationarity: sympy.Rational(self.stationarity),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
            **{symbol: sympy.Rational(value) for symbol, value in zip(_FREE, own, strict=True)},
            theorem.path: sympy.Rational(self.path_length),
            searches_symbol: sympy.Integer(self.searches),
        }


# --- what a plan chooses

_FREE = (theorem.c, theorem.s, theorem.w, theorem.window)
_PUBLIC = (
    symbols.lipschitz,
    symbols.smoothness,
    symbols.hessian_lipschitz,
    symbols.initial_gap,
    symbols.dimension,
    symbols.failure_probability,
    symbols.stationarity,
)


def chosen_parameters(*given: ExactLike | None) -> tuple[Fraction, ...] | None:
    """Return c, s, ω and v if they are given, all of them; None if none is."""
    names = ("curvature_kept", "curvature_length", "gradient_error", "window")
    missing = [name for name, value in zip(names, given, strict=True) if value is None]
    if 0 < len(missing) < len(names):
        raise InvalidValue(missing[0], None, "given, as the others are", f"give all of {', '.join(names)}, or none")
    converted = (fields.share, fields.positive, fields.share, fields.positive)
    found = [each(value, name) for each, value, name in zip(converted, given, names, strict=True) if value is not None]
    return tuple(found) or None


def _known(problem: FiniteSum, initial_gap: Fraction | None) -> dict[sympy.Symbol, sympy.Expr]:
    """Return the public constants; with a gap of another start than the problem's own, if there is one."""
    own = {} if initial_gap is None else {symbols.initial_gap: sympy.Rational(initial_gap)}
    return constants(problem) | own


def _rank(problem: FiniteSum) -> int:
    rank = hessian_rank(problem)
    return problem.dimension if rank is None else min(rank, problem.dimension)


def _accounts(values: Values, rank: int) -> tuple[float, float]:
    """Return A_g, and A_h where one record's Hessian has at most that rank."""
    gradients, hessians = (value_of(formula, values) for formula in (theorem.gradients, theorem.hessian_account))
    return gradients, hessians * rank / float(values[symbols.dimension])


@cache
def _objective() -> Callable[..., float]:
    """Return A_g + A_h rank/d at the least P and K, as a function of doubles: the search for parameters lowers it."""
    least = {theorem.path: theorem.least_path, searches_symbol: theorem.least_searches}
    share = sympy.Symbol("rank") / symbols.dimension
    formula = theorem.gradients.subs(least) + share * theorem.hessian_account.subs(least)
    compiled: Callable[..., float] = sympy.lambdify((*_FREE, *_PUBLIC, sympy.Symbol("rank")), formula, "math")
    return compiled


@lru_cache(maxsize=256)
def _parameters(public: tuple[float, ...], rank: int) -> tuple[Fraction, ...]:
    """Return c, s, ω and v with few records, rounded; any of them are sound, so that a search in doubles is enough."""

    def cost(point: Array) -> float:
        c, s, w, v = float(point[0]), float(point[1]), float(point[2]), math.exp(float(point[3]))
        if not (0 < c < 1 and 0 < w <= 0.25 and c * s / 2 - s * s / 6 - w > 1e-3):
            return math.inf
        return math.log(_objective()(c, s, w, v, *public, rank))

    starts = [np.array([c, 1.3, 0.07, -4.5]) for c in (0.72, 0.85)]
    found = min((minimize(cost, start, method="Nelder-Mead") for start in starts), key=lambda one: float(one.fun))
    c, s, w, log_v = (float(each) for each in found.x)
    return tuple(Fraction(round(each * _DIGITS), _DIGITS) for each in (c, s, w, math.exp(log_v)))
