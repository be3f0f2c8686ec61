"""Stochastic Spider and AboveThreshold against Ganesh et al. 2023: what they spend, the bounds of their runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from algorithms.selection.above_threshold import THEOREMS, Variant
from algorithms.selection.above_threshold_attack import attack
from algorithms.verification.cells import Cell, Result
from algorithms.verification.checks import Check, Measured, Verdict, bound_check
from algorithms.verification.estimates import formula_check
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.stochastic_spider import (
    FAILURE,
    labelled,
    planned_population_search,
    planned_search,
    planned_selection,
    wavy,
)
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023 import lemma_3_7_explicit

_TASKS = "algorithms.verification.tasks.stochastic_spider"
_PAPER = "ganesh-liu-oh-thakurta-2023"
_EXPLICIT, _POPULATION = f"{_PAPER}/theorem-4.2/explicit", f"{_PAPER}/theorem-4.6/explicit"
_SIZES = {Size.QUICK: (4000, 8000, 16_000), Size.FULL: (4000, 8000, 16_000, 64_000)}
_BOUNDED = (4000, 8000, 16_000)
_POPULATION_SIZES = (25_000, 50_000, 100_000)
_REPETITIONS = {Size.QUICK: 64, Size.FULL: 256}
_POPULATION_REPETITIONS = {Size.QUICK: 8, Size.FULL: 32}
_DRAWS = {Size.QUICK: 1000, Size.FULL: 50_000}


def _cell(size: Size, records: int) -> Cell:
    return Cell.of(f"{_TASKS}:search", 0, records=records, repetitions=_REPETITIONS[size])


def _population_cell(size: Size, records: int) -> Cell:
    return Cell.of(f"{_TASKS}:population_search", 0, records=records, repetitions=_POPULATION_REPETITIONS[size])


def _sweep(size: Size) -> Sequence[Cell]:
    return [_cell(size, records) for records in _SIZES[size]]


def _population_sweep(size: Size) -> Sequence[Cell]:
    return [_population_cell(size, records) for records in _POPULATION_SIZES]


def _vector(result: Result, name: str) -> list[float]:
    value = result.numbers[name]
    return value if isinstance(value, list) else [value]


def _spent(theorem: str, results: Sequence[Result]) -> Check:
    """Every run's certified ε lies within its budget of 1."""
    lower = min(_vector(each, "spent_lower")[0] for each in results)
    upper = max(_vector(each, "spent_upper")[0] for each in results)
    verdict = Verdict.HOLDS if upper <= 1 else Verdict.FAILS if lower > 1 else Verdict.UNDECIDED
    reason = f"{len(results)} ledgers spend epsilon in [{lower:.12g}, {upper:.12g}] of 1, certified"
    budget = Enclosure.exactly(Fraction(1), "budget")
    return Check(theorem, "spent", budget, Measured(upper, lower, upper), verdict, reason)


def _judge_spent(results: Sequence[Result], confidence: float) -> Check:
    return _spent(_EXPLICIT, results)


def _judge_population_spent(results: Sequence[Result], confidence: float) -> Check:
    return _spent(f"{_PAPER}/equation-3", results)


def _bounded(records: int) -> Planned:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        bound = planned_search(records).bound(wavy(records))
        return bound_check(_EXPLICIT, _vector(results[0], "smallest"), bound, confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_cell(size, records)]

    return Planned(_EXPLICIT, "bound", f"Stochastic Spider, smallest gradient, n = {records}", cells, judge)


def _population_bounded(records: int) -> Planned:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        bound = planned_population_search(records).bound(labelled(records))
        return bound_check(_POPULATION, _vector(results[0], "smallest"), bound, confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_population_cell(size, records)]

    name = f"Stochastic Spider on fresh batches, smallest gradient, n = {records}"
    return Planned(_POPULATION, "bound", name, cells, judge)


def _errors(records: int) -> Planned:
    """The largest error of all estimates of a run, against Lemma 3.3 with constants."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        bound = planned_search(records).error_bound(wavy(records), FAILURE)
        return bound_check(f"{_PAPER}/lemma-3.3/explicit", _vector(results[0], "largest_error"), bound, confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_cell(size, records)]

    name = f"Stochastic Spider, largest error, n = {records}"
    return Planned(f"{_PAPER}/lemma-3.3/explicit", "bound", name, cells, judge)


def _fresh(records: int) -> Planned:
    """How many fresh estimates each run took, against Lemma 3.7 with constants, at its own sum of squared errors."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        kappa, problem = Fraction(planned_search(records).drift_threshold), wavy(records)
        shares = [
            taken
            / lemma_3_7_explicit.THEOREM.evaluate(
                "by-sum",
                loss_range=problem.initial_gap,
                smoothness=problem.smoothness,
                drift_threshold=kappa,
                squared_errors=Fraction(errors),
            ).value.upper
            for taken, errors in zip(_vector(results[0], "fresh"), _vector(results[0], "squared_errors"), strict=True)
        ]
        return bound_check(f"{_PAPER}/lemma-3.7/explicit", shares, Enclosure.exactly(1), confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_cell(size, records)]

    name = f"Stochastic Spider, fresh estimates over their bound, n = {records}"
    return Planned(f"{_PAPER}/lemma-3.7/explicit", "bound", name, cells, judge)


def _printed(results: Sequence[Result], confidence: float) -> Check:
    """The ledger of a run with the printed noise: 4φ of zCDP if a record is replaced, φ if one is added; exact."""
    replaced, added = (_vector(results[0], name)[0] for name in ("replaced", "added"))
    right = math.isclose(replaced, 4, rel_tol=1e-9) and math.isclose(added, 1, rel_tol=1e-9)
    reason = f"the printed noise spends {replaced:.10g} φ (record replaced) and {added:.10g} φ (added); φ/2 is claimed"
    claimed = 0.5 / replaced
    verdict = Verdict.HOLDS if right else Verdict.FAILS
    exact = Enclosure.exactly(Fraction(1, 8), "claimed over spent")
    return Check(f"{_PAPER}/theorem-4.2", "formula", exact, Measured(claimed, claimed, claimed), verdict, reason)


def _selected(variant: Variant, candidates: int) -> Planned:
    """The slope at the selected point, against Lemma 4.1: α + 24 G ln((N+1)/ω)/(nε), or 32 G ln(2N/ω)/(nε)."""

    def cells(size: Size) -> Sequence[Cell]:
        each = {"records": 100_000, "candidates": candidates, "variant": variant}
        return [Cell.of(f"{_TASKS}:selection", 0, repetitions=_DRAWS[size], **each)]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        method, problem = planned_selection(100_000, candidates, variant)
        return bound_check(THEOREMS[variant], _vector(results[0], "gradient"), method.bound(problem), confidence)

    return Planned(THEOREMS[variant], "bound", f"selection ({variant}), slope of one of {candidates}", cells, judge)


def _loss(variant: Variant, candidates: int) -> Planned:
    """The realised loss on two neighbouring data sets: above ε for print (and at most 2ε), at most ε if repaired."""

    def cells(size: Size) -> Sequence[Cell]:
        counts = {Size.QUICK: (candidates,), Size.FULL: (candidates, 5 * candidates)}
        return [Cell.of(f"{_TASKS}:realised_loss", 0, candidates=k, variant=variant) for k in counts[size]]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        loss = _vector(results[-1], "loss")[0]  # the larger number of points
        low, high = (1, 2) if variant == "as-printed" else (0, 1)
        verdict = Verdict.HOLDS if low < loss <= high else Verdict.FAILS
        reason = f"two neighbouring data sets have a loss of {loss:.5g} ε by quadrature, in ({low}, {high}]"
        measured = Measured(loss, loss, loss)
        allowed = Enclosure(Fraction(low), Fraction(high), "proven")
        return Check(THEOREMS[variant], "formula", allowed, measured, verdict, reason)

    return Planned(THEOREMS[variant], "formula", f"realised loss ({variant}), k = {candidates}", cells, judge)


def _simulated(sign: int) -> Planned:
    """The literal algorithm returns the last of 5 points as often as the quadrature says."""

    def cells(size: Size) -> Sequence[Cell]:
        draws = 4 * _DRAWS[size]
        return [Cell.of(f"{_TASKS}:attacked", 0, candidates=5, variant="as-printed", sign=sign, draws=draws)]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        chance = float(attack(5).chances()[0 if sign > 0 else 1][4])
        predicted = Enclosure(Fraction(chance * 0.999), Fraction(chance * 1.001), "quadrature")
        return formula_check(THEOREMS["as-printed"], results[0].numbers, predicted, confidence)

    which = "one data set" if sign > 0 else "its neighbour"
    return Planned(THEOREMS["as-printed"], "formula", f"chance of the last of 5 points, {which}", cells, judge)


def _printed_cells(size: Size) -> Sequence[Cell]:
    return [Cell.of(f"{_TASKS}:printed_search", 0, records={Size.QUICK: 4000, Size.FULL: 16_000}[size])]


_VARIANTS: tuple[Variant, ...] = ("one-test", "doubled", "as-printed")

PLANNED = (
    Planned(_EXPLICIT, "spent", "Stochastic Spider, every ledger of the sweep", _sweep, _judge_spent),
    Planned(
        f"{_PAPER}/equation-3",
        "spent",
        "Stochastic Spider on fresh batches, every ledger",
        _population_sweep,
        _judge_population_spent,
    ),
    Planned(f"{_PAPER}/theorem-4.2", "formula", "Stochastic Spider, the printed noise", _printed_cells, _printed),
    *(_bounded(records) for records in _BOUNDED),
    *(_population_bounded(records) for records in _POPULATION_SIZES),
    *(_errors(records) for records in _BOUNDED),
    *(_fresh(records) for records in _BOUNDED),
    *(_selected(variant, count) for variant in _VARIANTS for count in (100, 400)),
    *(_loss(variant, count) for variant in _VARIANTS for count in (20, 100)),
    *(_simulated(sign) for sign in (1, -1)),
)
