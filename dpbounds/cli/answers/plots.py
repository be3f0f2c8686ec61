"""`--plot FILE`: pictures of results, with a caption on how to read them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing.output import plain, print_written
from dpbounds.cli.printing.progress import progress_bar
from dpbounds.cli.questions.options import FILE, PICTURES, unfit, writable, writing
from dpbounds.errors import InvalidValue
from dpbounds.theorems.references import cited_as

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from dpbounds.algorithms.verification.attacks.experiments import AuditedAlgorithm
    from dpbounds.algorithms.verification.suite import Outcome
    from dpbounds.cli.answers.curves import ProvenCurve
    from dpbounds.privacy.accountants.audits import ScoreAudit
    from dpbounds.privacy.budgets.calibration import Calibration
    from dpbounds.privacy.mechanisms import Mechanism
    from dpbounds.rates.plan import Plan
    from dpbounds.rates.tightness.rows import Row
    from dpbounds.render.curves import Panel

_FACTORS = tuple(Fraction(part, 12) for part in (6, 8, 10, 12, 15, 18, 24))  # factors of the calibrated value
_SIZES = tuple(Fraction(part, 10) for part in (1, 3, 10, 30, 100))  # factors of the number of records
_TOLERANCE = 1e-4  # relative: a picture shows no more


def _picture(ctx: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if writable(ctx, option, path) is None or path is None:
        return None
    if path.suffix.lower() not in PICTURES:
        raise InvalidValue(option.opts[0], path, f"a file that ends in {', '.join(PICTURES)}")
    if find_spec("matplotlib") is None:
        raise unfit(f"{option.opts[0]} {path}", "needs matplotlib to draw a picture", "pip install 'dpbounds[demo]'")
    return path


def _option(*names: str) -> Callable[[Any], Any]:
    return click.option(
        *names, "plot", type=FILE, callback=_picture, metavar="FILE", help=f"Draw the result ({', '.join(PICTURES)})."
    )


PLOT_OPTION = _option("--plot")
OUTPUT_OPTION = _option("--plot", "--output")  # where a picture was the only file that a verb wrote


def write(path: Path, figure: Figure) -> None:
    """Write the picture, and report it on standard error."""
    from dpbounds.render.style import drawn

    writing(path, drawn(figure, path.suffix.lower()), "--plot")
    print_written(path, err=True)


def spending(curve: ProvenCurve) -> Figure:
    """Draw δ(ε), and an attacker's error rates."""
    from dpbounds.cli.answers.curves import curve_panel, trade_off_panel
    from dpbounds.render.curves import draw

    caption = (
        "Left: any δ above the solid line is proven to suffice, any below the dashed one proven not to. "
        "Right: no attack has errors below the solid line; who guesses has those of the dashed one."
    )
    return draw("", [curve_panel(curve), trade_off_panel(curve)], caption)


def calibration(found: Calibration, with_value: Callable[[Fraction], Mechanism], name: str) -> Figure:
    """ε around the calibrated value."""
    from dpbounds.privacy.accountants.certified import epsilon
    from dpbounds.render.curves import Line, Panel, draw

    at = tuple(_around(found))
    with progress_bar("values", shown=True) as progress:
        ends = []
        for value in at:
            ends.append(epsilon(with_value(value), found.target_delta, found.relation, tolerance=_TOLERANCE))
            if progress is not None:
                progress(len(ends), len(at))
    x = tuple(map(float, at))
    target = float(found.target_epsilon)
    lines = (
        Line("proven to suffice", x, tuple(each.upper for each in ends)),
        Line("proven to be needed", x, tuple(each.lower for each in ends)),
        Line("budget", x, (target,) * len(x), level=True),
        Line("calibrated", (float(found.value),), (target,)),
    )
    what = name.replace("_", " ")
    caption = (
        f"ε at δ = {plain(found.target_delta)} under {found.relation}. The dot is the answer: where the upper curve "
        "meets the budget."
    )
    return draw("", [Panel(f"ε against the {what}", what, "ε", lines, log_x=True)], caption)


def _around(found: Calibration) -> Iterator[Fraction]:
    """Values from half to twice the calibrated one, of the kind that is solved for."""
    whole = found.solve in ("steps", "batches")
    for factor in _FACTORS:
        value = found.value * factor
        if whole:
            value = Fraction(max(1, round(value)))
        if found.solve != "sample-rate" or value <= 1:
            yield value


def plan(found_at: Callable[[Fraction], Plan], dataset_size: Fraction) -> Figure:
    """Return the best proven bound against the number of records."""
    from dpbounds.render.curves import Line, Panel, draw

    bounds: dict[str, list[tuple[float, float]]] = {}
    since: dict[str, int] = {}
    trivial: list[tuple[float, float]] = []
    with progress_bar("numbers of records", shown=True) as progress:
        for done, factor in enumerate(_SIZES, start=1):
            size = Fraction(max(1, round(dataset_size * factor)))
            found = found_at(size)
            for one in found.ranking:
                if one.bound is not None and one.like == "":
                    bounds.setdefault(one.id, []).append((float(size), one.bound.upper))
                    if one.meaningful_from is not None and (size == dataset_size or one.id not in since):
                        since[one.id] = one.meaningful_from.dataset_size
            trivial += [(float(size), one.value.upper) for one in found.trivial[:1]]
            if progress is not None:
                progress(done, len(_SIZES))
    best = sorted(bounds, key=lambda name: (-len(bounds[name]), bounds[name][-1][1]))[:4]
    lines = []
    for name in best:
        x, y = _columns(bounds[name])
        known = since.get(name)
        label = cited_as(name)
        lines.append(Line(label if known is None else f"{label} (meaningful from n = {known})", x, y))
        if known is not None and x[0] <= known <= x[-1]:  # trivial bounds do not depend on n
            lines.append(Line("_", (float(known),), (trivial[0][1],), promised=True))
    if trivial:
        lines.append(Line("without any algorithm", *_columns(trivial), level=True))
    caption = (
        "Proven bounds with the best parameters at each number of records. A bound is informative from the point "
        "where it is below the dashed line (hollow mark)."
    )
    title = f"{found.metric.replace('-', ' ')} against the number of records"
    return draw("", [Panel(title, "records", "bound", tuple(lines), log_x=True)], caption)


def _columns(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(x for x, _ in points), tuple(y for _, y in points)


def tightness(rows: Sequence[Row]) -> Figure:
    """Draw the ratio of each bound to the worst instance known."""
    from dpbounds.render.intervals import Interval, intervals

    found = [finding for row in rows for finding in row.findings]
    if not found:
        raise InvalidValue(
            "--plot", "nothing", "a statement with a certified instance", "`dpbounds tightness` lists them"
        )
    found.sort(key=lambda one: one.ratio.upper)
    drawn = [Interval(f"{cited_as(one.instance.statement)}, {one.instance.part}", 1, one.ratio.upper) for one in found]
    caption = (
        "From the certified worst instance (dot, 1) to the value of the bound (bar). A line without length "
        "is an exact bound."
    )
    return intervals("How tight is each bound?", drawn, "bound over instance", caption, log=True)


_MOST_CHECKS = 60  # checks in a picture


def verification(outcomes: Sequence[Outcome]) -> Figure:
    """Return measured over predicted values; of exponents, their difference."""
    from dpbounds.cli.answers.verification_report import measured, predicted
    from dpbounds.render.verdicts import Found, verdicts

    order = ("fails", "undecided", "compatible", "holds")
    ratios, differences = list[Found](), list[Found]()
    several = len({one.planned.theorem for one in outcomes}) > 1
    for one in sorted(outcomes, key=lambda one: order.index(str(one.check.verdict))):
        mean, low, high = measured(one)
        label = f"{cited_as(one.planned.theorem)}: {one.planned.name}" if several else one.planned.name
        found = Found(_wrapped(label), predicted(one)[1], low, mean, high, str(one.check.verdict))
        if not all(map(math.isfinite, (found.promised, low, mean, high))):
            continue
        if one.planned.kind == "slope":
            differences.append(found)
        elif found.promised > 0 and mean > 0:
            ratios.append(found)
    drawn = len(ratios[:_MOST_CHECKS]) + len(differences[:_MOST_CHECKS])
    if not drawn:
        raise InvalidValue("--plot", "nothing", "a check whose predicted and measured values are finite numbers")
    caption = (
        "Dots: means; lines: their intervals. Bounds hold left of the vertical line, formulas and exponents on it. A "
        "hollow square is compatible with its bound, a hollow dot is undecided, a cross fails."
    )
    if drawn < len(outcomes):
        caption += f" Not drawn, for want of finite numbers or of room: {len(outcomes) - drawn}."
    return verdicts(ratios[:_MOST_CHECKS], differences[:_MOST_CHECKS], caption)


def _wrapped(label: str) -> str:
    return "\n".join(textwrap.wrap(label, 44)[:2])


def audits(findings: Sequence[AuditedAlgorithm]) -> Figure:
    """Return the lower bounds of attacks, and the certified upper bounds."""
    from dpbounds.render.intervals import Interval, intervals

    drawn = [
        Interval(one.name, one.audit.epsilon, min(one.certified, float(one.claim.epsilon) * 4), not one.sound)
        for one in findings
    ]
    caption = (
        "From the lower bound that attacks prove with confidence (dot; a cross where it exceeds the certified ε) to "
        "the certified ε (bar; at four times the claim where none is finite)."
    )
    return intervals("Audits", drawn, "ε", caption)


_RATES = 200  # false positive rates in a picture of scores
_LARGEST = 700  # the largest ε of a line: e^ε has to be a double
SCORES_CAPTION = (
    "Error rates of tests that say “in” above a threshold, as measured in a finite sample. No test attains less than "
    "the other lines if ε is the lower bound of the audit, or the claimed ε."
)


def scores_panel(
    values: NDArray[np.float64], coins: NDArray[np.bool_], found: ScoreAudit, claimed: Fraction | float | None
) -> Panel:
    """Return the error rates of thresholds on scores, with those that the bound and a claim allow."""
    import numpy as np

    from dpbounds.render.curves import Line, Panel

    inside, outside = np.sort(values[coins]), np.sort(values[~coins])
    thresholds = np.unique(np.quantile(values, np.linspace(0, 1, _RATES), method="inverted_cdf"))
    false_positives = 1 - np.searchsorted(outside, thresholds, side="right") / len(outside)
    false_negatives = np.searchsorted(inside, thresholds, side="right") / len(inside)
    rates = np.linspace(0, 1, _RATES)
    lines = [Line("measured", tuple(map(float, false_positives)), tuple(map(float, false_negatives)))]
    allowed = [(f"least at epsilon {plain(Fraction(f'{float(found.epsilon):.4g}'))}", found.epsilon)]
    if claimed is not None and claimed < _LARGEST:
        allowed.append((f"least by the claim, epsilon {float(claimed):.4g}", Fraction(claimed)))
    for label, epsilon in allowed:
        least = np.maximum(
            1 - float(found.delta) - np.exp(float(epsilon)) * rates,
            np.exp(-float(epsilon)) * (1 - float(found.delta) - rates),
        )
        lines.append(Line(label, tuple(map(float, rates)), tuple(map(float, np.maximum(least, 0)))))
    lines.append(Line("guessing", (0.0, 1.0), (1.0, 0.0), level=True))
    return Panel("Error rates", "false positive rate", "false negative rate", tuple(lines), log_y=False)


def scores(panel: Panel) -> Figure:
    """Draw the error rates of scores."""
    from dpbounds.render.curves import draw

    return draw("", [panel], SCORES_CAPTION)
