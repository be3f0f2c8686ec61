"""The pairs of releases up to version 4, and the verdict on each order."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.balls import log, number
from dpbounds.privacy.publishing.checker.limits import LEAST_DELTA, LEAST_NOISE, LEAST_RATE, SUM_BITS
from dpbounds.privacy.publishing.checker.profiles import Curve
from dpbounds.privacy.publishing.checker.reading import field, finite, quoted
from dpbounds.privacy.publishing.checker.relations import RELATIONS
from dpbounds.privacy.publishing.checker.releases import read_release
from dpbounds.privacy.publishing.checker.rules.closed_forms import closed_form
from dpbounds.privacy.publishing.checker.rules.contour import chernoff, contour, laws_of
from dpbounds.privacy.publishing.checker.rules.lattice import lattice_at_most
from dpbounds.privacy.publishing.checker.schemes.table import SCHEMES
from dpbounds.privacy.publishing.checker.spent import Sampled
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered, OutOfReach, Unproven

Point = tuple[Fraction, Fraction]  # (ε, δ)
Answer = bool | None  # None: not decided


def products_of(mechanism: list[Any], relation: str) -> list[tuple[str, Fraction, Sampled]]:
    """For each order of the neighbours: its name, μ² of all full-batch releases, and {(q, z²): count} of sampled ones.

    The pairs, with z in units of the per-record bound C and N(m) = N(m, z²):
      full batch           N(Δ/z, 1) against N(0, 1); Δ = 2 (replace) or 1 (else), or the final distance given
      sampled, remove      (1-q) N(0) + q N(1)   against   N(0)                     add or remove, and zero out
      sampled, add         N(0)                  against   (1-q) N(0) + q N(1)      the same
      sampled, replace     (1-q) N(0) + q N(1)   against   (1-q) N(0) + q N(-1)
      last iterate         as full batch, times the cost (11)
      matrix               as full batch, times the squared sensitivity (12), or sampled with the variances of (13)
    """
    if relation not in RELATIONS:
        raise Malformed(f"relation {quoted(relation)}")
    squared_shift, sampled = Fraction(0), Sampled()
    for release in map(read_release, mechanism):
        shift, found = SCHEMES[release["kind"]].product(release, relation)
        squared_shift += release["count"] * shift
        if squared_shift.denominator.bit_length() > SUM_BITS:
            raise NotCovered(f"a sum of squared shifts whose denominator has more than {SUM_BITS} bits")
        for pair, times in found.items():
            sampled[pair] += release["count"] * times
    if not mechanism:
        raise Malformed("the mechanism has no release")
    if (squared_shift and not LEAST_RATE < squared_shift < 1 / LEAST_RATE) or any(
        q < LEAST_RATE or not LEAST_NOISE**2 < variance < 1 / LEAST_NOISE**2 for q, variance in sampled
    ):
        raise OutOfReach("noise or sample rates beyond what doubles hold")
    orders = ["both"] if not sampled else ["replace"] if relation == "replace-one" else ["remove", "add"]
    return [(order, squared_shift, sampled) for order in orders]


def decide(curve: Curve, high: Point, low: Point | None) -> tuple[Answer, Answer]:
    """For one order: is δ(ε) <= δ at ``high``? Is δ(ε) > δ at ``low`` (False if None)?"""

    def compare(point: Point) -> tuple[bool, bool]:
        lower, upper = curve(point[0])
        return (upper <= number(point[1])) is True, (lower > number(point[1])) is True

    below, above = compare(high)
    under, over = (True, False) if low is None else compare(low)
    return (True if below else False if above else None), (True if over else False if under else None)


def check_order(
    order: str, squared_shift: Fraction, sampled: Sampled, proofs: dict[str, Any], high: Point, low: Point | None
) -> tuple[Answer, Answer, str]:
    """Answer ``decide`` for one order: by a closed form, the contour integral, or a Chernoff bound (high end only)."""
    releases = sum(sampled.values()) + (1 if squared_shift else 0)
    reference = min(high[1], Fraction(1, 2)) or Fraction(1, 2)
    if order == "add" and not squared_shift:
        with ctx.workprec(256):
            largest = sum((-count * (-number(q)).log1p() for (q, _), count in sampled.items()), arb(0))
            if largest <= number(high[0]) and (low is None or largest <= number(low[0])):
                return True, False, "no total loss exceeds epsilon"
    below = above = None
    if releases == 1:
        for precision in (128, 512, 2048, 8192, 32768):
            with ctx.workprec(precision):
                try:
                    first, second = decide(closed_form(order, squared_shift, sampled), high, low)
                except Unproven:  # distinguished at more bits
                    continue
            below, above = (first if below is None else below), (second if above is None else above)
            if below is not None and above is not None:
                break
        return below, above, "closed form"
    proof = proofs.get(order, {"route": "none", "parameters": {}})
    hints, route = field(proof, "parameters", dict), field(proof, "route", str)
    if route == "lattice":
        spacing = Fraction(finite(hints, "lattice step")) * Fraction(1, 2)
        if not 0 < spacing < 1 or not high[1] > 0:
            raise NotCovered("a lattice step outside (0, 1), or a claim that delta is 0")
        shown_above = lattice_at_most(order, squared_shift, sampled, spacing, high)
        return (True if shown_above else None), None, "exact integers on a lattice"
    if reference < LEAST_DELTA:
        raise NotCovered("so small a delta of several releases on samples")
    bits = math.ceil((math.log(releases) - log(reference)) / math.log(2)) + 70
    if route != "contour":
        tilts = [finite(p["parameters"], "tilt") for p in proofs.values() if "tilt" in field(p, "parameters", dict)]
        near = tilts[0] if tilts else None
        with ctx.workprec(bits + 64):
            laws = laws_of(order, sampled, [], log(reference), 24, 0.0)
            try:
                done = chernoff(laws, number(squared_shift), near, bits, high)
            except Unproven as reason:
                return None, None, f"Chernoff bound; not shown: {reason}"
        return (True if done else None), None, "Chernoff bound"
    bits = max(bits, min(int(finite(hints, "precision")), 2 * bits))  # no hint makes it work for hours
    how = "contour integral"
    for shift, finer in ((0.25, 0.85), (0.1, 0.9), (0.0, 0.95)):  # a little narrower than what was recorded
        with ctx.workprec(bits + 64):
            try:
                laws = laws_of(order, sampled, field(hints, "parts", list), log(reference), 46, shift)
                curve = contour(laws, number(squared_shift), hints, finer, bits, (high[0], reference))
                first, second = decide(curve, high, low)
            except Unproven as reason:
                how = f"contour integral; not shown: {reason}"
                continue
        below, above = (first if below is None else below), (second if above is None else above)
        if below is not None and above is not None:
            break
    return below, above, how
