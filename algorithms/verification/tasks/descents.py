"""Runs of the reference algorithms on problems with known constants: what they measured and what they spent."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from algorithms import problems
from algorithms.descents.langevin_dynamics import LangevinDynamics
from algorithms.descents.mirror_descent import MirrorDescent
from algorithms.descents.perturbed_gradient_descent import PerturbedGradientDescent
from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from algorithms.descents.quoted_baselines import QuotedDescent, WangYeXu2017, ZhangEtAl2017
from algorithms.problems.landscapes import WAVY, Landscape, landscape
from algorithms.problems.mirrors import DistanceGenerator, EntropyMirror, EuclideanMirror, PNormMirror
from algorithms.problems.problem import Problem
from algorithms.problems.sets import L1Ball, L2Ball, Simplex
from algorithms.run import Run
from dpbounds.errors import InvalidValue

Numbers = dict[str, float | list[float]]
WhichMirror = Literal["l2", "l1", "simplex"]
WhichBaseline = Literal["zhang", "zhang-times-steps", "wang-ye-xu"]

_DELTA = Fraction(1, 10**5)


def design(records: int, dimension: int) -> Problem:
    """The sigmoid loss on Wang & Xu's synthetic design: the same records for every cell of the same size."""
    data = problems.wang_xu_design(records, dimension, seed=0, feature_bound=4)
    return problems.sigmoid_loss(data.features, data.labels, feature_bound=4)


def smooth_design(records: int, dimension: int) -> Problem:
    """The same without a regulariser."""
    data = problems.wang_xu_design(records, dimension, seed=0, feature_bound=4)
    return problems.sigmoid_loss(data.features, data.labels, l1=0, feature_bound=4)


def wavy(records: int, dimension: int) -> Landscape:
    """A non-convex landscape with a known PL constant and minimum 0; the walk stays far inside of its ball."""
    return landscape(WAVY, records, np.full(dimension, 0.3), radius=2, shift_bound=1)


def planned_descent(records: int, dimension: int, epsilon: float) -> ProjectedGradientDescent:
    """DP-PGD with the noise and the number of steps that its theorem prescribes."""
    return ProjectedGradientDescent.calibrated(design(records, dimension), epsilon=Fraction(epsilon), delta=_DELTA)


def projected_gradient(
    records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-PGD: mean squares of the mapping (noisy and exact) and of the noise, one per repetition; ε that was spent."""
    algorithm = planned_descent(records, dimension, epsilon)
    run = algorithm.run(design(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    assert run.spent is not None
    return {
        "noisy": run.trace.noisy.per_repetition.tolist(),
        "exact": run.trace.exact.per_repetition.tolist(),
        "noise": run.trace.noise.per_repetition.tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
        "steps": float(run.steps),
    }


def mirror(shape: WhichMirror, dimension: int) -> DistanceGenerator:
    """A mirror on a set of size 2: squared l2 norm, squared q-norm, or entropy."""
    if shape == "l2":
        return EuclideanMirror.of_ball(L2Ball(dimension, 2))
    if shape == "l1":
        return PNormMirror.of_ball(L1Ball(dimension, 2))
    if shape == "simplex":
        return EntropyMirror(Simplex(dimension, 2))
    raise InvalidValue("shape", repr(shape), "'l2', 'l1' or 'simplex'")


def planned_mirror_descent(records: int, dimension: int, epsilon: float, shape: WhichMirror) -> MirrorDescent:
    """DP-PMD with the noise and the number of steps that its theorem prescribes."""
    problem = smooth_design(records, dimension)
    return MirrorDescent.calibrated(problem, mirror(shape, dimension), epsilon=Fraction(epsilon), delta=_DELTA)


def mirror_descent(
    records: int, dimension: int, epsilon: float, shape: WhichMirror, repetitions: int, seed: int
) -> Numbers:
    """DP-PMD: mean squares of the mapping in the norm of the mirror, one per repetition; ε that was spent."""
    algorithm = planned_mirror_descent(records, dimension, epsilon, shape)
    run = algorithm.run(smooth_design(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    return {
        "noisy": run.trace.noisy.per_repetition.tolist(),
        "exact": run.trace.exact.per_repetition.tolist(),
    } | _spent(run)


def planned_langevin(
    records: int, dimension: int, epsilon: float, output: Literal["last", "random"]
) -> LangevinDynamics:
    """DP-GLD at the temperature that balances its bound."""
    problem = wavy(records, dimension)
    return LangevinDynamics.calibrated(problem, epsilon=Fraction(epsilon), delta=_DELTA, output=output)


def langevin_dynamics(
    records: int, dimension: int, epsilon: float, output: Literal["last", "random"], repetitions: int, seed: int
) -> Numbers:
    """DP-GLD: excess risk of the output (the minimum is 0) and mean square of the noise; ε that was spent."""
    algorithm = planned_langevin(records, dimension, epsilon, output)
    run = algorithm.run(wavy(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    return {"excess": run.samples.tolist(), "noise": run.trace["noise"].per_repetition.tolist()} | _spent(run)


def planned_ball_descent(
    records: int, dimension: int, steps: int, shape: Literal["ball", "sphere", "gaussian"]
) -> PerturbedGradientDescent:
    """PrGD with noise as long as a gradient can be."""
    return PerturbedGradientDescent(1, records, dimension, steps, shape)


def perturbed_gradient(
    records: int,
    dimension: int,
    steps: int,
    shape: Literal["ball", "sphere", "gaussian"],
    repetitions: int,
    seed: int,
) -> Numbers:
    """PrGD: squared gradient at the output, one per repetition; sums of the mean squared length of noise over r²."""
    algorithm = planned_ball_descent(records, dimension, steps, shape)
    run = algorithm.run(smooth_design(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    lengths = run.trace["noise"].per_repetition / run.parameters["radius"] ** 2
    return {
        "gradient": run.samples.tolist(),
        "sum": float(lengths.sum()),
        "squares": float((lengths**2).sum()),
        "draws": float(repetitions),
    }


def ball_budget(records: int, dimension: int, delta: str, steps: int, repetitions: int, seed: int) -> Numbers:
    """PrGD with the radius for (0, δ): the certified δ of its transcript, and ε at δ by the ledger."""
    problem = smooth_design(records, dimension)
    algorithm = PerturbedGradientDescent.calibrated(problem, delta=delta, steps=steps)
    run = algorithm.run(problem, seed=seed % 2**63, repetitions=repetitions)
    found = algorithm.spent_delta
    return {"delta_lower": found.lower, "delta_upper": found.upper} | _spent(run)


def planned_baseline(which: WhichBaseline, epsilon: float, steps: int) -> QuotedDescent:
    """A baseline as Wang & Xu 2019 quote it, at their δ."""
    claimed = Fraction(epsilon)
    if which == "zhang":
        return ZhangEtAl2017.quoted(claimed, "1e-3", steps)
    if which == "zhang-times-steps":
        return ZhangEtAl2017.quoted(claimed, "1e-3", steps, reading="times-steps")
    if which == "wang-ye-xu":
        return WangYeXu2017.quoted(claimed, "1e-3", steps)
    raise InvalidValue("which", repr(which), "'zhang', 'zhang-times-steps' or 'wang-ye-xu'")


def quoted_baseline(
    which: WhichBaseline, records: int, dimension: int, epsilon: float, steps: int, repetitions: int, seed: int
) -> Numbers:
    """A quoted baseline: mean square of the noisy mapping, one per repetition; ε that was spent, certified."""
    algorithm = planned_baseline(which, epsilon, steps)
    run = algorithm.run(design(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    spent = run.ledger.spent(algorithm.claimed.delta, algorithm.claimed.relation)
    noisy = run.trace.noisy.per_repetition.tolist()
    return {"noisy": noisy, "spent_lower": spent.lower, "spent_upper": spent.upper}


def _spent(run: Run) -> Numbers:
    assert run.spent is not None
    return {"spent_lower": run.spent.lower, "spent_upper": run.spent.upper, "steps": float(run.steps)}
