"""The free choices of the contour route, as records: every value that the asserted conditions admit is sound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.routes.contour.landscape import CutDistribution, Floats, RepeatedPair

_FREQUENCY = 500  # node-frequency products that take as long as all else that a distribution takes at one frequency


@dataclass(frozen=True, slots=True)
class Bulk:
    """A smooth split of one distribution at t = ``edge``: the bulk lies below, the jumps above."""

    edge: float
    softness: float


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes of the sum of one part's moment generating function: t = step·j, first <= j <= last."""

    part: RepeatedPair
    step: float  # a double with few bits, so that step·j is exact
    first: int
    last: int
    strip: float  # half-width d of the strip of analyticity used
    corners: tuple[float, ...]  # corners of the cells over which the line bounds are summed; tails lie outside
    edge: float  # the cut-off's position (ignored for the direction without one)
    softness: float
    turn: float | None  # |Im t| of the line on which M (or the jumps' part) is bounded; None: by rectangles
    bulk: Bulk | None
    lifted: bool = False  # whether the sums at many frequencies run over nodes with |Im t| = d

    def log_lift(self, tilt: float) -> float:
        """Return the logarithm of the ratio of the summands at lifted nodes to their sum."""
        if not self.lifted:
            return 0.0
        return float(log_growth(self, self.bulk, tilt, np.array(self.strip)))


@dataclass(frozen=True, slots=True)
class ContourChoices:
    """All free choices of one contour integral."""

    tilt: float
    spacing: float  # D, between frequencies
    frequencies: int  # K
    aliases: tuple[float, ...]  # σ₁ > λ and σ₂ in [0, λ)
    nodes: tuple[Nodes, ...]
    squared_shift: Fraction
    bulk_tilt: float | None  # σ of the bound on what the bulk alone contributes (peeled plans)
    precision: int
    bits: float  # behind the point, in the sums over nodes
    guess: float  # ε
    spread: float  # range of ε that the tilt serves
    log_delta: float

    @property
    def softness(self) -> float:
        """Largest softness of the cut-offs (0 without any)."""
        return max((nodes.softness for nodes in self.nodes if nodes.part.cut), default=0.0)

    @property
    def reach(self) -> float:
        """Distance from ``guess`` up to which the plan serves well."""
        return min(0.25 * self.spread, 1 / self.tilt, 1 / (self.bulk_tilt or self.tilt))

    @property
    def products(self) -> int:
        """Node-frequency products."""
        return self.frequencies * sum(nodes.last - nodes.first for nodes in self.nodes)

    @property
    def cost(self) -> int:
        """Node-frequency products, weighed by the time of one at this precision (1 up to 84 bits), and frequencies."""
        return round(self.products * max(1.0, self.bits / 84) ** 2) + _FREQUENCY * self.frequencies * len(self.nodes)


def bend(cut: CutDistribution | Nodes, bulk: Bulk | None = None) -> float:
    """Return the growth of the densities and the cut-offs (or the split) at |Im t| = y, as a logarithm, over y²."""
    return 0.5 + (1 / cut.softness**2 if cut.part.cut else 0.0) + (1 / bulk.softness**2 if bulk else 0.0)


def log_growth(cut: CutDistribution | Nodes, bulk: Bulk | None, tilt: float, y: Floats) -> Floats:
    """Return the growth of the integrand at |Im t| = y, as a logarithm (``Moments._growth``)."""
    return y * y * bend(cut, bulk) + tilt * log_vanish(cut.part, y)


def log_vanish(part: RepeatedPair, y: Floats) -> Floats:
    """Bound the logarithm of the growth of |A|^{-1} (add) or |A₋|^{-1} (replace) at |Im t| = y."""
    return np.zeros_like(y) if part.direction is Direction.REMOVE else -np.log(np.cos(y / part.z / 2))


def dyadic(value: float, bits: int = 12) -> float:
    """Return the nearest double with that many significant bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)
