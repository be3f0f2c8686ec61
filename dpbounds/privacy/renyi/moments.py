"""log E_P e^((λ-1)L) = (λ-1) D_λ(P ‖ Q) for every dominating pair, at every real order λ > 1.

For most pairs the ball holds the number itself. Where a mechanism is known by a guarantee only (a Rényi curve, several
releases on one sample), only its upper bound means something; ``Pair.moments`` distinguishes the two. What a curve
D_λ <= ε(λ) gives under sampling is derived from the curve, not from the pair that the curve allows: that is smaller.
The pairs have the formulas; here the precision is raised until the answer is accurate. Derivations: ``renyi.md``.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import Pair, Product
from dpbounds.privacy.pairs.weighing import INFINITY
from dpbounds.privacy.values import above_one

_SPARE_BITS = 28
_LARGEST_PRECISION = 4096


def log_moment(pair: Pair, order: ExactLike, accuracy_bits: int = 50) -> arb:
    """Enclose log E_P e^((λ-1)L) = log E_Q (dP/dQ)^λ = (λ-1) D_λ(P ‖ Q).

    Args:
        pair: A dominating pair. A ``RenyiProfile`` stands for all pairs that keep its curve, a ``BoundedRangeProfile``
            for all two-point pairs of that range, alone and under sampling: the value is the least upper bound that is
            proven.
        order: λ > 1, any exact number.
        accuracy_bits: Relative accuracy aimed at; precision is raised until it is there.

    Returns:
        A ball whose upper endpoint is proven, and whose lower endpoint is where ``pair.moments`` says so; ∞ where P has
        mass at infinite loss, or the curve says nothing.

    Raises:
        InvalidValue: λ <= 1.
        NotCertified: The value is out of reach of the precision or the work allowed.
        UnsupportedMechanism: No bound is proven for such a pair.

    >>> from dpbounds.privacy.pairs.pairs import ShiftedGaussians
    >>> log_moment(ShiftedGaussians(Fraction(1, 4)), "2.5").overlaps(arb(15) / 32)
    True
    """
    number = above_one(order)
    precision = accuracy_bits + _SPARE_BITS + pair.lost_bits(number)
    best: arb | None = None
    while precision <= _LARGEST_PRECISION:
        with working(precision):
            value = pair.log_moment(number)
        if not value.is_nan() and value == INFINITY:
            return INFINITY
        if value.is_finite():
            best = value
            accuracy = value.rel_accuracy_bits()
            if accuracy >= accuracy_bits or value.is_zero():
                return value
            precision += max(32, min(accuracy_bits - accuracy + 16, precision))
        else:
            precision *= 2
        if best is not None and precision > 8 * (accuracy_bits + _SPARE_BITS):
            return best
    if best is None:
        raise NotCertified(f"the Rényi divergence of {pair} at order {float(number):g} lost all accuracy")
    return best


def total_log_moment(product: Product, order: Fraction, accuracy_bits: int = 50) -> arb:
    """Return the sum over the pairs of a product, with multiplicities, for an adaptive composition (Mironov 2017)."""
    with working(accuracy_bits + 64):
        total = arb(0)
        for pair, count in product:
            value = log_moment(pair, order, accuracy_bits)
            if value == INFINITY:
                return INFINITY
            total = total + count * value
        return total


def add_spends_less(product: Product) -> bool:
    """Whether no pair of an add product has a larger Rényi divergence than its mirror image, by the lemma on reversal.

    For a base with the same profile in both orders, D_λ(Q ‖ (1-η)Q + ηP) <= D_λ((1-η)Q + ηP ‖ Q) for every λ >= 1/2,
    and the same averaged over the number of draws (``renyi.md``).
    """
    return all(pair.add_spends_less for pair, _ in product)
