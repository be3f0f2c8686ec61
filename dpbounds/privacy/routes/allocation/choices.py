"""Fineness and reach of grids: choices, which are not part of the proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import LossDistribution, law_at
from dpbounds.privacy.pairs.pairs import Combined, Pair, Product, SecretSteps
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation.rounding import LARGEST_LOSS
from dpbounds.privacy.routes.allocation.tuning import TUNING
from dpbounds.privacy.routes.allocation.upper_distribution import LARGEST_GRID

_ESTIMATE_PRECISION = 64
_NEAREST = 1e-9  # smallest distance of a grid's end from loss 0


def parts_of(base: Pair) -> Product:
    """Return the pairs that a step is made of."""
    return base.product if isinstance(base, Combined) else ((base, 1),)


def loss_ends(base: Pair, negligible: float) -> tuple[float, float]:
    """Return losses between which nearly all of the base lies: a choice."""
    with working(_ESTIMATE_PRECISION):
        law = law_at(base, _ESTIMATE_PRECISION)

        def below_(loss: float) -> bool:
            return bool(law.head(arb(loss))[1] < negligible)

        def above_(loss: float) -> bool:
            return bool(law.tail(arb(loss))[0] < negligible)

        points = [float(point.loss) for point in law.points]
        low, high = (min(points), max(points)) if points else (0.0, 0.0)
        if not law.discrete:
            low = min([low, _search(below_, -1.0)] if law.lowest is None else [low, float(law.lowest)])
            high = max([high, _search(above_, 1.0)] if law.highest is None else [high, float(law.highest)])
    return low, high


def _search(far_enough: Callable[[float], bool], sign: float) -> float:
    far = 1.0
    while not far_enough(sign * far):
        far *= 2
        if far > 2 * LARGEST_LOSS:
            raise Declined("allocation: the losses of one step reach too far for a grid")
    while far > _NEAREST and far_enough(sign * far / 2):
        far /= 2
    near = far / 2
    for _ in range(6):
        middle = (near + far) / 2
        near, far = (near, middle) if far_enough(sign * middle) else (middle, far)
    return sign * far


def grid_ends(base: Pair, spacing: Fraction, negligible: float) -> tuple[int, int]:
    """Return the first and the last index of a grid that holds a step's losses."""
    low, high = loss_ends(base, negligible)
    if not -LARGEST_LOSS < low <= high < LARGEST_LOSS:
        raise Declined("allocation: the losses of one step reach too far for a grid")
    first, last = math.floor(low / float(spacing)) - 2, math.ceil(high / float(spacing)) + 2
    if last - first > LARGEST_GRID:
        raise Declined(f"allocation: a grid of {last - first} points is beyond the work limit")
    return first, last


def first_spacing(pair: SecretSteps, width: float) -> float:
    """Return a spacing that should suffice: a choice."""
    found = []
    for base in pair.inside:
        square, mean_square, count = 0.0, 0.0, 0
        for inner, times in parts_of(base):
            low, high = loss_ends(inner, 1e-12)
            with working(_ESTIMATE_PRECISION):
                one, loss = _moments(law_at(inner, _ESTIMATE_PRECISION), low, high)
            square, mean_square, count = square + times * math.log1p(one), mean_square + times * loss, count + times
        relative = math.expm1(min(square, 300.0)) / pair.places
        fine, coarse = (
            math.sqrt(TUNING.grid_variance * width * min(relative, 1.0)),
            TUNING.coarsest_grid * math.sqrt(mean_square),
        )
        found.append(min(fine, coarse) / math.sqrt(count))
    return min(found)


def _moments(law: LossDistribution, low: float, high: float) -> tuple[float, float]:
    """Return roughly E_Q (X-1)² and E_Q L², in floats."""
    atoms = [(float(point.loss), float(point.r)) for point in law.points]
    if not law.discrete:
        edges = np.linspace(low, high, 400)
        tails = [float(law.tail(arb(float(edge)))[1]) for edge in edges]
        atoms += [((float(edges[i]) + float(edges[i + 1])) / 2, max(0.0, tails[i] - tails[i + 1])) for i in range(399)]
    square = sum((mass * math.expm1(min(loss, 300.0)) ** 2 for loss, mass in atoms), float(law.vanishing))
    return max(square, 1e-12), max(sum(mass * loss**2 for loss, mass in atoms), min(square, 1.0), 1e-12)


def dyadic(spacing: float) -> Fraction:
    """Return a number of four bits, not above it: one that serves several questions."""
    mantissa, exponent = math.frexp(spacing)
    return Fraction(math.floor(math.ldexp(mantissa, 4))) * Fraction(2) ** (exponent - 4)


def round_number(negligible: float) -> float:
    """Return a power of 1000 that is at most ``negligible``, so that several questions share it."""
    return math.pow(10.0, max(-120, 3 * math.floor(math.log10(max(negligible, 1e-300)) / 3)))


def miss(proof: Proof, for_epsilon: bool, width: float) -> float:
    """Return the width of a proof relative to the wanted one; infinite if the proof does not bound the size."""
    low, high = proof.enclosure.exact_lower, proof.enclosure.exact_upper
    if high == 0 or low == math.inf:
        return 0.0
    gap = math.inf if high == math.inf else float((high - low) / high)
    enough = width if for_epsilon else width * max(1.0, -_log(high))
    return gap / enough if gap < 1 or gap <= enough else math.inf


def _log(number: Fraction | float) -> float:
    """Return roughly the logarithm of a positive number."""
    number = Fraction(number)
    return math.log(number.numerator) - math.log(number.denominator)
