"""ε(δ) at a short decimal: where δ(ε) <= δ is proven at one just inside the interval, the interval ends there.

ε at δ and δ at ε are enclosed by proofs of different widths. A noise multiplier that was found for ε = 0.1, by
δ(0.1) <= δ, would otherwise spend 0.100001 when ε is asked for. δ(ε) <= δ is all that is needed (``inversion.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.proofs import Proof

_NARROW = Fraction(1, 10**9)  # relative width below which no short decimal is tried
# ratio of the decimals' spacing to the interval's width: one answer in this number is near a decimal by coincidence
_SELDOM = 100
_METHOD = "δ at a rounded ε"


def short_decimal(low: Fraction, high: Fraction) -> Fraction | None:
    """Return the shortest decimal in [low, high), if the interval is far narrower than its last place; else None.

    >>> short_decimal(Fraction("0.0999992"), Fraction("0.1000009")), short_decimal(Fraction("0.1"), Fraction("0.2"))
    (Fraction(1, 10), None)
    """
    width, step = high - low, Fraction(1)
    while step <= high:
        step *= 10
    while step >= _SELDOM * width:
        found = high // step * step
        if low <= found < high and found > 0:
            return found
        step /= 10
    return None


def rounded(proofs: list[Proof], delta: Fraction, ask: Callable[[int, Fraction], Proof]) -> list[Proof]:
    """Round proofs of ε(δ) up to a short decimal, where δ at it is proven, for the largest of the upper bounds.

    Args:
        proofs: The proof of each product; a proof that is "dominated" does not bound the largest.
        delta: δ.
        ask: Proves δ(ε) of the product with this index.
    """
    known = {index: proof.enclosure for index, proof in enumerate(proofs) if proof.route != "dominated"}
    largest = max(known.values(), key=lambda enclosure: enclosure.exact_upper)
    low, high = largest.exact_lower, largest.exact_upper
    if isinstance(low, float) or isinstance(high, float) or high - low <= _NARROW * high:
        return proofs
    at = short_decimal(low, high)
    if at is None:
        return proofs
    found = list(proofs)
    for index, enclosure in known.items():
        if enclosure.exact_upper > at:
            if ask(index, at).enclosure.exact_upper > delta:
                return proofs
            ends = Enclosure(enclosure.exact_lower, at, f"{enclosure.method} and {_METHOD}", enclosure.precision)
            found[index] = replace(found[index], enclosure=ends)
    return found
