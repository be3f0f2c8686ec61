r"""Volumes: the unit ball of $R^d$ has $V_d = \pi^{d/2} / \Gamma(1 + \frac d2)$. The cap that a hyperplane at distance
$a \in [0, 1]$ from its centre cuts off has $\frac12 V_d\, I_{1-a^2}(\frac{d+1}2, \frac12)$, and two unit balls whose
centres lie $2a$ apart overlap in two such caps.
"""

from fractions import Fraction

from sympy import Expr, Rational, Symbol, betainc_regularized, gamma, pi

from dpbounds.expressions.symbols import Domain, Quantity, Unit, dimension
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem

cap_distance = Symbol("cap_distance", nonnegative=True)
CAP_DISTANCE = Quantity(
    name="cap_distance",
    symbol=cap_distance,
    domain=Domain(Fraction(0), Fraction(1), lower_open=False, upper_open=False),
    unit=Unit(),
    meaning="distance of a hyperplane from the centre of a unit ball",
    latex="a",
)


def ball() -> Expr:
    return pi ** (dimension / 2) / gamma(1 + dimension / 2)


def overlap() -> Expr:
    return ball() * betainc_regularized((dimension + 1) / 2, Rational(1, 2), 0, 1 - cap_distance**2)


def cap() -> Expr:
    return overlap() / 2


THEOREM = Theorem(
    id="tholeti-kalyani-2020/equation-5",
    title="volumes of a ball, of its caps, of the overlap of two",
    statement=__doc__,
    where="Section IV.A, equation (5) and the two displays after it",
    metric=Metric.NONE,
    side=Side.TIGHT,
    status=Status.PROVED,
    local=(CAP_DISTANCE,),
    parts=(
        Bound(formula=ball, name="ball", meaning="volume of the unit ball"),
        Bound(formula=cap, name="cap", meaning="volume of one cap", decreasing_in=(cap_distance,)),
        Bound(
            formula=overlap,
            name="overlap",
            meaning="volume that two unit balls share whose centres lie 2a apart",
            decreasing_in=(cap_distance,),
        ),
    ),
    notes=(Note("The volume of a cap is quoted from Li 2011; it was integrated again here."),),
)
