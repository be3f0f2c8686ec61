"""Output of `dpbounds verify`: the outcomes as plain data, as a table, as a page with pictures."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dpbounds.cli.questions.options import writing
from dpbounds.expressions.json_numbers import outward
from dpbounds.theorems.references import cited_as

if TYPE_CHECKING:
    from dpbounds.algorithms.verification.experiments import Picture
    from dpbounds.algorithms.verification.judging.planned_checks import PlannedCheck
    from dpbounds.algorithms.verification.judging.slopes import SlopeCheck
    from dpbounds.algorithms.verification.suite import Outcome

_COLUMNS = ("statement", "check", "kind", "predicted", "measured", "low", "high", "verdict", "reason", "seconds")


def document(
    outcomes: Sequence[Outcome], pictures: Sequence[Picture], left_out: Sequence[PlannedCheck] = ()
) -> dict[str, object]:
    """Return the document that ``--json`` prints; the last entries are checks that were not run."""
    from dpbounds.algorithms.verification.judging.planned_checks import SUITE_ERROR

    return {
        "checks": [
            {
                "theorem": one.planned.theorem,
                "name": one.planned.name,
                "kind": one.planned.kind,
                "predicted": predicted(one)[0],
                "measured": _measured(one),
                "verdict": str(one.check.verdict),
                "reason": one.check.reason,
                **_choice(one),
                "seconds": round(one.seconds, 3),
            }
            for one in outcomes
        ],
        "counts": counts(outcomes),
        "left_out": [{"theorem": one.theorem, "name": one.name, "kind": one.kind} for one in left_out],
        "suite_error": SUITE_ERROR,
        "experiments": [
            {"theorem": one.experiment.theorem, "name": one.experiment.name, "findings": list(one.findings)}
            for one in pictures
        ],
    }


def _measured(one: Outcome) -> dict[str, float | str]:
    from dpbounds.algorithms.verification.judging.checks import Measured

    return Measured(*measured(one)).as_json()


def _choice(outcome: Outcome) -> dict[str, object]:
    """The problem on which an exponent was compared with the theorem's, and the results on the other problems."""
    check = _slope(outcome)
    if check is None or not check.chosen:
        return {}
    others = [
        {
            "problem": one.problem,
            "exponent": _number(one.slope.value),
            "low": _number(outward(one.slope.low, "down")),
            "high": _number(outward(one.slope.high, "up")),
            "regime": one.regime,
        }
        for one in check.others
    ]
    return {"chosen": check.chosen, "others": others}


def _slope(one: Outcome) -> SlopeCheck | None:
    """Return the check of an exponent, if it is one."""
    from dpbounds.algorithms.verification.judging.slopes import SlopeCheck

    return one.check if isinstance(one.check, SlopeCheck) else None


def _chosen_problems(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the exponents on chosen problems, where they can be observed, and those on the others."""
    found = [(one, check) for one in outcomes if (check := _slope(one)) is not None and check.chosen]
    if not found:
        return []
    lines = ["", "## Exponents on a chosen problem", ""]
    lines.append(
        "A match shows that the rate is met somewhere, not everywhere; the other problems do not count for the "
        "verdict.\n"
    )
    for one, check in found:
        told = ", ".join(map(str, check.others))
        own = f"{check.slope.value:.3g} on {check.chosen}"
        lines.append(f"- {cited_as(one.planned.theorem)}, {one.planned.name}: {own}; others: {told}")
    return lines


def predicted(one: Outcome) -> tuple[object, float]:
    """Return the predicted value as data and as the number of the table."""
    from dpbounds.algorithms.verification.judging.checks import ends_as_json

    found = one.check.predicted
    return (found, found) if isinstance(found, int | float) else (ends_as_json(found), found.upper)


def measured(one: Outcome) -> tuple[float, float, float]:
    """Mean of the measurement, and the ends of its interval."""
    from dpbounds.algorithms.verification.judging.slopes import SlopeCheck

    if isinstance(one.check, SlopeCheck):
        return one.check.slope.value, one.check.slope.low, one.check.slope.high
    return one.check.measured.mean, one.check.measured.low, one.check.measured.high


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Numbers of checks that hold, are compatible, are undecided, fail."""
    found = {"holds": 0, "compatible": 0, "undecided": 0, "fails": 0}
    for one in outcomes:
        found[str(one.check.verdict)] += 1
    return found


def in_words(found: dict[str, int]) -> str:
    """Return the counts in a sentence."""
    are = ", ".join(f"{found[verdict]} are {verdict}" for verdict in ("compatible", "undecided"))
    return f"{found['holds']} hold, {are}, {found['fails']} fail"


def write(
    folder: Path,
    outcomes: Sequence[Outcome],
    pictures: Sequence[Picture],
    command: str,
    left_out: Sequence[PlannedCheck] = (),
) -> list[Path]:
    """Write the page and the table, and the pictures of experiments where matplotlib is there."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [_row(one) for one in outcomes]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(rows)
    files = [folder / "verification.md", folder / "verification.csv"]
    writing(files[1], text.getvalue(), "--output")
    drawn = _drawn(folder / "figures", pictures)
    page = _page(outcomes, rows, pictures, command, left_out, with_figures=bool(drawn))
    writing(files[0], "\n".join(page) + "\n", "--output")
    return files + drawn


def _page(
    outcomes: Sequence[Outcome],
    rows: Sequence[tuple[str, ...]],
    pictures: Sequence[Picture],
    command: str,
    left_out: Sequence[PlannedCheck],
    *,
    with_figures: bool,
) -> list[str]:
    from dpbounds import __version__
    from dpbounds.algorithms.verification.judging.planned_checks import SUITE_ERROR

    shown = _COLUMNS[:-2]
    lines = [
        "# Theory against practice",
        "",
        f"Made by `{command}` with dpbounds {__version__} on {dt.date.today():%Y-%m-%d}: "
        f"of {len(outcomes)} checks {in_words(counts(outcomes))}. All of them together raise a false alarm in at most "
        f"{SUITE_ERROR:.0%} of runs, as far as intervals are right: those of counts and quantiles are exact; those of "
        "means and slopes are Student's, exact for normal averages and approximate otherwise. Reasons and seconds "
        "are in `verification.csv`.",
        "",
        "| " + " | ".join(shown) + " |",
        "| " + " | ".join("---" for _ in shown) + " |",
    ]
    for name, *cells in rows:
        row = cited_as(name), *cells[: len(shown) - 1]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |")
    for verdict in ("undecided", "compatible"):
        # an attack is never more than that, and its reason is always the same
        open_ = [one for one in outcomes if str(one.check.verdict) == verdict and "audit" not in one.planned.name]
        if open_:
            lines += ["", f"## {verdict.capitalize()}, and why", ""]
            lines += [f"- {cited_as(one.planned.theorem)}, {one.planned.name}: {one.check.reason}" for one in open_]
    if left_out:
        lines += ["", "## Checks that were left out", ""]
        lines += [f"- {cited_as(one.theorem)}, {one.name} ({one.kind})" for one in left_out]
    lines += _chosen_problems(outcomes)
    if pictures:
        lines += ["", "## The papers' experiments again"]
    for one in pictures:
        lines += ["", f"### {one.experiment.title}", ""]
        if with_figures and one.panels:
            lines += [f"![{one.experiment.title}](figures/{one.experiment.name}.png)", ""]
        lines += [f"- {sentence}" for sentence in one.findings]
    return lines


def _drawn(folder: Path, pictures: Sequence[Picture]) -> list[Path]:
    if not pictures or find_spec("matplotlib") is None:
        return []
    from dpbounds.render.curves import draw
    from dpbounds.render.style import save

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for one in (picture for picture in pictures if picture.panels):
        path = folder / f"{one.experiment.name}.png"
        save(draw(one.experiment.title, one.panels, _caption(one)), path)
        files.append(path)
    return files


def _caption(picture: Picture) -> str:
    curves = [curve for panel in picture.panels for curve in panel.curves]
    told = ["Bands: confidence intervals of the measurements."] if any(curve.low for curve in curves) else []
    told += ["Thin dashes: the claims of the theorems."] if any(curve.promised for curve in curves) else []
    return " ".join(told)


def _row(one: Outcome) -> tuple[str, ...]:
    from dpbounds.algorithms.verification.judging.checks import formatted_upper

    promised = one.check.predicted
    return (
        one.planned.theorem,
        one.planned.name,
        one.planned.kind,
        f"{promised:.5g}" if isinstance(promised, int | float) else formatted_upper(promised, ".5g"),
        *(f"{number:.5g}" for number in measured(one)),
        str(one.check.verdict),
        one.check.reason,
        f"{one.seconds:.2f}",
    )
