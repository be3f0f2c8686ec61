"""Noisy gradient descent on Poisson samples, that returns an iterate drawn by the weights of its theorem.

The theorem is this library's own, ``dpbounds/noisy-descent-batches``: where a step's sample is small, the same accuracy
costs a small part of the gradients that full batches do.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen
from scipy.optimize import minimize_scalar

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import demand_short_step, no_more_than_slope, promised, squared_norms
from dpbounds.algorithms.method import FiniteSum, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space, known
from dpbounds.algorithms.sampling import Poisson
from dpbounds.expressions import symbols
from dpbounds.papers.ours import noisy_descent_batches as theorem
from dpbounds.papers.ours.noisy_descent_exact import root
from dpbounds.privacy.mechanisms import Gaussian


@frozen(field_transformer=fields.named)
class BatchDescent(Method[FiniteSum]):
    """Noisy gradient descent on Poisson samples, for any ``FiniteSum`` whose risk is L-smooth, over all of R^p.

    ::

        draw R from 0, ..., T: each t < T with weight η(1 - Lη/2), T with weight 1/(2L)
        for t = 0, ..., T - 1:
            B = a sample: each record with probability q
            w_{t+1} = w_t - η (Σ_{i in B} ∇f_i(w_t) + N(0, (zG)² I)) / (qn)
        return w_R

    Measured: ‖∇F(w_R)‖² ("mean_square": its mean is bounded) and F(w_R) ("objective_at_output"); at every step the
    squares of the added "noise" and of the sample's gradient ("step").

    Attributes:
        noise_multiplier: z.
        sample_rate: q, rounded down as ``Poisson`` says.
        step_size: η < 2/L.
    """

    title: ClassVar[str] = "gradient descent on samples, weighted output"
    metric: ClassVar[str] = "mean_square"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    sample_rate: Fraction = field(converter=fields.sample_rate)
    step_size: float = field(converter=fields.length)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int = 1000,
        relation: str | Relation = Relation.REPLACE_ONE,
        sample_rate: ExactLike = "1/20",
        step_size: float | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> BatchDescent:
        """Plan for a budget, see ``Method``; η None minimises the bound. `dpbounds plan` finds T and q."""
        budget, sampling, count = PrivacyBudget.of(epsilon, delta, relation), Poisson(sample_rate), fields.count(steps)
        demand_all_of_space(problem)
        multiplier = planning.multiplier_within(budget, lambda z: sampling.sample(Gaussian(z)) ** count)
        draft = cls(multiplier, count, sampling.sample_rate, 1.0, budget, noise)
        return cls(*(multiplier, count, sampling.sample_rate), draft.best_step(problem, step_size), budget, noise)

    def best_step(self, problem: FiniteSum, given: float | None) -> float:
        """Return the given step size, or the η up to 1/L with the smallest bound, in doubles."""
        asked = fields.step_size(given)
        if asked is not None:
            return asked
        L, G, gap = (
            float(at_least(known(getattr(problem, name), name), name))
            for name in ("smoothness", "lipschitz", "initial_gap")
        )
        batch, z, T = float(self.sample_rate) * problem.records, float(self.noise_multiplier), self.steps
        moment = G**2 * ((1 - float(self.sample_rate)) / batch + problem.dimension * (z / batch) ** 2)

        def square(reach: float) -> float:
            return (gap * L + T * reach**2 * moment / 2) / (T * reach * (1 - reach / 2) + 1 / 2)

        return float(minimize_scalar(square, bounds=(0, 1), method="bounded", options={"xatol": 1e-6}).x) / L

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants: all iterates together."""
        return Poisson(self.sample_rate).sample(Gaussian(self.noise_multiplier)) ** self.steps

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run the pseudo-code above."""
        eta, weight, last = self._weights(problem)
        gradient = run.batch_gradients(Poisson(self.sample_rate), self.noise_multiplier)
        returned = run.uniform_iterate(self.steps, first=0, ends=last / (self.steps * weight + last))
        w = run.repeated(problem.initial_point)
        for t in run.steps(self.steps, first=0):
            returned.visit(t, w)
            g = gradient(w)
            w = w - eta * g.noisy
            run.measure(noise=squared_norms(g.noisy - g.exact), step=squared_norms(g.exact))
        returned.visit(self.steps, w)
        objective, slope = run.exact(returned.point)
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured={"mean_square": squared_norms(slope), "objective_at_output": objective},
            parameters={"step_size": eta},
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F(w_R)‖² for the noise that ``run`` really draws.

        Raises:
            InvalidValue: A step is not shorter than 2/L, or a constant is missing.
        """
        eta = self._weights(problem)[0]
        found = promised(
            root(symbols.lipschitz**2 * theorem.second_moment) ** 2,
            problem,
            step_size=eta,
            steps=self.steps,
            sample_rate=self.sample_rate,
            noise_multiplier=self.noise_multiplier,
        )
        return no_more_than_slope(found, problem, 2)

    def _weights(self, problem: FiniteSum) -> tuple[float, float, float]:
        """Return η, and the weights of each earlier iterate and of the last."""
        demand_all_of_space(problem)
        demand_short_step(self.step_size, known(problem.smoothness, "smoothness"))
        L = float(at_least(known(problem.smoothness, "smoothness"), "smoothness"))
        return self.step_size, self.step_size * (1 - L * self.step_size / 2), 1 / (2 * L)
