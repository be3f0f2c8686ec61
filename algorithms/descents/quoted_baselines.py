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
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal, Self, get_args

import sympy

from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent, WhichMapping
from algorithms.ledger import PrivacyBudget
from algorithms.planning import root_above
from algorithms.problems.problem import Problem
from algorithms.run import Run
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy import accountants
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_xu_2019 import theorem_1

Reading = Literal["per-iteration", "times-steps"]

THEOREMS = {
    "figure": "wang-xu-2019/figure-4",
    "zhang": "cited/zhang-et-al-2017/main-result",
    "wang-ye-xu": "cited/wang-ye-xu-2017/main-result",
    "noise": "wang-xu-2019/theorem-1",
    "noisy": "wang-xu-2019/theorem-2/explicit",
}


@dataclass(frozen=True, slots=True)
class QuotedDescent:
    """Gradient descent with somebody's noise, and what that noise is said to keep.

    Attributes:
        descent: What runs; its budget is None where the noise is as quoted and may spend more than is claimed.
        claimed: ε, δ and the relation that the noise is said to keep.
    """

    descent: ProjectedGradientDescent
    claimed: PrivacyBudget

    label: ClassVar[str] = "gradient descent"

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
        """Return the descent with the smallest proven noise for the same promise, see ``ProjectedGradientDescent``."""
        claimed = PrivacyBudget.of(epsilon, delta, relation)
        return cls(
            ProjectedGradientDescent.calibrated(problem, epsilon, delta, steps, relation, step_size=step_size), claimed
        )

    @property
    def budget(self) -> PrivacyBudget | None:
        """What ``run`` holds its ledger against: None where the noise is as quoted."""
        return self.descent.budget

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return self.descent.planned

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

    def bound(self, problem: Problem, mapping: WhichMapping = "noisy") -> Enclosure:
        """Enclose the explicit bound on E‖P(x_R)‖² at this noise: it holds for every noise, private or not."""
        return self.descent.bound(problem, mapping)

    def run(self, problem: Problem, seed: int = 0, repetitions: int = 32) -> Run:
        """Run the descent; see ``ProjectedGradientDescent.run``. ε as claimed and as spent are in ``parameters``."""
        run = self.descent.run(problem, seed, repetitions)
        numbers = {"claimed_epsilon": float(self.claimed.epsilon), "certified_epsilon": self.spent.upper}
        how = "as quoted in Wang & Xu 2019" if self.budget is None else "with calibrated noise"
        return replace(run, algorithm=f"{self.label}, {how}", parameters={**run.parameters, **numbers})


@dataclass(frozen=True, slots=True)
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

        Args:
            epsilon: ε > 0 as claimed, under replace-one.
            delta: δ in (0, 1) as claimed.
            steps: T.
            reading: "per-iteration" for the formula as it stands, "times-steps" with the factor T.
            step_size: γ, or None for 1/(2L).

        Raises:
            InvalidValue: A value is not allowed.
        """
        claimed, count = PrivacyBudget.of(epsilon, delta), positive_integer(steps, "steps")
        if reading not in get_args(Reading):
            raise InvalidValue("reading", repr(reading), " or ".join(get_args(Reading)))
        variance = quoted_variance() * (symbols.steps if reading == "times-steps" else 1)
        return cls(ProjectedGradientDescent(_multiplier(variance, claimed, count), count, step_size), claimed)


@dataclass(frozen=True, slots=True)
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

        Args:
            epsilon: ε > 0 as claimed, under replace-one.
            delta: δ in (0, 1) as claimed.
            steps: T.
            constant: c > 0, or None for that of the moments accountant.
            step_size: γ, or None for 1/(2L).

        Raises:
            InvalidValue: A value is not allowed.
        """
        claimed, count = PrivacyBudget.of(epsilon, delta), positive_integer(steps, "steps")
        if constant is None:
            c: sympy.Expr = moments_constant(claimed)
        else:
            c = sympy.Rational(exact(constant, "constant"))
            if not c > 0:
                raise InvalidValue("constant", constant, "a number greater than 0, or None")
        variance = theorem_1.variance().subs(symbols.noise_constant, c)
        return cls(ProjectedGradientDescent(_multiplier(variance, claimed, count), count, step_size), claimed)


def quoted_variance() -> sympy.Expr:
    """σ² on every coordinate of the mean gradient, as Wang & Xu 2019 quote it from Zhang et al. 2017, times G²."""
    logs = sympy.log(1 / symbols.delta) * sympy.log(symbols.steps / symbols.delta)
    return 32 * symbols.lipschitz**2 * logs / (symbols.dataset_size * symbols.epsilon) ** 2


def moments_constant(claimed: PrivacyBudget) -> sympy.Expr:
    """The least c that the moments accountant gives for full batches, in σ² = c G² T ln(1/δ)/(n²ε²).

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
    """The noise multiplier nσ/G of a variance in the symbols of the table, rounded up."""
    values = {
        symbols.epsilon: sympy.Rational(claimed.epsilon),
        symbols.delta: sympy.Rational(claimed.delta),
        symbols.steps: sympy.Integer(steps),
        symbols.lipschitz: sympy.Integer(1),
        symbols.dataset_size: sympy.Integer(1),
    }
    return root_above(Fraction(evaluate(variance.subs(values), {}).exact_upper))
