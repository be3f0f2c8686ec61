"""Both ends of ε(δ) where the enclosure of δ(ε) is narrow, wide, or touches the target at ε = 0."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp, mpf

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.routes.inversion import invert


@pytest.mark.parametrize("delta", ["1e-6", "0.01"])
@pytest.mark.parametrize("width", ["1e-12", "1e-3", "0.5", "0.99"])
def test_each_end_follows_from_its_own_side_of_the_curve(width: str, delta: str) -> None:
    """δ(ε) lies within a factor 1 ± w of e^-ε / 2, so that ε lies between log((1 ± w) / 2δ)."""
    target, w = Fraction(delta), Fraction(width)

    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        middle = (-ball(epsilon)).exp() / 2
        return ball(1 - w) * middle, ball(1 + w) * middle

    with working(128):
        low, high = invert(curve, ball(target), 5.0)
    may, suffices = (mp.log((1 + sign * mpf(width)) / (2 * mpf(delta))) for sign in (-1, 1))
    assert 0 <= mpf(low.numerator) / low.denominator <= max(0, may)
    assert suffices <= mpf(high.numerator) / high.denominator <= 5 * suffices


def test_nothing_is_spent_where_the_upper_side_keeps_the_target_at_zero() -> None:
    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        middle = (-ball(epsilon)).exp() / 2
        return middle * arb("0.9"), middle * arb("1.1")

    with working(128):
        assert invert(curve, ball(Fraction("0.56")), 1.0) == (0, 0)
        low, high = invert(curve, ball(Fraction("0.5")), 1.0)
    assert low == 0
    assert high >= Fraction("0.0953")  # log 1.1
