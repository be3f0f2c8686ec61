"""Runs of stochastic gradient descent on quasar-convex problems with realisable data: inf F = 0."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algorithms import problems
from algorithms.descents.selected_stochastic_gradient_descent import SelectedStochasticGradientDescent
from algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from algorithms.ledger import PrivacyBudget
from algorithms.oracles import Poisson
from algorithms.problems.linear_model import LinearModel

_DELTA = Fraction(1, 10**5)
_DISTANCE = Fraction(1)
_BATCH_STEPS = 100


def realisable(records: int, dimension: int, loss: str = "geman-mcclure") -> LinearModel:
    """Geman & McClure's or Cauchy's loss with zero residuals at a point at distance 0.95 from the start."""
    generator = np.random.default_rng(0)
    solution = generator.standard_normal(dimension)
    solution *= 0.95 / np.linalg.norm(solution)
    raw = generator.standard_normal((records, dimension))
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    features, targets, bound = problems.realisable_targets(raw, 1, solution)
    made = {"geman-mcclure": problems.geman_mcclure, "cauchy": problems.cauchy}[loss]
    return made(features, targets, 1, bound)


def planned_stochastic(
    records: int, dimension: int, epsilon: float, sampling: str = "full", loss: str = "geman-mcclure"
) -> StochasticGradientDescent:
    """DP-SGD on all records with the steps of its explicit proposition, or on Poisson samples of a tenth of them."""
    problem = realisable(records, dimension, loss)
    return StochasticGradientDescent.calibrated(
        problem,
        epsilon=Fraction(epsilon),
        delta=_DELTA,
        distance=_DISTANCE,
        steps=None if sampling == "full" else _BATCH_STEPS,
        sampling=None if sampling == "full" else Poisson("1/10"),
    )


def budget_of(epsilon: float) -> PrivacyBudget:
    """The budget of every run."""
    return PrivacyBudget.of(Fraction(epsilon), _DELTA)


def planned_selected(
    records: int, dimension: int, budget: PrivacyBudget, runs: int, steps: int | None = None
) -> tuple[SelectedStochasticGradientDescent, LinearModel]:
    """The selected one of several runs, and the problem it is for."""
    problem = realisable(records, dimension)
    algorithm = SelectedStochasticGradientDescent.calibrated(
        problem,
        budget.epsilon,
        budget.delta,
        steps,
        budget.relation,
        _DISTANCE,
        failure_probability=Fraction(2, 2**runs),
    )
    return algorithm, problem


def stochastic(
    records: int, dimension: int, epsilon: float, sampling: str, loss: str, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-SGD: F at the output, one per repetition; ε that was spent."""
    algorithm = planned_stochastic(records, dimension, epsilon, sampling, loss)
    run = algorithm.run(realisable(records, dimension, loss), seed=seed % 2**63, repetitions=repetitions)
    assert run.spent is not None
    return {"excess": run.samples.tolist(), "spent_lower": run.spent.lower, "spent_upper": run.spent.upper}


def selected(
    records: int, dimension: int, epsilon: float, runs: int, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """The selected one of several runs: F at the output, one per repetition; ε that was spent."""
    algorithm, problem = planned_selected(records, dimension, budget_of(epsilon), runs)
    run = algorithm.run(problem, seed=seed % 2**63, repetitions=repetitions)
    assert run.spent is not None
    return {"excess": run.samples.tolist(), "spent_lower": run.spent.lower, "spent_upper": run.spent.upper}
