"""Parts of a run of version 5, and its curves."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.balls import log, number
from dpbounds.privacy.publishing.checker.fields import FIELDS
from dpbounds.privacy.publishing.checker.limits import LEAST_DELTA
from dpbounds.privacy.publishing.checker.pairs import Answer
from dpbounds.privacy.publishing.checker.profiles import DrawnCurve
from dpbounds.privacy.publishing.checker.reading import field, rational
from dpbounds.privacy.publishing.checker.relations import RECORD
from dpbounds.privacy.publishing.checker.releases import is_attained
from dpbounds.privacy.publishing.checker.rules.lattice import above, composed, step_atoms
from dpbounds.privacy.publishing.checker.schemes.scheme import demand_positions
from dpbounds.privacy.publishing.checker.schemes.table import SCHEMES
from dpbounds.privacy.publishing.checker.schemes.truncated import size_classes
from dpbounds.privacy.publishing.checker.spent import Spent, Steps
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered, Unproven, require


def steps_of(releases: list[dict[str, Any]], order: str, relation: str, aim: Aim, group: int = 1) -> tuple[Steps, arb]:
    """Return the profiles of a run, with multiplicities, and the total variation to be added for its clones."""
    total = Spent()
    for release in releases:
        if group > 1:
            one = of_group(release, order, relation, group)
        else:
            one = SCHEMES[release["kind"]].spent(release, order, relation, aim)
        total.add(one, release["count"])
    return total.profiles(), total.variation


def of_group(release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
    """(31) Return the profile of ``group`` records at once."""
    return SCHEMES[release["kind"]].of_group(release, order, relation, group)


def curve_of(
    releases: list[dict[str, Any]],
    order: str,
    relation: str,
    hints: dict[str, Any],
    delta: Fraction,
    known: dict[Any, Any],
    group: int = 1,
) -> DrawnCurve:
    """(23) ε -> δ(ε) of one order of the neighbours from above; from below as well where there is one exact pair."""
    total = sum(release["count"] for release in releases)
    spacing = rational(hints["spacing"]) if "spacing" in hints else Fraction(1, 100)
    if not 0 < spacing <= 1 or not delta > LEAST_DELTA:
        raise NotCovered("a spacing outside (0, 1], or so small a delta")
    bits = math.ceil((math.log(total) - log(delta)) / math.log(2)) + 60
    precision = 2 * bits + 128
    runs, shows = [], all(map(is_attained, releases))
    with ctx.workprec(precision):
        classes = size_classes(releases, relation, hints)
        moved = field(hints, "moved", list) if "moved" in hints else [[]] * len(classes)
        if len(moved) != len(classes) or not all(isinstance(each, list) for each in moved):
            raise Malformed("what is moved is a list for each range of sizes")
        for sizes, amounts in zip(classes, moved, strict=True):
            aim = Aim(delta, total, hints, known)
            aim.moved = list(amounts)
            aim.sizes = sizes
            steps, variation = steps_of(releases, order, relation, aim, group)
            one, atoms = (steps[0][0] if [count for _, count in steps] == [1] else None), None
            if one is None:
                enough = number(delta / total) * arb(2) ** -22
                atoms = composed([(step_atoms(p, spacing, enough, bits), n) for p, n in steps], delta, bits)
            runs.append((one, atoms, variation))

    def curve(epsilon: Fraction) -> tuple[arb, arb | None]:
        largest, lower = arb(0), None
        with ctx.workprec(precision):
            alpha = number(epsilon).exp()
            for one, atoms, variation in runs:
                if one is not None:
                    found = one(alpha)
                    if shows and one.exact and not variation > 0:
                        lower = found.lower() if lower is None else max(lower, found.lower())
                else:
                    assert atoms is not None
                    found = above(atoms, spacing, epsilon, bits)
                largest = largest.max((found + (1 + alpha) * variation).upper())
        return largest, lower

    return curve


def demand_places(releases: list[dict[str, Any]], relation: str) -> None:
    """Refuse schemes that depend on positions where positions shift, for any hints."""
    if any(SCHEMES[each["kind"]].by_position for each in releases):
        demand_positions(relation)


def check_drawn(
    releases: list[dict[str, Any]], claim: dict[str, Any], proofs: dict[str, Any]
) -> list[tuple[Answer, Answer, str]]:
    """(14) to (31): for each order, whether δ <= at the upper bound and > at the lower one, and how."""
    relation, given, target, lower, upper = (claim[name] for name in FIELDS["claim"])
    high, low = ((upper, target), (lower, target)) if given == "delta" else ((target, upper), (target, lower))
    group = claim.get("group_size", 1)
    demand_places(releases, relation)
    known: dict[Any, Any] = {}
    answers: list[tuple[Answer, Answer, str]] = []
    for order in RECORD[relation]:
        hints = field(proofs[order], "parameters", dict)
        above_low: Answer = None
        try:
            if "halves" in hints and group == 1:
                require(relation == "replace-one", "halves are for records that are replaced")
                first = rational(field(hints, "first", str), 0)
                found, exact, at = by_halves(*halves_of(releases, hints, *high, known), first, high[0]), None, high[0]
            else:
                curve = curve_of(releases, order, relation, hints, high[1], known, group)
                at = min(high[0], rational(hints["at"], 0)) if "at" in hints else high[0]  # δ(·) does not increase
                found, exact = curve(at)
            suffices: Answer = True if found <= number(high[1]) else None
            if exact is not None and at == high[0] and exact > number(high[1]):
                suffices = False
            if lower > 0 and exact is not None:
                value = curve(low[0])[1]
                above_low = True if value is not None and value > number(low[1]) else None
            answers.append((suffices, above_low, "profiles, exact integers on a lattice"))
        except Unproven as reason:
            answers.append((None, None, f"profiles; not shown: {reason}"))
    return answers


def halves_of(
    releases: list[dict[str, Any]], hints: dict[str, Any], epsilon: Fraction, delta: Fraction, known: dict[Any, Any]
) -> tuple[DrawnCurve, DrawnCurve]:
    """(21) The curves of a record that is zeroed, and of one put back, for shuffled batches under replace-one."""
    require(all(SCHEMES[release["kind"]].halves for release in releases), "halves are for shuffled batches alone")
    there, back = pair if len(pair := field(hints, "halves", list)) == 2 else ({}, {})
    if not isinstance(there, dict) or not isinstance(back, dict):
        raise Malformed("the halves of a proof are two objects")
    smaller = delta / 4 / 2 ** min(300, math.ceil(epsilon))  # a choice: how fine masses are
    return (
        curve_of(releases, "remove", "zero-out-one", there, delta / 4, known),
        curve_of(releases, "add", "zero-out-one", back, smaller, known),
    )


def by_halves(there: DrawnCurve, back: DrawnCurve, first: Fraction, epsilon: Fraction) -> arb:
    """(21) δ(ε' + ε'') <= δ_zero(ε') + e^ε' δ_restore(ε''), ε' = ``first``."""
    require(0 <= first <= epsilon, "the first half spends no more than both")
    with ctx.workprec(512):
        return (there(first)[0] + number(first).exp() * back(epsilon - first)[0]).upper()
