"""One release of any known law beside Gaussian ones: δ(ε) as a single integral, enclosed by convexity.

Full-batch Gaussian releases are one shifted pair G. Beside one other pair (P, Q) with loss L = log dP/dQ, independent,

    δ(ε) = E_P h(e^-L) + P(L = ∞),   h(u) = H_α(G) at α = u e^ε,

because (1 - e^(ε - L - L_G))_+ is averaged over L_G first. h is convex and decreasing in u, as a mean of the functions
(1 - u c)_+. On a cell a <= L <= b of the continuous part with P-mass p and Q-mass r the mean of u = e^-L under P is
r/p, which lies between e^-b and e^-a, so that

    p h(r/p)  <=  ∫ h(e^-L) dP over the cell  <=  ((p e^-a - r) h(e^-b) + (r - p e^-b) h(e^-a)) / (e^-a - e^-b)

by Jensen's inequality and by the chord. The two ends differ by the second order of the cells' width: a few hundred
cells give five digits, in ball arithmetic throughout. Atoms are summed as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.gaussian_profiles import shifted_delta
from dpbounds.privacy.pairs.losses import LossDistribution, ball, law_at
from dpbounds.privacy.pairs.pairs import Pair, Product, ShiftedGaussians, as_gaussian
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.closed_forms import has_closed_form
from dpbounds.privacy.routes.inversion import invert

ROUTE = "one law beside a Gaussian"

_PRECISION = 96
_COUNTS = (256, 1024, 4096)  # of cells, tried in this order


@dataclass(frozen=True, slots=True)
class _Cell:
    """Of the continuous part: e^-a at its lower end, e^-b at its upper one, P-mass and Q-mass."""

    u_a: arb
    u_b: arb
    p: arb
    r: arb


@dataclass(frozen=True, slots=True)
class _Beside:
    """The two pairs of a product: G, and the other one's law, cut into cells, at the working precision."""

    gaussian: ShiftedGaussians
    law: LossDistribution
    cells: tuple[_Cell, ...]

    def curve(self, epsilon: Fraction) -> tuple[arb, arb]:
        """Balls whose lower and upper ends enclose δ(ε)."""
        at = ball(epsilon)
        atoms = self.law.infinite
        for point in self.law.points:
            atoms = atoms + point.p * shifted_delta(self.gaussian.squared_shift, at - point.loss)
        low = high = atoms
        if self.cells:
            h_a = self._h(at, self.cells[0].u_a)
        for cell in self.cells:
            h_b = self._h(at, cell.u_b)
            mean = cell.r / cell.p
            if mean > 0:  # else the cell is too light for this precision, and counts as 0 below
                low = low + cell.p * self._h(at, mean)
            chord = (cell.p * cell.u_a - cell.r) * h_b + (cell.r - cell.p * cell.u_b) * h_a
            high = high + chord / (cell.u_a - cell.u_b)
            h_a = h_b
        return low, high

    def _h(self, epsilon: arb, u: arb) -> arb:
        return shifted_delta(self.gaussian.squared_shift, epsilon + u.log())

    def estimate(self) -> Callable[[Fraction], arb]:
        """ε -> δ(ε) in floating point, for the search: one point per cell, and the atoms."""
        from scipy.special import log_ndtr  # a quarter of a second, which not every answer needs

        mu = float(self.gaussian.squared_shift) ** 0.5
        masses = [(float(point.p), float(point.loss)) for point in self.law.points]
        masses += [(float(cell.p), -float((cell.r / cell.p).log())) for cell in self.cells if cell.r / cell.p > 0]
        p, losses = np.array(masses).T if masses else np.empty((2, 0))
        infinite = float(self.law.infinite)

        def delta(epsilon: Fraction) -> arb:
            at = float(epsilon) - losses
            log_first, log_second = log_ndtr(mu / 2 - at / mu), at + log_ndtr(-mu / 2 - at / mu)
            h = np.exp(log_first) * -np.expm1(np.minimum(log_second - log_first, 0.0))
            return arb(float(p @ h) + infinite)

        return delta


def lies_beside(product: Product) -> bool:
    """Whether the product is one Gaussian pair and one other pair of known law, each taken once.

    A product that the contour integral can do is none of its business: that one gives ten digits.
    """
    return _split(product) is not None


def delta_beside(product: Product, epsilon: Fraction, tolerance: float) -> Proof:
    """Prove an enclosure of δ(ε), to a relative width of ``tolerance`` where the largest number of cells gives it.

    Raises:
        Declined: The product is of another kind, or the other pair's losses are not bounded.
    """
    with working(_PRECISION):
        for count in _COUNTS:
            parts = _demanded(product, count)
            low, high = parts.curve(epsilon)
            if not parts.cells or high.upper() - low.lower() <= tolerance * high:
                break
        return Proof(Enclosure.from_balls(low, high, ROUTE, _PRECISION).within(0, 1), ROUTE, {"cells": count})


def log_delta_beside(product: Product, epsilon: Fraction) -> float:
    """Log δ(ε) in floating point, not proven: to look for a calibration with."""
    with working(_PRECISION):
        value = float(_demanded(product, _COUNTS[0]).estimate()(epsilon))
    return math.log(value) if value > 0 else -math.inf


def epsilon_beside(product: Product, delta: Fraction, tolerance: float) -> Proof:
    """Prove an enclosure of ε(δ); width and errors as for ``delta_beside``."""
    aim = Fraction(tolerance)
    with working(_PRECISION):
        for count in _COUNTS:
            parts = _demanded(product, count)
            margin = aim / 64 if parts.cells else None  # the curve of atoms is as narrow as balls are
            low, high = invert(parts.curve, ball(delta), 1.0, parts.estimate(), margin)
            if not parts.cells or high - low <= aim * high:
                break
        return Proof(Enclosure(low, high, ROUTE, _PRECISION), ROUTE, {"cells": count})


def _split(product: Product) -> tuple[ShiftedGaussians, Pair] | None:
    if len(product) != 2 or any(count != 1 for _, count in product) or as_gaussian(product) is not None:
        return None
    for (one, _), (other, _) in (product, product[::-1]):
        if isinstance(one, ShiftedGaussians) and not isinstance(other, ShiftedGaussians):
            return (one, other) if has_closed_form(((other, 1),)) else None
    return None


def _demanded(product: Product, count: int) -> _Beside:
    found = _split(product)
    if found is None:
        raise Declined(f"{ROUTE}: the product is of another kind")
    law = law_at(found[1], working_bits())
    return _Beside(found[0], law, tuple(_cells(law, count)))


def _cells(law: LossDistribution, count: int) -> Iterator[_Cell]:
    if law.discrete:
        return
    if law.lowest is None or law.highest is None:
        raise Declined(f"{ROUTE}: the other pair's losses are not bounded")
    a, above = law.lowest, law.tail(law.lowest)
    for index in range(1, count + 1):
        b = law.lowest + (law.highest - law.lowest) * index / count
        rest = law.tail(b) if index < count else (arb(0), arb(0))
        yield _Cell((-a).exp(), (-b).exp(), above[0] - rest[0], above[1] - rest[1])
        a, above = b, rest
