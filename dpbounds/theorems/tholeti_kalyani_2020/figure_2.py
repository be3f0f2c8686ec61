r"""The $\delta$ of one release against $\Delta_g \in [0, 2]$ at radius 1, for several dimensions: equation (6).
Recorded are the curve, its closed form in the plane, $\frac2\pi(\arcsin a + a\sqrt{1 - a^2})$ at $a = \Delta_g/2r_u$,
and what many dimensions look like: $\mathrm{erf}(\Delta_g\sqrt d / (2\sqrt2\, r_u))$ up to a relative error of the
order of $1/d$.
"""

from sympy import Expr, Min, asin, erf, pi, sqrt

from dpbounds.expressions.symbols import dimension, distance, radius
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Rate, Side, Status, Theorem
from dpbounds.theorems.tholeti_kalyani_2020._ball import lost


def curve() -> Expr:
    return lost(distance)


def in_the_plane() -> Expr:
    half = Min(1, distance / (2 * radius))
    return 2 * (asin(half) + half * sqrt(1 - half**2)) / pi


def many_dimensions() -> Expr:
    return erf(distance * sqrt(dimension) / (2 * sqrt(2) * radius))


THEOREM = Theorem(
    id="tholeti-kalyani-2020/figure-2",
    title="δ against the distance, for several dimensions",
    statement=__doc__,
    where="Section IV.A.1, Figure 2",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    parts=(
        Bound(
            formula=curve,
            name="curve",
            meaning="what is plotted, at any radius",
            increasing_in=(distance, dimension),
            decreasing_in=(radius,),
        ),
        Bound(
            formula=in_the_plane,
            name="dimension-2",
            meaning="the curve for d = 2",
            increasing_in=(distance,),
            decreasing_in=(radius,),
        ),
        Rate(
            formula=many_dimensions,
            name="many-dimensions",
            meaning="its limit where Δ√d/r is kept and d grows; not in the paper",
            increasing_in=(distance, dimension),
            decreasing_in=(radius,),
        ),
    ),
    relies_on=("tholeti-kalyani-2020/equation-6",),
    notes=(
        Note("The figure was not available in the text at hand: which dimensions it shows is not known here."),
        Note(
            "In many dimensions what counts is Δ√d/r: at Δ = r the curve is at 0.92 for d = 10 and at 0.9999 for "
            "d = 50."
        ),
    ),
)
