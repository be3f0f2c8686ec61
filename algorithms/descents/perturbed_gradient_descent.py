"""PrGD: perturbed gradient descent on one random record per step, with noise uniform on a ball.

Tholeti & Kalyani 2020, Algorithm 1, with noise of any radius (1 in the paper, in whatever units the gradients have), or
on the sphere, or Gaussian with the covariance of the ball (σ² = r²/(d+2) in each coordinate), which is what their
Section IV.C compares. All T iterates together are (0, 1 - (1 - τ/N)^T)-private, τ the total variation of two balls 2G
apart (``tholeti-kalyani-2020/theorem-1/explicit``, the smallest possible; the paper adds the steps up). That δ is the
same at every ε: a larger ε buys nothing. On the sphere, sampling alone hides a record: τ = 1 whatever the radius.

The bound concerns the gradient at a uniformly random iterate, in place of the paper's convergence to a local minimum
without constants: ``tholeti-kalyani-2020/algorithm-1/explicit``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal

import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import no_more_than_slope, promised, squared_norms
from dpbounds.algorithms.method import FiniteSum, InvalidValue, Method, OpenRun, Outcome, stddev_of_batches
from dpbounds.algorithms.noise import PSEUDO_RANDOM, described
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space, known
from dpbounds.algorithms.sampling import Batch
from dpbounds.errors import MISSING
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import formatted_float
from dpbounds.papers.tholeti_kalyani_2020 import algorithm_1_explicit, theorem_1_explicit
from dpbounds.privacy.budgets.ball_noise import BallDescent
from dpbounds.privacy.mechanisms import Gaussian

WhichShape = Literal["ball", "sphere", "gaussian"]

_MOST_STEPS = 1 << 40
# Where sampling alone keeps δ, which is above 1/N then, any radius does; the oracle wants one.
_NEXT_TO_NOTHING = Fraction(1, 1 << 20)


@frozen(field_transformer=fields.named)
class PerturbedGradientDescent(Method[FiniteSum]):
    """Algorithm 1 of Tholeti & Kalyani 2020, for finite sums on all of R^d.

    ::

        draw R uniformly from 1, ..., T
        for t = 1, ..., T:
            draw a record z uniformly, and u uniformly from the ball of radius r
            w_{t+1} = w_t - η (∇f(w_t; z) + u)
        return w_R

    Measured: ‖∇F‖² over all records ("gradient") and F ("objective") at the output, F(w_{T+1}) ("last"); at every step
    ‖∇f(w_t; z)‖² ("step") and ‖u‖² ("noise").

    Attributes:
        radius: r > 0 in units of G, exact. For "gaussian" that of the ball of the same covariance: σ = rG/√(d+2).
        records: N of the problem it is for, public.
        dimension: d of the problem it is for.
        noise: "ball", "sphere" or "gaussian".
        step_size: η, or None for the best one of the explicit bound.
    """

    title: ClassVar[str] = "perturbed gradient descent"
    metric: ClassVar[str] = "gradient"

    radius: Fraction = field(converter=fields.multiplier)
    records: int = field(converter=fields.count)
    dimension: int = field(converter=fields.count)
    steps: int = field(converter=fields.count)
    noise: WhichShape = field(default="ball", validator=fields.one_of(WhichShape))
    step_size: float | None = field(default=None, converter=fields.step_size)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)

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
        """Plan for a budget, see ``Method``. ε matters for "gaussian" only.

        - "ball": the smallest radius that keeps (0, δ), hence (ε, δ) for every ε (``BallDescent.radius``); T is the
          power of two at which the explicit bound is smallest (1 where Nδ is well below 1)
        - "sphere": no radius helps, and any may be given (in units of G); T must be small enough for δ by sampling
          alone, and is the most that δ allows; replace-one only
        - "gaussian": the smallest standard deviation by the certified accountant, whose search takes about a minute
          from a few steps on; T must be given
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        n, d, kind = problem.records, problem.dimension, fields.demand_one_of(noise, WhichShape, "noise")
        if kind == "ball":
            count = _best_steps(n, d, budget) if steps is None else fields.count(steps, "steps")
            amount = _smallest_radius(n, d, count, budget)
        elif kind == "sphere":
            count, amount = _allowed_on_sphere(n, d, steps, budget), fields.multiplier(radius, "radius")
        else:
            if steps is None:
                raise InvalidValue("steps", MISSING, "with Gaussian noise, give the number of steps")
            count, batch = fields.count(steps, "steps"), Batch(1, n, replacement=False)
            amount = _smallest_radius(n, d, count, budget)
            if amount > 2 * _NEXT_TO_NOTHING:
                least = planning.multiplier_within(budget, lambda z: batch.sample(Gaussian(z)) ** count)
                amount = least * planning.root_above(d + 2)
        return cls(amount, n, d, count, kind, step_size, budget)

    @classmethod
    def as_printed(cls, problem: FiniteSum, steps: int, step_size: float | None = None) -> PerturbedGradientDescent:
        """Return the published algorithm: noise on the ball of radius 1 in the units of the gradients, for any G."""
        one = Fraction(evaluate(1 / known(problem.lipschitz, "lipschitz"), {}).exact_upper)
        return cls(one, problem.records, problem.dimension, steps, "ball", step_size)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 1."""
        self._demand_fit(problem)
        eta, gradient = self.step_size_for(problem), run.batch_gradients(self._batch, self._multiplier)
        returned = run.uniform_iterate(self.steps)
        w = run.repeated(problem.initial_point)
        for t in run.steps(self.steps):
            returned.visit(t, w)
            g = gradient(w)  # ∇f(w_t; z) + u
            run.measure(step=squared_norms(g.exact), noise=squared_norms(g.noisy - g.exact))
            w = w - eta * g.noisy
        run.measure(last=run.exact(w)[0])
        risk, slope = run.exact(returned.point)
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured={"gradient": squared_norms(slope), "objective": risk.copy()},
            parameters={"step_size": eta, "radius": float(self.radius * at_least(problem.lipschitz, "lipschitz"))},
        )

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""
        return f"{self.noise}, {PSEUDO_RANDOM}"

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants: all iterates together."""
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
        """Amount of noise per unit of G: the radius, or the standard deviation of equal covariance."""
        return (
            self.radius * planning.root_above(Fraction(1, self.dimension + 2))
            if self.noise == "gaussian"
            else self.radius
        )

    def step_size_for(self, problem: FiniteSum) -> float:
        """Return η as a double: ``step_size``, or the best one of the explicit bound (public constants only)."""
        if self.step_size is not None:
            return self.step_size
        return promised(algorithm_1_explicit.best_step, problem, **self._values(problem)).lower

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the mean *square* E‖∇F(w_R)‖², for the noise that is really drawn.

        Raises:
            InvalidValue: The problem does not fit, or lacks a constant.

        Source: ``tholeti-kalyani-2020/algorithm-1/explicit``; noise enters by E‖u‖² alone, so that a sphere or a
        Gaussian counts as the ball with the same.
        """
        eta = self.step_size_for(problem)
        found = promised(algorithm_1_explicit.bound**2, problem, step_size=eta, **self._values(problem))
        return no_more_than_slope(found, problem, 2)

    def _values(self, problem: FiniteSum) -> dict[str, sympy.Expr]:
        """Return the explicit bound's own numbers but for η; its radius is that of the ball with the same E‖u‖²."""
        self._demand_fit(problem)
        drawn, d = stddev_of_batches(problem, self._batch, self._multiplier), self.dimension
        square = {"ball": drawn**2, "sphere": drawn**2 * Fraction(d + 2, d), "gaussian": drawn**2 * (d + 2)}[self.noise]
        return {"radius": sympy.sqrt(sympy.Rational(square)), "steps": sympy.Integer(self.steps)}

    def _demand_fit(self, problem: FiniteSum) -> None:
        demand_all_of_space(problem)
        for name in ("records", "dimension"):
            if getattr(problem, name) != getattr(self, name):
                allowed = f"{getattr(self, name)}, which the noise was made for"
                raise InvalidValue(f"problem.{name}", getattr(problem, name), allowed)


def _smallest_radius(records: int, dimension: int, steps: int, budget: PrivacyBudget) -> Fraction:
    """Return the radius in units of G; next to nothing where sampling alone keeps δ.

    Two records' gradients lie 2G apart, under either relation: with one record less, another takes its place. Under
    add-or-remove-one the radius is a millionth larger than it must be: no closed form decides there, and an accountant
    would spend its time on a tie.
    """
    radius = BallDescent(2, dimension, records, steps).radius(budget.delta).value or _NEXT_TO_NOTHING
    return radius if budget.relation is Relation.REPLACE_ONE else radius * (1 + Fraction(1, 1 << 20))


def _best_steps(records: int, dimension: int, budget: PrivacyBudget) -> int:
    """Return the T at which the bound at its best step size is least, doubling T as long as E‖g + u‖²/T falls."""

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
    values = {"sensitivity": 2, "radius": 1, "dimension": dimension, "dataset_size": records, "delta": budget.delta}
    if records == 1:
        raise InvalidValue("problem.records", 1, "at least 2", "with one record the sphere hides nothing")
    most = int(evaluate(theorem_1_explicit.most_steps, values).exact_lower)
    if most < 1:
        allowed = f"at least 1/n = {formatted_float(Fraction(1, records), 'g', 'up')}"
        raise InvalidValue("delta", float(budget.delta), allowed, "noise on a sphere gives no smaller delta")
    count = most if steps is None else fields.count(steps, "steps")
    if count > most:
        raise InvalidValue("steps", count, f"at most {most}, which delta allows", "no radius of a sphere helps")
    return count
