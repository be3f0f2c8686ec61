"""Output of the demo: a table, the privacy statement, the checks, a plot."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds import documents
from dpbounds.cli.answers.demo_training import RELATION, Baseline, Trained
from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import writing_before
from dpbounds.expressions.exact import to_decimal
from dpbounds.expressions.json_numbers import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from dpbounds.algorithms.problems import Dataset, Problem
    from dpbounds.algorithms.verification import Check

_HEADER = (
    "epsilon budget",
    "epsilon spent",
    "noise multiplier",
    "steps",
    "accuracy",
    "squared gradient",
    "proven bound",
    "verdict",
)
_ABOUT_THE_TABLE = (
    "Accuracy: the share of the training records classified rightly, mean over the repetitions (lowest to highest). "
    "Squared gradient: the measured mean of the squared projected-gradient norm at the output, with its 99 % interval. "
    "Proven bound: the theorem's bound on it, with explicit constants. The output is an iterate "
    "chosen at random, as the theorem asks; now and then it is the start, x = 0, which names the same class always."
)
_OUTSIDE = (
    "accuracies and gradient norms reported about the run, measured with the exact records to check the algorithm",
    "outputs of further repetitions or budgets, which are here for measuring (a release is the output of one "
    "repetition at one budget, and publishing k of them costs as much as their k ledgers together)",
    "the preparation of the records, the step size and the number of steps, made from numbers taken to be public",
)
_GREY, _DARK, _LIGHT = "#6b6b6b", "#0072b2", "#9ec9e8"


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The results of the demo."""

    dataset: Dataset
    problem: Problem
    preparation: tuple[str, ...]
    rows: tuple[Trained, ...]
    baseline: Baseline
    seed: int | None

    @property
    def failed(self) -> bool:
        """Whether any check failed (undecided is not a failure, and is printed as such)."""
        return any(str(check.verdict) == "fails" for row in self.rows for check in row.checks.values())


def show(report: Report, files: Sequence[Path], *, as_json: bool) -> None:
    """Print the report, for people or for programs."""
    if as_json:
        output.print_json({**as_data(report), "files": [str(file) for file in files]})
        return
    click.echo(as_markdown(report))
    click.echo("Written: " + ", ".join(map(str, files)))
    ledger = next(file for file in files if file.name.startswith("ledger"))
    delta = output.plain(report.rows[0].budget.delta)
    click.echo(f"Ask again:  dpbounds epsilon --ledger {ledger} --delta {delta} --relation {RELATION} --explain")


def write(report: Report, directory: Path) -> tuple[Path, ...]:
    """Write table, data, plot and ledgers; returns the paths."""
    from dpbounds.privacy.publishing.certificates import certificate_text

    names = ledger_names([row.budget.epsilon for row in report.rows])
    evidence: dict[str, str | bytes] = {
        name: row.run.ledger.to_json() + "\n" for name, row in zip(names, report.rows, strict=True)
    }
    evidence["certificate.json"] = certificate_text(report.rows[0].account)
    results: dict[str, str | bytes] = {
        "demo.md": as_markdown(report),
        "demo.csv": _as_csv(report),
        "demo.json": json_text(as_data(report), indent=2) + "\n",
    }
    listed = (*results, *evidence, "demo.png")
    results["demo.png"] = _plot(report)
    first, last = ({directory / name: text for name, text in texts.items()} for texts in (evidence, results))
    writing_before(first, last)
    return tuple(directory / name for name in listed)


def as_markdown(report: Report) -> str:
    """Return the report as Markdown, which also reads well in a terminal."""
    problem, first, baseline = report.problem, report.rows[0], report.baseline
    records, features = report.dataset.features.shape
    checks = [
        f"- epsilon {_name(row)}, {name}: {check.verdict} ({check.reason})"
        for row in report.rows
        for name, check in row.checks.items()
    ]
    lines = (
        f"# DP-PGD on {report.dataset.name}",
        "",
        f"{records} records, {features} features (with the intercept); +1 means {report.dataset.positive}.",
        f"Problem: {problem}.",
        *(f"- {note}" for note in report.preparation),
        "",
        "## Budget, spent privacy and measured values",
        "",
        _table(report),
        "",
        f"Every budget is at delta = {output.plain(first.budget.delta)}, {first.budget.relation}; "
        f"{first.run.repetitions} repetitions. {_ABOUT_THE_TABLE}",
        f"Without noise, the same algorithm has accuracy {baseline.accuracy:.3f} after {baseline.steps} steps "
        f"({_how_it_stopped(baseline)}). Always naming the larger class has accuracy {baseline.largest_class:.3f}.",
        "",
        f"## Privacy statement (epsilon budget {_name(first)}, from the ledger of the run)",
        "",
        _statement(first),
        "",
        "## Outside the guarantee",
        "",
        *(f"- {text}" for text in _OUTSIDE),
        "",
        "## Checks",
        "",
        *checks,
        "",
    )
    return "\n".join(lines)


def as_data(report: Report) -> dict[str, object]:
    """Return the report as plain data."""
    baseline = report.baseline
    return {
        "data": {
            "name": report.dataset.name,
            "records": report.problem.records,
            "features": report.problem.dimension,
            "positive": report.dataset.positive,
            "preparation": list(report.preparation),
        },
        "problem": str(report.problem),
        "seed": report.seed,
        "rows": [_row_as_data(row) for row in report.rows],
        "without_noise": {
            "accuracy": baseline.accuracy,
            "projected_gradient_norm": baseline.gradient_norm,
            "steps": baseline.steps,
            "converged": baseline.converged,
        },
        "largest_class_accuracy": baseline.largest_class,
        "outside_the_guarantee": list(_OUTSIDE),
    }


def _row_as_data(row: Trained) -> dict[str, object]:
    return {
        "target_epsilon": output.json_given(row.budget.epsilon),
        "target_delta": output.json_given(row.budget.delta),
        "relation": str(row.budget.relation),
        "epsilon": output.json_ends(row.account.enclosure),
        "certified": True,
        "noise_multiplier": output.json_number(row.algorithm.noise_multiplier, "up"),
        "noise_stddev": float(row.run.ledger.gaussian_releases[0].noise_stddev),
        "steps": row.run.steps,
        "step_size": row.run.step_size,
        "repetitions": row.run.repetitions,
        "accuracy": {
            "mean": float(row.accuracy.mean()),
            "lowest": float(row.accuracy.min()),
            "highest": float(row.accuracy.max()),
            "per_repetition": row.accuracy.tolist(),
        },
        "checks": [{"name": name, **check.as_json()} for name, check in row.checks.items()],
        "statement": _statement(row),
        "ledger": documents.parsed(row.run.ledger.to_json(), "ledger"),
    }


def _cells(row: Trained) -> tuple[str, ...]:
    from dpbounds.algorithms.verification.judging.checks import formatted_upper

    check = row.checks["gradient"]
    measured = f"{check.measured.mean:.2e} [{check.measured.low:.2e}, {check.measured.high:.2e}]"
    return (
        _name(row),
        to_decimal(row.account.enclosure.exact_upper, 8, "up"),
        to_decimal(row.algorithm.noise_multiplier, 6, "up"),
        str(row.run.steps),
        f"{row.accuracy.mean():.3f} ({row.accuracy.min():.3f} to {row.accuracy.max():.3f})",
        measured,
        formatted_upper(check.predicted, ".2e"),
        _worst(row.checks.values()),
    )


def _table(report: Report) -> str:
    baseline = report.baseline
    rows = [
        _HEADER,
        *map(_cells, report.rows),
        (
            "no privacy",
            "infinite",
            "0",
            str(baseline.steps),
            f"{baseline.accuracy:.3f}",
            f"{baseline.gradient_norm**2:.2e}",
            "",
            "",
        ),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = [
        "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def _as_csv(report: Report) -> str:
    from dpbounds.algorithms.verification.judging.checks import formatted_upper

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        (
            "target_epsilon", "target_delta", "relation", "epsilon_spent_upper", "noise_multiplier", "steps",
            "accuracy_mean", "accuracy_lowest", "accuracy_highest",
            "gradient_mean", "gradient_low", "gradient_high", "gradient_bound", "verdict",
        )
    )  # fmt: skip
    for row in report.rows:
        check = row.checks["gradient"]
        found = check.measured
        ends = (
            *(f"{value:.6e}" for value in (found.mean, found.low, found.high)),
            formatted_upper(check.predicted, ".6e"),
        )
        writer.writerow(
            (
                _name(row),
                output.plain(row.budget.delta),
                row.budget.relation,
                to_decimal(row.account.enclosure.exact_upper, 17, "up"),
                to_decimal(row.algorithm.noise_multiplier, 17, "up"),
                row.run.steps,
                *(f"{value:.6f}" for value in (row.accuracy.mean(), row.accuracy.min(), row.accuracy.max())),
                *ends,
                _worst(row.checks.values()),
            )
        )
    baseline = report.baseline
    without = ("infinite", "", "", "infinite", 0, baseline.steps, *[f"{baseline.accuracy:.6f}"] * 3)
    writer.writerow((*without, *[f"{baseline.gradient_norm**2:.6e}"] * 3, "", ""))
    return text.getvalue()


def _plot(report: Report) -> bytes:
    """Accuracy, and gradient against bound, over the budget; distinguished by shape and shade, not by colour."""
    from dpbounds.render.style import canvas, drawn, keyed, titled

    budgets = [float(row.budget.epsilon) for row in report.rows]
    gradients = [row.checks["gradient"] for row in report.rows]
    figure, (left, right) = canvas(10, 4.2, 2)
    for row, budget in zip(report.rows, budgets, strict=True):
        left.plot([budget] * len(row.accuracy), row.accuracy, "o", color=_LIGHT, markersize=4, zorder=1)
    means = [float(row.accuracy.mean()) for row in report.rows]
    left.plot([], [], "o", color=_LIGHT, markersize=4, label="one repetition")
    left.plot(budgets, means, "s-", color=_DARK, label="mean", zorder=2)
    left.axhline(report.baseline.accuracy, color=_GREY, linestyle="--", label="without noise")
    left.axhline(report.baseline.largest_class, color=_GREY, linestyle=":", label="always the larger class")
    left.set(ylabel="accuracy on the training records")
    titled(left, "Utility")

    centre = [check.measured.mean for check in gradients]
    if report.rows[0].run.repetitions > 1:
        low = [max(check.measured.mean - check.measured.low, 0.0) for check in gradients]
        high = [check.measured.high - check.measured.mean for check in gradients]
        right.errorbar(budgets, centre, (low, high), fmt="s-", color=_DARK, capsize=4, label="measured, 99 % interval")
    else:
        right.plot(budgets, centre, "s-", color=_DARK, label="measured")
    right.plot(budgets, [check.predicted.upper for check in gradients], "v--", color=_GREY, label="proven bound")
    right.set(ylabel="squared projected-gradient norm", yscale="log")
    titled(right, "Stationarity: measured and proven")
    for axes in (left, right):
        axes.set(
            xscale="log", xlabel=f"privacy budget ε at δ = {output.plain(report.rows[0].budget.delta)}, {RELATION}"
        )
        axes.set_xticks(budgets, [_name(row) for row in report.rows])
        axes.minorticks_off()
        keyed(axes)
    return drawn(figure, ".png")


def _statement(row: Trained) -> str:
    from dpbounds.privacy.publishing.statements import statement

    return statement(row.account, noise_drawn=row.run.noise_drawn, outside=_OUTSIDE, chosen=row.run.chosen)


def _worst(checks: Iterable[Check]) -> str:
    verdicts = {str(check.verdict) for check in checks}
    return next(verdict for verdict in ("fails", "undecided", "compatible", "holds") if verdict in verdicts)


def _how_it_stopped(baseline: Baseline) -> str:
    how = "converged" if baseline.converged else "not converged: stopped at the limit on steps"
    return f"{how}, projected-gradient norm {baseline.gradient_norm:.1e}"


def ledger_names(budgets: Sequence[Fraction]) -> list[str]:
    """File names for ledgers, one for each budget: the number, or where names hold no such number something like it.

    >>> from fractions import Fraction
    >>> ledger_names([Fraction(4), Fraction(1, 3)])
    ['ledger-epsilon-4.json', 'ledger-epsilon-1-over-3.json']
    """
    texts = [output.plain(epsilon).replace("/", "-over-").replace(" ", "-") for epsilon in budgets]
    if len(set(texts)) < len(texts):  # equal up to the digits that are shown
        texts = [f"{text}-{number}" for number, text in enumerate(texts, 1)]
    return [f"ledger-epsilon-{text}.json" for text in texts]


def _name(row: Trained) -> str:
    return output.plain(row.budget.epsilon)
