"""Matrix mechanisms: the matrix, who takes part, and columns (12), (13)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise, zip_longest
from typing import Any

from flint import fmpz_mat, fmpz_poly

from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.fields import has_fields
from dpbounds.privacy.publishing.checker.limits import DIGITS, ROWS, STEPS
from dpbounds.privacy.publishing.checker.profiles import Sampled
from dpbounds.privacy.publishing.checker.reading import field, quoted, rational
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered
from dpbounds.privacy.publishing.checker.work import effort


def _participation(found: dict[str, Any]) -> None:
    """Refuse what does not go together."""
    needs = {"single": (False, False), "fixed-order": (True, False), "minimum-separation": (True, False)}
    needs |= {"cyclic-poisson": (True, True), "balls-in-bins": (True, False)}
    how, apart, rate = found["participation"], found["separation"], found["sample_rate"]
    if type(how) is not str or how not in needs or (apart is not None, rate is not None) != needs[how]:
        raise Malformed(f"participation {quoted(how)} with its separation and sample_rate")
    if found["at_most"] is not None and how != "minimum-separation":
        raise Malformed("at_most goes with participation minimum-separation only")
    kinds = ("independent",) if how == "balls-in-bins" else ("position", "independent", "content")
    if found["groups"] not in kinds or (rate is not None and rate > 1):
        raise Malformed(f"groups {quoted(found['groups'])}, sample_rate {quoted(str(rate))}")
    if found["noise_multiplier"] is None:
        raise Malformed("a matrix mechanism needs a noise_multiplier")


def read_matrix(matrix: object) -> dict[str, Any]:
    """A matrix with its numbers read: lower triangular, without a 0 on its diagonal."""
    kind = field(matrix, "kind", str)
    if kind not in ("toeplitz", "lower-triangular", "binary-tree"):
        raise Malformed(f"a matrix of kind {quoted(kind)}")
    found = dict(has_fields(matrix, kind))
    if "steps" in found and not 1 <= field(matrix, "steps", int) <= STEPS:
        raise Malformed(f"steps is {quoted(found['steps'])}, and not from 1 to {STEPS}")
    if kind == "toeplitz":
        found["coefficients"] = values = [rational(each) for each in field(matrix, "coefficients", list)]
        if not 0 < len(values) <= found["steps"] or values[0] == 0 or values[-1] == 0:
            raise Malformed(
                "a Toeplitz matrix has 1 to as many coefficients as steps; the first and the last are not 0"
            )
        common_denominator(values)
    elif kind == "lower-triangular":
        rows = field(matrix, "rows", list)
        if not 0 < len(rows) <= ROWS:
            raise Malformed(f"a matrix that is given entry by entry has 1 to {ROWS} rows")
        if any(not isinstance(row, list) or len(row) != index for index, row in enumerate(rows, 1)):
            raise Malformed("the rows of a lower triangular matrix end at its diagonal")
        found["rows"] = read = [[rational(each) for each in row] for row in rows]
        if any(row[-1] == 0 for row in read):
            raise Malformed("a 0 on the diagonal of a matrix")
        common_denominator([value for row in read for value in row])
    return found


def common_denominator(values: list[Fraction]) -> int:
    """Of numbers; refused where it is long."""
    found = 1
    for value in values:
        found = math.lcm(found, value.denominator)
        if found > 10**DIGITS:
            raise Malformed(f"the common denominator of a matrix has more than {DIGITS} digits")
    return found


def matrix(release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
    """(12), or (13) where the record is sampled."""
    if relation == "add-or-remove-one" and release["groups"] == "position":
        raise Malformed("a record's steps by its position have no pair under add-or-remove-one")
    variance, how, rate = release["noise_multiplier"] ** 2, release["participation"], release["sample_rate"]
    steps = len(release["matrix"]["rows"]) if "rows" in release["matrix"] else release["matrix"]["steps"]
    if rate is not None and rate < 1:
        return Fraction(0), Sampled(
            {(rate, variance / norm): n for norm, n in blocks(release, steps, relation).items()}
        )
    apart = steps if how == "single" else min(release["separation"], steps)
    most = -(-steps // apart)
    if how == "minimum-separation" and release["at_most"] is not None:
        most = min(most, release["at_most"])
    free = how == "minimum-separation" and most > 1
    found = REACHES[release["matrix"]["kind"]](release["matrix"], steps, apart if most > 1 else steps, most, free)
    return found * (4 if relation == "replace-one" else 1) / variance, Sampled()


def whole_rows(matrix: dict[str, Any], steps: int) -> tuple[list[list[int]], int]:
    """The rows up to the diagonal in units of 1 / (the common denominator), and that."""
    if matrix["kind"] == "toeplitz":
        values = matrix["coefficients"]
        if steps > ROWS:
            raise NotCovered(f"a Toeplitz matrix of more than {ROWS} steps whose coefficients rise or have two signs")
        rows = [[values[i - j] if i - j < len(values) else Fraction(0) for j in range(i + 1)] for i in range(steps)]
    else:
        values, rows = [value for row in matrix["rows"] for value in row], matrix["rows"]
    common = common_denominator(values)
    effort.spend(steps**2 / 8)
    return [[value.numerator * (common // value.denominator) for value in row] for row in rows], common


def squared_norms(matrix: dict[str, Any], steps: int) -> list[Fraction]:
    """Of the columns."""
    effort.spend(steps / 4, steps)
    if matrix["kind"] == "toeplitz":
        values, common = matrix["coefficients"], common_denominator(matrix["coefficients"])
        norms = list(accumulate((value * common).numerator ** 2 for value in values))
        return [Fraction(norms[min(len(values), steps - j) - 1], common**2) for j in range(steps)]
    rows, common = whole_rows(matrix, steps)
    return [Fraction(sum(row[j] ** 2 for row in rows[j:]), common**2) for j in range(steps)]


def bands_of(matrix: dict[str, Any]) -> int:
    """How many diagonals hold all that is not 0; the main one counts."""
    if matrix["kind"] == "toeplitz":
        return len(matrix["coefficients"])
    return max(len(row) - next(j for j, value in enumerate(row) if value) for row in matrix["rows"])


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
    """The largest sum of at most so many weights at places that far apart: best[n] of the first n places."""
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


def matrix_in_words(read: dict[str, Any]) -> str:
    """What is encoded, and who takes part."""
    given, how = read["matrix"], read["participation"]
    steps = len(given["rows"]) if "rows" in given else given["steps"]
    which = {
        "lower-triangular": "a lower triangular matrix",
        "binary-tree": "a binary tree",
        "toeplitz": "a Toeplitz matrix",
    }
    bands = "" if given["kind"] == "binary-tree" else f" of {bands_of(given)} bands"
    apart = "" if read["separation"] is None else f", separation {read['separation']}"
    most = "" if read["at_most"] is None else f", at most {read['at_most']} steps"
    rate = "" if read["sample_rate"] is None else f", rate {shown(read['sample_rate'])}"
    return (
        f"{which[given['kind']]}{bands} over {steps} steps, participation {how}{apart}{most}{rate}, groups by "
        f"{read['groups']}"
    )
