r"""The slope of equation (6) in $z = (\Delta_g/2r_u)^2$ is $(1-z)^{(d-1)/2} z^{-1/2} / B(\frac12, \frac{d+1}2)$:
positive, so that $\delta$ grows with the distance. In the distance itself the slope is $(1-z)^{(d-1)/2} / (r_u
B(\frac12, \frac{d+1}2))$, which never rises: $\delta$ is concave in the distance, and its slope at 0 bounds it.
"""

from sympy import Expr, Piecewise, Rational, beta

from dpbounds.expressions.symbols import Unit, dimension, distance, radius
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Note, Side, Status, Theorem


def _beta() -> Expr:
    return beta(Rational(1, 2), (dimension + 1) / 2)


def _density() -> Expr:
    rest = 1 - (distance / (2 * radius)) ** 2
    return Piecewise((rest ** ((dimension - 1) / 2) / _beta(), distance < 2 * radius), (0, True))


def in_the_square() -> Expr:
    return _density() * 2 * radius / distance


def in_the_distance() -> Expr:
    return _density() / radius


def at_zero() -> Expr:
    return 1 / (radius * _beta())


def apart() -> tuple[Condition, ...]:
    return (Condition(holds=distance > 0, why="the slope in the square is infinite at 0"),)


THEOREM = Theorem(
    id="tholeti-kalyani-2020/equation-10",
    title="how δ of one release grows with the distance",
    statement=__doc__,
    where="Section IV.A.1, equation (10)",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    parts=(
        Bound(
            formula=in_the_square,
            name="in-the-square",
            meaning="slope of δ in (Δ/2r)²: the printed one",
            conditions=apart,
            decreasing_in=(distance,),
        ),
        Bound(
            formula=in_the_distance,
            name="in-the-distance",
            unit=Unit(-1, 1),
            meaning="slope of δ in the distance",
            decreasing_in=(distance,),
        ),
        Bound(
            formula=at_zero,
            name="at-zero",
            unit=Unit(-1, 1),
            meaning="its largest value: δ is at most this times the distance",
            increasing_in=(dimension,),
            decreasing_in=(radius,),
        ),
    ),
    notes=(
        Note("Print differentiates for distances below 2r; the slope is 0 beyond."),
        Note("That δ is concave in the distance is not in the paper."),
    ),
)
