"""A point drawn from a net, then noise along the path from there, to a small gradient.

The theorem is this library's own, ``dpbounds/population-path-noise/warm-start``.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from dpbounds.algorithms import fields
from dpbounds.algorithms.method import FiniteSum
from dpbounds.algorithms.planning import ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.second_order.gradient_path_noise import GradientPathNoise
from dpbounds.algorithms.warm_starts.warm_started_path_noise import FirstPoint, WarmStartedWalk


@frozen(field_transformer=fields.named)
class WarmStartedGradientPathNoise(WarmStartedWalk):
    """The exponential mechanism on a net of a ball, then ``GradientPathNoise`` from the point it draws.

    ::

        w_0 = a point w of the net with probability in proportion to exp(-β F(w))
        return path noise to a small gradient from w_0, with a path for a gap of ψ

    Outputs and attributes are those of ``WarmStartedPathNoise``; measured: as for ``GradientPathNoise``, and
    "start_objective".
    """

    title: ClassVar[str] = "warm-started path noise to a small gradient"

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
        gradient_error: ExactLike | None = None,
        window: ExactLike | None = None,
    ) -> WarmStartedGradientPathNoise:
        """Plan for a budget, see ``Method``: half of the failure probability for the start, half for the path.

        - ``stationarity`` None: the smallest α that the records are enough for
        - ``radius``, ``covering_radius``, ``share``, ``outside``: as for ``WarmStartedSpider``; both releases together
          use all of the budget
        - the others: as for ``GradientPathNoise``
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        drawn = FirstPoint.for_budget(problem, budget, failure_probability, radius, covering_radius, share, outside)
        descent = GradientPathNoise.of_noise(
            problem, drawn.multiplier, stationarity, drawn.missed, drawn.gap, gradient_error, window
        )
        return cls(drawn.start, descent, drawn.missed, drawn.outside, budget)
