"""Constants that are no closed form, enclosed in ball arithmetic: privacy rests on the first ones."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.problems.landscapes import WAVY
from dpbounds.algorithms.problems.residual_losses import SQUARED_PROBIT, SQUARED_SIGMOID


def holds_everywhere(condition, low, high):
    """Whether a condition on balls is proven on all of [low, high], by bisection."""
    pending = [(Fraction(low), Fraction(high))]
    while pending:
        a, b = pending.pop()
        assert b - a > Fraction(1, 2**40), f"not proven near {float(a)}"
        if condition(ball_of(a, b)):
            continue
        middle = (a + b) / 2
        pending += [(a, middle), (middle, b)]


def ball_of(a, b):
    middle, radius = (a + b) / 2, (b - a) / 2
    return arb(middle.numerator) / middle.denominator + arb(0, arb(radius.numerator) / radius.denominator)


def density(u):
    return (-u * u / 2).exp() / (2 * arb.pi()).sqrt()


def below(u):
    return (u / arb(2).sqrt()).erfc() / 2


ALONG_THE_PROBIT = {
    "largest_slope": lambda u: -2 * below(u) * density(u),
    "largest_curvature": lambda u: 2 * density(u) * (density(u) + u * below(u)),
    "largest_third_derivative": lambda u: 2 * density(u) * (below(u) * (1 - u * u) - 3 * u * density(u)),
}
ALONG_THE_SIGMOID = {  # as polynomials in s = 1/(1 + e^u), which takes the values in (0, 1)
    "largest_slope": lambda s: 2 * s * s * (1 - s),
    "largest_curvature": lambda s: 2 * s * s * (1 - s) * (2 - 3 * s),
    "largest_third_derivative": lambda s: 2 * s * s * (1 - s) * (4 - 15 * s + 12 * s * s),
}


@pytest.mark.seconds_cases("squared loss with sigmoid link----largest_third_derivative")
@pytest.mark.parametrize("name", ALONG_THE_SIGMOID)
@pytest.mark.parametrize(
    ("loss", "along", "low", "high"),
    [(SQUARED_PROBIT, ALONG_THE_PROBIT, -9, 9), (SQUARED_SIGMOID, ALONG_THE_SIGMOID, 0, 1)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_constants_of_links(loss, along, low, high, name):
    limit, derivative = at_least(getattr(loss, name), name), along[name]  # refused where an oracle could not use it
    # 8/27 is attained, where bisection would never end: a hair above it is what is proven, calculus does the rest
    above = limit * (1 + Fraction(1, 10**6)) if limit == Fraction(8, 27) else limit
    with ctx.workprec(80):
        bound, less = (arb(each.numerator) / each.denominator for each in (above, limit * (1 - Fraction(1, 10**5))))
        holds_everywhere(lambda u: abs(derivative(u)) <= bound, low, high)
        # and no much smaller constant would do
        assert any(abs(derivative(arb(step) / 2000)) > less for step in range(2000 * max(low, -1), 2000))
        if loss is SQUARED_PROBIT:  # beyond 9: Φ(-u) <= 1, and g(u), u g(u), u² g(u) fall for |u| >= 2
            edge = density(arb(9))
            assert 2 * edge * (1 + 81 + 3 * 9 * edge + edge) < bound


def test_the_polynomials_are_the_derivatives():
    u = np.linspace(-6, 6, 25)
    s = 1 / (1 + np.exp(u))
    _, slope, curvature = SQUARED_SIGMOID.derivatives(u)
    assert slope == pytest.approx(-ALONG_THE_SIGMOID["largest_slope"](s), abs=1e-15)
    assert curvature == pytest.approx(ALONG_THE_SIGMOID["largest_curvature"](s), abs=1e-15)
    h = 1e-5
    third = (SQUARED_SIGMOID.derivatives(u + h)[2] - SQUARED_SIGMOID.derivatives(u - h)[2]) / (2 * h)
    assert third == pytest.approx(-ALONG_THE_SIGMOID["largest_third_derivative"](s), abs=1e-9)


def test_the_wavy_landscape_is_pl():
    """½h'² >= μ h: in closed form for |w| <= 1/2 and |w| >= 20, in ball arithmetic between (h is even)."""
    constant = WAVY.pl_constant
    with ctx.workprec(80):
        mu = arb(int(constant.p)) / int(constant.q)

        def is_pl(w):
            slope = 2 * w + 3 * (2 * w).sin()
            return slope * slope / 2 >= mu * (w * w + 3 * w.sin() ** 2)

        holds_everywhere(is_pl, Fraction(1, 2), 20)
    # |w| <= 1/2: sin 2w >= 2w - (2w)³/6 gives |h'| >= 8|w| - 4|w|³ >= 7|w|, and h <= 4w²
    assert Fraction(49, 2) > 4 * Fraction(int(constant.p), int(constant.q))
    # |w| >= 20: ½(2|w| - 3)² >= w² + 3 >= h
    assert (2 * 20 - 3) ** 2 / 2 >= 20**2 + 3
