"""Every algorithm's small example: its certified ε lies within its budget, and an attack finds no more than that."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dpbounds.algorithms.guards.guarded import examined
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.algorithms.verification.judging.checks import Check, Measured, Verdict
from dpbounds.algorithms.verification.judging.planned_checks import (
    MOST_CHECKS,
    SUITE_ERROR,
    PlannedCheck,
    by_size,
    cells,
    spent,
)
from dpbounds.algorithms.verification.judging.slopes import confidence_of
from dpbounds.algorithms.verification.studies.running import Example
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result, number
from dpbounds.algorithms.verification.sweeping.trials import ran, spending
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import formatted_float

_EPSILON, _DELTA = "1", "1e-5"
_NOT_AUDITED = (
    "alternate-sample",  # each run takes thousands of small steps: 20 s for 400 of them
    "projected-spider",  # each run projects all records by a matrix of its own, and starts anew: 19 s
)


def ledger(name: str, repetitions: int, seed: int) -> Numbers:
    """Run guarded repetitions under each relation with a proof, and compare the ledgers' ε with (1, 1e-5)."""
    budgets = (PrivacyBudget.of(_EPSILON, _DELTA, relation) for relation in example(name).relations)
    posed = [example(name).calibrated(budget) for budget in budgets]
    examined(*posed[0], seed % 2**62)
    ledgers = [spending(ran(each, repetitions, seed)) for each in posed]
    return {end: max(ledger[end] for ledger in ledgers) for end in ("spent_lower", "spent_upper")}


def audit(name: str, runs: int, confidence: float, seed: int) -> Numbers:
    """Attack the worst neighbouring datasets: the ε that it proves, and the certified upper bound at the same δ."""
    from dpbounds.algorithms.verification.attacks.experiments import audit_example  # to plan an attack takes none

    budget = PrivacyBudget.of(_EPSILON, _DELTA)
    audited = audit_example(name, budget, runs=runs, confidence=confidence, seed=seed % 2**63)
    return {"lower": audited.audit.epsilon, "certified": audited.certified}


def checks_of(examples: Sequence[Example]) -> Iterator[PlannedCheck]:
    """Yield the checks of every proven example: first the ledgers of all, then the audits."""
    proven = [example for example in examples if not example.printed]
    yield from map(_spent, proven)
    yield from (_audited(example) for example in proven if example.name not in _NOT_AUDITED)


def _spent(example: Example) -> PlannedCheck:
    runs = cells(ledger, name=example.name, repetitions=by_size(2, 64))
    return spent(example.theorems[0], f"{example.name}, ledgers of its example", runs, _EPSILON)


def _audited(example: Example) -> PlannedCheck:
    """Check that an attack's lower bound, at the suite's confidence, is at most the certified value.

    An attack bounds ε from below. So it can refute what is certified and never show it: what it does not refute is
    ``compatible``. So few runs see noise that was forgotten, not noise that is a little too small: ``dpbounds audit``
    takes more.
    """
    theorem = example.theorems[0]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        lower, certified = (number(results[0], end) for end in ("lower", "certified"))
        least = formatted_float(lower, ".4g", "down")
        attacked = f"an attack finds at least {least} ({100 * confidence:.5g} % confidence)"
        measured = Measured(lower, lower, math.inf)
        if math.isinf(certified):
            nothing = Enclosure(Fraction(0), math.inf, "nothing is proven")
            reason = f"{attacked}, and nothing is certified that this could exceed"
            return Check(theorem, "spent", nothing, measured, Verdict.UNDECIDED, reason)
        verdict = Verdict.COMPATIBLE if lower <= certified else Verdict.FAILS
        most = formatted_float(certified, ".12g", "up")
        reason = f"{attacked}, {'more than' if verdict is Verdict.FAILS else 'at most'} the {most} certified"
        return Check(theorem, "spent", Enclosure.exactly(Fraction(certified), "certified"), measured, verdict, reason)

    confidence = confidence_of(SUITE_ERROR, MOST_CHECKS)
    runs = cells(audit, name=example.name, runs=by_size(400, 20_000), confidence=confidence)
    return PlannedCheck(theorem, "spent", f"{example.name}, an audit of its example", runs, judge)
