"""Matrix mechanisms with balls in bins (26)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import fmpz, fmpz_mat, fmpz_poly

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.limits import ROWS
from dpbounds.privacy.publishing.checker.profiles import gaussian_profile
from dpbounds.privacy.publishing.checker.rules.secret_steps import allocated
from dpbounds.privacy.publishing.checker.schemes.columns import common_denominator, steps_in, whole_rows
from dpbounds.privacy.publishing.checker.spent import Steps
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered, require
from dpbounds.privacy.publishing.checker.work import effort


def overlaps(given: dict[str, Any], steps: int, bins: int) -> list[Fraction]:
    """(26) For each d < bins the largest ⟨c_j, c_k⟩ over k - j = d, c_j being |C| summed over the columns of bin j."""
    if given["kind"] == "toeplitz" and bins <= steps:
        values = given["coefficients"]
        common = common_denominator(values)
        effort.spend(2 * steps, 4 * steps)
        taken = fmpz_poly([0 if at % bins else 1 for at in range(steps)])
        summed = fmpz_poly([abs((value * common).numerator) for value in values]) * taken
        first = [int(each) for each in summed.coeffs()[:steps]]
        first += [0] * (steps - len(first))
        found = (fmpz_poly(first[::-1]) * fmpz_poly(first)).coeffs()
        found += [fmpz(0)] * (2 * steps - len(found))
        return [Fraction(int(found[steps - 1 + d]), common**2) for d in range(bins)]
    if bins > ROWS or steps > ROWS:
        raise NotCovered(f"balls in bins with more than {ROWS} rows or bins, other than Toeplitz")
    sums: list[list[int]]
    if given["kind"] == "binary-tree":
        nodes = [(level, node) for level in range(steps.bit_length()) for node in range(steps >> level)]
        common, sums = 1, [[0] * bins for _ in nodes]
        effort.spend(steps * steps.bit_length(), len(nodes) * bins)
        for line, (level, node) in zip(sums, nodes, strict=True):
            for step in range(node << level, node + 1 << level):
                line[step % bins] += 1
    else:
        rows, common = whole_rows(given, steps)
        sums = [[sum(map(abs, row[j::bins])) for j in range(bins)] for row in rows]
    effort.spend(len(sums) * bins**2 / 200, len(sums) * bins)
    gram = fmpz_mat(sums).transpose() * fmpz_mat(sums)
    return [Fraction(max(int(gram[j, j + d]) for j in range(bins - d)), common**2) for d in range(bins)]


def of_binned_matrix(release: dict[str, Any], order: str, stride: int, aim: Aim) -> Steps:
    """(26) The common part of the bins of one residue, and one of them for the rest; any stride is valid."""
    bins, given = release["separation"], release["matrix"]
    if stride < 1 or bins % stride:
        raise Malformed(f"a stride of {stride} with {bins} bins")
    found = overlaps(given, steps_in(given), bins)
    common = max(found[stride::stride], default=Fraction(0))
    require(common <= found[0], "what two bins share is at most what one has")
    ways, unit = 4 if order == "replace" else 1, 1 / release["noise_multiplier"] ** 2
    own = unit * (found[0] - common)
    if stride == bins or not own:
        return [(gaussian_profile(ways * unit * found[0]), 1)]
    rest = allocated([(own, bins // stride)], bins // stride, order, aim)
    return [(rest, 1), *([(gaussian_profile(ways * unit * common), 1)] if common else [])]
