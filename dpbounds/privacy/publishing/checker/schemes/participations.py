"""Matrix mechanisms: the steps that a record may take part in (12), and cyclic samples (13)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, zip_longest
from typing import Any

from flint import fmpz_mat, fmpz_poly

from dpbounds.privacy.publishing.checker.schemes.columns import bands_of, common_denominator, squared_norms, whole_rows
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered
from dpbounds.privacy.publishing.checker.work import effort


def blocks(release: dict[str, Any], steps: int, relation: str) -> Counter[Fraction]:
    """(13): the squared norms of the columns that dominate every group's, with how many have them."""
    apart, given = release["separation"], release["matrix"]
    if given["kind"] == "binary-tree" or bands_of(given) > apart:
        raise Malformed("cyclic Poisson samples need at most as many bands as the separation")
    norms = squared_norms(given, steps)
    if relation == "replace-one" and release["groups"] == "content":
        if apart < 2 * bands_of(given) - 1:
            raise Malformed("groups by content under replace-one need a separation of twice the bands, less one")
        return Counter({max(norms): -(-steps // apart)})
    groups = [sorted(norms[start::apart], reverse=True) for start in range(min(apart, steps))]
    return Counter(map(max, zip_longest(*groups, fillvalue=Fraction(0))))


def toeplitz_reach(given: dict[str, Any], steps: int, apart: int, most: int, free: bool) -> Fraction:
    """(12): columns that do not overlap, or coefficients that fall: 0, b, 2b, ...; else as any matrix."""
    values = given["coefficients"]
    if len(values) <= apart:
        return sum(squared_norms(given, steps)[::apart][:most], Fraction(0))
    if values[-1] < 0 or any(one < other for one, other in pairwise(values)):
        return dense_reach(given, steps, apart, most, free)
    common = common_denominator(values)
    effort.spend(steps, 2 * steps)
    taken = fmpz_poly([0 if at % apart else 1 for at in range((most - 1) * apart + 1)])
    sums = (fmpz_poly([(value * common).numerator for value in values]) * taken).coeffs()[:steps]
    return Fraction(int(sum(value * value for value in sums)), common**2)


def dense_reach(given: dict[str, Any], steps: int, apart: int, most: int, free: bool) -> Fraction:
    """(12): the sum of the Gram matrix's absolute values over the steps of the worst phase."""
    if free and bands_of(given) > apart:
        raise NotCovered(
            "a minimum separation with overlapping columns, other than of a tree or of falling Toeplitz coefficients"
        )
    if free:
        return heaviest(squared_norms(given, steps), apart, most)
    if most == 1:
        return max(squared_norms(given, steps))
    rows, common = whole_rows(given, steps)
    bits = max(abs(value).bit_length() for row in rows for value in row)
    effort.spend(apart * steps * most**2 * (1 + bits / 64) / 200, steps * most)
    largest = 0
    for start in range(apart):
        taken = [row[start::apart] for row in rows]
        wide = len(taken[-1])
        columns = fmpz_mat([row + [0] * (wide - len(row)) for row in taken])
        gram = columns.transpose() * columns
        largest = max(largest, sum(abs(int(entry)) for entry in gram.entries()))
    return Fraction(largest, common**2)


def heaviest(weights: list[Fraction], apart: int, most: int) -> Fraction:
    """Return the largest sum of at most ``most`` weights at places ``apart``: best[n] of the first n places."""
    effort.spend(len(weights) * most / 4)
    before = [Fraction(0)] * (len(weights) + 1)
    for _ in range(most):
        best = [Fraction(0)]
        for place, weight in enumerate(weights):
            best.append(max(best[-1], weight + before[max(0, place + 1 - apart)]))
        before = best
    return before[-1]


def tree_reach(_: dict[str, Any], steps: int, apart: int, most: int, free: bool) -> Fraction:
    """(12): squared numbers of participations, node by node."""
    levels = range(steps.bit_length())
    if most == 1:
        return Fraction(len(levels))
    effort.spend(steps * len(levels) / 8)
    if not free:
        phases = [0] * apart
        for level in levels:
            held = Counter((step >> level, step % apart) for step in range(steps >> level << level))
            for (_node, phase), times in held.items():
                phases[phase] += times**2
        return Fraction(max(phases))
    total = 0
    for level in levels:
        one = min(most, -(-(1 << level) // apart))
        full, rest = divmod(min(most, one * (steps >> level)), one)
        total += full * one**2 + rest**2
    return Fraction(total)


REACHES = {"toeplitz": toeplitz_reach, "lower-triangular": dense_reach, "binary-tree": tree_reach}
