"""`dpbounds demo`: the main job end to end on real data: calibrate, train, account, verify, report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli.options import FILE, PROBABILITY, note, number, warn_if_delta_is_large, whole
from dpbounds.cli.output import plain
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from collections.abc import Callable

    from algorithms.ledger import PrivacyBudget
    from algorithms.problems import Dataset, Problem
    from algorithms.projected_gradient_descent import ProjectedGradientDescent
    from algorithms.run import Array, Run
    from algorithms.verification import Check
    from dpbounds.privacy.accountants import Account

RELATION = Relation.REPLACE_ONE
_BUDGETS = ("1", "4", "10")
_L1 = "0.001"
# Measurements of size and shape are positive and skewed to the right: most lie in the lower half of their range.
# Taking a quarter of the way up as zero keeps typical records short. It is a rule, not a statistic of the records.
_CENTRE_OF_MEASUREMENTS, _MIDDLE = Fraction(1, 4), Fraction(1, 2)
_NO_CLIPPING = 10**6  # a feature bound far above any record that lies within its public ranges
_CONVERGED = 1e-5  # projected-gradient norm at which the non-private model is taken to have converged
_MOST_STEPS, _MOST_WORK = 200_000, 4_000_000_000  # steps, and steps x records x features, without noise


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """One budget: what was planned, what ran, what it spent, and what was measured.

    Attributes:
        budget: What was meant to be spent.
        algorithm: As calibrated.
        run: All repetitions.
        account: What the ledger of one repetition spends, with proofs.
        accuracy: Share of the training records that each repetition's output classifies rightly, shape (R,).
        checks: Name -> check.
    """

    budget: PrivacyBudget
    algorithm: ProjectedGradientDescent
    run: Run
    account: Account
    accuracy: Array
    checks: dict[str, Check]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The same algorithm without noise.

    Attributes:
        accuracy: Share of the training records classified rightly.
        gradient_norm: ‖P‖ where it stopped.
        steps: How many were taken.
        converged: Whether ‖P‖ fell to the threshold before the limit on steps.
        largest_class: Accuracy of always naming the larger class.
    """

    accuracy: float
    gradient_norm: float
    steps: int
    converged: bool
    largest_class: float


@click.command("demo", short_help="The main job on real data: calibrate, train, account, verify.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("dpbounds-demo"),
    show_default=True,
    metavar="DIR",
    help="Where to write the table, the data and the plot.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all random streams.")
@click.option("--epsilon", "epsilons", multiple=True, metavar="E", help="A budget; may be repeated (default 1, 4, 10).")
@click.option("--delta", callback=PROBABILITY, default="1e-5", show_default=True, metavar="D", help="Of every budget.")
@click.option("--repetitions", callback=whole, default="32", show_default=True, metavar="R", help="For measuring.")
@click.option("--data", type=FILE, metavar="CSV", help="Your own records, with a line of column names.")
@click.option("--label", metavar="NAME", help="Label column of --data (default: the last).")
@click.option("--positive", metavar="V", help="Label that means +1; all others mean -1.")
@click.option("--ranges", type=FILE, metavar="FILE", help="Public ranges: CSV with columns feature, lower, upper.")
@click.option(
    "--centre",
    callback=number("a number from 0 to 1", lambda x: 0 <= x <= 1),
    metavar="F",
    help="Where in its public range a feature counts as zero (default: 1/2, the middle; 1/4 for the built-in data).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    output: Path,
    seed: int,
    epsilons: tuple[str, ...],
    delta: Fraction,
    repetitions: int,
    data: Path | None,
    label: str | None,
    positive: str | None,
    ranges: Path | None,
    centre: Fraction | None,
    as_json: bool,
) -> int:
    """Train on real data with proven privacy, and hold what was spent and measured against what was promised.

    Example: dpbounds demo --output dpbounds-demo
    """
    _require("matplotlib", "rich", *(() if data is not None else ("sklearn",)))
    budgets = _budgets(epsilons)
    if data is None:
        for option, value in (("--label", label), ("--positive", positive), ("--ranges", ranges)):
            if value is not None:
                raise InvalidValue(option, value, "only together with --data")
    _make_directory(output)
    dataset, problem, preparation = prepared(data, label, positive, ranges, centre)
    warn_if_delta_is_large(delta, problem.records, "--delta")
    if repetitions == 1:
        note("one repetition has no confidence interval: the measured norms will be undecided")

    with _progress(len(budgets) + 1) as tick:
        rows = []
        for epsilon in budgets:
            tick(f"training at epsilon = {float(epsilon):g}, {repetitions} repetitions")
            rows.append(trained(problem, dataset.labels, epsilon, delta, seed, repetitions))
        tick("training without noise")
        baseline = without_noise(problem, dataset.labels)
        tick("writing")

    from dpbounds.cli import demo_report

    report = demo_report.Report(dataset, problem, preparation, tuple(rows), baseline, seed)
    files = demo_report.write(report, output)
    demo_report.show(report, files, as_json=as_json)
    return 1 if report.failed else 0


def prepared(
    data: Path | None, label: str | None, positive: str | None, ranges: Path | None, centre: Fraction | None
) -> tuple[Dataset, Problem, tuple[str, ...]]:
    """Read the records, move the centre of their public ranges, clip them to norm 1; nothing looks at the data.

    Returns:
        The data set as it was read, the problem, and what was done to the records, in words.
    """
    from algorithms import problems

    if data is None:
        dataset = problems.breast_cancer(feature_bound=_NO_CLIPPING)
        scaled, zero = True, _CENTRE_OF_MEASUREMENTS if centre is None else centre
    else:
        dataset = _read(data, label, positive, ranges)
        scaled, zero = ranges is not None, _MIDDLE if centre is None else centre
        if centre is not None and not scaled:
            raise InvalidValue("--centre", float(centre), "only together with --ranges, which it refers to")
    features = dataset.features.copy()
    scaling, _, *others = dataset.notes  # the second note tells of clipping to the bound that clips nothing
    notes = [scaling]
    if scaled:
        features[:, :-1] -= float(2 * zero - 1)  # ranges are [-1, 1] by now; the last column is the intercept
        notes.append(f"zero is put {plain(zero)} of the way up each range")
    if data is None and centre is None:
        notes.append(
            "a quarter of the way up suits measurements that are positive and skewed to the right; people who know "
            "this public data set chose it, which flatters the accuracy: for your own records, fix it beforehand"
        )
    problem = problems.sigmoid_loss(features, dataset.labels, l1=exact(_L1))
    return dataset, problem, (*notes, *problem.notes, *others)


def _read(data: Path, label: str | None, positive: str | None, ranges: Path | None) -> Dataset:
    from algorithms import problems

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
    problem: Problem, labels: Array, epsilon: Fraction, delta: Fraction, seed: int, repetitions: int
) -> Trained:
    """Calibrate, train, account for the ledger, and check."""
    from algorithms.projected_gradient_descent import THEOREMS, ProjectedGradientDescent
    from algorithms.verification import bound_check, noise_check, sensitivity_check, spent_check
    from dpbounds.privacy.accountants import account

    algorithm = ProjectedGradientDescent.calibrated(problem, epsilon, delta, relation=RELATION)
    budget = algorithm.budget
    assert budget is not None
    run = algorithm.run(problem, seed=seed, repetitions=repetitions)
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
    """The same steps from the same start without noise, until the projected gradient is small."""
    import numpy as np

    from algorithms.projected_gradient_descent import ProjectedGradientDescent

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


def _budgets(epsilons: tuple[str, ...]) -> tuple[Fraction, ...]:
    budgets = tuple(exact(text, "--epsilon") for text in epsilons or _BUDGETS)
    for text, budget in zip(epsilons or _BUDGETS, budgets, strict=True):
        if budget <= 0:
            raise InvalidValue("--epsilon", text, "a number greater than 0")
        if budgets.count(budget) > 1:
            raise InvalidValue("--epsilon", text, "each budget once")
    return tuple(sorted(budgets))


def _require(*modules: str) -> None:
    for module in modules:
        if find_spec(module) is None:
            name = {"sklearn": "scikit-learn"}.get(module, module)
            raise click.UsageError(f"the demo needs {name}, which is not installed: pip install 'dpbounds[demo]'")


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValue("--output", path, "a directory that can be made", error.strerror or "") from None


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on standard error; the yielded function names the next of ``total`` pieces of work."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        started = False

        def tick(description: str) -> None:
            nonlocal started
            bar.update(task, description=description, advance=1 if started else 0)
            started = True

        yield tick
