"""Training of the demo: prepared records, private runs with their checks, and the non-private baseline."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli.answers.guarding import under_guard
from dpbounds.cli.printing.output import plain
from dpbounds.cli.questions.options import note, unfit
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.problems import Dataset, Problem
    from dpbounds.algorithms.run import Array, Run
    from dpbounds.algorithms.verification import Check
    from dpbounds.privacy.accountants.certified import Account

RELATION = Relation.REPLACE_ONE
L1 = "0.001"  # weight of the regulariser
# Measurements of size and shape are positive and skewed to the right: most lie in the lower half of their range.
# Taking a quarter of the way up as zero keeps typical records short. It is a rule, not a statistic of the records.
_CENTRE_OF_MEASUREMENTS, _MIDDLE = Fraction(1, 4), Fraction(1, 2)
_NO_CLIPPING = 10**6  # a feature bound far above any record that lies within its public ranges
_CONVERGED = 1e-5  # projected-gradient norm at which the non-private model is taken to have converged
_MOST_STEPS, _MOST_WORK = 200_000, 4_000_000_000  # steps, and steps x records x features, without noise


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """One budget: the plan, the run, its ε, and its measurements.

    Attributes:
        account: The account of the ledger of one repetition, with proofs.
        accuracy: Share of the training records that each repetition's output classifies rightly, shape (R,).
    """

    budget: PrivacyBudget
    algorithm: ProjectedGradientDescent
    run: Run
    account: Account
    accuracy: Array
    checks: dict[str, Check]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Run of the same algorithm without noise, for comparison.

    Attributes:
        gradient_norm: ‖P‖ where it stopped.
        converged: Whether ‖P‖ fell to the threshold before the limit on steps.
        largest_class: Accuracy of always naming the larger class.
    """

    accuracy: float
    gradient_norm: float
    steps: int
    converged: bool
    largest_class: float


def prepared(
    data: Path | None,
    label: str | None,
    positive: str | None,
    ranges: Path | None,
    centre: Fraction | None,
    l1: str = L1,
) -> tuple[Dataset, Problem, tuple[str, ...]]:
    """Read the records, move the centre of their public ranges, and clip them to norm 1, independently of the data.

    Returns:
        The dataset as it was read, the problem, and what was done to the records, in words.
    """
    from dpbounds.algorithms import problems

    demand_data(data, label, positive, ranges)
    if data is None:
        dataset = problems.breast_cancer(feature_bound=_NO_CLIPPING)
        scaled, zero = True, _CENTRE_OF_MEASUREMENTS if centre is None else centre
    else:
        dataset = _read(data, label, positive, ranges)
        scaled, zero = ranges is not None, _MIDDLE if centre is None else centre
        if centre is not None and not scaled:
            raise unfit(
                f"--centre {plain(centre)}",
                "needs --ranges, because it is a point in these ranges",
                "give both, or neither",
            )
    features = dataset.features.copy()
    scaling, _, *others = dataset.notes  # the second note is about clipping to the bound that clips nothing
    notes = [scaling]
    if scaled:
        features[:, :-1] -= float(2 * zero - 1)  # ranges are [-1, 1] by now; the last column is the intercept
        notes.append(f"zero is put {plain(zero)} of the way up each range")
    if data is None and centre is None:
        notes.append(
            "a quarter of the way up suits measurements that are positive and skewed to the right; people who know "
            "this public dataset chose it, which flatters the accuracy: for your own records, fix it beforehand"
        )
    problem = problems.sigmoid_loss(features, dataset.labels, l1=exact(l1))
    return dataset, problem, (*notes, *problem.notes, *others)


def made_up(problem: Problem, l1: str) -> Problem:
    """Return the same loss on synthetic records of the same number, width and public bound on norms."""
    import numpy as np

    from dpbounds.algorithms import problems

    draw = np.random.default_rng(271828)
    features = draw.standard_normal((problem.records, problem.dimension))
    return problems.sigmoid_loss(features, draw.choice([-1, 1], problem.records), l1=exact(l1))


def demand_data(
    data: Path | None, label: str | None, positive: str | None, ranges: Path | None, centre: Fraction | None = None
) -> None:
    """Refuse options for reading ``data`` if there is none."""
    told = (("--label", label), ("--positive", positive), ("--ranges", ranges), ("--centre", centre))
    for option, value in told:
        if data is None and value is not None:
            raise unfit(f"{option} {value}", "needs --data")


def _read(data: Path, label: str | None, positive: str | None, ranges: Path | None) -> Dataset:
    from dpbounds.algorithms import problems

    try:
        dataset = problems.read_csv(data, label, positive, ranges, feature_bound=_NO_CLIPPING)
    except InvalidValue as error:
        option = {"path": "--data", "label": "--label", "positive": "--positive", "ranges": "--ranges"}.get(error.name)
        told = f"--data, {error}" if option is None else f"{option}{str(error).removeprefix(error.name)}"
        raise click.UsageError(told) from None
    if ranges is None:
        note("without --ranges, features are used as they are: one with large numbers drowns the others")
    return dataset


def trained(
    problem: Problem,
    labels: Array,
    epsilon: Fraction,
    delta: Fraction,
    seed: int | None,
    repetitions: int,
    guarded: bool = False,
) -> Trained:
    """Calibrate, train (under guard, see ``Method.run``, and on made-up records), account for the ledger, and check."""
    from dpbounds.algorithms.descents.projected_gradient_descent import THEOREMS, ProjectedGradientDescent
    from dpbounds.algorithms.verification import bound_check, noise_check, sensitivity_check, spent_check
    from dpbounds.privacy.accountants.certified import account

    algorithm = ProjectedGradientDescent.calibrated(problem, epsilon, delta, relation=RELATION)
    budget = algorithm.budget
    assert budget is not None
    run = algorithm.run(problem, seed=seed, repetitions=repetitions, guarded=guarded)
    if guarded:
        note(f"guards, at epsilon {plain(epsilon)}: {under_guard(algorithm, made_up(problem, L1), run)}")
    exact_norms, noisy_norms = run.trace.exact.per_repetition, run.trace.noisy.per_repetition
    checks = {
        "privacy": spent_check(THEOREMS["spent"], run.ledger, budget),
        "gradient": bound_check(THEOREMS["exact"], exact_norms, algorithm.bound(problem, "exact")),
        "noisy gradient": bound_check(THEOREMS["noisy"], noisy_norms, algorithm.bound(problem, "noisy")),
        "noise": noise_check(
            THEOREMS["spent"],
            run.trace.noise.per_repetition,
            dimension=problem.dimension,
            steps=run.steps,
            ledger=run.ledger,
        ),
        "sensitivity": sensitivity_check(THEOREMS["spent"], problem, run.output, run.ledger),
    }
    spent = account(run.ledger.mechanism(), delta=budget.delta, relation=budget.relation)
    return Trained(budget, algorithm, run, spent, accuracy(problem, labels, run.output), checks)


def accuracy(problem: Problem, labels: Array, points: Array) -> Array:
    """Share of the records that each row of ``points`` classifies rightly: +1 where the score is above 0, else -1."""
    scores = (problem.signed_features @ points.T) * labels[:, None]
    right: Array = ((scores > 0) == (labels[:, None] > 0)).mean(axis=0)
    return right


def without_noise(problem: Problem, labels: Array) -> Baseline:
    """Run the same steps from the same start without noise, until the projected gradient is small."""
    import numpy as np

    from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent

    step_size = ProjectedGradientDescent(1, 1).step_size_for(problem)
    most = max(1000, min(_MOST_STEPS, _MOST_WORK // (problem.records * problem.dimension)))
    x = problem.initial_point[None, :]
    norm, steps = float("inf"), 0
    while steps < most:
        following = problem.proximal_step(x, problem.gradient(x), step_size)
        norm = float(np.linalg.norm(x - following)) / step_size
        if norm <= _CONVERGED:
            break
        x, steps = following, steps + 1
    positive = float((labels > 0).mean())
    right = float(accuracy(problem, labels, x)[0])
    return Baseline(right, norm, steps, norm <= _CONVERGED, max(positive, 1 - positive))
