"""DP-GLD: gradient Langevin dynamics, whose own noise protects the data.

Wang, Chen & Xu 2019, Algorithm 1: w_k = w_{k-1} - η ∇U(w_{k-1}) + √(2η/β) ξ_k with U = F + (λ/2)‖w‖², which is a
gradient step with noise of variance 2/(ηβ) on the gradient. That identity is exact, so that the noise which keeps a
budget fixes η for every inverse temperature β, and the diffusion's time ηT with it. Their Theorem 3 (a power of n for
every non-convex loss) does not hold where the landscape has metastable wells; what does hold under the
Polyak-Łojasiewicz inequality is ``dpbounds/langevin-under-pl``, which is ``bound`` here.

Differences from the paper: the printed η has c = 1/c₂², half of the value for its own noise level, so that the variance
is twice as large as needed: ``variant="as-printed"`` of ``calibrated`` does so. Its line 4 has lost the regulariser,
which equation (1) has and which costs no privacy.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.guards.plain import PlainStep
from dpbounds.algorithms.iterates import gap_at, no_more_than, no_more_than_range, promised, squared_norms
from dpbounds.algorithms.ledger import PlainDescent, WhichRelease
from dpbounds.algorithms.method import FiniteSum, FullBatchMethod, InvalidValue, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.clipped import smoothness_of_gradients
from dpbounds.algorithms.problems.domain import demand_all_of_space, known, radius_of_domain
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import exact, formatted_float, to_float
from dpbounds.papers.ours import langevin_under_pl
from dpbounds.privacy.mechanisms import Gaussian, LastIterate

WhichOutput = Literal["last", "random"]
Variant = Literal["repaired", "as-printed"]


@frozen(field_transformer=fields.named)
class LangevinDynamics(FullBatchMethod[FiniteSum]):
    """Algorithm 1 of Wang, Chen & Xu 2019, for finite sums on all of R^d.

    ::

        for k = 1, ..., T:
            g = ∇F(w_{k-1}) + e, e from N(0, σ² I): -ηe is distributed as √(2η/β) ξ_k
            w_k = w_{k-1} - η (g + λ w_{k-1})
        return w_T, or w_j with j uniform on 1, ..., T

    Measured: U at the output ("objective"); at every step U, ‖∇U‖² ("gradient") and ‖e‖² ("noise").

    Attributes:
        noise_multiplier: Standard deviation on the sum of gradients in units of G; fixes η, see ``step_size_for``.
        inverse_temperature: β > 0, exact, in units of 1/loss.
        regulariser: λ >= 0, exact: U = F + (λ/2)‖w‖².
        output: "last" for w_T (their Theorem 2), "random" for w_j (their Theorem 3).
    """

    title: ClassVar[str] = "Langevin dynamics"
    metric: ClassVar[str] = "objective"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    inverse_temperature: Fraction = field(converter=fields.positive)
    regulariser: Fraction = field(default=Fraction(0), converter=fields.not_negative)
    output: WhichOutput = field(default="last", validator=fields.one_of(WhichOutput))
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))
    release: WhichRelease = field(default="every-iterate", validator=fields.one_of(WhichRelease))

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
        noise: fields.WhichNoise = "gaussian",
        variant: Variant = "repaired",
        release: WhichRelease = "every-iterate",
    ) -> LangevinDynamics:
        """Plan for a budget, see ``Method``. The diffusion's time ηT = 2n²/(βz²G²) does not depend on T.

        - ``steps`` None: the fewest with η <= 1/(2(L + λ))
        - ``inverse_temperature`` None: μn²ρ/(G² ln n), ρ = 2/z², which balances the explicit bound
        - ``pl_constant``: μ of U, or None for what is known, see ``pl_constant_of``
        - ``variant``: "repaired", or "as-printed" for twice the variance (half the step size) at the same β
        - ``release``: "last-iterate" asks for ``steps``: with λ > L the noise of a step, and so the step size, hardly
          depend on how long a run is, and ηT grows with T
        """
        fields.demand_one_of(variant, Variant, "variant")
        budget, weight = PrivacyBudget.of(epsilon, delta, relation), fields.not_negative(regulariser, "regulariser")
        single = planning.multiplier_of_one(budget)
        if inverse_temperature is None:
            beta = _balanced_temperature(problem, single, pl_constant_of(problem, weight, pl_constant))
        else:
            beta = exact(inverse_temperature, "inverse_temperature")
        if fields.demand_one_of(release, WhichRelease, "release") == "last-iterate":
            count = fields.count(steps, "steps")  # type: ignore[arg-type]
            made = partial(cls, steps=count, inverse_temperature=beta, regulariser=weight, output=output, noise=noise)
            alone = partial(made, release=release)
            return alone(planning.multiplier_within(budget, lambda z: _alone(alone(z), problem)), budget=budget)
        drawn = single * planning.root_above(2) if variant == "as-printed" else single
        once = cls(drawn, 1, beta, weight, output, budget, noise)
        count = once._enough_steps(problem) if steps is None else fields.count(steps, "steps")
        return cls(drawn * planning.root_above(count), count, beta, weight, output, budget, noise)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 1."""
        demand_all_of_space(problem)
        T, eta, weight = self.steps, self.step_size_for(problem), float(self.regulariser)
        gradient = run.gradients(self.noise_multiplier)
        w = run.repeated(problem.initial_point)
        drawn = run.uniform_iterate(T) if self.output == "random" else None
        with np.errstate(over="ignore", invalid="ignore"):  # a walk that diverges is refused by the oracle
            for k in run.steps(T):
                g = gradient(w)
                run.measure(
                    objective=g.objective + weight / 2 * squared_norms(w),
                    gradient=squared_norms(g.exact + weight * w),
                    noise=squared_norms(g.noisy - g.exact),
                )
                w = w - eta * (g.noisy + weight * w)
                if drawn is not None:
                    drawn.visit(k, w)
            output = w if drawn is None else drawn.point
            risk = run.exact(output)[0] + weight / 2 * squared_norms(output)
        return Outcome(
            output,
            output_step=np.full(run.repetitions, T) if drawn is None else drawn.index,
            measured={"objective": risk},
            parameters={"step_size": eta, "inverse_temperature": float(self.inverse_temperature)},
        )

    def step_size_for(self, problem: FiniteSum) -> float:
        """Return η = 2/(βσ²) as a double, rounded down, σ the standard deviation that is drawn on the mean gradient."""
        return to_float(self._time_of_a_step(problem), "down")

    def bound(self, problem: FiniteSum, pl_constant: ExactLike | None = None) -> Enclosure:
        """Enclose the explicit bound on E U(w) - inf U at the output, for the noise and the step that are really used.

        For "random" it is the mean of the bounds on the single iterates. ``pl_constant`` is μ of U, or None for what is
        known, see ``pl_constant_of``.

        Raises:
            InvalidValue: η is not below 2/(L + λ), or no μ is known: there is no bound.

        Source: ``dpbounds/langevin-under-pl``.
        """
        demand_all_of_space(problem)
        eta, mu = Fraction(self.step_size_for(problem)), pl_constant_of(problem, self.regulariser, pl_constant)
        smoothness = self._smoothness(problem)
        if not evaluate(sympy.Rational(eta) * smoothness, {}) < 2:
            limit = formatted_float(evaluate(2 / smoothness, {}).exact_lower, "g", "down")
            raise InvalidValue("step_size", float(eta), f"less than 2/(L + λ) = {limit}", "use more steps")
        if evaluate(mu / smoothness, {}) > 1:
            raise InvalidValue("pl_constant", str(mu), f"at most L + λ = {smoothness}", "it is not a PL constant")
        start = problem.initial_point
        square = sum((Fraction(float(entry)) ** 2 for entry in start), Fraction(0))
        found = promised(
            bound_expression(self.output),
            problem,
            initial_gap=gap_at(problem, start) + self.regulariser * square / 2,
            smoothness=smoothness,
            step_size=eta,
            pl_constant=mu,
            inverse_temperature=2 / (eta * self.noise_stddev(problem) ** 2),
            steps=self.steps,
        )
        return no_more_than(found, problem, "") if self.regulariser else no_more_than_range(found, problem)

    def last_iterate(self, problem: FiniteSum) -> LastIterate:
        """Return the mechanism of a run that publishes w_T, and nothing else; its ledger has it, too.

        With λ > L every step contracts, and a long run forgets: ε stays bounded in T. Else all iterates spend as much.

        Raises:
            InvalidValue: The output is not w_T, the noise is not exactly Gaussian, ηλ > 1, or L holds in a ball only.

        Source: ``last_iterate.md``, sections 1 and 2.
        """
        return self.plain_descent(problem).declared.read(Gaussian(self.noise_multiplier), 1, self.steps, "fixed")

    def plain_descent(self, problem: FiniteSum) -> PlainStep:
        """Return the updates of a run; raises as ``last_iterate``."""
        demand_all_of_space(problem)
        fields.demand_one_of(self.output, Literal["last"], "output")
        fields.demand_one_of(self.noise, Literal["gaussian"], "noise")
        if radius_of_domain(problem) is not None:
            advice = "outside of it two walks may part faster"
            raise InvalidValue("problem", type(problem).__name__, "one whose smoothness holds in all of space", advice)
        eta, weight = Fraction(self.step_size_for(problem)), Fraction(float(self.regulariser))
        declared = PlainDescent(eta * at_least(smoothness_of_gradients(problem), "smoothness"), eta * weight)
        return PlainStep(declared, problem.initial_point, float(eta), float(weight))

    def _time_of_a_step(self, problem: FiniteSum) -> Fraction:
        return 2 / (self.inverse_temperature * self.noise_stddev(problem) ** 2)

    def _smoothness(self, problem: FiniteSum) -> sympy.Expr:
        return known(problem.smoothness, "smoothness") + sympy.Rational(self.regulariser)

    def _enough_steps(self, problem: FiniteSum) -> int:
        """Return the fewest T with η <= 1/(2(L + λ)) for one step; the diffusion's time is fixed."""
        duration = self._time_of_a_step(problem)
        return max(1, math.ceil(2 * duration * at_least(self._smoothness(problem), "smoothness")))


def _alone(langevin: LangevinDynamics, problem: FiniteSum) -> Mechanism:
    """Return the mechanism of the last iterate or (ηλ > 1: less noise than ever suffices) of all iterates."""
    longest = langevin.step_size_for(problem) * float(langevin.regulariser) > 1
    return langevin.planned if longest else langevin.last_iterate(problem)


def bound_expression(output: WhichOutput) -> sympy.Expr:
    """Return the explicit bound on E U(w) - inf U, in the symbols of ``dpbounds/langevin-under-pl``.

    After k steps it is q^k Δ + C; the mean over k = 1, ..., T is Δ (q + ... + q^T)/T + C.
    """
    last = langevin_under_pl.risk
    if output == "last":
        return last
    rest = last.subs(symbols.initial_gap, 0)
    decay = last.subs({symbols.initial_gap: 1, symbols.steps: 1}) - rest
    T = symbols.steps
    return symbols.initial_gap * decay * (1 - decay**T) / ((1 - decay) * T) + rest


def pl_constant_of(problem: Any, regulariser: ExactLike = 0, given: ExactLike | None = None) -> sympy.Expr:
    """Return a constant μ > 0 with ‖∇U‖² >= 2μ(U - inf U), U = F + (λ/2)‖w‖².

    - given: as it is (the caller's responsibility)
    - λ > L: λ - L, as U is strongly convex with that modulus
    - λ = 0: that of the problem, if it has one

    Raises:
        InvalidValue: It is not positive, or none is known.
    """
    weight = fields.not_negative(regulariser, "regulariser")
    if given is not None:
        return sympy.Rational(fields.positive(given, "pl_constant"))
    convex = sympy.Rational(weight) - known(problem.smoothness, "smoothness")
    if weight and evaluate(convex, {}) > 0:
        return convex
    own = getattr(problem, "pl_constant", None)
    if weight or own is None:
        advice = "give pl_constant, or inverse_temperature; or a regulariser above the smoothness"
        raise InvalidValue("pl_constant", None, "a PL constant of the regularised risk", advice)
    return known(own, "pl_constant")


def _balanced_temperature(problem: FiniteSum, single: Fraction, pl_constant: sympy.Expr) -> Fraction:
    """Return β = μn²ρ/(G² ln n) with ρ = 2/z², the double below it."""
    if problem.records < 2:
        raise InvalidValue("problem.records", problem.records, "at least 2", "or give inverse_temperature")
    rho = 2 / single**2
    return Fraction(promised(langevin_under_pl.temperature, problem, pl_constant=pl_constant, rho=rho).lower)
