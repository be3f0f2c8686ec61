"""`dpbounds fit`: a private linear model for a CSV file with declared columns, and its private score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing import output as printing
from dpbounds.cli.questions.options import (
    FILE,
    POSITIVE,
    PROBABILITY,
    Word,
    demand_place,
    make_directory,
    missing,
    required,
    unfit,
    warn_if_delta_is_large,
    writing_before,
)
from dpbounds.errors import DpboundsError, InvalidValue, NotCertified
from dpbounds.expressions.exact import exact
from dpbounds.expressions.json_numbers import json_text
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.algorithms.estimators.held_out import HeldOut
    from dpbounds.algorithms.problems.declared import Declared
    from dpbounds.privacy.mechanisms import Mechanism

_RELATION = Relation.REPLACE_ONE  # positions of the file make the two parts, and the number of records is public
_HALF_STEPS = 500  # errors of a regressor are rounded to a thousandth of the range
_DIGITS = 4
_LARGEST_LABEL = 1e300  # largest absolute value of a label: the length of the range is then a double


def _names(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, (text or "").split(","))))


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A model with its score and the statement on both."""

    model: Any
    records: Declared
    trained: int
    score: HeldOut
    quality: float
    together: Mechanism
    statement: str


@click.command("fit", short_help="Fit a private classifier or regressor to a CSV file.")
@click.argument("data", type=FILE, metavar="FILE.csv")
@required("--epsilon", "E, a number greater than 0", POSITIVE, help="ε of the privacy budget.")
@required("--delta", "D, a number greater than 0 and less than 1", PROBABILITY, help="δ of the privacy budget.")
@click.option("--label", metavar="NAME", help="Label column (default: the last).")
@click.option("--classes", callback=_names, metavar="A,B", help="The labels, for a classifier.")
@click.option("--target-range", callback=_names, metavar="LOW,HIGH", help="Range of the label, for a regressor.")
@click.option(
    "--ranges", type=FILE, metavar="FILE", help="Ranges of the numbers: CSV with columns feature, lower, upper."
)
@click.option(
    "--estimate-ranges",
    is_flag=True,
    help="Choose all ranges privately, for about a quarter of ε, in place of --ranges.",
)
@click.option("--category", "inline", multiple=True, metavar="NAME=A,B", help="Category column, with its values.")
@click.option(
    "--categories", type=FILE, metavar="FILE", help="Further categories: CSV with columns feature, value, a line each."
)
@click.option("--drop", callback=_names, metavar="A,B", help="Columns that are not used.")
@click.option(
    "--held-out",
    default="1/4",
    callback=PROBABILITY,
    show_default=True,
    metavar="F",
    help="Share of records for the score.",
)
@click.option("--noise", type=Word(["gaussian", "secure"]), default="gaussian", show_default=True)
@click.option(
    "--output", type=FILE, default=Path("dpbounds-fit"), show_default=True, metavar="DIR", help="Directory to write to."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    data: Path,
    epsilon: Fraction,
    delta: Fraction,
    label: str | None,
    classes: tuple[str, ...],
    target_range: tuple[str, ...],
    ranges: Path | None,
    estimate_ranges: bool,
    inline: tuple[str, ...],
    categories: Path | None,
    drop: tuple[str, ...],
    held_out: Fraction,
    noise: str,
    output: Path,
    as_json: bool,
) -> int:
    """Fit a private linear model to a CSV file, and measure it on held-out records by a private score.

    Columns are declared, because a range or a category that is read off the records would be published: --ranges has a
    public range for each number, --category the values of a category. --classes makes a classifier, --target-range a
    regressor. The model, its score and the privacy statement on both are written to DIR.

    Example: dpbounds fit people.csv --label buys --classes no,yes --category city=Leeds,York --ranges ranges.csv
    --epsilon 1 --delta 1e-5
    """
    if classes and target_range:
        raise unfit(
            "--classes", "does not fit --target-range", "leave out --classes for a regressor, else --target-range"
        )
    if not classes and not target_range:
        raise missing(
            "--classes or --target-range",
            "the labels of a classifier (--classes A,B), or the range of the label, for a regressor "
            "(--target-range LOW,HIGH); labels or a range that are read off the records would be published",
        )
    if ranges is not None and estimate_ranges:
        raise unfit("--ranges", "does not fit --estimate-ranges", "leave one of the two out")
    if ranges is None and not estimate_ranges:
        raise missing(
            "--ranges or --estimate-ranges",
            "the public range of each number in a file (--ranges FILE), or --estimate-ranges, which chooses them for a "
            "part of the budget; the smallest and largest values of a column are values of single records",
        )
    demand_place(output)
    declared = _categories(inline, categories)
    from dpbounds.algorithms.problems.declared import read_declared

    try:
        records = read_declared(data, declared, ranges, label, drop)
    except InvalidValue as error:
        raise click.UsageError(_in_options(error)) from None
    warn_if_delta_is_large(delta, len(records.labels), "--delta")
    fitted = _fitted(records, _estimator(records, epsilon, delta, classes, target_range, noise), held_out)
    make_directory(output)
    document = _document(fitted, epsilon, delta)
    ledger, statement, model = (output / name for name in ("ledger.json", "statement.txt", "model.json"))
    evidence = {ledger: fitted.model.ledger_.to_json() + "\n", statement: fitted.statement + "\n"}
    writing_before(evidence, {model: json_text(document, indent=2) + "\n"})
    if as_json:
        printing.print_json({**document, "files": [str(path) for path in (model, ledger, statement)]})
        return 0
    _print(fitted, epsilon, delta)
    click.echo(f"\n{fitted.statement}\n")
    click.echo(f"Written: {model}, {ledger}, {statement}")
    return 0


# --- What is declared -------------------------------------------------------------------------------------------------


def _categories(inline: Iterable[str], file: Path | None) -> dict[str, tuple[str, ...]]:
    """Return the values of each category."""
    found: dict[str, tuple[str, ...]] = {}
    for text in inline:
        name, sign, values = text.partition("=")
        if not sign:
            raise InvalidValue("--category", text, "NAME=A,B, a column and its values")
        _add(found, name.strip(), [value.strip() for value in values.split(",")])
    if file is not None:
        from dpbounds.algorithms.problems.datasets import read_table

        header, rows = read_table(file, "--categories")
        if sorted(header) != ["feature", "value"]:
            raise InvalidValue("--categories", file, "a CSV file with the columns feature, value")
        several: dict[str, list[str]] = {}
        for row in rows:
            cells = dict(zip(header, map(str.strip, row), strict=True))
            several.setdefault(cells["feature"], []).append(cells["value"])
        for name, entries in several.items():
            _add(found, name, entries)
    return found


_OPTIONS = {"path": "FILE.csv", "label": "--label", "category": "--category", "column to leave out": "--drop"}


def _in_options(error: InvalidValue) -> str:
    """Return an error about the file and its columns in the words of the options."""
    from dpbounds.algorithms.problems.declared import DECLARATION

    text = str(error)
    if error.name.startswith(DECLARATION):
        return f"{text} (--ranges FILE, --category NAME=A,B, --drop NAME)"
    return f"{_OPTIONS.get(error.name, error.name)}{text.removeprefix(error.name)}"


def _add(found: dict[str, tuple[str, ...]], name: str, values: list[str]) -> None:
    if name in found:
        raise InvalidValue("category", repr(name), "declared once")
    found[name] = tuple(values)


def _estimator(
    records: Declared,
    epsilon: Fraction,
    delta: Fraction,
    classes: tuple[str, ...],
    target_range: tuple[str, ...],
    noise: str,
) -> Any:
    """Return the estimator, which has not seen the records yet."""
    try:
        from dpbounds.algorithms.estimator import PrivateLinearClassifier, PrivateLinearRegressor
    except ModuleNotFoundError as error:
        raise DpboundsError(str(error)) from None
    public = "estimate" if records.ranges is None else list(records.ranges)
    shared: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "feature_ranges": public,
        "noise": noise,
        "relation": str(_RELATION),
    }
    if classes:
        strange = sum(label not in classes for label in records.labels)
        if strange:
            told = "labels that are none of them"
            raise InvalidValue("--classes", ",".join(classes), "all labels of the column", f"the file has {told}")
        return PrivateLinearClassifier(**shared, classes=list(classes))
    if len(target_range) != 2:
        raise InvalidValue("--target-range", ",".join(target_range), "LOW,HIGH")
    ends = [exact(end, "--target-range") for end in target_range]
    if max(map(abs, ends)) > _LARGEST_LABEL or float(ends[0]) >= float(ends[1]):
        wanted = f"LOW,HIGH with LOW < HIGH as doubles, neither beyond {_LARGEST_LABEL:.0e} in size"
        raise InvalidValue("--target-range", ",".join(target_range), wanted)
    return PrivateLinearRegressor(**shared, target_range=(float(ends[0]), float(ends[1])))


# --- The model and its score ------------------------------------------------------------------------------------------


def _fitted(records: Declared, model: Any, share: Fraction) -> _Fitted:
    """Fit to one part of the records, and score on the other, each for the whole budget."""
    import numpy as np

    from dpbounds.algorithms.estimators.held_out import held_out, private_mean
    from dpbounds.privacy.accountants.certified import delta as delta_of
    from dpbounds.privacy.mechanisms import InParallel

    apart = held_out(len(records.labels), share)
    if not apart.any() or apart.all():
        raise InvalidValue("--held-out", printing.plain(share), "a share that leaves records for both parts")
    classifier = hasattr(model, "classes")
    labels = np.array(records.labels) if classifier else records.numbers()
    model.fit(records.features[~apart], labels[~apart])
    predicted, told = model.predict(records.features[apart]), labels[apart]
    if classifier:
        losses, half_steps = (predicted != told).astype(np.float64), 1
    else:
        low, high = model.target_range
        ends = np.clip(predicted, low, high), np.clip(told, low, high)
        losses, half_steps = np.abs(ends[0] - ends[1]) / (high - low), _HALF_STEPS
    score = private_mean(losses, half_steps, model.epsilon, model.noise)
    together = InParallel((model.ledger_.mechanism(), score.mechanism), partition="index")
    if not delta_of(together, model.epsilon, _RELATION).at_most(model.delta):
        raise NotCertified("the account of model and score did not confirm the budget: nothing is published")
    quality = 1 - score.mean if classifier else score.mean * (high - low)
    return _Fitted(
        model, records, int((~apart).sum()), score, quality, together, _statement(model, records, score, apart.sum())
    )


def _statement(model: Any, records: Declared, score: HeldOut, held: int) -> str:
    """Return the statement of the estimator, and of the score beside it."""
    budget = f"({printing.plain(model.epsilon)}, {printing.plain(model.delta)})"
    return "\n".join(
        (
            f"Model and score together are {budget}-differentially private under {_RELATION}: a record is in the part "
            f"of the file that the model is fitted to, or among the {held} held-out records of the score, by its "
            "position in the file.",
            f"Score: the {_measure(model)} on held-out records, with {score.noise_drawn}.",
            "Taken to be public, too: the columns, the ranges and values that were declared "
            f"({records.categorical} columns are values of categories; other values count as none of them), and the "
            "split.",
            "About the model alone:",
            model.privacy_statement_,
        )
    )


def _document(found: _Fitted, epsilon: Fraction, delta: Fraction) -> dict[str, object]:
    model, records = found.model, found.records
    classifier = hasattr(model, "classes")
    return {
        "model": "classifier" if classifier else "regressor",
        "label": records.label,
        "classes": list(model.classes_) if classifier else None,
        "target_range": None if classifier else [float(end) for end in model.target_range],
        "features": list(records.names),
        "ranges": None if model.ranges_ is None else [[float(end) for end in pair] for pair in model.ranges_],
        "coefficients": [[float(x) for x in row] for row in model.coef_.reshape(-1, len(records.names))],
        "intercepts": [float(x) for x in _as_list(model.intercept_)],
        "records": {"fitted": found.trained, "held_out": len(records.labels) - found.trained},
        "score": {
            "kind": _measure(model),
            "value": found.quality,
            "typical_error": _error(found),
        },
        "epsilon": printing.json_given(epsilon),
        "delta": printing.json_given(delta),
        "relation": str(_RELATION),
        "statement": found.statement,
    }


def _measure(model: Any) -> str:
    """Return the name of the score."""
    return "accuracy" if hasattr(model, "classes") else "mean absolute error"


def _as_list(intercepts: Any) -> list[float]:
    return [float(intercepts)] if isinstance(intercepts, float) else list(intercepts)


def _error(found: _Fitted) -> float:
    """Return the typical error of the score, in its units."""
    low, high = getattr(found.model, "target_range", (0.0, 1.0))
    return float(found.score.typical_error * (high - low))


def _print(found: _Fitted, epsilon: Fraction, delta: Fraction) -> None:
    model, held = found.model, len(found.records.labels) - found.trained
    classifier = hasattr(model, "classes")
    kind = f"classifier of {len(model.classes_)} classes" if classifier else "regressor"
    printing.print_rows(
        {
            _measure(model): f"{found.quality:.{_DIGITS}g}  (private: noise of "
            f"{_error(found):.2g} on average, {held} held-out records)",
            "model": f"linear {kind}, {len(found.records.names)} features, {model.n_iter_} steps on {found.trained} "
            "records",
            "budget": f"epsilon {printing.plain(epsilon)}, delta {printing.plain(delta)}  (proven to be kept)",
            "relation": str(_RELATION),
        }
    )
