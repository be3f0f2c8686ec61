"""A point drawn from a net, then noise along the path from there, with searches that form no Hessian.

The theorem is this library's own, ``dpbounds/second-order-path-noise/warm-start/iterative`` (for the population risk:
``dpbounds/second-order-path-noise/population/iterative``). Its order is smaller in d than with Hessians. A net is only
small in so few dimensions that ``WarmStartedPathNoise`` needs fewer records.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from attrs import frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.method import FiniteSum
from dpbounds.algorithms.planning import ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.second_order.iterative_path_noise import IterativePathNoise, searched_with
from dpbounds.algorithms.warm_starts.warm_started_path_noise import FirstPoint, WarmStartedWalk
from dpbounds.privacy.mechanisms import Gaussian


@frozen(field_transformer=fields.named)
class WarmStartedIterativePathNoise(WarmStartedWalk):
    """The exponential mechanism on a net of a ball, then ``IterativePathNoise`` from the point it draws.

    ::

        w_0 = a point w of the net with probability in proportion to exp(-β F(w))
        return path noise without Hessians from w_0, with caps for a gap of ψ

    Outputs, measurements and attributes are those of ``WarmStartedPathNoise``.
    """

    title: ClassVar[str] = "warm-started path noise without Hessians"

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        stationarity: ExactLike | None = None,
        failure_probability: ExactLike = "1/10",
        radius: ExactLike | None = None,
        covering_radius: ExactLike | None = None,
        share: ExactLike = "1/2",
        outside: ExactLike = 0,
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
        searches: int | None = None,
        restarts: int | None = None,
        power_steps: int | None = None,
    ) -> WarmStartedIterativePathNoise:
        """Plan for a budget, see ``Method``: half of ζ for the start, half for the path.

        - ``stationarity`` None: the smallest α that the records are enough for
        - ``radius``, ``covering_radius``, ``share``, ``outside``: as for ``WarmStartedSpider``; both releases together
          use all of the budget
        - the others: as for ``IterativePathNoise``
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        drawn = FirstPoint.for_budget(problem, budget, failure_probability, radius, covering_radius, share, outside)
        chosen = searched_with(
            *(curvature_kept, curvature_length, gradient_error, window, small_ball),
            *(overgrowth, power_noise, selection_error, check_error, restart_ratio),
        )

        def within(released: Callable[[Fraction], Mechanism]) -> Fraction:
            """Return the smallest noise multiplier of what follows the start."""
            if released is Gaussian:
                return drawn.multiplier
            return planning.multiplier_within(budget, lambda z: drawn.start.planned @ released(z))

        descent = IterativePathNoise.of_noise(
            problem,
            within,
            budget.relation,
            stationarity,
            drawn.missed,
            drawn.gap,
            chosen,
            (searches, power_steps, restarts),
        )
        return cls(drawn.start, descent, drawn.missed, drawn.outside, budget)
