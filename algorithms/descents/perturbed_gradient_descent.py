"""PrGD: perturbed gradient descent on one random record per step, with noise uniform on a ball.

Tholeti & Kalyani 2020, Algorithm 1, with noise of any radius (1 in print, in whatever units the gradients have), or on
the sphere, or Gaussian with the covariance of the ball (σ² = r²/(d+2) in each coordinate), which is what their
Section IV.C compares. All T iterates together are (0, 1 - (1 - τ/N)^T)-private, τ the total variation of two balls
2G apart (``tholeti-kalyani-2020/theorem-1/explicit``, the smallest possible; print adds the steps up). That δ is the
same at every ε: a larger ε buys nothing. On the sphere, sampling alone hides a record: τ = 1 whatever the radius.

What is bounded, in place of their convergence to a local minimum without constants, is the gradient at a uniformly
random iterate: ``tholeti-kalyani-2020/algorithm-1/explicit``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from algorithms.iterates import squared_norms, uniform_steps
from algorithms.ledger import Batch, OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import described, streams
from algorithms.oracles import BatchGradientOracle, at_least, in_batches
from algorithms.planning import checked_multiplier, checked_step_size, multiplier_within, root_above
from algorithms.problems.domain import demand_all_of_space, known
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.ball_noise import BallDescent
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.tholeti_kalyani_2020 import algorithm_1_explicit, theorem_1_explicit

WhichShape = Literal["ball", "sphere", "gaussian"]

THEOREMS = {
    "algorithm": "tholeti-kalyani-2020/algorithm-1",
    "spent": "tholeti-kalyani-2020/theorem-1/explicit",
    "gradient": "tholeti-kalyani-2020/algorithm-1/explicit",
}

_MOST_STEPS = 1 << 40
# Where sampling alone keeps δ, which is above 1/N then, any radius does; the oracle wants one.
_NEXT_TO_NOTHING = Fraction(1, 1 << 20)


@dataclass(frozen=True, slots=True, init=False)
class PerturbedGradientDescent:
    """Algorithm 1 of Tholeti & Kalyani 2020, for finite sums on all of R^d.

    Attributes:
        radius: r in units of G, exact. For "gaussian" the radius of the ball of the same covariance: σ = rG/√(d+2).
        records: N of the problem it is for, public.
        dimension: d of the problem it is for.
        steps: T.
        noise: "ball", "sphere" or "gaussian".
        step_size: η, or None for the best one of the explicit bound.
        budget: What ``run`` holds its ledger against, or None.

    Args:
        radius: Greater than 0.
        records: At least 1.
        dimension: At least 1.
        steps: At least 1.
        noise: See above.
        step_size: Greater than 0, fixed in advance.
        budget: Optional.

    Raises:
        InvalidValue: A value is not allowed.
    """

    radius: Fraction
    records: int
    dimension: int
    steps: int
    noise: WhichShape
    step_size: float | None
    budget: PrivacyBudget | None

    def __init__(
        self,
        radius: ExactLike,
        records: int,
        dimension: int,
        steps: int,
        noise: WhichShape = "ball",
        step_size: float | None = None,
        budget: PrivacyBudget | None = None,
    ) -> None:
        object.__setattr__(self, "radius", checked_multiplier(radius, "radius"))
        for name, value in (("records", records), ("dimension", dimension), ("steps", steps)):
            object.__setattr__(self, name, positive_integer(value, name))
        object.__setattr__(self, "noise", _checked_shape(noise))
        object.__setattr__(self, "step_size", checked_step_size(step_size, "the best one of the bound"))
        object.__setattr__(self, "budget", checked_budget(budget))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        noise: WhichShape = "ball",
        radius: ExactLike = 1,
        step_size: float | None = None,
    ) -> PerturbedGradientDescent:
        """Return the algorithm with the smallest proven noise for a budget.

        - "ball": the smallest radius that keeps (0, δ), hence (ε, δ) for every ε (``BallDescent.radius``)
        - "sphere": no radius helps; T must be small enough for δ by sampling alone
        - "gaussian": the smallest standard deviation by the certified accountant, whose search takes about a minute
          from a few steps on

        Args:
            problem: Supplies N, d, G and L; no record is looked at.
            epsilon: ε > 0 to keep. It matters for "gaussian" only.
            delta: δ in (0, 1) to keep.
            steps: T. None: for "ball" the power of two at which the explicit bound is smallest (1 where Nδ is well
                below 1); for "sphere" the most that δ allows; for "gaussian" it must be given.
            relation: "replace-one" (the paper's), or "add-or-remove-one" (not for "sphere").
            noise: "ball", "sphere" or "gaussian".
            radius: In units of G, for "sphere" only.
            step_size: η, or None for the best one of the bound.

        Raises:
            InvalidValue: A number is not allowed, or sampling alone does not keep δ on the sphere.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        n, d, kind = problem.records, problem.dimension, _checked_shape(noise)
        if kind == "ball":
            count = _best_steps(n, d, budget) if steps is None else positive_integer(steps, "steps")
            amount = _smallest_radius(n, d, count, budget)
        elif kind == "sphere":
            count, amount = _allowed_on_sphere(n, d, steps, budget), checked_multiplier(radius, "radius")
        else:
            if steps is None:
                raise InvalidValue("steps", None, "a number of steps for Gaussian noise")
            count, batch = positive_integer(steps, "steps"), Batch(1, n, replacement=False)
            amount = _smallest_radius(n, d, count, budget)
            if amount > 2 * _NEXT_TO_NOTHING:
                least = multiplier_within(budget, lambda z: batch.sample(Gaussian(z)) ** count)
                amount = least * root_above(d + 2)
        return cls(amount, n, d, count, kind, step_size, budget)

    @classmethod
    def as_printed(cls, problem: FiniteSum, steps: int, step_size: float | None = None) -> PerturbedGradientDescent:
        """Return the algorithm as printed: noise on the ball of radius 1 in the units of the gradients, whatever G."""
        one = Fraction(evaluate(1 / known(problem.lipschitz, "lipschitz"), {}).exact_upper)
        return cls(one, problem.records, problem.dimension, steps, "ball", step_size)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants: all iterates together."""
        if self.noise == "gaussian":
            release: Mechanism = Gaussian(self._multiplier)
        else:
            release = described(self.noise, self.radius, self.dimension)
        return self._batch.sample(release) ** self.steps

    @property
    def spent_delta(self) -> Enclosure:
        """Enclose 1 - (1 - τ/N)^T, the smallest δ of the transcript under replace-one, at every ε; not for "gaussian".

        Raises:
            InvalidValue: The noise is Gaussian: its δ depends on ε, ask an accountant about ``planned``.
        """
        if self.noise == "gaussian":
            raise InvalidValue("noise", self.noise, "'ball' or 'sphere'", "ask for delta(planned, epsilon)")
        return BallDescent(2, self.dimension, self.records, self.steps).delta(
            self.radius if self.noise == "ball" else 1  # two balls of radius Δ/2 do not meet: τ = 1
        )

    @property
    def _batch(self) -> Batch:
        return Batch(1, self.records, replacement=False)

    @property
    def _multiplier(self) -> Fraction:
        """What the oracle draws, per unit of G: the radius, or the standard deviation of equal covariance."""
        return self.radius * root_above(Fraction(1, self.dimension + 2)) if self.noise == "gaussian" else self.radius

    def step_size_for(self, problem: FiniteSum) -> float:
        """η as a double: ``step_size``, or the best one of the explicit bound (public constants only)."""
        if self.step_size is not None:
            return self.step_size
        return evaluate(algorithm_1_explicit.best_step().subs(self._values(problem)), {}).lower

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the mean *square* E‖∇F(w_R)‖², for the noise that is really drawn.

        Raises:
            InvalidValue: The problem does not fit, or lacks a constant.

        Source: ``tholeti-kalyani-2020/algorithm-1/explicit``; noise enters by E‖u‖² alone, so that a sphere or a
        Gaussian counts as the ball with the same.
        """
        values = self._values(problem) | {symbols.step_size: sympy.Rational(Fraction(self.step_size_for(problem)))}
        return evaluate((algorithm_1_explicit.bound() ** 2).subs(values), {})

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 1 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise; with the N and d this algorithm is for, on all of R^d.
            seed: Of all streams; repetition r has its own.
            repetitions: How many.

        Returns:
            The run; ``output`` is w_R with R uniform on 1..T. Not private: ``gradient``, ‖∇F(w_R)‖² over all records,
            and ``objective`` in ``measured``; ``noise``, ‖u_t‖², and ``step``, ‖g_t‖² of the random record, in the
            trace.

        Raises:
            InvalidValue: The problem does not fit, seed or repetitions are not allowed, or the walk diverged (or left
                the ball of a landscape).
            BudgetExceeded: The ledger shows more than was planned.
        """
        self._demand_fit(problem)
        T, eta = self.steps, self.step_size_for(problem)
        generators = streams(seed, repetitions)
        ledger = OpenLedger()
        oracle = BatchGradientOracle(problem, self._batch, self._multiplier, generators, ledger, noise=self.noise)
        measured = Recorders(("step", "noise"), T, len(generators))

        started = time.perf_counter()
        R = uniform_steps(generators, T)
        w = np.tile(problem.initial_point, (len(generators), 1))
        output = np.empty_like(w)
        with threadpool_limits(limits=1, user_api="blas"):
            for t in range(1, T + 1):
                output[t == R] = w[t == R]
                answer = oracle(w)  # ∇f(w_t; z_i) + u_t
                measured["step"].add(squared_norms(answer.exact))
                measured["noise"].add(squared_norms(answer.noisy - answer.exact))
                w = w - eta * answer.noisy
            risk, gradient = in_batches(problem, output)
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="perturbed gradient descent",
            output=output,
            output_step=R,
            trace=measured.trace(),
            measured={"gradient": squared_norms(gradient), "objective": risk.copy()},
            metric="gradient",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_size": eta, "radius": float(self.radius * at_least(problem.lipschitz, "lipschitz"))},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": accounted - walked},
            noise_drawn=f"{self.noise}, in double precision, from a seeded generator: for experiments",
        )

    def _values(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        """The numbers of the explicit bound but for η; the radius is that of the ball with the same E‖u‖²."""
        self._demand_fit(problem)
        oracle = BatchGradientOracle(problem, self._batch, self._multiplier, (), OpenLedger(), noise=self.noise)
        drawn, d = Fraction(oracle.noise_stddev), self.dimension
        square = {"ball": drawn**2, "sphere": drawn**2 * Fraction(d + 2, d), "gaussian": drawn**2 * (d + 2)}[self.noise]
        return {
            symbols.initial_gap: known(problem.initial_gap, "initial_gap"),
            symbols.smoothness: known(problem.smoothness, "smoothness"),
            symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
            symbols.radius: sympy.sqrt(sympy.Rational(square)),
            symbols.dimension: sympy.Integer(d),
            symbols.steps: sympy.Integer(self.steps),
        }

    def _demand_fit(self, problem: FiniteSum) -> None:
        demand_all_of_space(problem)
        for name in ("records", "dimension"):
            if getattr(problem, name) != getattr(self, name):
                allowed = f"{getattr(self, name)}, which the noise was made for"
                raise InvalidValue(f"problem.{name}", getattr(problem, name), allowed)


def _smallest_radius(records: int, dimension: int, steps: int, budget: PrivacyBudget) -> Fraction:
    """The radius in units of G; next to nothing where sampling alone keeps δ.

    Two records' gradients lie 2G apart, under either relation: with one record less, another takes its place. Under
    add-or-remove-one the radius is a millionth larger than it must be: no closed form decides there, and an accountant
    would spend its time on a tie.
    """
    radius = BallDescent(2, dimension, records, steps).radius(budget.delta).value or _NEXT_TO_NOTHING
    return radius if budget.relation is Relation.REPLACE_ONE else radius * (1 + Fraction(1, 1 << 20))


def _best_steps(records: int, dimension: int, budget: PrivacyBudget) -> int:
    """Doubles T as long as the bound at its best step size falls, which is as long as E‖g + u‖²/T does."""

    def size(count: int) -> Fraction:
        noise = _smallest_radius(records, dimension, count, budget) ** 2
        return (1 + noise * Fraction(dimension, dimension + 2)) / count

    count = 1
    while count < _MOST_STEPS and size(2 * count) < size(count):
        count *= 2
    return count


def _allowed_on_sphere(records: int, dimension: int, steps: int | None, budget: PrivacyBudget) -> int:
    if budget.relation is not Relation.REPLACE_ONE:
        raise InvalidValue("relation", str(budget.relation), "'replace-one'", "nothing else is proven for a sphere")
    values = {
        symbols.sensitivity: sympy.Integer(2),
        symbols.radius: sympy.Integer(1),
        symbols.dimension: sympy.Integer(dimension),
        symbols.dataset_size: sympy.Integer(records),
        symbols.delta: sympy.Rational(budget.delta),
    }
    if records == 1:
        raise InvalidValue("problem.records", 1, "at least 2", "with one record the sphere hides nothing")
    most = int(evaluate(theorem_1_explicit.most_steps(), values).exact_lower)
    if most < 1:
        raise InvalidValue("delta", float(budget.delta), f"at least 1/n = {1 / records:g}", "the sphere hides no more")
    count = most if steps is None else positive_integer(steps, "steps")
    if count > most:
        raise InvalidValue("steps", count, f"at most {most}, which delta allows", "no radius of a sphere helps")
    return count


def _checked_shape(noise: WhichShape) -> WhichShape:
    if noise not in get_args(WhichShape):
        raise InvalidValue("noise", repr(noise), " or ".join(get_args(WhichShape)))
    return noise
