"""The answer of `audit --scores`: what scores of canaries show about ε, compared with a claim."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbounds import documents, limits
from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import FILE, number, options, unfit, whole
from dpbounds.errors import CertificateError, InvalidValue, NotCertified
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpbounds.privacy.accountants.audits import ScoreAudit
    from dpbounds.render.curves import Panel
    from dpbounds.render.report import Report

_DIGITS = 6
_INSIDE, _OUTSIDE = ("1", "true", "in"), ("0", "false", "out")
_FINITE = number("a number", lambda _: True)

SCORES_OPTIONS = options(
    click.option(
        "--scores",
        type=FILE,
        metavar="FILE",
        help="Audit a model of your own by scores of canaries, in place of an ALGORITHM: CSV with the columns score "
        "and in (1 or 0), or .npy with these two columns. With --scores-out: scores of canaries in the data.",
    ),
    click.option("--scores-out", type=FILE, metavar="FILE", help="With --scores: scores of canaries not in the data."),
    click.option("--many-runs", is_flag=True, help="With --scores: each score is of an independent run."),
    click.option(
        "--threshold",
        callback=_FINITE,
        metavar="X",
        help="With --scores: score above which a test decides that a canary was in the data; chosen before the runs "
        "(default: several, with one joint confidence).",
    ),
    click.option(
        "--guesses",
        callback=whole,
        metavar="N",
        help="With --scores and --one-run: number of guesses, fixed before the run. (default: several)",
    ),
    click.option(
        "--claim", type=FILE, metavar="FILE", help="With --scores: the claim, as a certificate or a ledger (JSON)."
    ),
)
NAMES = ("scores_out", "many_runs", "threshold", "guesses", "claim")  # options that need --scores


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed ε at a δ, and where it stands."""

    epsilon: Fraction | float
    delta: Fraction
    relation: Relation
    source: str


def answer_scores(
    scored: Mapping[str, Any],
    *,
    one_run: bool,
    epsilon: Fraction | None,
    delta: Fraction | None,
    relation: str | None,
    confidence: Fraction,
    plot: Path | None,
    report: Path | None,
    as_json: bool,
) -> int:
    """Read the scores, bound ε and μ, and compare them with the claim; the status is 1 if the claim is refuted.

    Args:
        scored: The options of ``SCORES_OPTIONS``.
        one_run: Whether all scores are of one run.
        epsilon: A claimed ε; None if none was typed.
        delta: δ; None if none was typed.
        relation: The neighbouring relation; None if none was typed.
        confidence: The confidence of each bound.
        plot: A picture to write.
        report: A page to write.
        as_json: Whether to print JSON.
    """
    from dpbounds.privacy.accountants.audits import audit_scores

    if one_run == scored["many_runs"]:
        raise click.UsageError(
            "--scores needs one of --one-run (one run with many canaries, each included by a fair coin) "
            "and --many-runs (independent runs, each with one canary or without it)"
        )
    under = Relation(relation or Relation.ADD_OR_REMOVE_ONE)
    claim = _claimed(scored["claim"], epsilon, delta, under)
    at = claim.delta if claim is not None else delta
    values, coins = _read(scored["scores"], scored["scores_out"])
    found = audit_scores(
        values,
        coins,
        design="one-run" if one_run else "many-runs",
        delta=Fraction(1, 10**5) if at is None else at,
        confidence=confidence,
        relation=under,
        threshold=scored["threshold"],
        guesses=scored["guesses"],
    )
    if plot is not None or report is not None:
        from dpbounds.cli.answers import plots, reports

        panel = plots.scores_panel(values, coins, found, None if claim is None else claim.epsilon)
        if plot is not None:
            plots.write(plot, plots.scores(panel))
        if report is not None:
            reports.write(report, _report(found, claim, panel))
    if as_json:
        output.print_json(_document(found, claim))
    else:
        output.print_rows(_rows(found, claim))
    return DOES_NOT_HOLD if claim is not None and found.refutes(claim.epsilon) else DONE


# --- What is read -----------------------------------------------------------------------------------------------------


def _read(scores: Path, others: Path | None) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the scores, and whether the canary was in."""
    import numpy as np

    if others is None:
        rows = _columns(scores, "--scores", ("score", "in"))
        coins = [_coin(text, scores, line) for line, (_, text) in rows]
        values = [_score(text, scores, "--scores", line) for line, (text, _) in rows]
    else:
        values, coins = [], []
        for path, name, inside in ((scores, "--scores", True), (others, "--scores-out", False)):
            rows = _columns(path, name, ("score",))
            values += [_score(text, path, name, line) for line, (text,) in rows]
            coins += [inside] * len(rows)
    return np.array(values, dtype=np.float64), np.array(coins, dtype=bool)


def _columns(path: Path, name: str, wanted: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the lines of a CSV file, or the rows of an array, by their numbers, in the columns that are wanted."""
    if path.suffix == ".npy":
        return _rows_of_array(path, name, wanted)
    text = documents.read_text(path, name, limits.TABLE_BYTES)
    allowed = f"a CSV file whose first line names the column{'s' * (len(wanted) > 1)} {' and '.join(wanted)}"
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InvalidValue(name, path, allowed, str(error)) from None
    head = [cell.strip().lower() for cell in lines[0]] if lines else []
    if any(head.count(each) != 1 for each in wanted):
        raise InvalidValue(name, path, allowed)
    places = [head.index(each) for each in wanted]
    found = []
    for at, line in enumerate(lines[1:], start=2):
        if len(line) not in (0, len(head)):
            raise InvalidValue(name, path, allowed, f"line {at} has {len(line)} entries, the first one {len(head)}")
        if line:
            found.append((at, tuple(line[place].strip() for place in places)))
    return found


def _rows_of_array(path: Path, name: str, wanted: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the rows of a NumPy file as texts: one number per row, or as many columns as are wanted."""
    import numpy as np

    content = documents.read_bytes(path, name, limits.TABLE_BYTES)
    allowed = f"a NumPy file of numbers with the column{'s' * (len(wanted) > 1)} {' and '.join(wanted)}"
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InvalidValue(name, path, allowed, str(error).partition("\n")[0]) from None
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
        raise InvalidValue(name, path, allowed, "its entries are not numbers")
    table = found[:, np.newaxis] if found.ndim == 1 else found
    if table.ndim != 2 or table.shape[1] != len(wanted):
        raise InvalidValue(name, path, allowed, f"its shape is {found.shape}")
    return [(line, tuple(f"{float(entry):.17g}" for entry in row)) for line, row in enumerate(table, start=1)]


def _score(text: str, path: Path, name: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidValue(name, path, "a file of finite scores", f"line {line} has {documents.quoted(text)}")
    return value


def _coin(text: str, path: Path, line: int) -> bool:
    if text.lower() not in (*_INSIDE, *_OUTSIDE):
        told = f"line {line} has {documents.quoted(text)}"
        raise InvalidValue("--scores", path, "a file whose column in holds 1 or 0", told)
    return text.lower() in _INSIDE


def _claimed(path: Path | None, epsilon: Fraction | None, delta: Fraction | None, relation: Relation) -> Claim | None:
    """Return the claim that the options name, if any."""
    if path is None:
        default = Fraction(1, 10**5)
        return None if epsilon is None else Claim(epsilon, default if delta is None else delta, relation, "--epsilon")
    if epsilon is not None:
        raise unfit("--epsilon", "does not fit --claim, which states ε")
    document = documents.read_json(path, "--claim")
    if isinstance(document, dict) and "accounts" in document:
        return _certified(path, document, delta, relation)
    from dpbounds.algorithms.ledger_format import read
    from dpbounds.privacy.accountants.certified import epsilon as spent

    try:
        mechanism, _ = read(documents.read_text(path, "--claim"))
    except InvalidValue as error:
        raise InvalidValue("--claim", path, "a certificate or a ledger that dpbounds wrote", str(error)) from None
    at = Fraction(1, 10**5) if delta is None else delta
    return Claim(spent(mechanism, at, relation).exact_upper, at, relation, f"ledger {path.name}")


def _certified(path: Path, document: dict[str, Any], delta: Fraction | None, relation: Relation) -> Claim:
    """Return the claim of a certificate that holds."""
    from dpbounds.privacy.publishing.certificates import check_certificate

    try:
        checked = check_certificate(document)
    except CertificateError as error:
        raise InvalidValue("--claim", path, "a certificate or a ledger that dpbounds wrote", str(error)) from None
    if not checked.holds:
        raise NotCertified(f"the certificate {path} does not hold: `dpbounds check` says why")
    (claim, *_) = checked.claims
    target, upper = Fraction(str(claim["target"])), Fraction(str(claim["upper"]))
    epsilon, at = (upper, target) if claim["given"] == "delta" else (target, upper)
    if delta is not None and delta != at:
        raise unfit(f"--delta {output.plain(delta)}", f"is not the δ of the certificate, {output.plain(at)}")
    if claim["relation"] != relation:
        raise InvalidValue(
            "--relation",
            str(relation),
            f"that of the certificate, {claim['relation']}",
            "the coins of the canaries have to choose between neighbours of that relation",
        )
    return Claim(epsilon, at, relation, f"certificate {path.name}")


# --- What is printed --------------------------------------------------------------------------------------------------


def _document(found: ScoreAudit, claim: Claim | None) -> dict[str, object]:
    return {
        "design": found.design,
        "relation": str(found.relation),
        "delta": output.json_given(found.delta),
        "confidence": float(found.confidence),
        "included": found.included,
        "excluded": found.excluded,
        "lower": {"epsilon": output.json_number(found.epsilon, "down"), "found_by": found.found_by},
        "gaussian": {
            "mu": output.json_number(found.mu, "down"),
            "epsilon": None if found.gaussian_epsilon is None else output.json_number(found.gaussian_epsilon, "down"),
            "found_by": found.gaussian_found_by,
        },
        "claim": None
        if claim is None
        else {
            "epsilon": output.json_number(claim.epsilon, "up"),
            "delta": output.json_given(claim.delta),
            "relation": str(claim.relation),
            "source": claim.source,
        },
        "claim_refuted": None if claim is None else found.refutes(claim.epsilon),
        "gaussian_claim_refuted": None if claim is None else found.refutes_gaussian(claim.epsilon),
    }


def _rows(found: ScoreAudit, claim: Claim | None) -> dict[str, str]:
    runs = "one run" if found.design == "one-run" else "independent runs"
    implied, sure = "", f"{output.plain(found.confidence)} confidence"
    if found.gaussian_epsilon is not None:
        implied = f", so epsilon at least {_down(found.gaussian_epsilon)}"
    return {
        "scores": f"{found.included} in, {found.excluded} out ({runs})",
        "at least": f"epsilon {_down(found.epsilon)} at delta = {output.plain(found.delta)}, {sure} ({found.found_by})",
        "if Gaussian": f"mu at least {_down(found.mu)}{implied}, {sure} ({found.gaussian_found_by})",
        "relation": str(found.relation),
        **({} if claim is None else {"claimed": f"epsilon {_up(claim.epsilon)} ({claim.source})"}),
        **({} if claim is None else {"verdict": _verdict(found, claim)}),
    }


def _verdict(found: ScoreAudit, claim: Claim) -> str:
    """Return the comparison of the bounds with the claim, in one sentence."""
    sure = output.plain(100 * found.confidence)
    if found.refutes(claim.epsilon):
        return f"refuted at confidence {sure} %: the audit shows epsilon >= {_down(found.epsilon)}"
    if found.refutes_gaussian(claim.epsilon):
        return (
            f"refuted at confidence {sure} % if the run is Gaussian private, else compatible: the audit shows "
            f"epsilon >= {_down(found.epsilon)}"
        )
    return f"compatible: the audit shows epsilon >= {_down(found.epsilon)}, the claim is {_up(claim.epsilon)}"


def _report(found: ScoreAudit, claim: Claim | None, panel: Panel) -> Report:
    from dpbounds.cli.answers import plots, reports
    from dpbounds.privacy.mechanisms.core import Assumption
    from dpbounds.render.report import Picture, Report, Section

    drawn = find_spec("matplotlib") is not None  # an optional dependency
    refuted = claim is not None and found.refutes(claim.epsilon)
    verdict = f"The audit shows ε of at least {_down(found.epsilon)} at δ = {output.plain(found.delta)}"
    if claim is not None:
        verdict = f"The audit {'refutes' if refuted else 'does not refute'} the claim of ε = {_up(claim.epsilon)}"
    one = found.design == "one-run"
    return Report(
        kind="Audit",
        verdict=verdict,
        holds=None if claim is None else not refuted,
        lead="A model was trained with records that were made for this purpose (canaries). Some of them were in the "
        "data and some were not, and each got a score from the released model. How well the scores distinguish the two "
        "kinds bounds ε from below.",
        sections=(
            Section(
                "What was found?",
                values=_rows(found, claim),
                pictures=(Picture(reports.svg(panel), plots.SCORES_CAPTION),) if drawn else (),
            ),
            Section(
                "What does it mean?",
                points=(
                    f"“at least” is too large with probability {output.plain(1 - found.confidence)} at most",
                    "“if Gaussian” holds for runs with the trade-off function of Gaussian noise, such as Gaussian "
                    "releases of all records",
                    "a lower bound above a claim shows that the claim, or what it assumes, is wrong",
                    "a lower bound below a claim proves nothing: another attack may do better",
                ),
            ),
            reports.confirmations(
                [Assumption("who made the audit", text) for text in (ONE_RUN if one else MANY_RUNS)],
            ),
            reports.checking({}),
            reports.signatures(),
        ),
    )


ONE_RUN = (
    "each canary was in the data or not by a fair coin of its own, independent of all else",
    "a score was computed from what was released, without a look at the coins",
    "the number of guesses or the threshold was fixed before the run, if it was given",
)
MANY_RUNS = (
    "the runs are independent, and those of one kind have the same procedure and the same data",
    "the data of the two kinds differ in the canary alone",
    "the scores, and the threshold if it was given, were fixed before the runs",
)


def _down(value: Fraction) -> str:
    return output.rounded(value, _DIGITS, "down")


def _up(value: Fraction | float) -> str:
    return output.rounded(value, _DIGITS, "up")
