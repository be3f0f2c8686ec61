"""The mixture of a mechanism, for sampling, and the number of independent epochs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.privacy.accountants.probable.drawing import Floats
from dpbounds.privacy.accountants.probable.mixtures import Apart, Bins, Mixture, Subsets
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import MatrixMechanism, Mechanism, RandomlyAllocated
from dpbounds.privacy.mechanisms.core import parts_of
from dpbounds.privacy.mechanisms.schemes.bins import summed_columns
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree
from dpbounds.privacy.pairs.pairs import Allocated
from dpbounds.privacy.relations import Relation

_LARGEST_SHIFT = 100.0
_COMMON = 1e-4  # its square, 1e-8, is far above the rounding of a QR factorisation of a few thousand rows


def mixture_of(mechanism: Mechanism, relation: Relation) -> tuple[Mixture, int]:
    """Return the mixture to sample from, and the number of independent epochs."""
    neighbour_classes(mechanism, relation)  # refuses mechanisms without a pair
    parts = parts_of(mechanism)
    if relation is Relation.REPLACE_ONE or len(parts) > 1:
        raise UnsupportedMechanism(
            "sampling knows one kind of release, under add-or-remove-one or zero-out-one: ask for a certified epsilon"
        )
    ((part, epochs),) = parts
    match part:
        case RandomlyAllocated(participations=k, steps=t) if k < t:
            largest = _largest_shift(RandomlyAllocated(part.mechanism, t), relation)
            if largest is not None:
                return Subsets(t, k, float(_demand_moderate(math.sqrt(largest)))), epochs
        case MatrixMechanism(participation="balls-in-bins", separation=int(bins)):
            shifts = _demand_moderate(summed_columns(part.matrix, bins).T / float(part.noise_multiplier))
            return Bins(in_few_dimensions(shifts)), epochs
        case MatrixMechanism(participation="minimum-separation", separation=int(apart), sample_rate=Fraction() as rate):
            return _drawn_apart(part, apart, rate), epochs
    raise UnsupportedMechanism(
        "sampling knows random allocation to fewer than all steps with Gaussian noise, and matrices with balls in "
        "bins or steps drawn apart (minimum-separation with a sample rate): ask for a certified epsilon"
    )


def _drawn_apart(part: MatrixMechanism, apart: int, rate: Fraction) -> Apart:
    """Return the mixture of a banded matrix whose columns at distance b do not overlap."""
    matrix = part.matrix
    if isinstance(matrix, BinaryTree) or matrix.bands > apart:
        bands = "a tree" if isinstance(matrix, BinaryTree) else f"{matrix.bands} bands"
        raise UnsupportedMechanism(
            f"sampling steps drawn {apart} or more apart with {bands}: the steps of one record overlap, and ratios are "
            "summed over all sets of steps only where they do not; take at most as many bands (--bands)"
        )
    columns = summed_columns(matrix, matrix.steps).T / float(part.noise_multiplier)
    return Apart(_demand_moderate(columns), apart, float(rate))


def _largest_shift(once: RandomlyAllocated, relation: Relation) -> Fraction | None:
    """Return the largest squared shift of a release over all classes of neighbours; None if one is not Gaussian."""
    found = []
    for each in neighbour_classes(once, relation).every():
        shifts = [squared for pair, _ in each.product if isinstance(pair, Allocated) for squared, _ in pair.shifts]
        if len(shifts) != len(each.product):
            return None
        found += shifts
    return max(found, default=None)


def _demand_moderate(shifts: float | Floats) -> Floats:
    """Return the shifts, rounded up, if they can be sampled: larger Gram entries spend at least as much."""
    if not np.all(shifts < _LARGEST_SHIFT):
        raise NotCertified("shifts of this many standard deviations are not sampled; ask for a certified epsilon")
    return np.asarray(shifts) * (1 + 2.0**-40)


def in_few_dimensions(shifts: Floats) -> Floats:
    """Return the vectors in as many coordinates as vectors, and one more that makes no Gram entry smaller."""
    vectors, dimension = shifts.shape
    if vectors + 1 >= dimension:
        return shifts
    _, triangle = np.linalg.qr(shifts.T)
    common = _COMMON * math.sqrt(float((shifts**2).sum(axis=1).max()))
    return np.column_stack((triangle.T, np.full(vectors, common)))
