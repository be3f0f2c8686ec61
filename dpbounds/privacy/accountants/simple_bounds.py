"""Bounds on a product of pairs without composing it: for use if every method declines, or is wide.

*Basic composition.* For a product of pairs (P_i, Q_i) let δ_i = H_{e^(ε_i)}(P_i ‖ Q_i). Then P_i = P_i' + R_i with
0 <= P_i' <= e^(ε_i) Q_i and a measure R_i >= 0 of mass δ_i (the part of P_i above e^(ε_i) Q_i). Replacing one factor
after the other, Π P_i <= Π P_i' + a measure of mass at most Σ δ_i, and Π P_i' <= e^(Σ ε_i) Π Q_i. So the product spends
at most Σ δ_i at Σ ε_i, in this order of the pair (Dwork & Roth 2014, Theorem 3.16, is the same for both). The factors
may be single releases, or compositions of some of them: every partition gives a bound, and every split of δ or of ε.

*From below.* The product spends no less than any of its factors: the others may be ignored.

*Divergences* of a product add up, and their conversion is no less than what the product spends (``renyi.md``), as long
as the divergences are those of the pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure, End, ball_end
from dpbounds.expressions.exact import brief
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.questions import CLOSED_FORM_PRECISION, epsilon_by_closed_form
from dpbounds.privacy.pairs.core import MOST_HIDDEN_BITS
from dpbounds.privacy.pairs.pairs import Moments, Product, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined, Proof, planned_in_doubles
from dpbounds.privacy.routes.closed_forms import certainly_infinite, closed_form_delta, has_closed_form
from dpbounds.privacy.values import Target

RELEASES = "single release and basic composition"
PARTS = "basic composition of parts"
_MOST_PARTS = 8
_TRIAL = Fraction(1, 10**9)  # δ at which the ε of the parts are compared, to share a given ε in proportion: a choice

Prove = Callable[[Product, Target], Proof]


def of_releases(product: Product, target: Target) -> Proof:
    """Bound by releases: the most expensive release below, and basic composition of single releases above."""
    return (_epsilon_of_releases if target.for_epsilon else _delta_of_releases)(product, target.value)


def _epsilon_of_releases(product: Product, delta: Fraction) -> Proof:
    """Bound ε(δ) by T releases at δ/T each."""
    total = sum(count for _, count in product)
    low, high = Fraction(0), Fraction(0)
    for pair, count in product:
        single: Product = ((pair, 1),)
        lower = epsilon_by_closed_form(single, delta).enclosure.exact_lower
        upper = epsilon_by_closed_form(single, delta / total).enclosure.exact_upper
        if isinstance(lower, float) or isinstance(upper, float):  # an infinite loss is likelier than δ/T
            raise NotCertified(f"at δ = {brief(delta)} not even basic composition of these releases is finite")
        low, high = max(low, lower), high + count * upper
    return Proof(Enclosure(low, high, RELEASES), "bounds")


def _delta_of_releases(product: Product, epsilon: Fraction) -> Proof:
    """Bound δ(ε) by T releases at ε/T each."""
    total = sum(count for _, count in product)
    low, high = Fraction(0), Fraction(0)
    for pair, count in product:
        if not has_closed_form(((pair, 1),)):
            return Proof(Enclosure(Fraction(0), Fraction(1), "no bound"), "bounds")
        low = max(low, ball_end(closed_form_delta(pair, epsilon)[0], "down"))
        high += count * ball_end(closed_form_delta(pair, epsilon / total)[0], "up")
    return Proof(Enclosure(low, max(low, min(high, Fraction(1))), RELEASES), "bounds")


def of_parts(product: Product, target: Target, prove: Prove) -> Proof:
    """Bound by parts: the most expensive part below, and basic composition of the parts above.

    Args:
        product: Pairs with multiplicities; a part is all Gaussian releases, or all releases of another kind.
        target: δ, which the parts share evenly but for what they spend at any ε; or ε, which they share as they share
            the sum at a small δ.
        prove: Proves what one part spends.

    Raises:
        Declined: There is one part only, or the parts are too many to be fast.
        NotCertified: A part has no proof.
    """
    parts = _parts(product)
    if not 1 < len(parts) <= _MOST_PARTS:
        raise Declined(f"{PARTS}: {len(parts)} parts, not 2 to {_MOST_PARTS}")
    given, lost = target.given, [_lost(part) for part in parts]
    if target.for_epsilon:
        left = (target.value - sum(lost, Fraction(0))) / len(parts)
        if left <= 0:
            raise NotCertified(f"at δ = {brief(target.value)} {PARTS} is not finite")
        shares = [each + left for each in lost]
    else:
        trials = [Target("delta", min(each + _TRIAL, (1 + each) / 2)) for each in lost]
        weights = [_finite(prove(part, at).enclosure.exact_upper) for part, at in zip(parts, trials, strict=True)]
        whole = sum(weights, Fraction(0))
        shares = [target.value * (each / whole if whole else Fraction(1, len(parts))) for each in weights]
    found = [prove(part, Target(given, share)) for part, share in zip(parts, shares, strict=True)]
    uppers = [_finite(proof.enclosure.exact_upper) for proof in found]
    dearest = parts[max(range(len(parts)), key=uppers.__getitem__)]
    low, high = _finite(prove(dearest, target).enclosure.exact_lower), sum(uppers, Fraction(0))
    high = high if target.for_epsilon else min(high, Fraction(1))
    return Proof(Enclosure(low, max(low, high), PARTS), "bounds")


def _parts(product: Product) -> list[Product]:
    gaussian = tuple(each for each in product if isinstance(each[0], ShiftedGaussians | SampledGaussians))
    others: list[Product] = [(each,) for each in product if each not in gaussian]
    return [gaussian, *others] if gaussian else others


def _lost(part: Product) -> Fraction:
    """Return an upper bound on P(infinite loss), where that is known; else 0."""
    (pair, count), *others = part
    if others or not has_closed_form(((pair, 1),)):
        return Fraction(0)
    with working(CLOSED_FORM_PRECISION):
        return min(Fraction(1), ball_end(count * certainly_infinite(pair), "up"))


def _finite(end: End) -> Fraction:
    if isinstance(end, float):
        raise NotCertified(f"{PARTS}: a part spends more than any ε")
    return end


@planned_in_doubles
def of_moments(product: Product, target: Target) -> Proof:
    """Bound a product by its Rényi divergences.

    Raises:
        Declined: A pair has no known divergences, or only those of a class of pairs; or they are so small that it would
            take minutes.
        NotCertified: The divergences are out of reach at every order tried.
    """
    from dpbounds.privacy.renyi.accountant import spent_at_most

    if not all(Moments.OWN in pair.moments for pair, _ in product):
        raise Declined("the divergences known are not those of the pairs")
    if any(pair.lost_bits(Fraction(2)) > MOST_HIDDEN_BITS for pair, _ in product):
        raise Declined("the divergences are too small to be computed quickly")
    try:
        high = spent_at_most(product, target)
    except UnsupportedMechanism as reason:
        raise Declined(f"no divergences are known ({reason})") from None
    if isinstance(high, float):
        raise NotCertified("no Rényi divergence of these releases is finite")
    return Proof(Enclosure(Fraction(0), high, "Rényi divergences"), "bounds")
