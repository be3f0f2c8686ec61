"""Dominating pairs: two distributions that are at least as easy to distinguish as any two neighbouring datasets.

A pair (P, Q) *dominates* a mechanism for a class of ordered neighbours (D, D') when
H_α(M(D) ‖ M(D')) <= H_α(P ‖ Q) for every α >= 0, where H_α(P ‖ Q) = ∫ (dP - α dQ)_+. If every step of an adaptive
composition is dominated, given any history, by a pair fixed in advance, then the product of the pairs dominates the
composition (Zhu, Dong & Wang 2022; Dong, Roth & Su 2022; ``pairs.md``, section 2). The class of ordered neighbours must
be one that every step shares: "the record is in the first dataset" (remove) or "in the second" (add); the privacy
curve is then the maximum over the classes, taken after the whole composition.

A pair is known by its profile H_α alone, and every convex function of α that decreases from 1 at α = 0 and stays at or
above (1-α)_+ is the profile of one (Blackwell; Dong, Roth & Su 2022). Each family of pairs has a file of its own here,
with its two distributions, the distribution of its loss, the pairs that dominate it and its costs (``core.py`` has the
list). The class of a mechanism returns the pair that dominates it. The derivations are in ``pairs.md`` (composition,
Gaussian noise, chains), ``losses.md`` (other noise, black boxes) and ``sampling.md``.
"""

from __future__ import annotations

from dpbounds.privacy.pairs.balls import SampledBalls, UniformBalls
from dpbounds.privacy.pairs.core import Costs, Direction, Draws, Moments, Other, Pair, Product, SymmetricPair
from dpbounds.privacy.pairs.discrete_gaussian_vectors import DiscreteGaussianVectors
from dpbounds.privacy.pairs.gaussian import SampledGaussians, ShiftedGaussians, TaggedGaussians
from dpbounds.privacy.pairs.gaussian_draws import DrawnGaussians, ReplacedGaussians, ReplacedGroup
from dpbounds.privacy.pairs.gaussian_mixtures import MixedGaussians
from dpbounds.privacy.pairs.guarantees import BoundedRangeProfile, ProfilePoints, RenyiProfile, TwoGuarantees
from dpbounds.privacy.pairs.laplace import SampledLaplaces, ShiftedLaplaces
from dpbounds.privacy.pairs.responses import Discrete, FourPoints, Responses, TwoPoints, TwoResponses
from dpbounds.privacy.pairs.sampled import Combined, Diluted, Sampled
from dpbounds.privacy.pairs.secret import Allocated, AllocatedTo, SecretSteps, ShuffledBatches
from dpbounds.privacy.pairs.tagged import CrowdedGaussians, Tagged
from dpbounds.privacy.pairs.whole_numbers import (
    ShiftedDiscreteGaussians,
    ShiftedDiscreteLaplaces,
    are_listed,
    discrete_laplaces,
)
from dpbounds.privacy.pairs.zeroed import OpposedGaussians, Zeroed

__all__ = [
    "Allocated",
    "AllocatedTo",
    "BoundedRangeProfile",
    "Combined",
    "Costs",
    "CrowdedGaussians",
    "Diluted",
    "Direction",
    "Discrete",
    "DiscreteGaussianVectors",
    "DrawnGaussians",
    "Draws",
    "FourPoints",
    "GaussianPair",
    "GaussianProduct",
    "MixedGaussians",
    "Moments",
    "OpposedGaussians",
    "Other",
    "Pair",
    "Product",
    "ProfilePoints",
    "RenyiProfile",
    "ReplacedGaussians",
    "ReplacedGroup",
    "Responses",
    "Sampled",
    "SampledBalls",
    "SampledGaussians",
    "SampledLaplaces",
    "SecretSteps",
    "ShiftedDiscreteGaussians",
    "ShiftedDiscreteLaplaces",
    "ShiftedGaussians",
    "ShiftedLaplaces",
    "ShuffledBatches",
    "SymmetricPair",
    "Tagged",
    "TaggedGaussians",
    "TwoGuarantees",
    "TwoPoints",
    "TwoResponses",
    "UniformBalls",
    "Zeroed",
    "are_listed",
    "as_gaussian",
    "discrete_laplaces",
    "enlarged",
    "holds_allocation",
    "holds_shuffling",
    "is_attack",
]

GaussianPair = ShiftedGaussians | SampledGaussians  # those whose loss has an analytic density
GaussianProduct = tuple[tuple[GaussianPair, int], ...]


def holds_shuffling(product: Product) -> bool:
    """Return whether any of the pairs is an epoch of shuffled batches."""
    return any(isinstance(pair, ShuffledBatches) for pair, _ in product)


def as_gaussian(product: Product) -> GaussianProduct | None:
    """Return the same product, where all its pairs are Gaussian; else None."""
    parts = tuple((pair, count) for pair, count in product if isinstance(pair, ShiftedGaussians | SampledGaussians))
    return parts if len(parts) == len(product) else None


def holds_allocation(product: Product) -> bool:
    """Return whether any of the pairs stands for steps that are allocated in secret."""
    return any(isinstance(pair, SecretSteps) for pair, _ in product)


def is_attack(product: Product) -> bool:
    """Return whether any of the pairs is an attack, without a proven upper bound."""
    return any(isinstance(pair, SecretSteps) and pair.attained_only for pair, _ in product)


def enlarged(pair: Pair, k: int) -> Pair:
    """Return a pair that dominates along a chain of k neighbours: :meth:`Pair.enlarged`."""
    return pair.enlarged(k)
