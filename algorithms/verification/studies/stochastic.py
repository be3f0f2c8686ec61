"""Stochastic gradient descent against Lowy, Ullman & Wright 2024, on quasar-convex problems with inf F = 0."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from dpbounds.algorithms import (
    GradientSteps,
    MatrixDescent,
    PrivateTraining,
    QuantileClipping,
    SelectedStochasticGradientDescent,
    StochasticGradientDescent,
    problems,
)
from dpbounds.algorithms.estimators.clipped_descent import ClippedDescent
from dpbounds.algorithms.estimators.scores import LOGISTIC, LinearScores, Records
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.oracles import Cyclic, Poisson, Shuffle
from dpbounds.algorithms.problems.clipped import Clipped
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.planned_checks import bounded, by_size, cells
from dpbounds.algorithms.verification.judging.regimes import time_constants
from dpbounds.algorithms.verification.studies.running import Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.sweeping.trials import reads, samples, spending
from dpbounds.privacy.relations import Relation

_DISTANCE = Fraction(1)


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


@reads(samples("excess"), spending)
def stochastic(
    records: int, dimension: int, epsilon: float, sampling: str, loss: str
) -> tuple[StochasticGradientDescent, LinearModel]:
    """DP-SGD on all records with the steps of its proposition, or on Poisson samples of a tenth: F at the output."""
    return at_budget(
        StochasticGradientDescent.calibrated,
        realisable(records, dimension, loss),
        budget_of(epsilon),
        distance=_DISTANCE,
        steps=None if sampling == "full" else 100,
        sampling=None if sampling == "full" else Poisson("1/10"),
    )


def selected_at(
    records: int, dimension: int, budget: PrivacyBudget, runs: int, steps: int | None = None
) -> tuple[SelectedStochasticGradientDescent, LinearModel]:
    """Return the selected one of several runs, and the problem it is for."""
    calibrated, failure = SelectedStochasticGradientDescent.calibrated, Fraction(2, 2**runs)
    problem = realisable(records, dimension)
    return at_budget(calibrated, problem, budget, steps=steps, distance=_DISTANCE, failure_probability=failure)


@reads(samples("excess"), spending)
def selected(
    records: int, dimension: int, epsilon: float, runs: int
) -> tuple[SelectedStochasticGradientDescent, LinearModel]:
    """Return the same at an ε: F at the output."""
    return selected_at(records, dimension, budget_of(epsilon), runs)


_PAPER = "lowy-ullman-wright-2024"
_EXPLICIT, _PROPOSITION = f"{_PAPER}/proposition-d.1/explicit", f"{_PAPER}/proposition-5.2"
_FAILURE = Fraction(1, 4)  # 3 runs are enough for it
_sgd = partial(cells, stochastic, dimension=5, epsilon=1.0, loss="geman-mcclure", repetitions=by_size(32, 64))
_full, _poisson = partial(_sgd, sampling="full"), partial(_sgd, sampling="poisson")
_selection = partial(cells, selected, dimension=5, epsilon=1.0, runs=3, repetitions=by_size(64, 1000))

_SIZES = by_size((100, 200, 400, 800), (100, 200, 400, 800, 1600))
SWEEP = _full(records=_SIZES)
_NAME = "DP-SGD, {sampling} batch, {loss}, n = {records}"

CHECKS = (
    kinds.spent(
        f"{_PAPER}/algorithm-3",
        "DP-SGD, ledgers of full and Poisson batches, and of a selection",
        kinds.together(_full(records=(200, 400)), _poisson(records=500), _selection(records=250)),
    ),
    *bounded(_EXPLICIT, _NAME, _full(records=(100, 200, 400)), "excess"),
    *bounded(_EXPLICIT, _NAME, _full(records=400, loss="cauchy"), "excess"),
    *bounded(_EXPLICIT, _NAME, _poisson(records=500), "excess"),
    # The selected output exceeds its bound with a probability of at most ζ: its (1-ζ)-quantile is at most that. Below
    # these sizes the bound exceeds the largest loss there is.
    *kinds.quantile_bounded(
        f"{_PROPOSITION}/explicit",
        "selected DP-SGD, quantile of the excess risk, n = {records}",
        _selection(records=(250, 300, 400)),
        "excess",
        _FAILURE,
    ),
    kinds.slope(  # at fixed ε and p
        _PROPOSITION,
        "DP-SGD, excess risk against n",
        kinds.together(SWEEP, _full(records=_SIZES, loss="cauchy")),
        "excess",
        -1.0,
        chosen="geman-mcclure",
        among="{loss}",
        regime=time_constants("η h T"),
    ),
)

_PLACES = (Relation.REPLACE_ONE, Relation.ZERO_OUT_ONE)  # those that keep every record's place
_small = partial(realisable, 400, 4)
_one = partial(calibrated_on, StochasticGradientDescent.calibrated, _small, steps=20)
_correlated = partial(calibrated_on, MatrixDescent.calibrated, _small, steps=20)
_several = partial(calibrated_on, SelectedStochasticGradientDescent.calibrated, _small, steps=10)


def _labelled(records: int, dimension: int) -> LinearScores:
    """Return records clipped to norm 1, with labels by a hyperplane."""
    features = np.random.default_rng(0).standard_normal((records, dimension))
    labels = np.where(features[:, 0] > 0, 1.0, -1.0)
    return Records(features, labels, outputs=1, loss=LOGISTIC).clipped_to(Fraction(1))


_MOMENTS = "cited/abadi-et-al-2016/theorem-1"  # clipped gradients, noise, and an account of all steps together
_clipped = partial(calibrated_on, ClippedDescent.calibrated, partial(_labelled, 400, 4), steps=20)


def _clipped_margins(records: int, dimension: int) -> Clipped:
    """Return the sigmoid loss of labels by a hyperplane, clipped as if nothing were known of it."""
    features = np.random.default_rng(0).standard_normal((records, dimension))
    labels = np.where(features[:, 0] > 0, 1, -1)
    return Clipped(problems.sigmoid_loss(features, labels, l1=0, feature_bound=5), "1/2")


_trained = partial(calibrated_on, PrivateTraining.calibrated, partial(_clipped_margins, 400, 4), steps=20)

EXAMPLES = (
    Example("training", (_MOMENTS,), _trained(optimiser=GradientSteps(0.5, momentum=0.9))),
    Example(
        "training-quantile",
        (_MOMENTS,),
        _trained(optimiser=0.5, sampling=Poisson("1/4"), clipping=QuantileClipping(share="1/10")),
    ),
    Example("clipped-gd", (_MOMENTS,), _clipped()),
    Example(
        "clipped-gd-poisson",
        (_MOMENTS,),
        lambda budget: at_budget(ClippedDescent.calibrated, _labelled(2000, 4), budget, steps=20, max_gradients=20_000),
    ),
    Example("dp-sgd", (f"{_PAPER}/algorithm-3", _EXPLICIT), _one()),
    Example("dp-sgd-poisson", (_EXPLICIT,), _one(sampling=Poisson("1/10"))),
    Example(
        "dp-sgd-shuffled", (f"{_PAPER}/algorithm-3",), _one(sampling=Shuffle(10), output="last"), relations=_PLACES
    ),
    Example(
        "dp-sgd-last-iterate",
        (f"{_PAPER}/algorithm-3",),
        _one(sampling=Cyclic(10), output="last", release="last-iterate"),
        relations=_PLACES,
    ),
    Example("dp-ftrl", (_MOMENTS,), _correlated(), relations=_PLACES),
    Example("dp-ftrl-tree", (_MOMENTS,), _correlated(matrix="tree"), relations=_PLACES),
    Example("dp-sgd-as-printed", (_PROPOSITION, f"{_PAPER}/algorithm-3"), _one(variant="as-printed"), printed=True),
    Example(
        "dp-sgd-selected", (f"{_PROPOSITION}/explicit",), lambda budget: selected_at(400, 4, budget, runs=3, steps=10)
    ),
    Example("dp-sgd-selected-as-printed", (_PROPOSITION,), _several(variant="as-printed"), printed=True),
)
