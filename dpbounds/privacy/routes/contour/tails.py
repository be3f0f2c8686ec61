"""Proven bounds on |M(λ + iw)| for every w >= W: the contour beyond its last frequency.

Two ways. *Rectangles*: a measure above a sum of uniform densities on intervals J loses at least
Σ a_j |J_j| (1 - S(W|J_j|/2)) of its mass in the Fourier transform. *Jumps*: the smooth upper part of a distribution has
a moment generating function that decays exponentially, seen by moving the line of integration to Im t = y. Proofs in
``proof.md``.
"""

from __future__ import annotations

import math

from flint import arb, fmpz

from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.routes.contour.moments import Moments, angle, need, upper

_HEIGHT_BITS = 120  # densities near an atom exceed those of the jumps by many orders of magnitude
_RECTANGLES, _FEW_RECTANGLES = 320, 96
_MANY_STEPS = 100  # steps from which each needs to decay only a little, so that a coarser histogram suffices


def envelope(x: arb) -> arb:
    """Return S(x) >= sup_{y >= x} |sin y / y|: max(sin x / x, 1/4) on (0, 3], min(1/4, 1/x) beyond; non-increasing."""
    quarter = arb(1) / 4
    if x > 0 and x <= 3:
        return (x.sin() / x).max(quarter)
    if x > 3:
        return quarter.min(1 / x)
    return arb(1)


class Rectangles:
    """A step function below the density of e^{λl} P~(dl), as horizontal rectangles.

    Attributes:
        cells: The height of every step, in units of ``scale``, and the t at which it begins and ends.
        rectangles: (height, length in l) of each.
        mass: At least M(λ).
    """

    def __init__(self, moments: Moments, tilt: float, steps: int) -> None:
        a, z = arb(tilt), moments.z
        curvature = {
            Direction.REMOVE: 2 + a,
            Direction.ADD: (1 - a).max(arb(0)),
            Direction.REPLACE: 3 + a,
        }[moments.direction] / (4 * z * z)
        values = moments.tilted(tilt)
        sizes = [float(value.log().mid()) for value in values]
        least = max(sizes) - 20
        heavy = [j for j, size in enumerate(sizes) if size > least]
        need(len(heavy) > 0, "the tilted masses are finite")
        first, last = heavy[0] + moments.nodes.first, heavy[-1] + moments.nodes.first
        # a power of two of cells per node (or of nodes per cell), so that corners stay exact
        wanted = _FEW_RECTANGLES if steps >= _MANY_STEPS else _RECTANGLES
        level = max(-8, min(8, math.ceil(math.log2(wanted / max(1, last - first)))))
        width = moments.step * arb(2) ** -level
        if level > 0:
            corners = [moments.point(width * j) for j in range(first << level, (last << level) + 1)]
            losses = [moments.loss(point) for point in corners]
            tilted = [moments.density(point) * (a * loss).exp() for point, loss in zip(corners, losses, strict=True)]
        else:
            chosen = slice(heavy[0], heavy[-1] + 1, 1 << -level)
            corners, losses = moments.grid[chosen], moments.losses[chosen]
            tilted = [value / moments.step for value in values[chosen]]
        densities = [value * z / (point.p + point.p_minus) for point, value in zip(corners, tilted, strict=True)]
        highest = max(float(value.log().mid()) for value in densities)
        need(math.isfinite(highest), "the tilted density is finite")
        self.scale = arb(2) ** (math.floor(highest / math.log(2)) - _HEIGHT_BITS)
        sag = (-curvature * width * width / 8).exp() / self.scale
        heights, lengths = [], []
        for left in range(len(corners) - 1):
            height = (densities[left].min(densities[left + 1]) * sag).lower().floor().unique_fmpz()
            heights.append(0 if height is None else max(0, int(height)))
            lengths.append((losses[left + 1] - losses[left]).abs_lower())
        self.cells = list(
            zip(heights, (point.t for point in corners), (point.t for point in corners[1:]), strict=False)
        )
        offsets = [arb(0)]
        for gap in lengths:
            offsets.append(offsets[-1] + gap)
        # Each rectangle spans whole cells; a sum of lower bounds of their lengths is a sub-interval's length.
        self.rectangles = [(height, (offsets[j] - offsets[i]).lower()) for height, i, j in _rectangles(heights)]
        self.mass = upper(moments.at_real(tilt))

    def bound(self, frequency: arb) -> arb:
        """Return an upper bound on |M(λ + iw)| for every w >= frequency."""
        lost = arb(0)
        for height, length in self.rectangles:
            lost = lost + height * length * (1 - envelope(frequency * length / 2))
        return upper(self.mass - self.scale * lost.lower())


def rectangles_below(moments: Moments, tilt: float, steps: int) -> Rectangles:
    """Return the rectangles, kept with the moments."""
    key = ("rectangles", tilt, steps >= _MANY_STEPS)
    if key not in moments.kept:
        moments.kept[key] = Rectangles(moments, tilt, steps)
    found: Rectangles = moments.kept[key]
    return found


def _rectangles(heights: list[int]) -> list[tuple[fmpz, int, int]]:
    """Return (height, first cell, end cell) of the histogram's horizontal rectangles, in integers: sums are exact."""
    found = []
    stack: list[tuple[int, int]] = []  # (height, first cell), increasing heights
    for cell, height in enumerate([*heights, 0]):
        start = cell
        while stack and stack[-1][0] >= height:
            top, start = stack.pop()
            below = max(height, stack[-1][0] if stack else 0)
            if top > below:
                found.append((fmpz(top - below), start, cell))
        if height > 0:
            stack.append((height, start))
    return found


def turned_bound(moments: Moments, tilt: float, frequency: arb) -> arb:
    """Bound |M(λ + iw)| for every w >= frequency, or of the jumps' part ∫ (1-ψ)F alone where there is a bulk.

    On the line Im t = y (-y for the add direction) every factor of F grows by a known amount, while
    |A^{±iw}| = e^{-w|arg A|} shrinks it; |arg A| increases with t.
    """
    nodes = moments.nodes
    assert nodes.turn is not None
    y = arb(nodes.turn)
    v = y / moments.z
    need(y > 0, "the line is turned away from the real one")
    need(v < arb.pi(), "but not as far as the branch points of log A")
    ends = [moments.cells[0][0].t, *(right.t for _, right in moments.cells), None]
    total = arb(0)
    for mass, (p, p_minus), right in zip(moments.cell_masses(tilt, False), moments.spans, ends, strict=True):
        gained = arb(tilt) / 2 * (-moments.shrinking(v, p, p_minus)).log1p()
        share = mass * (-frequency * angle(p[0], v) - gained).exp()
        if nodes.bulk is not None and right is not None:
            share = share * moments.above_bulk_edge(right)
        total = total + upper(share)
    return upper(total * moments.bend(y, nodes.bulk is not None).exp())
