"""`dpbounds audit`: an empirical lower bound on ε, compared with the certified upper bound and the claim."""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dpbounds import __version__
from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.answers.plots import PLOT_OPTION
from dpbounds.cli.answers.scored_audits import NAMES, SCORES_OPTIONS, answer_scores
from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import progress_bar
from dpbounds.cli.questions.completion import ALGORITHMS
from dpbounds.cli.questions.options import (
    AT_LEAST_ZERO,
    FILE,
    PLAIN_REPORT_OPTION,
    POSITIVE,
    PROBABILITY,
    PROBABILITY_OR_ZERO,
    number_of_processes,
    number_of_runs,
    relation_option,
    unfit,
    writing,
)
from dpbounds.errors import MISSING, InvalidValue
from dpbounds.expressions.exact import to_decimal
from dpbounds.expressions.json_numbers import outward
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.verification.attacks.audits import Audit
    from dpbounds.algorithms.verification.attacks.experiments import AuditedAlgorithm
    from dpbounds.algorithms.verification.attacks.mutations import AuditedCopy

_ALL = "all"
_HEADINGS = (
    "algorithm",
    "at least",
    "unassuming",
    "this pair",
    "certified",
    "claimed",
    "verdict",
    "runs",
    "ended by",
    "limit",
)
_LIMITS = (
    "of the smaller of the certified and the claimed ε. Where a line stays below its aim, its last column says why: "
    "`pair`, no number of runs on these two datasets shows much more (a run asks for fewer answers than its ledger "
    "reserves, or this attack makes nothing of some, where `k of n` is named); else what was used up, more "
    "of which finds more."
)
_LINE = "{:<38} {:>8} {:>10} {:>11} {:>9} {:>7}  {:<13} {:>7}  {:<11} {}"
_COPIES = ("copy", "claim", "at delta", "at least", "verdict", "flaw")
_ROW = "{:<34} {:>6} {:>9} {:>9}  {:<11} {}"


@click.command("audit", short_help="Measure a lower bound on ε by attacks.")
@click.argument("name", metavar="[ALGORITHM]", required=False, shell_complete=ALGORITHMS)
@click.option(
    "--mutations", "broken", is_flag=True, help="Audit deliberately broken copies, and report which are caught."
)
@click.option("--one-run", is_flag=True, help="One run on many canaries, instead of many runs on two datasets.")
@SCORES_OPTIONS
@click.option(
    "--runs",
    default="50000",
    callback=number_of_runs,
    show_default=True,
    metavar="N",
    help="Maximum number of runs, approximately.",
)
@click.option(
    "--seconds",
    callback=AT_LEAST_ZERO,
    metavar="S",
    help="Limit of CPU seconds of each audit; results then depend on the machine.",
)
@click.option(
    "--enough",
    callback=PROBABILITY,
    metavar="PART",
    help="Stop when the bound reaches this share of the certified epsilon.  [default: 0.9]",
)
@click.option(
    "--jobs",
    default="1",
    callback=number_of_processes,
    show_default=True,
    metavar="N",
    help="Number of processes, with all.",
)
@click.option(
    "--confidence",
    default="0.95",
    callback=PROBABILITY,
    show_default=True,
    metavar="C",
    help="Confidence of the bound; with all or --mutations, of all bounds together.",
)
@click.option("--seed", default=0, type=click.IntRange(min=0), show_default=True, metavar="N")
@click.option("--epsilon", default="1", callback=POSITIVE, show_default=True, help="ε of the privacy budget.")
@click.option(
    "--delta", default="1e-5", callback=PROBABILITY_OR_ZERO, show_default=True, help="δ of the privacy budget."
)
@relation_option(Relation.REPLACE_ONE, f", but {Relation.ADD_OR_REMOVE_ONE} with --scores")
@click.option(
    "--output", "folder", type=FILE, metavar="DIR", help="With all or --mutations: directory to write audits-*.md to."
)
@PLOT_OPTION
@PLAIN_REPORT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    name: str | None,
    broken: bool,
    one_run: bool,
    runs: int,
    seconds: Fraction | None,
    enough: Fraction | None,
    jobs: int,
    confidence: Fraction,
    seed: int,
    epsilon: Fraction,
    delta: Fraction,
    relation: str,
    folder: Path | None,
    plot: Path | None,
    report: Path | None,
    as_json: bool,
    **scored: Any,
) -> int:
    """Run an algorithm on neighbouring datasets, distinguish the runs, and bound epsilon from below.

    The audit ends when the bound reaches the share --enough of the certified epsilon, or when --runs or --seconds are
    used up: the bound holds whenever it ends. If all releases are Gaussian according to the ledger, the audit relies on
    this; the bound without it ("unassuming") is shown, too.

    The exit status is 1 if the lower bound exceeds the certified upper bound (with --mutations: if a broken copy is not
    caught, or a correct one is). Claims about rare events are computed exactly, not audited.

    ALGORITHM is a name of the table in docs/training.md, one of its printed variants, or `all`. With --one-run, every
    record is included at random, and an attack guesses from a single run which ones were: it is quick, works for
    descents on all records, and is informative at a large epsilon.

    With --scores, a model of your own is audited, by scores of canaries that were in its data or not. Give --one-run
    or --many-runs with it. Then --epsilon, if it is given, is a claim that the bound is compared with, and
    the exit status is 1 if the claim is refuted.

    Example: dpbounds audit dp-pgd --runs 2000

    Example: dpbounds audit --scores scores.csv --one-run --delta 1e-5 --epsilon 3
    """
    if scored["scores"] is not None:
        typed = _typed_beside_scores()
        return answer_scores(
            scored,
            one_run=one_run,
            epsilon=epsilon if "epsilon" in typed else None,
            delta=delta if "delta" in typed else None,
            relation=relation if "relation" in typed else None,
            confidence=confidence,
            plot=plot,
            report=report,
            as_json=as_json,
        )
    for option in NAMES:
        if scored[option] is not None and scored[option] is not False:  # a threshold of 0 is one
            raise unfit(f"--{option.replace('_', '-')}", "needs --scores")
    if broken == (name is not None):
        raise InvalidValue("ALGORITHM", name or MISSING, "the name of an algorithm, all, --mutations, or --scores")
    if delta == 0:
        raise InvalidValue("--delta", 0, "greater than 0 and less than 1", "only audits of scores take 0")
    if folder is not None and not (broken or name == _ALL):
        raise unfit(f"--output {folder}", "needs all or --mutations")
    for option, path in (("--plot", plot), ("--report", report)):
        if path is not None and broken:
            raise unfit(f"{option} {path}", "fits no --mutations, which are about the audit itself")
    if one_run and (broken or name == _ALL):
        raise unfit("--one-run", "needs one ALGORITHM")
    if jobs > 1 and name != _ALL:
        raise unfit(f"--jobs {jobs}", "needs all")
    for option, given in (("--seconds", seconds), ("--enough", enough)):
        if given is not None and (broken or one_run):
            raise unfit(option, "needs many runs of one ALGORITHM or all")
    if broken:
        return _mutations(runs, float(confidence), seed, folder, as_json)
    assert name is not None

    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.verification.attacks.canaries import audit_example_in_one_run
    from dpbounds.algorithms.verification.attacks.experiments import NEAR, audit_example

    budget = PrivacyBudget.of(epsilon, delta, relation)
    ends: dict[str, Any] = {
        "runs": runs,
        "seconds": math.inf if seconds is None else float(seconds),
        "enough": NEAR if enough is None else float(enough),
    }
    if name == _ALL:
        return _everything(budget, ends, jobs, float(confidence), seed, folder, plot, report, as_json)
    if one_run:
        finding = audit_example_in_one_run(name, budget, confidence=float(confidence), seed=seed)
    else:
        finding = audit_example(name, budget, **ends, confidence=float(confidence), seed=seed)
    _picture_and_report(plot, report, [finding], float(confidence))
    if as_json:
        output.print_json(_document(finding, seed))
    else:
        _print(finding)
    return DONE if finding.sound else DOES_NOT_HOLD


def _typed_beside_scores() -> set[str]:
    """Return the names of the options that were typed; refuse those about runs that dpbounds makes itself."""
    context = click.get_current_context()
    typed = {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    for name, option in (
        ("name", "ALGORITHM"),
        ("broken", "--mutations"),
        ("folder", "--output"),
        *((name, f"--{name}") for name in ("runs", "seconds", "enough", "jobs", "seed")),
    ):
        if name in typed:
            raise unfit(option, "does not fit --scores, which are of your own runs")
    return typed


def _document(finding: AuditedAlgorithm, seed: int) -> dict[str, object]:
    claim = finding.claim
    return {
        "algorithm": finding.name,
        "runs": finding.runs,
        "ended": finding.ended,
        "limit": finding.limit,
        "seed": seed,
        "lower": _lower(finding.audit, finding.attack),
        "unassuming": outward(finding.unassuming.epsilon, "down"),
        "reach": None if math.isnan(finding.reach) else finding.reach,
        "certified": output.json_number(finding.certified, "up"),
        "claim": {"epsilon": float(claim.epsilon), "delta": float(claim.delta), "relation": str(claim.relation)},
        "sound": finding.sound,
        "claim_refuted": finding.refutes_claim,
    }


def _lower(audit: Audit, attack: str) -> dict[str, object]:
    return {
        "epsilon": outward(audit.epsilon, "down"),
        "delta": audit.delta,
        "confidence": audit.confidence,
        "attack": attack,
        "method": audit.method,
    }


def _print(finding: AuditedAlgorithm) -> None:
    audit, claim = finding.audit, finding.claim
    certified = "nothing: no finite bound is proven"
    if math.isfinite(finding.certified):
        certified = to_decimal(Fraction(finding.certified), 6, "up")
    how = "one run on canaries" if finding.runs == 1 else f"{finding.runs} runs on neighbouring datasets"
    at = f"at delta = {audit.delta:g}, {audit.confidence:.4g} confidence"
    click.echo(f"{finding.name}: {how} ({claim.relation})")
    output.print_rows(
        {
            "  at least": f"epsilon {_down(audit.epsilon)} {at}",
            "  unassuming": f"epsilon {_down(finding.unassuming.epsilon)}",
            "  ended by": finding.ended,
            "  found by": f"{finding.attack} ({audit.method})",
            "  certified": certified + ("" if finding.sound else "  <- exceeded: ledger or code is wrong"),
            "  claimed": f"{float(claim.epsilon):.6g}" + ("  <- refuted" if finding.refutes_claim else ""),
        }
    )


def _everything(
    budget: PrivacyBudget,
    ends: Mapping[str, Any],
    jobs: int,
    confidence: float,
    seed: int,
    folder: Path | None,
    plot: Path | None,
    report: Path | None,
    as_json: bool,
) -> int:
    """Every example, those as printed included; a sound exit status means that no lower bound exceeds its ledger's."""
    from dpbounds.algorithms.verification.attacks.experiments import audit_examples
    from dpbounds.algorithms.verification.catalogue import all_examples
    from dpbounds.algorithms.verification.judging.slopes import confidence_of

    findings, names = [], [example.name for example in all_examples()]
    each = confidence_of(1 - confidence, len(names))
    with progress_bar("audits", shown=as_json or not sys.stdout.isatty()) as progress:
        for finding in audit_examples(names, budget, **ends, confidence=each, seed=seed, jobs=jobs):
            findings.append(finding)
            if progress is not None:
                progress(len(findings), len(names))
            if not as_json:
                if len(findings) == 1:
                    click.echo(_LINE.format(*_HEADINGS))
                click.echo(_LINE.format(*_cells(finding)))
    if folder is not None:
        asked = " ".join(f"--{name} {value:g}" for name, value in ends.items() if math.isfinite(value))
        command = f"dpbounds audit all {asked} --confidence {confidence:g} --seed {seed} --relation {budget.relation}"
        _write_findings(folder, command, confidence, findings)
    _picture_and_report(plot, report, findings, confidence)
    if as_json:
        output.print_json({"findings": [_document(found, seed) for found in findings], "confidence": confidence})
    else:
        click.echo(f"\n{_together(confidence)}")
    return DONE if all(found.sound for found in findings) else DOES_NOT_HOLD


def _picture_and_report(
    plot: Path | None, report: Path | None, findings: Sequence[AuditedAlgorithm], confidence: float
) -> None:
    if plot is not None:
        from dpbounds.cli.answers import plots

        plots.write(plot, plots.audits(findings))
    if report is not None:
        _write_report(report, findings, confidence)


def _write_report(path: Path, findings: Sequence[AuditedAlgorithm], confidence: float) -> None:
    from dpbounds.cli.answers import reports
    from dpbounds.render.report import Report, Section, Table

    wrong = [found.name for found in findings if not found.sound]
    subject = findings[0].name if len(findings) == 1 else f"{len(findings)} algorithms"
    verdict = f"The audit contradicts what is certified of {', '.join(wrong)}"
    report = Report(
        kind="Audit",
        verdict=verdict if wrong else f"The audit of {subject} contradicts nothing",
        holds=not wrong,
        lead="The algorithm was run many times on two datasets that differ in one record, chosen so that it shows, "
        "and an attacker tried to distinguish the runs. Its success bounds ε from below.",
        sections=(
            Section("What was found?", table=Table(_HEADINGS, tuple(map(_cells, findings)))),
            Section(
                "What does it mean?",
                points=(
                    f"“at least” holds with {confidence:.4g} confidence for all lines together: ε is no smaller",
                    "“certified” is the proven upper bound on what the ledger of the run spends: ε is no larger",
                    "“claimed” is the budget of the algorithm",
                    "a lower bound above an upper one shows that the code or the ledger is wrong; a lower bound far "
                    "below proves nothing: another attack may do better",
                    "“unassuming” does not rely on the ledger; “limit” is the reason for a low lower bound",
                ),
            ),
            Section(
                "How was it attacked?",
                values={found.name: f"{found.attack} ({found.audit.method})" for found in findings},
            ),
            reports.checking({}),
            reports.signatures(),
        ),
    )
    reports.write(path, report)


def _write_findings(folder: Path, command: str, confidence: float, findings: Sequence[AuditedAlgorithm]) -> None:
    from dpbounds.algorithms.verification.attacks.experiments import AIMS

    aims = ", ".join(f"{part:g} for {releases}" for releases, part in AIMS.items())
    rows = [_cells(found) for found in findings]
    _write(folder / "audits-algorithms.md", command, confidence, _HEADINGS, rows, f"Aims: {aims}, {_LIMITS}")


def _down(epsilon: float) -> str:
    """Return a lower bound, as it is printed."""
    return output.rounded(epsilon, 4, "down")


def _cells(finding: AuditedAlgorithm) -> tuple[str, ...]:
    certified = "none" if math.isinf(finding.certified) else output.rounded(finding.certified, 4, "up")
    verdict = "claim refuted" if finding.refutes_claim else "agrees"
    return (
        finding.name,
        _down(finding.audit.epsilon),
        _down(finding.unassuming.epsilon),
        "" if math.isnan(finding.reach) else f"about {finding.reach:.2g}",
        certified,
        f"{float(finding.claim.epsilon):.4g}",
        verdict if finding.sound else "EXCEEDED",
        str(finding.runs),
        finding.ended,
        finding.limit,
    )


def _together(confidence: float) -> str:
    """Describe the confidence of a table, whose lines share the error."""
    return f"All lower bounds together hold with {confidence:.4g} confidence; each has its share of the error."


def _write(
    path: Path,
    command: str,
    confidence: float,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
) -> None:
    """One table as Markdown, under the command that made it and a note."""
    lines = [
        "# Empirical lower bounds on ε",
        "",
        f"Made by `{command}` with dpbounds {__version__} on {dt.date.today():%Y-%m-%d}. {_together(confidence)}",
        *(["", note] if note else []),
        "",
        "| " + " | ".join(headings) + " |",
        "| " + " | ".join("---" for _ in headings) + " |",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    writing(path, "\n".join(lines) + "\n", "--output")
    output.print_written(path, err=True)


def _mutations(runs: int, confidence: float, seed: int, folder: Path | None, as_json: bool) -> int:
    from dpbounds.algorithms.verification.attacks.mutations import judged, mutations
    from dpbounds.algorithms.verification.judging.slopes import confidence_of

    verdicts, each = [], confidence_of(1 - confidence, len(mutations()))
    for mutation in mutations():
        verdicts.append(judged(mutation, runs=runs, confidence=each, seed=seed))
        if not as_json:
            if len(verdicts) == 1:
                click.echo(_ROW.format(*_COPIES))
            click.echo(_ROW.format(*_of_copy(verdicts[-1])))
    right = all(verdict.right for verdict in verdicts)
    if folder is not None:
        command = f"dpbounds audit --mutations --runs {runs} --confidence {confidence:g} --seed {seed}"
        rows = [_of_copy(verdict) for verdict in verdicts]
        _write(folder / "audits-broken-copies.md", command, confidence, _COPIES, rows)
    if as_json:
        output.print_json({"copies": _copies(verdicts), "all_as_expected": right, "confidence": confidence})
    else:
        wrong = [verdict.mutation.name for verdict in verdicts if not verdict.right]
        caught = sum(verdict.caught for verdict in verdicts)
        click.echo(f"\n{_together(confidence)}")
        click.echo(
            f"{caught} of {len(verdicts)} caught; {'not as expected: ' + ', '.join(wrong) if wrong else 'right'}"
        )
    return DONE if right else DOES_NOT_HOLD


def _of_copy(verdict: AuditedCopy) -> tuple[str, ...]:
    one = verdict.mutation
    said = "caught" if verdict.caught else "not caught"
    return one.name, f"{one.claim:.4g}", f"{one.delta:.3g}", _down(verdict.audit.epsilon), said, one.flaw


def _copies(verdicts: Sequence[AuditedCopy]) -> list[dict[str, object]]:
    return [
        {
            "name": verdict.mutation.name,
            "flaw": verdict.mutation.flaw,
            "broken": verdict.mutation.broken,
            "claim": {"epsilon": verdict.mutation.claim, "delta": verdict.mutation.delta},
            "lower": _lower(verdict.audit, verdict.attack),
            "caught": verdict.caught,
        }
        for verdict in verdicts
    ]
