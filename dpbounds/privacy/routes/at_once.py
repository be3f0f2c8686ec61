"""Bounds on δ(ε) of any product by closed forms only: fast for any numbers, but seldom narrow.

They serve where a search for a parameter is stopped, or its proofs are out of reach. The upper bounds are those of
``drawn_steps.md`` for Gaussian noise, and for any noise the full batch (``pairs/revealed.md``) and basic composition:
releases that are (ε_i, δ_i)-DP are (Σ ε_i, Σ δ_i)-DP (Dwork & Roth 2014, Theorem 3.16). The lower bounds are that of a
single release, as leaving out the others is post-processing, and for Gaussian noise that of the drawn steps. For steps
that are allocated in secret see ``at_once.md``.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import Direction
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import Allocated, Direction as Pairing, Product, as_gaussian
from dpbounds.privacy.pairs.revealed import revealed
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta, has_closed_form
from dpbounds.privacy.routes.drawn_steps import delta_ends

METHOD = "closed forms alone"
_BITS, _PRECISION = 50, 128
_LARGEST_SHIFT = 1000  # squared: beyond it the variance is of no use


def delta_at_once(product: Product, epsilon: Fraction) -> Enclosure:
    """Enclose δ(ε) of a product for ε >= 0, in [0, 1] where no bound is known."""
    lower = max((_single(((pair, 1),), epsilon, "down") for pair, _ in product), default=Fraction(0))
    upper = min(Fraction(1), _basic(product, epsilon))
    published = revealed(product)
    if published is not None:
        upper = min(upper, _basic(published, epsilon))
    gaussian = as_gaussian(product)
    if gaussian is not None:
        low, high = delta_ends(gaussian, epsilon)
        lower, upper = max(lower, low), min(upper, high)
    return Enclosure(min(lower, upper), upper, METHOD)


def _basic(product: Product, epsilon: Fraction) -> Fraction:
    """Bound δ(ε) by basic composition with equal shares of ε for all releases."""
    total = sum(count for _, count in product)
    share = epsilon / total if total else epsilon
    return sum((count * _single(((pair, 1),), share, "up") for pair, count in product), Fraction(0))


def _single(product: Product, epsilon: Fraction, side: Direction) -> Fraction:
    """Return an end of δ(ε) of one release, in [0, 1]; the trivial one where there is no closed form."""
    if has_closed_form(product):
        try:
            end = ball_end(closed_form_delta(product[0][0], epsilon, _BITS)[0], side)
        except (NotCertified, Declined):
            return Fraction(int(side == "up"))
        return min(Fraction(1), max(Fraction(0), end))
    if side == "up" and isinstance(product[0][0], Allocated):
        return _allocated(product[0][0], epsilon)
    return Fraction(int(side == "up"))


def _allocated(pair: Allocated, epsilon: Fraction) -> Fraction:
    """Return an upper bound on δ(ε) by the variance of the likelihood ratio."""
    if not pair.shifts or epsilon == 0 or max(squared for squared, _ in pair.shifts) > _LARGEST_SHIFT:
        return Fraction(1)
    with working(_PRECISION):
        terms = (count * ball(squared).expm1() for squared, count in pair.shifts)
        variance = sum(terms, arb(0)) / ball(Fraction(pair.bins) ** 2)
        remove = variance / (4 * ball(epsilon).expm1())
        bound = remove
        if pair.direction is Pairing.ADD:
            bound = remove * ball(2 * epsilon).exp()
        elif pair.direction is Pairing.REPLACE:  # through the dataset without the record, at half of ε for each link
            half = variance / (4 * ball(epsilon / 2).expm1())
            bound = half + ball(epsilon / 2).exp() * half * ball(epsilon).exp()
        return min(Fraction(1), ball_end(bound, "up"))
