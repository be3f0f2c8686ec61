"""DP-PN without Hessians: noise along the path, and negative curvature that noisy power steps find.

The theorem is this library's own, ``dpbounds/second-order-path-noise/iterative``. For hundreds of parameters and more
it asks for fewer records than ``PathNoiseDescent``: for them in proportion to √d instead of d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import sympy
from attrs import evolve, field, frozen
from scipy.optimize import minimize

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.ledger import DescribedRelease
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, OpenRun, Outcome
from dpbounds.algorithms.oracles import choice
from dpbounds.algorithms.oracles.choices import WhichChoice
from dpbounds.algorithms.oracles.rows import asked, of_some
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space
from dpbounds.algorithms.second_order.guarantees import (
    SecondOrderMethod,
    at_the_smallest,
    constants,
    demand_curvature,
    demand_drop,
    largest_stationarity,
    value_of,
)
from dpbounds.algorithms.second_order.path_walk import Caps, Found, Rows, walked
from dpbounds.algorithms.second_order.reserved import ReservedLedger, reserved
from dpbounds.errors import MISSING
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import formatted_float
from dpbounds.papers.ours import (
    searches as searches_symbol,
    second_order_path_noise as full,
    second_order_path_noise_iterative as theorem,
)
from dpbounds.privacy.domination.many_choices import FEWEST, WIDEST, with_reserve
from dpbounds.privacy.mechanisms import ZCDP, Gaussian
from dpbounds.privacy.relations import as_relation

Values = Mapping[sympy.Symbol, sympy.Expr]

_SLACK = Fraction(1, 2**28)  # relative excess of the noise over the planned noise
_DIGITS = 10**7  # parameters are multiples of one over this number,
_SHARES = 10**11  # and shares of the budget of one over this


@frozen(field_transformer=fields.named)
class IterativePathNoise(SecondOrderMethod):
    """``PathNoiseDescent`` without forming a Hessian: its products with a direction are released, or compared.

    ::

        search at w, R times at most, N times in all of a run:
            y ~ N(0, I)
            for k = 1, ..., m:
                y = y/‖y‖;  u_k = -<y, ∇²F(w) y>/L;  y_k = y
                y = y - (∇²F(w) y + noise)/L                      (not for k = m)
            v = y_k with probability in proportion to exp(η u_k)
            if -<v, ∇²F(w) v + noise>/L >= (c + w_2) √(ρ_H α)/L, v is found

    Outputs and measurements are those of ``PathNoiseDescent``. The order of choices and Gaussian releases depends on
    answers; each kind has one noise multiplier, fixed in advance, and a largest number. The m points of a restart are
    kept in memory, so that below some 2000 parameters a Hessian takes less.

    Attributes:
        gradient_multiplier: z of the whole path: as one gradient, standard deviation on the sum in units of G.
        step_multiplier, check_multiplier: Standard deviation on a sum of Hessians times a unit vector, in units of L.
        selection_epsilon: ε of each choice as an exponential mechanism.
        steps: T, the largest number of moves.
        searches: K.
        search_restarts: R, the largest number of restarts of one search.
        restarts: N, the largest number of restarts of all searches.
        power_steps: m.
        path_length: P, in the unit of a distance.
        stationarity: α > 0, in the unit of a gradient: the target is ‖∇F‖ <= α and λ_min(∇²F) >= -√(ρ_H α).
        failure_probability: ζ in (0, 1) of the guarantee.
        curvature_kept, curvature_length, gradient_error, window: c, s, ω and v of the theorem.
        small_ball, overgrowth, power_noise, selection_error, check_error, restart_ratio: x_0, p_3, ν, w_1, w_2, b.
        initial_gap: As for ``Spider``.
        relation: Between neighbours, for choices; the budget's, if there is one.
    """

    title: ClassVar[str] = "path-noise descent without Hessians"

    gradient_multiplier: Fraction = field(converter=fields.multiplier)
    step_multiplier: Fraction = field(converter=fields.multiplier)
    check_multiplier: Fraction = field(converter=fields.multiplier)
    selection_epsilon: Fraction = field(converter=fields.positive)
    steps: int = field(converter=fields.count)
    searches: int = field(converter=fields.count)
    search_restarts: int = field(converter=fields.count)
    restarts: int = field(converter=fields.count)
    power_steps: int = field(converter=fields.count)
    path_length: Fraction = field(converter=fields.positive)
    stationarity: Fraction = field(converter=fields.positive)
    failure_probability: Fraction = field(default=Fraction(1, 10), converter=fields.share)
    curvature_kept: Fraction = field(default=Fraction(37, 50), converter=fields.share)
    curvature_length: Fraction = field(default=Fraction(32, 25), converter=fields.positive)
    gradient_error: Fraction = field(default=Fraction(2, 25), converter=fields.share)
    window: Fraction = field(default=Fraction(1, 150), converter=fields.positive)
    small_ball: Fraction = field(default=Fraction(1, 16), converter=fields.share)
    overgrowth: Fraction = field(default=Fraction(1, 40), converter=fields.share)
    power_noise: Fraction = field(default=Fraction(27, 50), converter=fields.positive)
    selection_error: Fraction = field(default=Fraction(3, 80), converter=fields.share)
    check_error: Fraction = field(default=Fraction(1, 90), converter=fields.share)
    restart_ratio: Fraction = field(default=Fraction(3, 4), converter=fields.share)
    initial_gap: Fraction | None = field(default=None, converter=fields.initial_gap)
    relation: Relation = field(default=Relation.REPLACE_ONE, converter=as_relation, validator=fields.of_the_budget)
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
        searches: int | None = None,
        restarts: int | None = None,
        power_steps: int | None = None,
        curvature_kept: ExactLike | None = None,
        curvature_length: ExactLike | None = None,
        gradient_error: ExactLike | None = None,
        window: ExactLike | None = None,
        small_ball: ExactLike | None = None,
        overgrowth: ExactLike | None = None,
        power_noise: ExactLike | None = None,
        selection_error: ExactLike | None = None,
        check_error: ExactLike | None = None,
        restart_ratio: ExactLike | None = None,
    ) -> IterativePathNoise:
        """Plan for a budget, see ``Method``: caps and noise of the theorem, at parameters that need few records.

        Choices count as Gaussian noise (``many_choices.md``) or, if they are few, by their zCDP.

        - ``stationarity`` None: the smallest α that n records are enough for; at most L²/ρ_H
        - ``searches``, ``restarts``, ``power_steps`` None: K, N and m of the theorem; with fewer the budget buys less
          noise, and no bound applies
        - ``curvature_kept``, ``curvature_length``, ..., ``restart_ratio``: the theorem's free parameters, all of them;
          None: a search finds them
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        chosen = searched_with(
            *(curvature_kept, curvature_length, gradient_error, window, small_ball),
            *(overgrowth, power_noise, selection_error, check_error, restart_ratio),
        )
        made = cls.of_noise(
            problem,
            partial(planning.multiplier_within, budget),
            budget.relation,
            stationarity,
            fields.share(failure_probability, "failure_probability"),
            chosen=chosen,
            most=(searches, power_steps, restarts),
        )
        return evolve(made, budget=budget)

    @classmethod
    def of_noise(
        cls,
        problem: FiniteSum,
        within: Callable[[Callable[[Fraction], Mechanism]], Fraction],
        relation: Relation,
        stationarity: ExactLike | None,
        failure_probability: Fraction,
        initial_gap: Fraction | None = None,
        chosen: tuple[Fraction, ...] | None = None,
        most: tuple[int | None, int | None, int | None] = (None, None, None),
    ) -> IterativePathNoise:
        """Return the same where all releases together may be one of the noise multiplier that ``within`` finds.

        - ``within``: from what is released at a noise multiplier to the smallest multiplier that is allowed
        - ``most``: K, m and N, or None for those of the theorem
        """
        demand_all_of_space(problem)
        own_gap = {} if initial_gap is None else {symbols.initial_gap: sympy.Rational(initial_gap)}
        zeta = failure_probability
        known = constants(problem) | own_gap | {symbols.failure_probability: sympy.Rational(zeta)}
        if known[symbols.lipschitz].is_zero:
            raise InvalidValue("problem.lipschitz", 0, "greater than 0", "the clock of a path is L/G")
        factor, multiplier_within = relation.sensitivity_factor, cache(within)
        concentrated = partial(_concentrated, factor, relation)

        def at(alpha: Fraction) -> IterativePathNoise:
            demand_curvature(alpha, problem)
            values = {**known, symbols.stationarity: sympy.Rational(alpha)}
            public = tuple(float(values[symbol]) for symbol in _PUBLIC)
            free = chosen or tuple(Fraction(round(each * _DIGITS) or 1, _DIGITS) for each in _parameters(public))
            values |= {symbol: sympy.Rational(value) for symbol, value in zip(_FREE, free, strict=True)}
            demand_drop(values, full.drop)
            length = Fraction(value_of(full.least_path, values))
            values[full.path] = sympy.Rational(length)
            caps: dict[sympy.Symbol, int] = {}
            own = dict(zip((searches_symbol, theorem.m, theorem.N), most, strict=True))
            for symbol, formula in (
                (searches_symbol, full.least_searches),
                (theorem.m, theorem.least_power_steps),
                (theorem.R, sympy.Max(2, theorem.least_restarts_of_a_search)),
                (theorem.N, sympy.ceiling(theorem.enough)),
            ):
                least = math.floor(evaluate(formula.subs(values), {}).exact_upper)
                caps[symbol] = least if (cap := own.get(symbol)) is None else fields.count(cap, str(symbol))
                values[symbol] = sympy.Integer(caps[symbol])
            moves = math.ceil(evaluate(full.moves.subs(values), {}).exact_upper)
            K, m, R, N = caps.values()
            parts = _accounts(values)
            shares = [max(1, math.floor(_SHARES * part / sum(parts))) for part in parts]
            shares[0] += _SHARES - sum(shares)
            path, step, check, selection = (Fraction(share, _SHARES) for share in shares)
            single, choices = multiplier_within(Gaussian), with_reserve(N)
            each = 2 * factor / (single * planning.root_above(choices / selection))  # ε²/8 = factor²/(2z²)
            if N < FEWEST or each > WIDEST:
                single, choices = multiplier_within(concentrated), Fraction(N)
            z_path, z_step, z_check, z_choice = (
                single * planning.root_above(count / part)
                for count, part in ((1, path), (N * max(m - 1, 1), step), (N, check), (choices, selection))
            )
            return cls(
                gradient_multiplier=z_path,
                step_multiplier=z_step,
                check_multiplier=z_check,
                selection_epsilon=2 * factor / z_choice,
                steps=moves,
                searches=K,
                search_restarts=R,
                restarts=N,
                power_steps=m,
                path_length=length,
                stationarity=alpha,
                failure_probability=zeta,
                initial_gap=initial_gap,
                relation=relation,
                budget=None,
                **dict(zip(_NAMES, free, strict=True)),
            )

        if stationarity is not None:
            return at(fields.positive(stationarity, "stationarity"))
        return at_the_smallest(at, problem, largest_stationarity(problem))

    @property
    def told(self) -> WhichChoice:
        """Form in which the choices are recorded: as they are if they count as Gaussian noise, else their zCDP."""
        many = self.restarts >= FEWEST and self.selection_epsilon <= WIDEST
        return "exponential" if many else "concentrated"

    @property
    def planned(self) -> Mechanism:
        """Return the most that a run releases: the gradients of a path, power steps, checks and choices."""
        each = choice(self.selection_epsilon, self.relation, self.told)
        last = Gaussian(self.check_multiplier) ** self.restarts @ each**self.restarts
        between = self.restarts * (self.power_steps - 1)
        steps = Gaussian(self.step_multiplier) ** between @ last if between else last
        return Gaussian(self.gradient_multiplier) @ steps

    def records_needed(self, problem: FiniteSum) -> Enclosure:
        """Enclose the number of records that the guarantee needs, at the actual noise; n is not used.

        Times n, the noise is z√(G² + 2GLP) on gradients, z on products over L, and 1/η is 2f/ε, f the factor of the
        relation; they may be √V, s_h, s_c and one over the theorem's η.
        """
        values = self._values(problem)
        G, L, P = (values[symbol] for symbol in (symbols.lipschitz, symbols.smoothness, full.path))
        factor = self.relation.sensitivity_factor
        asks = (
            (self.gradient_multiplier * sympy.sqrt(G**2 + 2 * G * L * P), theorem.gradient_stddev),
            (self.step_multiplier, theorem.step_stddev),
            (self.check_multiplier, theorem.check_stddev),
            (2 * factor / self.selection_epsilon, 1 / theorem.scale),
        )
        found = [
            evaluate((1 + sympy.Rational(_SLACK)) * sympy.sympify(amount) / allowed.subs(values), {})
            for amount, allowed in asks
        ]
        largest = found[0]
        for each in found[1:]:
            largest = largest.larger(each)
        return largest

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability of ``failure``: ζ, where records and caps are enough.

        Raises:
            InvalidValue: There are too few records, or T, K, R, N, m or P is smaller than the theorem's; or α is above
                L²/ρ_H, or the parameters do not fit together.
        """
        values = self._values(problem)
        demand_curvature(self.stationarity, problem)
        demand_drop(values, full.drop)
        for name, formula, advice in (
            ("selection_error", 1 - theorem.kept, "c + w_1 + 2 w_2 must be less than 1: a good direction passes"),
            ("small_ball", 1 - theorem.miss, "a restart must be able to find what is there"),
        ):
            if not evaluate(formula.subs(values), {}).exact_lower > 0:
                raise InvalidValue(name, float(getattr(self, name)), "smaller", advice)
        for name, formula in (
            ("path_length", full.least_path),
            ("searches", full.least_searches),
            ("steps", full.moves),
            ("power_steps", theorem.least_power_steps),
            ("search_restarts", sympy.Max(2, theorem.least_restarts_of_a_search)),
            ("restarts", theorem.enough),
        ):
            needed = evaluate(formula.subs(values), {})
            if getattr(self, name) < needed.exact_lower:
                allowed = f"at least {formatted_float(needed.exact_upper, 'g', 'up')}"
                raise InvalidValue(name, float(getattr(self, name)), allowed, "the worst problem may take as much")
        return super().bound(problem)

    def walk(self, problem: FiniteSum, run: OpenRun, start: Array | None = None) -> Outcome:
        """Run ``PathNoiseDescent`` with the search above, from ``start``, shape (R, p), or the problem's own start."""
        values = self._values(problem)
        return walked(
            problem,
            run,
            Caps(self.gradient_multiplier, self.path_length, self.steps, self.searches),
            values,
            partial(
                _Search, self, run, *(value_of(each, values) for each in (symbols.smoothness, theorem.check_threshold))
            ),
            start,
        )

    def _values(self, problem: FiniteSum) -> Values:
        demand_all_of_space(problem)
        own = {} if self.initial_gap is None else {symbols.initial_gap: sympy.Rational(self.initial_gap)}
        free = (getattr(self, name) for name in _NAMES)
        return {
            **constants(problem),
            **own,
            symbols.stationarity: sympy.Rational(self.stationarity),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
            **{symbol: sympy.Rational(value) for symbol, value in zip(_FREE, free, strict=True)},
            full.path: sympy.Rational(self.path_length),
            searches_symbol: sympy.Integer(self.searches),
            theorem.m: sympy.Integer(self.power_steps),
            theorem.R: sympy.Integer(self.search_restarts),
            theorem.N: sympy.Integer(self.restarts),
        }


class _Search:
    """Looks for negative curvature by noisy power steps, for the repetitions that ask; counts their restarts."""

    def __init__(self, method: IterativePathNoise, run: OpenRun, smoothness: float, threshold: float) -> None:
        assert isinstance(run.ledger, ReservedLedger)
        self._method, self._run, self._ledger = method, run, run.ledger
        self._smoothness, self._threshold = smoothness, threshold
        self._begun = np.zeros(run.repetitions, dtype=np.int64)
        self._steps = run.hessian_products(method.step_multiplier)
        self._checks = reserved(run.hessian_products(method.check_multiplier), method.restarts)
        if method.power_steps > 1:
            self._steps = reserved(self._steps, method.restarts * (method.power_steps - 1))
        each = choice(method.selection_epsilon, method.relation, method.told)
        self._ledger.reserve(DescribedRelease(each, method.restarts))

    def __call__(self, flat: Rows, w: Array) -> Found:
        looking, turns, directions = flat.copy(), np.zeros_like(flat), np.zeros_like(w)
        for _ in range(self._method.search_restarts):
            looking &= ~turns & (self._begun < self._method.restarts)
            if not looking.any():
                break
            self._begun += looking
            v = self._restarted(looking, w)
            bent = -np.einsum("rp,rp->r", v[looking], asked(self._checks, looking, w, v)) / self._smoothness
            turns[looking] = bent >= self._threshold
            directions[turns & looking] = v[turns & looking]
        capped = flat & ~turns & ~looking  # no restart was left before it had made its R
        return Found(turns, flat & ~turns & ~capped, directions)

    def _restarted(self, looking: Rows, w: Array) -> Array:
        """Return one direction for each repetition that looks: the m of a restart, compared."""
        some, at = of_some(self._steps, looking), w[looking]
        y = np.stack([stream.standard_normal(w.shape[1]) for stream in some.generators])
        kept, scores = [], []
        for k in range(self._method.power_steps):
            y = y / np.linalg.norm(y, axis=1)[:, None]
            if k + 1 < self._method.power_steps:
                with self._ledger.asked_by(some.generators):
                    answer = some(at, y)
                exact, following = answer.exact, y - answer.noisy / self._smoothness
            else:
                exact, following = some.exact(at, y), y
            kept.append(y)
            scores.append(-(exact * y).sum(axis=1) / self._smoothness)
            y = following
        # a record's quotient lies in [-1, 1]
        sensitivity = Fraction(self._method.relation.sensitivity_factor, self._run.problem.records)
        with self._ledger.asked_by(some.generators):
            chosen = self._run.choose(
                np.stack(scores, axis=1),
                self._method.selection_epsilon,
                sensitivity,
                self._method.told,
                rows=looking,
            )
        found = np.zeros_like(w)
        found[looking] = np.stack(kept, axis=1)[np.arange(len(chosen)), chosen]
        return found


# --- what a plan chooses


def _concentrated(factor: int, relation: Relation, multiplier: Fraction) -> Mechanism:
    return ZCDP(Fraction(factor**2) / (2 * multiplier**2), relation=relation)


def searched_with(*given: ExactLike | None) -> tuple[Fraction, ...] | None:
    """Return the free parameters, checked; None where none is given."""
    if all(each is None for each in given):
        return None
    missing = [name for name, each in zip(_NAMES, given, strict=True) if each is None]
    if missing:
        raise InvalidValue(", ".join(missing), MISSING, "a value for each", "give all free parameters, or none")
    return tuple(
        (fields.positive if name in _POSITIVE else fields.share)(each, name)
        for name, each in zip(_NAMES, given, strict=True)
        if each is not None
    )


_NAMES = (
    *("curvature_kept", "curvature_length", "gradient_error", "window", "small_ball"),
    *("overgrowth", "power_noise", "selection_error", "check_error", "restart_ratio"),
)
_POSITIVE = ("curvature_length", "window", "power_noise")
_FREE = (
    *(full.c, full.s, full.w, full.window, theorem.small),
    *(theorem.overgrown, theorem.nu, theorem.w_1, theorem.w_2, theorem.b),
)
_PUBLIC = (
    symbols.lipschitz,
    symbols.smoothness,
    symbols.hessian_lipschitz,
    symbols.initial_gap,
    symbols.dimension,
    symbols.failure_probability,
    symbols.stationarity,
)
_SELECTIONS = 2 * theorem.choices * theorem.scale**2
_CHECKED = 2 * theorem.N / theorem.check_stddev**2
_POWERS = 2 * theorem.N * (theorem.m - 1) / theorem.step_stddev**2


class _Accounts(NamedTuple):
    path: float
    steps: float
    checks: float
    choices: float


def _accounts(values: Values) -> _Accounts:
    """Return A_g, and the parts of A_h."""
    return _Accounts(*(value_of(formula, values) for formula in (theorem.gradients, _POWERS, _CHECKED, _SELECTIONS)))


@cache
def _compiled() -> tuple[Callable[..., float], ...]:
    """Return drop, 1 - φ, 1 - p_f, K, m, R, N and A_g + A_h in doubles, as functions of each other."""
    at = (*_FREE, *_PUBLIC)
    shortest = {full.path: full.least_path}
    later = (searches_symbol, theorem.m, theorem.R, theorem.N)
    formulas = (
        *((each, at) for each in (full.drop, 1 - theorem.kept, 1 - theorem.miss)),
        *((each, (*at, *later[:i])) for i, each in enumerate(
            (full.least_searches, theorem.least_power_steps, theorem.least_restarts_of_a_search, theorem.enough)
        )),
        (theorem.gradients + theorem.account, (*at, *later)),
    )  # fmt: skip
    modules = [{"erfc": math.erfc}, "math"]
    return tuple(sympy.lambdify(names, each.subs(shortest), modules) for each, names in formulas)


_STARTS = (
    (0.74, 1.28, 0.08, math.log(0.0066), 0.0635, 0.0273, 0.54, 0.0377, 0.0111, 0.749),
    (0.68, 1.2, 0.057, math.log(0.0030), 0.0900, 0.0300, 0.54, 0.0100, 0.0040, 0.850),
)


@lru_cache(maxsize=256)
def _parameters(public: tuple[float, ...]) -> tuple[float, ...]:
    """Return the free parameters with few records; any of them are sound, so that a search in doubles is enough."""
    drop, passes, finds, *wholes, account = _compiled()

    def cost(point: Array) -> float:
        own = [float(each) for each in point]
        own[3] = math.exp(own[3])
        c, _, w, _, small, overgrown, nu, w_1, w_2, b = own
        inside = min(c, 0.25 - w, w, small, 0.5 - small, overgrown, nu, w_1, w_2, b, 0.999 - b) > 1e-4
        if not inside or min(each(*own, *public) for each in (drop, passes, finds)) < 1e-3:
            return math.inf
        counts: list[float] = []
        for whole, least in zip(wholes, (1, 1, 2, 1), strict=True):
            if len(counts) == len(wholes) - 1 and b ** counts[-1] < 1e-12:  # e^θ would be 1 in doubles
                return math.inf
            counts.append(max(least, math.ceil(whole(*own, *public, *counts))))
        return math.log(account(*own, *public, *counts))

    def lowered(start: Array) -> Any:
        return minimize(cost, start, method="Nelder-Mead", options={"maxiter": 2000, "maxfev": 2000})

    # a simplex that has shrunk on a step of the whole numbers goes on from a fresh one
    found = min((lowered(lowered(np.array(start)).x) for start in _STARTS), key=lambda one: float(one.fun))
    *head, log_window = (float(each) for each in found.x[:4])
    return (*head, math.exp(log_window), *(float(each) for each in found.x[4:]))
