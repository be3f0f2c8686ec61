"""A stationary point among given ones, found privately: the first that passes a noisy threshold.

Ganesh, Liu, Oh & Thakurta 2023, Algorithm 2, in three variants. x passes where ‖∇F(x)‖ is at most α and λ_min(∇²F(x))
at least -√(ρα), up to noise and an offset:

- "one-test", the default: one AboveThreshold on the larger of both excesses, scaled, of sensitivity 2/n if a record is
  replaced: ε-private (``ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit``), and more accurate than the printed one.
- "doubled": the two printed tests with twice the noise, ε-private as well.
- "as-printed": two tests joined by "and". A point that does not pass failed *one* of them, so both thresholds must move
  in the proof, and it spends 2ε if a record is replaced (ε is claimed), which is approached: see
  ``dpbounds.algorithms.selection.above_threshold_attack``. If records are added or removed, n public, it spends ε.

The points may have been released before, at a price of their own; they must not depend on the same records otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms import fields, noise
from dpbounds.algorithms.fields import demand_one_of, named
from dpbounds.algorithms.iterates import no_more_than, no_more_than_slope
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.method import Method, OpenRun, Outcome, computed
from dpbounds.algorithms.noise import PSEUDO_RANDOM, Array
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.problems.domain import demand_no_regulariser
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.points import numbers
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, to_float
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import lemma_4_1, lemma_4_1_explicit
from dpbounds.privacy.mechanisms import AboveThreshold, Mechanism, PureDP
from dpbounds.privacy.relations import Relation, as_relation

Variant = Literal["one-test", "doubled", "as-printed"]
WhichBound = Literal["gradient", "curvature"]

NOISE_DRAWN = f"ideal Laplace {PSEUDO_RANDOM}"
THEOREMS = {
    "one-test": "ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit",
    "doubled": "ganesh-liu-oh-thakurta-2023/lemma-4.1",
    "as-printed": "ganesh-liu-oh-thakurta-2023/lemma-4.1",
}


def _points(points: ArrayLike, name: str = "points") -> Array:
    array = numbers(points, name, "an (N, p) array of numbers")
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidValue(f"{name}.shape", array.shape, "(N, p) with N >= 1 and p >= 1")
    if not np.isfinite(array).all():
        raise InvalidValue(name, "not finite", "finite numbers")
    array.flags.writeable = False
    return array


@frozen(eq=False, field_transformer=named)
class AboveThresholdSelection(Method[FiniteSum]):
    """Algorithm 2 of Ganesh, Liu, Oh & Thakurta 2023 on given points, for any ``FiniteSum``.

    ::

        for each test: draw the noise of its threshold, Laplace
        for i = 1, ..., N:
            return x_i if each test's value there, plus Laplace noise of its own, is at most
            its threshold plus the threshold's noise and an offset
        return nothing

    Outputs: "index", 0 .. N-1, or -1 if no point passed; ``output`` is the point, or the first one if none passed.
    Measured at it: "gradient" and "curvature" (-λ_min); "found".

    Attributes:
        points: x_1, …, x_N, shape (N, p), finite, read-only, in the order in which they are tested.
        epsilon: ε > 0 in the noise: Laplace of scale 4/(nε) on thresholds, 8/(nε) on points, in units of G and of M;
            twice that for "doubled".
        stationarity: α > 0; fixed in advance (by a theorem's bound, say).
        failure_probability: ω in (0, 1), for which the offsets are chosen.
        second_order: Whether the Hessian is tested; without it the points are of first order.
        relation: The neighbouring relation of the ledger; the budget's, if there is one.
        budget: See ``Method``; for "as-printed", the claim of the published version.
        variant: "one-test", "doubled" or "as-printed".
    """

    metric: ClassVar[str] = "gradient"
    noise_drawn: ClassVar[str] = NOISE_DRAWN
    activity: ClassVar[str] = "selection"

    points: Array = field(converter=_points)
    epsilon: Fraction = field(converter=fields.positive)
    stationarity: Fraction = field(converter=fields.positive)
    failure_probability: Fraction = field(default=Fraction(1, 10), converter=fields.share)
    second_order: bool = field(default=True, converter=bool)
    relation: Relation = field(default=Relation.REPLACE_ONE, converter=as_relation, validator=fields.of_the_budget)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    variant: Variant = field(default="one-test", validator=fields.one_of(Variant))

    @classmethod
    def calibrated(
        cls,
        points: ArrayLike,
        stationarity: ExactLike,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        failure_probability: ExactLike = "0.1",
        second_order: bool = True,
        variant: Variant = "one-test",
    ) -> AboveThresholdSelection:
        """Return the selection with the smallest noise that is proven to be ε-private (δ is not needed).

        The noise of "one-test" is 4/(nε) for a replaced record. If one is added or removed, every sensitivity is half
        as large, and half of the noise does. As printed, the noise is 4/(nε) for either relation.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        scale = 1 if variant == "as-printed" else Fraction(2, budget.relation.sensitivity_factor)
        chosen = budget.epsilon * scale
        return cls(points, chosen, stationarity, failure_probability, second_order, budget.relation, budget, variant)

    @property
    def steps(self) -> int:
        """N."""
        return len(self.points)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 2."""
        demand_no_regulariser(problem)
        if self.points.shape[1] != problem.dimension:
            raise InvalidValue("points.shape", self.points.shape, f"(N, {problem.dimension})")
        gradients, curvatures = computed(stationarity, problem, self.points, self.second_order)
        bent = None if curvatures is None else curvatures[None]
        index = run.released(
            lambda steep, bent: self.select(problem, steep, bent, run.generators, run.ledger), gradients[None], bent
        )
        chosen = np.maximum(index, 0)
        measured = {"gradient": gradients[chosen], "found": (index >= 0).astype(np.float64)}
        if curvatures is not None:
            measured["curvature"] = curvatures[chosen]
        return Outcome(
            self.points[chosen],
            outputs={"index": index},
            measured=measured,
            parameters={"epsilon": float(self.epsilon), "stationarity": float(self.stationarity)},
            title=f"above threshold, {self.variant}",
        )

    def _kept_budget(self) -> PrivacyBudget | None:
        return None if self.variant == "as-printed" else self.budget  # the paper spends more: its ledger says how much

    @property
    def threshold_noise(self) -> Fraction:
        """Scale of the Laplace noise on a threshold, times n and per unit of G or M: 4/ε; 8/ε for "doubled"."""
        return (8 if self.variant == "doubled" else 4) / self.epsilon

    @property
    def query_noise(self) -> Fraction:
        """Scale of the Laplace noise at every point, in the same units: twice that of the threshold."""
        return 2 * self.threshold_noise

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants.

        One test is AboveThreshold in units of its sensitivity, factor/n with factor 2 for a replaced record. Two tests
        joined by "and" are known by their pure loss only: the sum of what either spends.
        """
        factor = self.relation.sensitivity_factor
        single = AboveThreshold(
            threshold_noise=self.threshold_noise / factor, query_noise=self.query_noise / factor, relation=self.relation
        )
        if self.variant == "one-test" or not self.second_order:
            return single
        return PureDP(2 * single.epsilon, relation=self.relation)

    @property
    def offset(self) -> Enclosure:
        """Relaxation of every threshold, times n and per unit of G or M: 12 ln((N+1)/ω)/ε, or 16 ln(2N/ω)/ε."""
        count, omega, unit = map(sympy.Rational, (self.steps, self.failure_probability, self.threshold_noise))
        if self.variant == "one-test":
            return evaluate(3 * unit * sympy.log((count + 1) / omega), {})
        return evaluate(4 * unit * sympy.log(2 * count / omega), {})

    def bound(self, problem: FiniteSum, which: WhichBound = "gradient") -> Enclosure:
        """Enclose the bound on ‖∇F‖, or on -λ_min(∇²F), of the point that is returned, which fails with probability ω.

        It rests on a premise: one of the points is stationary up to α (and, where the Hessian is tested, of second
        order). Then a run in which none passes is a failure; without it such a run is what is to be expected, and the
        point that it returns has no bound. "doubled" is the printed variant at half its ε.

        Raises:
            InvalidValue: The problem lacks a constant or has a regulariser, or the Hessian was not tested.
        """
        demand_no_regulariser(problem)
        demand_one_of(which, WhichBound, "which")
        if which == "curvature" and not self.second_order:
            raise InvalidValue("which", repr(which), "'gradient'", "the Hessian is not tested")
        statement = (lemma_4_1_explicit if self.variant == "one-test" else lemma_4_1).THEOREM
        constants = ("lipschitz",) if which == "gradient" else ("smoothness", "hessian_lipschitz")
        found: Enclosure = statement.evaluate(
            which,
            digits=15,
            stationarity=self.stationarity,
            candidates=self.steps,
            failure_probability=self.failure_probability,
            dataset_size=problem.records,
            epsilon=4 / self.threshold_noise,
            **{name: at_least(getattr(problem, name), name) for name in constants},
        ).value
        if which == "gradient":
            return no_more_than_slope(found, problem)
        return no_more_than(found, problem, "no eigenvalue is beyond M", problem.smoothness)

    def select(
        self,
        problem: FiniteSum,
        gradients: Array,
        curvatures: Array | None,
        generators: Sequence[np.random.Generator],
        ledger: noise.Records,
    ) -> NDArray[np.int64]:
        """Write the selection into the ledger, then test the points in their order.

        Args:
            problem: Supplies n, G, M and ρ.
            gradients: ‖∇F(x_i)‖, shape (R, N) or (1, N).
            curvatures: -λ_min(∇²F(x_i)), likewise; None for a selection of first order.
            generators: One per repetition.
            ledger: The ledger of one repetition.

        Returns:
            The index of the first point that passes, or -1; shape (R,).
        """
        n, allowed = problem.records, float(self.stationarity)
        excess = [(gradients - allowed, at_least(problem.lipschitz, "lipschitz"))]
        if self.second_order:
            if curvatures is None:
                raise InvalidValue("curvatures", None, "numbers, where the Hessian is tested")
            rho = at_least(problem.hessian_lipschitz, "hessian_lipschitz")
            root = float(np.sqrt(float(rho) * allowed))
            excess.append((curvatures - root, at_least(problem.smoothness, "smoothness")))
        if self.variant == "one-test":
            scaled = [values / float(unit) for values, unit in excess]
            excess = [(np.maximum.reduce(scaled), Fraction(1))]
        if not all(np.isfinite(values).all() for values, _ in excess):
            raise InvalidValue("points", "values that are not finite", "points where F has a gradient and a Hessian")

        ledger.release(self.planned)
        passes = np.ones((len(generators), self.steps), dtype=np.bool_)
        for values, unit in excess:
            scales = [to_float(scale * unit / n, "up") for scale in (self.threshold_noise, self.query_noise)]
            threshold = noise.laplace(generators, (1,), scale=scales[0], ledger=ledger)
            each = noise.laplace(generators, (self.steps,), scale=scales[1], ledger=ledger)
            passes &= values + each <= threshold + self.offset.upper * float(unit) / n
        first: NDArray[np.int64] = np.where(passes.any(axis=1), passes.argmax(axis=1), -1)
        return first


def stationarity(problem: FiniteSum, points: Array, second_order: bool = True) -> tuple[Array, Array | None]:
    """Return ‖∇F‖ and -λ_min(∇²F) at every point, shape (N,) each; exact, and so not private.

    Hessians are made a few at a time: memory stays at O(n p + p²).
    """
    slopes = [np.linalg.norm(problem.gradient(points[i : i + 64]), axis=1) for i in range(0, len(points), 64)]
    gradients: Array = np.concatenate(slopes)
    if not second_order:
        return gradients, None
    smallest = [np.linalg.eigvalsh(problem.hessian(points[i : i + 8]))[:, 0] for i in range(0, len(points), 8)]
    return gradients, -np.concatenate(smallest)
