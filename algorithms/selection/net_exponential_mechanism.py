"""The exponential mechanism on a net of an l2 ball: one of finitely many public points, likelier where the risk is low.

Wang, Chen & Xu 2019, Theorem 4; Lowy, Ullman & Wright 2024, Definition 4.1 and Lemma 4.2 (there the warm start of a
second algorithm); Ganesh, Liu, Oh & Thakurta 2023, Theorem 5.8. All three draw w from a net with probability
proportional to exp(-β F(w)).

The difference from the paper is β. Only the *range* over the net of one record's part in F counts, as what is added to
all scores alike cancels in the normalisation. A record that is replaced moves F by (f(w, z') - f(w, z))/n, a function
of w that is 2G/n-Lipschitz: its range over a set of diameter D is at most 2GD/n; a record that is added or removed (n
stays the divisor) moves it by f(w, z)/n, of range GD/n. So β = εn/(2GD), or εn/(GD), is pure ε-DP. Definition 4.1
prints εn/(4GD), which is ε/2-DP under replace-one, at twice the error; Section 5.2 of Ganesh et al. quotes εn/(GD) as
ε-DP, which it is where a record is added or removed, and 2ε-DP where one is replaced. Both can be had as a ``variant``,
with a ledger that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from dpbounds.algorithms import fields
from dpbounds.algorithms.fields import named
from dpbounds.algorithms.iterates import no_more_than, no_more_than_range
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.method import Method, OpenRun, Outcome, computed
from dpbounds.algorithms.noise import PSEUDO_RANDOM
from dpbounds.algorithms.oracles import at_least, choice, rational
from dpbounds.algorithms.oracles.secured import blocks_of
from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.algorithms.secure_noise import SECURE_CHOICE
from dpbounds.algorithms.selection.balls import demand_fit, radius_of, steepest
from dpbounds.algorithms.selection.nets import LARGEST_NET, Net, grid
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, to_float
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import theorem_5_8_explicit
from dpbounds.papers.lowy_ullman_wright_2024 import definition_4_1, lemma_4_2_explicit
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation, as_relation

WhichVariant = Literal["proven", "as-printed", "as-quoted"]

THEOREMS = {
    "spent": "lowy-ullman-wright-2024/definition-4.1",
    "bound": "lowy-ullman-wright-2024/lemma-4.2/explicit",
    "tail": "lowy-ullman-wright-2024/lemma-4.2/explicit",
    "population": "ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit",
    "regularised": "wang-chen-xu-2019/theorem-4/explicit",
    "as-quoted": "ganesh-liu-oh-thakurta-2023/section-5.2",
}

NOISE_DRAWN = f"Gumbel noise {PSEUDO_RANDOM}"
SECURE_NOISE_DRAWN = f"Gumbel noise {SECURE_CHOICE}"


@frozen(field_transformer=named)
class NetExponentialMechanism(Method[FiniteSum]):
    """The exponential mechanism on a net, for any ``FiniteSum``; F may have a ridge (λ/2)‖w‖² added to it, public.

    ::

        return a point w of the net with probability in proportion to exp(-β F(w))

    Measured: the "objective" at the output, and its "excess" over the best candidate.

    Attributes:
        epsilon: ε > 0, from which β is computed.
        net: The candidates, public; must not depend on the data, see ``nets.grid``.
        relation: The neighbouring relation for β; the budget's, if there is one.
        regularisation: λ >= 0, in the unit of the loss over that of the points squared.
        variant: "proven" (β = εn/(2GD) under replace-one, εn/(GD) under add-or-remove-one), "as-printed" (Definition
            4.1: β = εn/(4GD)) or "as-quoted" (Section 5.2 of Ganesh et al.: β = εn/(GD)); the printed two do not depend
            on the relation, and spend the ε of ``planned``.
    """

    title: ClassVar[str] = "exponential mechanism on a net"
    metric: ClassVar[str] = "excess"
    activity: ClassVar[str] = "choice"

    epsilon: Fraction = field(converter=fields.positive)
    net: Net
    relation: Relation = field(default=Relation.REPLACE_ONE, converter=as_relation, validator=fields.of_the_budget)
    regularisation: Fraction = field(default=Fraction(0), converter=fields.not_negative)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    variant: WhichVariant = field(default="proven", validator=fields.one_of(WhichVariant))
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        radius: ExactLike | None = None,
        covering_radius: ExactLike | None = None,
        regularisation: ExactLike = 0,
        variant: WhichVariant = "proven",
        largest: int = LARGEST_NET,
        noise: fields.WhichNoise = "gaussian",
    ) -> NetExponentialMechanism:
        """Plan for a budget, see ``Method``: the mechanism that spends ε, on a grid whose resolution suits ε, n and p.

        It is pure ε-DP, which is (ε, δ)-DP for every δ; a printed variant is given no budget to keep, as it may spend
        more: ask ``planned``.

        - ``radius``: R of the ball around 0. None: that of the problem; without one but with λ > 0, G/λ, within which
          every minimiser of F + (λ/2)‖w‖² lies (Wang, Chen & Xu 2019).
        - ``covering_radius``: r of the net. None: Dp/(εn) with D = 2R (Definition 4.1), or R where that is less.
        - ``largest``: how many candidates there may be

        Raises:
            InvalidValue: A number is not allowed, there is no radius, or the net would be too large (with its size).
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        R = radius_of(problem, radius, exact(regularisation, "regularisation"))
        r = _suited(problem, R, budget.epsilon) if covering_radius is None else covering_radius
        net = grid(problem.dimension, R, r, largest)
        kept = budget if variant == "proven" else None
        return cls(budget.epsilon, net, budget.relation, regularisation, kept, variant, noise)

    @property
    def epsilon_spent(self) -> Fraction:
        """The ε that a choice spends: β times the range of one record's part, exact."""
        factor = self.relation.sensitivity_factor
        ratio = {"proven": Fraction(1), "as-printed": Fraction(factor, 4), "as-quoted": Fraction(factor)}
        return self.epsilon * ratio[self.variant]

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""
        return NOISE_DRAWN if self.noise == "gaussian" else SECURE_NOISE_DRAWN

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return choice(self.epsilon_spent, self.relation)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Choose."""
        chosen, risks = self._drawn(problem, run)
        return Outcome(
            self.net.points[chosen],
            measured={"objective": risks[chosen], "excess": risks[chosen] - risks.min()},
            parameters={
                "inverse_temperature": float(self.inverse_temperature(problem)),
                "candidates": float(self.net.size),
                "covering_radius": float(self.net.covering_radius),
            },
        )

    def range_of_one_record(self, problem: FiniteSum) -> Fraction:
        """Return 2GD/n (replace-one) or GD/n (add-or-remove-one), the range of one record's part of F over the net."""
        slope = at_least(problem.lipschitz, "lipschitz")
        return self.relation.sensitivity_factor * slope * 2 * self.net.radius / problem.records

    def inverse_temperature(self, problem: FiniteSum) -> Fraction:
        """Return β of the draw, in units of 1/loss: that of the variant, rounded down to the inverse of a double."""
        return 1 / Fraction(to_float(self.range_of_one_record(problem) / self.epsilon_spent, "up"))

    def starts(self, problem: FiniteSum, generators: Sequence[np.random.Generator], ledger: OpenLedger) -> Array:
        """Draw one candidate per generator, shape (R, p), for use as a start; the ledger gets one entry.

        ``bound`` is on its expected excess risk.

        Raises:
            InvalidValue: The problem has no constant G, another dimension, or a smaller ball than the net covers.
            BudgetExceeded: The ledger keeps a budget that has no room for the choice.
        """
        run = OpenRun(problem, generators, ledger, self.noise, self.relation)
        return self.net.points[self._drawn(problem, run)[0]]

    def bound(self, problem: FiniteSum, risk: Literal["empirical", "population"] = "empirical") -> Enclosure:
        """Enclose the explicit bound on the expected excess risk over the ball, at the β that is drawn.

        E F(w) - min F <= S r + ln N/β, with S a Lipschitz constant of F (G, a ridge adds λR, an l1 term its own). For
        the population risk of independent records, √(2 ln N/n) GR more.

        Raises:
            InvalidValue: There is no G, no such risk, or (population) the net is larger than Theorem 5.8 takes it.
        """
        values = self._values(problem)
        empirical = evaluate(lemma_4_2_explicit.bound.subs(values), {})
        if risk == "empirical":
            return self._within(empirical, problem)
        if risk != "population":
            raise InvalidValue("risk", repr(risk), "'empirical' or 'population'")
        sizes = {
            **values,
            symbols.enclosing_radius: sympy.Rational(self.net.radius),
            symbols.net_radius: sympy.Rational(self.net.covering_radius),
        }
        expected = evaluate(theorem_5_8_explicit.log_size.subs(sizes), {})
        if not evaluate(sympy.log(self.net.size), {}).exact_upper <= expected.exact_lower:
            r = float(self.net.covering_radius)
            raise InvalidValue("covering_radius", r, "one whose net has at most (1 + 2R/r)^p points, as the bound has")
        overfitting = theorem_5_8_explicit.population - theorem_5_8_explicit.empirical
        return self._within(evaluate(lemma_4_2_explicit.bound.subs(values) + overfitting.subs(sizes), {}), problem)

    def _within(self, found: Enclosure, problem: FiniteSum) -> Enclosure:
        """Return at most the bound that holds for all points of the ball; a ridge is part of the risk."""
        total = steepest(problem) + sympy.Rational(self.regularisation * self.net.radius)
        across = total * self.net.diameter
        if self.regularisation:
            return no_more_than(found, problem, "the ball is at most this wide", across)
        return no_more_than_range(found, problem, across)

    def tail(self, problem: FiniteSum, failure_probability: ExactLike) -> Enclosure:
        """Enclose the level that the excess empirical risk exceeds with probability at most ζ, in (0, 1)."""
        zeta = fields.share(failure_probability, "failure_probability")
        values = self._values(problem) | {symbols.failure_probability: sympy.Rational(zeta)}
        return evaluate(lemma_4_2_explicit.tail.subs(values), {})

    def _drawn(self, problem: FiniteSum, run: OpenRun) -> tuple[NDArray[np.int64], Array]:
        """Return the index of the candidate for each repetition, and the risks of all candidates (not private)."""
        demand_fit(problem, self.net.dimension, self.net.radius)
        reach = self.range_of_one_record(problem)
        with threadpool_limits(limits=1, user_api="blas"):
            risks = computed(problem.objective_at, self.net.points)
        ridge = float(self.regularisation) / 2 * np.einsum("ij,ij->i", self.net.points, self.net.points)
        if self.regularisation:
            risks = risks + ridge
        scores = np.broadcast_to(-risks, (run.repetitions, self.net.size))
        known = hasattr(problem, "record_losses")
        parts, public = partial(self._parts, problem) if known else None, -problem.records * ridge
        # half of the range: see ``choose``
        return run.choose(scores, self.epsilon_spent, reach / 2, parts=parts, public=public), risks

    def _parts(self, problem: Any, _repetition: int) -> Iterator[Array]:
        """Yield the records' parts f_i(0) - f_i(w) of n times the scores, at most G R in absolute value."""
        centre = np.zeros((1, self.net.dimension))
        for rows in blocks_of(problem.records, self.net.size):
            yield problem.record_losses(centre, rows) - problem.record_losses(self.net.points, rows)

    def _values(self, problem: FiniteSum) -> dict[sympy.Expr, sympy.Expr]:
        """Return the numbers of Lemma 4.2, at the β that is drawn.

        Its ε is 2βGD/n, whatever the relation. F is S-Lipschitz where the lemma has G: its net costs Sr, that is G
        times an r of S/G as much.
        """
        demand_fit(problem, self.net.dimension, self.net.radius)
        slope = sympy.Rational(at_least(problem.lipschitz, "lipschitz"))
        sizes = {
            symbols.lipschitz: slope,
            symbols.diameter: self.net.diameter,
            symbols.dataset_size: sympy.Integer(problem.records),
        }
        beta = sympy.Rational(self.inverse_temperature(problem))
        total = steepest(problem) + sympy.Rational(self.regularisation * self.net.radius)
        return {
            **sizes,
            symbols.dimension: sympy.Integer(problem.dimension),
            symbols.epsilon: beta / lemma_4_2_explicit.inverse_temperature.subs(sizes | {symbols.epsilon: 1}),
            symbols.candidates: sympy.Integer(self.net.size),
            symbols.net_radius: sympy.Rational(self.net.covering_radius) * total / slope,
        }


def _suited(problem: FiniteSum, radius: Fraction, epsilon: Fraction) -> Fraction:
    """Return the r of Definition 4.1, Dp/(εn), or R where that is less, as a fraction."""
    values = {
        symbols.diameter: sympy.Rational(2 * radius),
        symbols.dimension: sympy.Integer(problem.dimension),
        symbols.epsilon: sympy.Rational(epsilon),
        symbols.dataset_size: sympy.Integer(problem.records),
    }
    return min(radius, rational(definition_4_1.net_radius.subs(values), "covering_radius"))
