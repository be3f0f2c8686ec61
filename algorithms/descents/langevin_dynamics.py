"""DP-GLD: gradient Langevin dynamics, whose own noise is what keeps the data private.

Wang, Chen & Xu 2019, Algorithm 1: w_k = w_{k-1} - η ∇U(w_{k-1}) + √(2η/β) ξ_k with U = F + (λ/2)‖w‖², which is a
gradient step with noise of variance 2/(ηβ) on the gradient. That identity is exact, so that the noise which keeps a
budget fixes η for every inverse temperature β, and the diffusion's time ηT with it. Their Theorem 3 (a power of n for
every non-convex loss) does not hold where the landscape has metastable wells; what does hold under the
Polyak-Łojasiewicz inequality is ``dpbounds/langevin-under-pl``, which is ``bound`` here.

What differs from print: the printed η has c = 1/c₂², half of what its own noise level asks for, so that the variance
is twice as large as needed: ``variant="as-printed"`` of ``calibrated`` does so. Its line 4 has lost the regulariser,
which equation (1) has and which costs no privacy.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from algorithms import secure_noise
from algorithms.iterates import gap_at, squared_norms, uniform_steps
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import GradientOracle, at_least, in_batches
from algorithms.planning import (
    WhichNoise,
    checked_multiplier,
    checked_noise,
    multiplier_of_one,
    relation_of,
    release_of,
    root_above,
)
from algorithms.problems.domain import demand_all_of_space, known
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, positive_integer, to_float
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.dpbounds import langevin_under_pl

WhichOutput = Literal["last", "random"]
Variant = Literal["repaired", "as-printed"]

THEOREMS = {
    "algorithm": "wang-chen-xu-2019/algorithm-1",
    "spent": "wang-chen-xu-2019/theorem-1/explicit",
    "objective": "dpbounds/langevin-under-pl",
}


@dataclass(frozen=True, slots=True, init=False)
class LangevinDynamics:
    """Algorithm 1 of Wang, Chen & Xu 2019, for finite sums on all of R^d.

    Attributes:
        noise_multiplier: Standard deviation on the sum of gradients in units of G, exact; it fixes η, see
            ``step_size_for``.
        steps: T.
        inverse_temperature: β, exact, in units of 1/loss.
        regulariser: λ, exact: U = F + (λ/2)‖w‖².
        output: "last" for w_T (their Theorem 2), "random" for w_j with j uniform on 1..T (their Theorem 3).
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        noise_multiplier: Greater than 0.
        steps: A positive whole number.
        inverse_temperature: Greater than 0.
        regulariser: At least 0.
        output: See above.
        budget: Optional.
        noise: See ``algorithms.secure_noise`` for "secure".

    Raises:
        InvalidValue: A value is not allowed.
    """

    noise_multiplier: Fraction
    steps: int
    inverse_temperature: Fraction
    regulariser: Fraction
    output: WhichOutput
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        noise_multiplier: ExactLike,
        steps: int,
        inverse_temperature: ExactLike,
        regulariser: ExactLike = 0,
        output: WhichOutput = "last",
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        beta = exact(inverse_temperature, "inverse_temperature")
        if beta <= 0:
            raise InvalidValue("inverse_temperature", inverse_temperature, "a number greater than 0")
        object.__setattr__(self, "inverse_temperature", beta)
        object.__setattr__(self, "regulariser", _checked_weight(regulariser))
        if output not in get_args(WhichOutput):
            raise InvalidValue("output", repr(output), " or ".join(get_args(WhichOutput)))
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "noise", checked_noise(noise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        inverse_temperature: ExactLike | None = None,
        regulariser: ExactLike = 0,
        pl_constant: ExactLike | None = None,
        output: WhichOutput = "last",
        noise: WhichNoise = "gaussian",
        variant: Variant = "repaired",
    ) -> LangevinDynamics:
        """Return the algorithm with the smallest proven noise for a budget.

        T Gaussian releases with multiplier z √T are one with multiplier z, so the diffusion's time
        ηT = 2n²/(βz²G²) does not depend on T.

        Args:
            problem: Supplies n, G, L and, where β is to be chosen, the PL constant; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep; should be well below 1/n.
            steps: T, or None for the fewest with η <= 1/(2(L + λ)).
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            inverse_temperature: β, or None for μn²ρ/(G² ln n), ρ = 2/z², which balances the explicit bound.
            regulariser: λ >= 0.
            pl_constant: μ of U, or None for what is known, see ``pl_constant_of``.
            output: "last" or "random".
            noise: "gaussian" or "secure".
            variant: "repaired", or "as-printed" for twice the variance (half the step size) at the same β.

        Raises:
            InvalidValue: A number is not allowed, or β is to be chosen and μ is not known.
        """
        if variant not in get_args(Variant):
            raise InvalidValue("variant", repr(variant), " or ".join(get_args(Variant)))
        budget, weight = PrivacyBudget.of(epsilon, delta, relation), _checked_weight(regulariser)
        single = multiplier_of_one(budget, noise)
        if inverse_temperature is None:
            beta = _balanced_temperature(problem, single, pl_constant_of(problem, weight, pl_constant))
        else:
            beta = exact(inverse_temperature, "inverse_temperature")
        drawn = single * root_above(2) if variant == "as-printed" else single
        once = cls(drawn, 1, beta, weight, output, budget, noise)
        count = once._enough_steps(problem) if steps is None else positive_integer(steps, "steps")
        return cls(drawn * root_above(count), count, beta, weight, output, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants: all iterates together."""
        return release_of(self.noise_multiplier, self.noise, relation_of(self.budget)) ** self.steps

    def step_size_for(self, problem: FiniteSum) -> float:
        """η = 2/(βσ²) as a double, rounded down, σ the standard deviation that is drawn on the mean gradient."""
        return to_float(2 / (self.inverse_temperature * self._drawn(problem) ** 2), "down")

    def bound(self, problem: FiniteSum, pl_constant: ExactLike | None = None) -> Enclosure:
        """Enclose the explicit bound on E U(w) - inf U at the output, for the noise and the step that are really used.

        For "random" it is the mean of the bounds on the single iterates.

        Args:
            problem: Supplies d, L and the bound on the initial gap.
            pl_constant: μ of U, or None for what is known, see ``pl_constant_of``.

        Raises:
            InvalidValue: η is not below 2/(L + λ), or no μ is known: there is no bound.

        Source: ``dpbounds/langevin-under-pl``.
        """
        demand_all_of_space(problem)
        eta, mu = Fraction(self.step_size_for(problem)), pl_constant_of(problem, self.regulariser, pl_constant)
        smoothness = self._smoothness(problem)
        if not evaluate(sympy.Rational(eta) * smoothness, {}) < 2:
            limit = evaluate(2 / smoothness, {}).lower
            raise InvalidValue("step_size", float(eta), f"less than 2/(L + λ) = {limit:.6g}", "use more steps")
        if evaluate(mu / smoothness, {}) > 1:
            raise InvalidValue("pl_constant", str(mu), f"at most L + λ = {smoothness}", "it is no PL constant")
        start = problem.initial_point
        square = sum((Fraction(float(entry)) ** 2 for entry in start), Fraction(0))
        values = {
            symbols.initial_gap: sympy.Rational(gap_at(problem, start) + self.regulariser * square / 2),
            symbols.smoothness: smoothness,
            symbols.step_size: sympy.Rational(eta),
            symbols.pl_constant: mu,
            symbols.inverse_temperature: sympy.Rational(2 / (eta * self._drawn(problem) ** 2)),
            symbols.dimension: sympy.Integer(problem.dimension),
            symbols.steps: sympy.Integer(self.steps),
        }
        return evaluate(bound_expression(self.output).subs(values), {})

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 1 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise; posed on all of R^d.
            seed: Of all streams; repetition r has its own.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost). Not private: U at the output in
            ``measured``, and U, ‖∇U‖² and ‖e‖² along the way in the trace.

        Raises:
            InvalidValue: The problem does not fit, seed or repetitions are not allowed, or the walk diverged (or left
                the ball of a landscape).
            BudgetExceeded: The ledger shows more than was planned.
        """
        demand_all_of_space(problem)
        T, eta, weight = self.steps, self.step_size_for(problem), float(self.regulariser)
        generators = streams(seed, repetitions)
        w = np.tile(problem.initial_point, (len(generators), 1))
        ledger = OpenLedger()
        oracle = GradientOracle(
            problem, self.noise_multiplier, generators, ledger, noise=self.noise, relation=relation_of(self.budget)
        )
        measured = Recorders(("objective", "gradient", "noise"), T, len(generators))

        started = time.perf_counter()
        j = np.full(len(generators), T) if self.output == "last" else uniform_steps(generators, T)
        output = np.empty_like(w)
        # a walk that diverges is refused by the oracle
        with threadpool_limits(limits=1, user_api="blas"), np.errstate(over="ignore", invalid="ignore"):
            for k in range(1, T + 1):
                answer = oracle(w)  # ∇F(w) + e, and -ηe is distributed as √(2η/β) ξ
                measured["objective"].add(answer.objective + weight / 2 * squared_norms(w))
                measured["gradient"].add(squared_norms(answer.exact + weight * w))
                measured["noise"].add(squared_norms(answer.noisy - answer.exact))
                w = w - eta * (answer.noisy + weight * w)
                output[k == j] = w[k == j]
            risk = in_batches(problem, output)[0] + weight / 2 * squared_norms(output)
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="Langevin dynamics",
            output=output,
            output_step=j,
            trace=measured.trace(),
            measured={"objective": risk},
            metric="objective",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_size": eta, "inverse_temperature": float(self.inverse_temperature)},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": accounted - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )

    def _drawn(self, problem: FiniteSum) -> Fraction:
        return Fraction(GradientOracle(problem, self.noise_multiplier, (), OpenLedger()).noise_stddev)

    def _smoothness(self, problem: FiniteSum) -> sympy.Expr:
        return known(problem.smoothness, "smoothness") + sympy.Rational(self.regulariser)

    def _enough_steps(self, problem: FiniteSum) -> int:
        """The fewest T with η <= 1/(2(L + λ)), where this algorithm has one step: the diffusion's time is fixed."""
        duration = 2 / (self.inverse_temperature * self._drawn(problem) ** 2)
        return max(1, math.ceil(2 * duration * at_least(self._smoothness(problem), "smoothness")))


def bound_expression(output: WhichOutput) -> sympy.Expr:
    """The explicit bound on E U(w) - inf U, in the symbols of ``dpbounds/langevin-under-pl``.

    After k steps it is q^k Δ + C; the mean over k = 1, ..., T is Δ (q + ... + q^T)/T + C.
    """
    last = langevin_under_pl.risk()
    if output == "last":
        return last
    rest = last.subs(symbols.initial_gap, 0)
    decay = last.subs({symbols.initial_gap: 1, symbols.steps: 1}) - rest
    T = symbols.steps
    return symbols.initial_gap * decay * (1 - decay**T) / ((1 - decay) * T) + rest


def pl_constant_of(problem: Any, regulariser: ExactLike = 0, given: ExactLike | None = None) -> sympy.Expr:
    """A constant μ > 0 with ‖∇U‖² >= 2μ(U - inf U), U = F + (λ/2)‖w‖².

    - given: as it is (the caller's responsibility)
    - λ > L: λ - L, as U is strongly convex with that modulus
    - λ = 0: that of the problem, if it has one

    Raises:
        InvalidValue: It is not positive, or none is known.
    """
    weight = _checked_weight(regulariser)
    if given is not None:
        number = exact(given, "pl_constant")
        if number <= 0:
            raise InvalidValue("pl_constant", given, "a number greater than 0")
        return sympy.Rational(number)
    convex = sympy.Rational(weight) - known(problem.smoothness, "smoothness")
    if weight and evaluate(convex, {}) > 0:
        return convex
    own = getattr(problem, "pl_constant", None)
    if weight or own is None:
        advice = "give pl_constant, or inverse_temperature; or a regulariser above the smoothness"
        raise InvalidValue("pl_constant", None, "a PL constant of the regularised risk", advice)
    return known(own, "pl_constant")


def _balanced_temperature(problem: FiniteSum, single: Fraction, pl_constant: sympy.Expr) -> Fraction:
    """β = μn²ρ/(G² ln n) with ρ = 2/z², the double below it."""
    if problem.records < 2:
        raise InvalidValue("problem.records", problem.records, "at least 2", "or give inverse_temperature")
    values = {
        symbols.pl_constant: pl_constant,
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
        symbols.rho: sympy.Rational(2 / single**2),
    }
    return Fraction(evaluate(langevin_under_pl.temperature().subs(values), {}).lower)


def _checked_weight(regulariser: ExactLike) -> Fraction:
    weight = exact(regulariser, "regulariser")
    if weight < 0:
        raise InvalidValue("regulariser", regulariser, "a number at least 0")
    return weight
