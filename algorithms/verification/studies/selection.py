"""The exponential mechanisms: their bounds at three sizes, their exponent in n, and their privacy loss, computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpbounds.algorithms import NetExponentialMechanism, ProjectedLangevin, RegularisedExponentialMechanism
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, WAVY, Landscape, landscape
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.selection.net_exponential_mechanism import WhichVariant
from dpbounds.algorithms.selection.nets import grid
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.checks import Check, Verdict
from dpbounds.algorithms.verification.judging.planned_checks import bounded, by_size, cells, slope, spent, together
from dpbounds.algorithms.verification.judging.regimes import depth
from dpbounds.algorithms.verification.studies.running import Algorithm, Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result, number
from dpbounds.algorithms.verification.sweeping.trials import at_cell, reads
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems.registry import theorem

_DELTA = Fraction(1, 10**6)
_RADIUS = Fraction(3, 2)


def double_well(records: int, dimension: int) -> Landscape:
    """Σ_j w_j⁴/4 - w_j²/2 on the ball of radius 3/2: its minimum, -p/4, lies within for p <= 2."""
    return landscape(DOUBLE_WELL, records, [0.0] * dimension, _RADIUS)


def _excess(run: Run) -> Numbers:
    """Excess empirical risk, one per repetition; the ε that was spent (at δ = 1e-6), for any budget of the variant."""
    ends, least = run.ledger.spent(_DELTA), float(double_well(2, run.output.shape[1]).minimum)
    excess = (run.measured["objective"] - least).tolist()
    return {"excess": excess, "spent_lower": ends.lower, "spent_upper": ends.upper}


@reads(_excess)
def net_choice(
    records: int, dimension: int, epsilon: float, variant: WhichVariant
) -> tuple[NetExponentialMechanism, Landscape]:
    """Return a choice by the exponential mechanism on the net of Definition 4.1."""
    problem = double_well(records, dimension)
    return at_budget(NetExponentialMechanism.calibrated, problem, budget_of(epsilon, _DELTA), variant=variant)


@reads(_excess)
def gibbs_sample(records: int, dimension: int, epsilon: float) -> tuple[RegularisedExponentialMechanism, Landscape]:
    """Return a regularised Gibbs sample by the exact sampler."""
    problem, budget = double_well(records, dimension), budget_of(epsilon, _DELTA)
    return at_budget(RegularisedExponentialMechanism.calibrated, problem, budget)


def net_loss(records: int, epsilon: float, variant: WhichVariant, seed: int) -> Numbers:
    """Return the largest privacy loss over a net, in double precision: linear records, one of which changes its sign.

    Records are f(x, z) = h(x) + zx with |z| <= B and a steep B beside a flat h, so that G is nearly B. All z = B puts
    the choice at the left end; one record's -B moves it by what two records can do at most.
    """
    steep = Fraction(1000)
    problem = landscape(WAVY, records, [0.0], "0.1", shift_bound=steep)
    mechanism = NetExponentialMechanism(Fraction(epsilon), grid(1, "0.1", "0.001"), variant=variant)
    return _largest_loss(problem, steep, mechanism.net.points[:, 0], mechanism.inverse_temperature(problem))


def gibbs_loss(records: int, epsilon: float, seed: int) -> Numbers:
    """Return the same for densities on an interval, by quadrature."""
    steep, radius = Fraction(1000), Fraction(1, 10)
    problem = landscape(WAVY, records, [0.0], radius, shift_bound=steep)
    target = RegularisedExponentialMechanism(Fraction(epsilon), radius).target(problem)
    x = np.linspace(-float(radius), float(radius), 40_001)
    return _largest_loss(problem, steep, x, target.inverse_temperature, float(target.precision) / 2 * x**2)


def _largest_loss(
    problem: Landscape, steep: Fraction, x: Array, beta: Any, regulariser: Array | float = 0.0
) -> Numbers:
    """The distributions on the points x, shape (N,), proportional to exp(-βF - regulariser) on either dataset."""
    flat, tilt = problem.objective(x[:, None]), float(steep)
    exponents = (-float(beta) * (flat + each * x) - regulariser for each in (tilt, tilt * (1 - 2 / problem.records)))
    first, second = (each - np.logaddexp.reduce(each) for each in exponents)
    return {"loss": float(np.abs(first - second).max())}


_PAPER = "ganesh-liu-oh-thakurta-2023"
_NET, _LEMMA = "lowy-ullman-wright-2024/lemma-4.2/explicit", "lowy-ullman-wright-2024/lemma-4.2"
_PRINTED, _QUOTED = "lowy-ullman-wright-2024/definition-4.1", f"{_PAPER}/section-5.2"
_BALL, _GIBBS = "wang-chen-xu-2019/theorem-4/explicit", f"{_PAPER}/theorem-5.6/explicit"
_TAIL = 2  # -log of the failure probability

_net = partial(cells, net_choice, epsilon=1.0, repetitions=by_size(1500, 12_000))
on_nets, _printed = partial(_net, variant="proven"), partial(_net, variant="as-printed", dimension=1)
gibbs_samples = partial(cells, gibbs_sample, epsilon=1.0, repetitions=by_size(1500, 12_000))
_SIZES = by_size((1000, 2000, 4000, 8000), (1000, 2000, 4000, 8000, 16_000, 32_000))
_NEIGHBOURS = by_size(1000, 4000)
_SMALL, _LARGE = (50, 100, 200), (1000, 4000, 8000)


def _quantile(result: Result) -> Enclosure:
    """Return the value of Lemma 4.2, which the excess exceeds with probability e^-t at most."""
    method, problem = at_cell(net_choice.posed, result)
    given = {"dataset_size": problem.records, "dimension": 1, "epsilon": 1, "tail_exponent": _TAIL}
    lipschitz, diameter = evaluate(problem.lipschitz, {}), 2 * method.net.radius
    return theorem(_LEMMA).evaluate(None, lipschitz=lipschitz, diameter=diameter, **given).value


def _loss(theorem: str, name: str, cells: kinds.CellsAt, promised: float) -> kinds.PlannedCheck:
    """Return the loss of two neighbours, computed and not estimated, as a share of its bound: at most and nearly 1."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        loss = number(results[0], "loss")
        # short of 1 by what the flat part of the records takes off, and by the mass at one end
        share, attained = loss / promised, 0.98
        verdict = Verdict.FAILS if share > 1 + 1e-9 else Verdict.HOLDS if share >= attained else Verdict.UNDECIDED
        of = f"{share:.4g} of the {promised:g} promised"
        reason = f"two neighbours have a privacy loss of {loss:.6g} (numerical), {of}"
        return kinds.computed(theorem, share, Enclosure.exactly(1, "share"), verdict, reason)

    return kinds.PlannedCheck(theorem, "formula", name, cells, judge)


def _net_loss(theorem: str, variant: WhichVariant, promised: float) -> kinds.PlannedCheck:
    refuted = "refutes the paper: " if promised > 1 else ""
    runs = cells(net_loss, records=_NEIGHBOURS, epsilon=1.0, variant=variant)
    return _loss(theorem, f"{refuted}privacy loss on a net, {variant}", runs, promised)


CHECKS = (
    spent(_BALL, "choice on a net, ledger", on_nets(records=1000, dimension=1)),
    spent(_GIBBS, "regularised Gibbs sample, ledger", gibbs_samples(records=1000, dimension=1)),
    *bounded(
        _NET,
        "choice on a net, {variant}, n = {records}, d = {dimension}",
        together(on_nets(records=_LARGE, dimension=1), on_nets(records=_SMALL, dimension=2), _printed(records=1000)),
        "excess",
    ),
    *kinds.quantile_bounded(
        _LEMMA,
        f"choice on a net, as-printed, quantile at 1 - e^-{_TAIL}, n = {{records}}",
        _printed(records=_LARGE),
        "excess",
        math.exp(-_TAIL),
        _quantile,
    ),
    *bounded(
        _GIBBS,
        "regularised Gibbs sample, n = {records}, d = {dimension}",
        together(gibbs_samples(records=_LARGE, dimension=1), gibbs_samples(records=_SMALL, dimension=2)),
        "excess",
    ),
    # the excess falls like 1/n: d/(nε), without the logarithm, as the minimum is smooth; the number of repetitions
    # makes the interval of the exponent narrow enough
    *(
        slope(
            theorem,
            f"{what} against n",
            samples(records=_SIZES, dimension=1, repetitions=by_size(8000, 32_000)),
            "excess",
            -1.0,
            regime=depth(),
        )
        for theorem, what, samples in (
            (_NET, "choice on a net", on_nets),
            (_GIBBS, "regularised Gibbs sample", gibbs_samples),
        )
    ),
    _net_loss(_NET, "proven", 1.0),
    _net_loss(_PRINTED, "as-printed", 0.5),
    _net_loss(_QUOTED, "as-quoted", 2.0),
    _loss(_GIBBS, "privacy loss of a Gibbs sample", cells(gibbs_loss, records=_NEIGHBOURS, epsilon=1.0), 1.0),
)


def _alternating(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    # a target that is easy to reach: its share of the budget is a small one
    share, failure = min(budget.epsilon, Fraction(1, 100)), budget.delta * (1 - Fraction(1, 2**30))
    sampler = RegularisedExponentialMechanism(
        share, "1.5", budget.relation, sampler="alternating", failure=failure, budget=budget
    )
    return sampler, double_well(20, 1)


_small = partial(double_well, 40, 2)
_on_small_net = partial(calibrated_on, NetExponentialMechanism.calibrated, _small, covering_radius="0.1")
_SECTION = f"{_PAPER}/section-5.1"

EXAMPLES = (
    Example("net-exponential-mechanism", (_BALL, _NET, f"{_PAPER}/theorem-5.8/explicit"), _on_small_net()),
    Example("net-exponential-mechanism-as-printed", (_PRINTED,), _on_small_net(variant="as-printed"), printed=True),
    Example("net-exponential-mechanism-as-quoted", (_QUOTED,), _on_small_net(variant="as-quoted"), printed=True),
    Example(
        "regularised-exponential-mechanism",
        (_GIBBS, _SECTION),
        calibrated_on(RegularisedExponentialMechanism.calibrated, _small),
    ),
    Example(
        "alternate-sample", (f"{_PAPER}/algorithm-3", f"{_PAPER}/theorem-d.1", f"{_PAPER}/lemma-d.2"), _alternating
    ),
    Example("projected-langevin", (_SECTION,), calibrated_on(ProjectedLangevin.calibrated, _small, steps=30)),
)
