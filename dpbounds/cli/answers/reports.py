"""`--report FILE.html`: results of a command, as a page to sign.

The page answers, in this order, what such a reader asks: is it good, what do the numbers mean, who is protected against
whom, what could an attacker do, what was released, what has to be true and who confirms it, what is not covered, how
sure is it, how can it be checked again, who signs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds import __version__
from dpbounds.cli.answers.assumptions import assumptions
from dpbounds.cli.printing.output import plain, print_written
from dpbounds.cli.questions.options import report_fields, writing
from dpbounds.expressions.enclosure import End
from dpbounds.expressions.exact import Direction, to_decimal
from dpbounds.privacy.mechanisms.core import SETTINGS, Assumption, parts_of
from dpbounds.privacy.mechanisms.schemes.last_iterate import CONDITION as ONLY_THE_LAST, LastIterate
from dpbounds.render.report import Picture, Report, Section, Table, page

if TYPE_CHECKING:
    from dpbounds.cli.answers.curves import ProvenCurve
    from dpbounds.expressions.enclosure import Enclosure
    from dpbounds.privacy.accountants.certified import Account
    from dpbounds.privacy.mechanisms import Mechanism
    from dpbounds.privacy.relations import Relation
    from dpbounds.render.curves import Panel

_FIELDS = ("title", "model", "version", "purpose", "controller", "date")
OWNER = "who owns the data"
_DIGITS = 6
_FACTORS_BELOW = 10  # ε from which on e^ε is too large to be read as a factor
_ALARMS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10))


def write(path: Path, report: Report) -> None:
    """Write the page, the subject first, and report it on standard error."""
    about = _about(report_fields(click.get_current_context()))
    writing(path, page(replace(report, sections=(about, *report.sections))), "--report")
    print_written(path, err=True)


def _about(given: Mapping[str, str]) -> Section:
    """Return the fields of an organisation's files; missing ones are filled in by hand."""
    return Section(
        "What is this report about?",
        table=Table(
            ("field", "entry"),
            tuple((name, given.get(name, "")) for name in dict.fromkeys((*_FIELDS, *given))),
        ),
    )


def rounded(value: End, direction: Direction) -> str:
    """Return a number as a short decimal, rounded to a side.

    >>> rounded(Fraction(1, 3), "up"), rounded(Fraction(1, 2), "up")
    ('0.333334', '0.5')
    """
    return plain(Fraction(to_decimal(value, _DIGITS, direction))) if isinstance(value, Fraction) else "infinite"


def percent(share: Fraction) -> str:
    """Return a share rounded up, as "1.3 %".

    >>> percent(Fraction(1, 80)), percent(Fraction(1))
    ('1.25 %', '100 %')
    """
    return f"{plain(Fraction(to_decimal(100 * min(share, Fraction(1)), 4, 'up')))} %"


def account_report(
    kind: str,
    verdict: str,
    holds: bool | None,
    found: Account,
    *,
    numbers: Mapping[str, str],
    condition: str | None = None,
    noise_drawn: str | None = None,
    outside: Sequence[str] = (),
    files: Mapping[str, Path] | None = None,
    further: Sequence[Section] = (),
    curve: ProvenCurve | None = None,
) -> Report:
    """Return the report on the privacy of a mechanism.

    Args:
        kind: The kind of question, in two words.
        verdict: One sentence, without a full stop.
        holds: Whether that is good news; None where there was no budget.
        found: The account that the verdict is about.
        numbers: Questions and results, by name.
        condition: The condition on which everything depends, in words; None without one.
        noise_drawn: How the noise was drawn; None without a run.
        outside: Further things that the guarantee does not count.
        files: The files that were written, by kind: "certificate", "ledger".
        further: Sections that follow what was released.
        curve: Its δ(ε), where that is known already.
    """
    from dpbounds.cli.answers.curves import PICTURE_TOLERANCE, curve_panel, proven_curve, trade_off_panel

    epsilon, delta = ends_of(found)
    centre = epsilon.exact_upper if found.given == "delta" else found.target
    if curve is None:
        curve = proven_curve(found.mechanism, found.relation, centre, PICTURE_TOLERANCE)
    files = files or {}
    return Report(
        kind=kind,
        verdict=verdict,
        holds=holds,
        lead=_lead(found.relation, epsilon.exact_upper, delta.exact_upper, curve),
        sections=(
            Section("What was found?", values={**numbers, "which datasets are neighbours": str(found.relation)}),
            _meaning(found.relation, epsilon, delta),
            _protected(found.relation, found.mechanism),
            _attacker(curve, _svg(trade_off_panel(curve))),
            Section(
                "What if δ were smaller, or larger?",
                paragraphs=("ε and δ are two ends of one curve; a guarantee holds at all of its points at once.",),
                pictures=(
                    Picture(
                        _svg(curve_panel(curve)),
                        "δ against ε, at several ε that lines join: the upper δ is proven to hold there, and an attack "
                        "refutes every δ below the lower one. Where the lines are one, the analysis is exact.",
                    ),
                ),
            ),
            _released(found, noise_drawn),
            *further,
            confirmations(
                (
                    *_all(found, condition),
                    Assumption(OWNER, "one person has one record, or is informed of the larger ε"),
                )
            ),
            _uncovered(found.relation, outside),
            _sure(found),
            checking(files),
            signatures(),
        ),
    )


def _svg(panel: Panel) -> str:
    from dpbounds.render.curves import draw
    from dpbounds.render.style import drawn

    return drawn(draw("", [panel]), ".svg").decode()


def ends_of(found: Account) -> tuple[Enclosure, Enclosure]:
    """ε and δ of an account, the one that was given as an exact number."""
    from dpbounds.expressions.enclosure import Enclosure

    given = Enclosure(found.target, found.target, "given")
    return (found.enclosure, given) if found.given == "delta" else (given, found.enclosure)


def _lead(relation: Relation, epsilon: End, delta: End, curve: ProvenCurve) -> str:
    if not isinstance(epsilon, Fraction):
        return "No guarantee is proven: the publication may reveal everything about a record."
    what = "whether a record is in the data" if relation.counts_records else "what a record says"
    power = f"e^{rounded(epsilon, 'up')}"
    factor = f"{_exponential(epsilon)} times ({power})" if epsilon < _FACTORS_BELOW else f"{power} times"
    much = "possibly much" if epsilon < _FACTORS_BELOW else "possibly nearly everything"
    learnt = "little" if epsilon <= 1 else much
    return (
        f"From all that is published, an attacker learns {learnt} about {what}: the best guess is right in "
        f"{_guessed(curve)} of the cases at most, a blind one in 50 %. No event becomes more than {factor} as likely, "
        f"plus {rounded(delta, 'up')}."
    )


def _guessed(curve: ProvenCurve) -> str:
    """Return the largest success rate of a guess between two neighbours, from δ(0)."""
    return percent((1 + curve.uppers[0]) / 2)


def _exponential(epsilon: Fraction) -> str:
    """e^ε, rounded up to three digits."""
    with localcontext(prec=30):
        power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
    return f"{Decimal(to_decimal(Fraction(power) * (1 + Fraction(1, 10**25)), 3, 'up')):f}"


def _meaning(relation: Relation, epsilon: Enclosure, delta: Enclosure) -> Section:
    from dpbounds.privacy.publishing.standalone_checker import RELATIONS

    return Section(
        "What do these numbers mean?",
        words={
            "ε (epsilon)": "how much more likely one record can make anything that is published. 0 is perfect; below 1 "
            "is strong; at 10 and more an attacker may learn nearly all, if attacks are as good as theory allows.",
            "δ (delta)": "an amount that may be added to the probability in addition. It has to be far below one over "
            "the number of records.",
            "neighbours": f"{RELATIONS[str(relation)]}. The guarantee compares the releases of two such datasets.",
            "proven": "not estimated: a mathematical proof, computed in exact and interval arithmetic, gives both "
            f"bounds, ε in [{rounded(epsilon.exact_lower, 'down')}, {rounded(epsilon.exact_upper, 'up')}] at "
            f"δ = {rounded(delta.exact_upper, 'up')}. Publish the upper one.",
        },
    )


def _protected(relation: Relation, mechanism: Mechanism) -> Section:
    what = "that it is there, and what it says" if relation.counts_records else "what it says"
    hidden = any(isinstance(part, LastIterate) for part, _ in parts_of(mechanism))
    seen = "what is released, but nothing else of the run," if hidden else "every release,"
    number = "is protected up to one" if relation.counts_records else "is public"
    return Section(
        "Who is protected, from whom?",
        values={
            "who": "every individual record",
            "what of it": what,
            "from whom": f"every attacker, now and later, who sees {seen} knows all other records and how it was "
            "computed, has any further knowledge, and computes without limit",
            "the number of records": number,
            "a person with k records": "is protected less: ε is k times as large at most, and δ grows by more; "
            "the command's option --group-size says by how much",
        },
    )


def _attacker(curve: ProvenCurve, svg: str) -> Section:
    from dpbounds.privacy.accountants.trade_off import TradeOff

    bound = TradeOff(zip(curve.epsilons, curve.uppers, strict=True))
    rows = tuple((percent(alarm), percent(1 - bound(alarm))) for alarm in _ALARMS)
    return Section(
        "What could the best attacker do?",
        paragraphs=(
            "Suppose the record is one of two that are equally likely. Then a guess which of them was used is right in "
            f"{_guessed(curve)} of the cases at most; blind guessing is right in 50 %.",
            "The largest true positive rate of any attack, by its false positive rate:",
        ),
        table=Table(("false positive rate", "true positive rate, at most"), rows),
        pictures=(
            Picture(
                svg,
                "False negative rate against false positive rate, at several rates that a line joins: no attack has a "
                "smaller false negative rate there. Perfect privacy is the line from top left to bottom right.",
            ),
        ),
    )


def _released(found: Account, noise_drawn: str | None) -> Section:
    from dpbounds.cli.printing.wording import described
    from dpbounds.privacy.mechanisms.descriptions import digest

    return Section(
        "What was released, and how?",
        values={
            "releases": described(found.mechanism),
            **({} if noise_drawn is None else {"the noise drawn": noise_drawn}),
            "digest of the releases (SHA-256)": digest(found.mechanism),
        },
    )


def _all(found: Account, condition: str | None) -> Iterator[Assumption]:
    yield from assumptions(found.mechanism, found.relation)
    if condition not in (None, ONLY_THE_LAST):  # ONLY_THE_LAST is listed among the assumptions of a last iterate
        yield Assumption(SETTINGS, f"the guarantee is {condition}")


def confirmations(assumed: Sequence[Assumption]) -> Section:
    """Return the checklist, with room for who confirms each, and when."""
    return Section(
        "What has to be true, and who confirms it?",
        paragraphs=("No mathematics can see whether the training did what is described. Each line needs a name.",),
        table=Table(
            ("☐", "has to be true", "known to", "confirmed by, on"),
            tuple(("☐", one.text, one.who, "") for one in assumed),
        ),
    )


def _uncovered(relation: Relation, outside: Sequence[str]) -> Section:
    return Section(
        "What is not covered?",
        points=(
            "what is true of people in general, and can be learnt without the record",
            "anything else that was computed from the data: preprocessing, clipping bounds, hyperparameters, stopping "
            "rules, reported metrics",
            "other releases about the same people, earlier or later ones: what they spend adds to this",
            *(() if relation.counts_records else ("how many records there are",)),
            "flaws of the computer: rounding and random numbers that are not ideal, stolen seeds, data that leaks "
            "otherwise",
            *outside,
        ),
    )


def _sure(found: Account) -> Section:
    routes = dict.fromkeys(proof.enclosure.method for _, proof in found.proofs)
    tight = (
        "yes: two datasets exist that spend this much, so that no better analysis gives less"
        if found.tight
        else "not known, or no: a better analysis may give less, never more"
    )
    return Section(
        "How sure is the number?",
        values={
            "proven by": f"dpbounds {__version__}: {'; '.join(routes)}",
            "ends": str(found.enclosure),
            "the best possible?": tight,
            **({} if found.complete else {"time": "a limit ended the search: more time may prove a smaller number"}),
        },
    )


def checking(files: Mapping[str, Path]) -> Section:
    """Return the section on how to repeat the check."""
    asked = click.get_current_context().find_root().obj or ()
    certificate = files.get("certificate")
    checks = () if certificate is None else (f"dpbounds check {shlex.quote(str(certificate))}",)
    return Section(
        "How can it be checked again?",
        paragraphs=(
            f"With dpbounds {__version__} (free software) and without the data, by repeating the command"
            + (" or checking the certificate:" if checks else ":"),
        ),
        values={f"{what} (SHA-256)": f"{_sha256(path)}  {path.name}" for what, path in files.items()},
        commands=(shlex.join(("dpbounds", *asked)), *checks),
    )


def _sha256(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


def signatures() -> Section:
    """Room for names."""
    return Section(
        "Who signs?",
        table=Table(
            ("role", "name", "date", "signature"),
            (("made by", "", "", ""), ("checked by", "", "", ""), ("accepted by", "", "", "")),
        ),
    )
