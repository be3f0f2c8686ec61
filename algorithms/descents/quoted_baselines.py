"""Baselines of Wang & Xu 2019's experiments: gradient descent with the noise of two other papers, *as quoted there*.

Both run the descent of ``projected_gradient_descent`` and differ in the noise only; nothing here is a statement about
the two papers themselves, whose own algorithms were not compared.

- ``ZhangEtAl2017``: σ² = 32 ln(1/δ) ln(T/δ)/(n²ε²) "in each iteration", for gradients of norm at most 1. As it stands
  it has no factor T, and T full-batch steps spend more than they promise from some hundred steps on
  (``wang-xu-2019/figure-4``). With the factor T, the other reading, it keeps its promise with much to spare.
- ``WangYeXu2017``: σ² = c G² T ln(1/δ)/(n²ε²) (``wang-xu-2019/theorem-1``) with c unstated, and "determined by the
  approach in Abadi et al. 2016": the moments accountant, which for full batches is a formula.

Beside each stands what its noise really spends, certified, and ``calibrated``: the same descent with the smallest noise
that is proven to keep the same promise.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal, Self

import sympy
from attrs import frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.method import Method, OpenRun, Outcome
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.wang_xu_2019 import theorem_1
from dpbounds.privacy.accountants import certified as accountants

Reading = Literal["per-iteration", "times-steps"]


@frozen
class QuotedDescent(Method[Problem]):
    """Gradient descent with the noise quoted for another paper, and the ε that this noise is claimed to satisfy.

    Attributes:
        descent: The descent; its budget is None if the noise is as quoted and may spend more than is claimed.
        claimed: ε, δ and the relation that the noise is said to keep.
    """

    label: ClassVar[str] = "gradient descent"
    metric: ClassVar[str] = ProjectedGradientDescent.metric

    descent: ProjectedGradientDescent
    claimed: PrivacyBudget

    @classmethod
    def calibrated(
        cls,
        problem: Problem,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_size: float | None = None,
    ) -> Self:
        """Return the descent with the smallest proven noise for the same claim, see ``ProjectedGradientDescent``."""
        made = ProjectedGradientDescent.calibrated(problem, epsilon, delta, steps, relation, step_size=step_size)
        assert made.budget is not None
        return cls(made, made.budget)

    @property
    def budget(self) -> PrivacyBudget | None:
        """Return the budget that ``run`` compares its ledger with: None where the noise is as quoted."""
        return self.descent.budget

    @property
    def steps(self) -> int:
        """T."""
        return self.descent.steps

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return self.descent.planned

    def walk(self, problem: Problem, run: OpenRun) -> Outcome:
        """Return the descent's own."""
        made = self.descent.walk(problem, run)
        numbers = {"claimed_epsilon": float(self.claimed.epsilon), "certified_epsilon": self.spent.upper}
        how = "as quoted in Wang & Xu 2019" if self.budget is None else "with calibrated noise"
        return replace(made, title=f"{self.label}, {how}", parameters={**made.parameters, **numbers})

    @property
    def noise_multiplier(self) -> Fraction:
        """Standard deviation on the sum of gradients in units of G."""
        return self.descent.noise_multiplier

    @property
    def spent(self) -> Enclosure:
        """The ε that the noise really spends at the δ and under the relation that are claimed, certified."""
        return accountants.epsilon(self.planned, delta=self.claimed.delta, relation=self.claimed.relation)

    @property
    def spent_delta(self) -> Enclosure:
        """The δ that the noise really spends at the ε that is claimed, certified."""
        return accountants.delta(self.planned, self.claimed.epsilon, relation=self.claimed.relation)

    def bound(self, problem: Problem, mapping: fields.WhichMapping = "noisy") -> Enclosure:
        """Enclose the explicit bound on E‖P(x_R)‖² at this noise: it holds for every noise, private or not."""
        return self.descent.bound(problem, mapping)


@frozen
class ZhangEtAl2017(QuotedDescent):
    """Gradient descent with the noise that Wang & Xu 2019 quote from Zhang, Zheng, Mou & Wang 2017."""

    label: ClassVar[str] = "gradient descent with the noise of Zhang et al. 2017"

    @classmethod
    def quoted(
        cls,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-3",
        steps: int = 200,
        reading: Reading = "per-iteration",
        step_size: float | None = None,
    ) -> Self:
        """Return the baseline as quoted, scaled by G.

        - ``epsilon``, ``delta``: as claimed, under replace-one
        - ``reading``: "per-iteration" for the formula as it stands, "times-steps" with the factor T
        """
        claimed, count = PrivacyBudget.of(epsilon, delta), fields.count(steps, "steps")
        fields.demand_one_of(reading, Reading, "reading")
        variance = quoted_variance() * (symbols.steps if reading == "times-steps" else 1)
        return cls(ProjectedGradientDescent(_multiplier(variance, claimed, count), count, step_size), claimed)


@frozen
class WangYeXu2017(QuotedDescent):
    """Gradient descent with the noise that Wang & Xu 2019 quote from Wang, Ye & Xu 2017."""

    label: ClassVar[str] = "gradient descent with the noise of Wang, Ye & Xu 2017"

    @classmethod
    def quoted(
        cls,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-3",
        steps: int = 200,
        constant: ExactLike | None = None,
        step_size: float | None = None,
    ) -> Self:
        """Return the baseline as quoted.

        - ``epsilon``, ``delta``: as claimed, under replace-one
        - ``constant``: c > 0, or None for that of the moments accountant
        """
        claimed, count = PrivacyBudget.of(epsilon, delta), fields.count(steps, "steps")
        c = moments_constant(claimed) if constant is None else sympy.Rational(fields.positive(constant, "constant"))
        variance = theorem_1.variance.subs(symbols.noise_constant, c)
        return cls(ProjectedGradientDescent(_multiplier(variance, claimed, count), count, step_size), claimed)


def quoted_variance() -> sympy.Expr:
    """Return σ² of Zhang et al. 2017 on the mean gradient's coordinates, as Wang & Xu 2019 quote it, times G²."""
    logs = sympy.log(1 / symbols.delta) * sympy.log(symbols.steps / symbols.delta)
    return 32 * symbols.lipschitz**2 * logs / (symbols.dataset_size * symbols.epsilon) ** 2


def moments_constant(claimed: PrivacyBudget) -> sympy.Expr:
    """Return the least c that the moments accountant gives for full batches, in σ² = c G² T ln(1/δ)/(n²ε²).

    The log moment of order λ of T releases is Tλ(λ+1)/(2z²) times the square of how many G neighbours lie apart, 4
    under replace-one, and δ is at most exp(that - λε): so z² = 2Tλ(λ+1)/(λε - ln(1/δ)) suffices, for the best whole
    λ > ln(1/δ)/ε. As a real number the best λ is (l + √(l² + lε))/ε with l = ln(1/δ), one of whose neighbours is best
    among whole numbers, as the quotient falls before it and grows behind.

    Source: Abadi et al. 2016, Theorem 2, at sampling rate 1.
    """
    factor, epsilon = Fraction(claimed.relation.sensitivity_factor) ** 2 / 2, sympy.Rational(claimed.epsilon)
    size = sympy.log(1 / sympy.Rational(claimed.delta))

    def at(order: int) -> sympy.Expr:
        surplus = order * epsilon - size
        return sympy.Rational(factor) * order * (order + 1) * epsilon**2 / (surplus * size)

    best = evaluate((size + sympy.sqrt(size**2 + size * epsilon)) / epsilon, {}).lower
    orders = [order for order in (math.floor(best), math.ceil(best)) if evaluate(order * epsilon - size, {}).lower > 0]
    return min((at(order) for order in orders), key=lambda value: evaluate(value, {}).upper)


def _multiplier(variance: sympy.Expr, claimed: PrivacyBudget, steps: int) -> Fraction:
    """Return the noise multiplier nσ/G of a variance in the symbols of the table, rounded up."""
    ones = {symbols.lipschitz: 1, symbols.dataset_size: 1, symbols.steps: steps}
    values = {symbols.epsilon: sympy.Rational(claimed.epsilon), symbols.delta: sympy.Rational(claimed.delta)}
    return planning.root_above(Fraction(evaluate(variance.subs(ones | values), {}).exact_upper))
