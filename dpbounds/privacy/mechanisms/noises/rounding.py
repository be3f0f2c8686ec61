"""Norms of vectors that are rounded to whole numbers, as secure sums need them."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.expressions.exact import ExactLike, positive_integer, to_decimal
from dpbounds.privacy.pairs.losses import ball, rounded_up
from dpbounds.privacy.values import open_unit, positive

_DIGITS = 12


def norm_on_grid(norm: ExactLike, dimension: int, *, retry: ExactLike | None = None) -> Fraction:
    """Return a bound on the l2 norm of a vector after rounding each coordinate to a neighbouring whole number.

    Args:
        norm: c, greater than 0, the largest norm before rounding: the clipping norm, divided by the step of the grid.
        dimension: d.
        retry: β, if coordinates are rounded at random, independently and unbiased, and a vector is rounded again until
            its norm is at most the bound that is returned: each try then fails with probability β at most. The bound
            holds because it is enforced. None: one rounding, of any kind; the bound holds always.

    Returns:
        c + √d; with ``retry`` the smaller one of that and √(c² + d/4 + √(2 log 1/β) (c + √d/2)). Rounded up to 12
        digits.

    Raises:
        InvalidValue: A value is out of its domain.

    Source: Kairouz, Liu & Steinke 2021 (conditional rounding); ``shares.md``, section 6, has the proof.

    >>> float(norm_on_grid(1000, 10**6)), float(norm_on_grid(1000, 10**6, retry="0.01"))
    (2000.0, 1120.0679807)
    """
    c, d = positive(norm, "norm"), positive_integer(dimension, "dimension")
    beta = None if retry is None else open_unit(retry, "retry")
    largest = rounded_up(lambda: ball(c) + ball(d).sqrt())
    if beta is not None:
        spread = rounded_up(
            lambda: (
                ball(c**2 + Fraction(d, 4)) + (-2 * ball(beta).log()).sqrt() * (ball(c) + ball(d).sqrt() / 2)
            ).sqrt()
        )
        largest = min(largest, spread)
    return Fraction(to_decimal(largest, _DIGITS, "up"))
