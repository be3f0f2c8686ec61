"""Dominating pairs: two distributions that are at least as easy to tell apart as any two neighbouring data sets.

A pair (P, Q) *dominates* a mechanism for a class of ordered neighbours (D, D') when
H_α(M(D) ‖ M(D')) <= H_α(P ‖ Q) for every α >= 0, where H_α(P ‖ Q) = ∫ (dP - α dQ)_+. If every step of an adaptive
composition is dominated, given any history, by a pair fixed in advance, then the product of the pairs dominates the
composition (Zhu, Dong & Wang 2022; Dong, Roth & Su 2022; proven in ``pairs.md``). The class of ordered neighbours must
be one that every step shares: "the record is in the first data set" (remove) or "in the second" (add); the privacy
curve is then the maximum over the classes, taken after the whole composition.

Every pair here has its proof's source in its docstring and has passed the brute-force oracle of
``tests/privacy/brute_force.py``; what has not is refused with ``UnsupportedMechanism``. The derivations are written out
in ``pairs.md`` beside this file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.relations import Relation


class Order(StrEnum):
    """Which of two neighbouring data sets stands first."""

    REMOVE = "remove"  # the first holds the record, the second does not
    ADD = "add"  # the second holds it
    REPLACE = "replace"  # both hold one, different ones


@dataclass(frozen=True, slots=True)
class ShiftedGaussians:
    """P = N(μ, 1), Q = N(0, 1) with μ² = ``squared_shift``: one or many full-batch Gaussian releases.

    The same curve in both orders. Balle & Wang 2018 (single release, any dimension); μ² adds up under adaptive
    composition: Dong, Roth & Su 2022.
    """

    squared_shift: Fraction


@dataclass(frozen=True, slots=True)
class SampledGaussians:
    """One Gaussian release on a Poisson sample; lengths in units of the per-record bound, variance z².

    With N(m) = N(m, z²) and q the sample rate:

    - remove: P = (1-q) N(0) + q N(1), Q = N(0); add: the same two, swapped. Zhu, Dong & Wang 2022 (the
      mixture split H_α(ω‖ω₀) = q H_{(α-1+q)/q}(ω₁‖ω₀) is an identity); any dimension. Attained.
    - replace: P = (1-q) N(0) + q N(1), Q = (1-q) N(0) + q N(-1). Derived in ``pairs.md`` (Gaussian comparison: the
      divergence grows with both variances of the log-likelihoods and falls with their covariance). Attained.
    """

    order: Order
    sample_rate: Fraction
    variance: Fraction


Pair = ShiftedGaussians | SampledGaussians
Product = tuple[tuple[Pair, int], ...]  # independent pairs with multiplicities


def dominating_products(mechanism: Mechanism, relation: Relation) -> tuple[Product, ...]:
    """Return one product of pairs per class of ordered neighbours; the curve is the maximum of theirs.

    Full-batch Gaussian parts are merged into one ``ShiftedGaussians``, equal parts are counted together, and an order
    whose curve is the mirror image of another's is left out.

    Raises:
        UnsupportedMechanism: A part has no proven pair under this relation.
    """
    parts = mechanism.parts if isinstance(mechanism, Composed) else ((mechanism, 1),)
    orders = (Order.REMOVE, Order.ADD) if relation is Relation.ADD_OR_REMOVE_ONE else (Order.REPLACE,)
    products = tuple(_product(parts, relation, order) for order in orders)
    symmetric = all(isinstance(pair, ShiftedGaussians) for pair, _ in products[0])
    return products[:1] if symmetric else products


def _product(parts: tuple[tuple[Mechanism, int], ...], relation: Relation, order: Order) -> Product:
    squared_shift = Fraction(0)
    counts: Counter[Pair] = Counter()
    for mechanism, count in parts:
        pair = _pair(mechanism, relation, order)
        if isinstance(pair, ShiftedGaussians):
            squared_shift += count * pair.squared_shift
        else:
            counts[pair] += count
    merged: Product = ((ShiftedGaussians(squared_shift), 1),) if squared_shift else ()
    return merged + tuple(counts.items())


def _pair(mechanism: Mechanism, relation: Relation, order: Order) -> Pair:
    match mechanism:
        case Gaussian():
            return ShiftedGaussians(_squared_shift(mechanism, relation))
        case PoissonSampled(mechanism=Gaussian() as inner, sample_rate=rate) if rate == 1:
            return ShiftedGaussians(_squared_shift(inner, relation))
        case PoissonSampled(mechanism=Gaussian() as inner, sample_rate=rate):
            return SampledGaussians(order, rate, _variance(inner, relation))
    raise UnsupportedMechanism(f"no dominating pair is proven here for {mechanism!r} under {relation}")


def _squared_shift(mechanism: Gaussian, relation: Relation) -> Fraction:
    if mechanism.noise_multiplier is not None:
        return (relation.sensitivity_factor / mechanism.noise_multiplier) ** 2
    assert mechanism.noise_stddev is not None
    assert mechanism.sensitivity is not None
    return (mechanism.sensitivity / mechanism.noise_stddev) ** 2


def _variance(mechanism: Gaussian, relation: Relation) -> Fraction:
    if mechanism.noise_multiplier is not None:
        return mechanism.noise_multiplier**2
    if relation is Relation.REPLACE_ONE:
        raise UnsupportedMechanism(
            "a Poisson-sampled Gaussian under replace-one needs the per-record bound C, of which the distance between "
            "two answers says too little: pass noise_multiplier (stddev / C) instead of noise_stddev and sensitivity"
        )
    assert mechanism.noise_stddev is not None
    assert mechanism.sensitivity is not None
    return (mechanism.noise_stddev / mechanism.sensitivity) ** 2
