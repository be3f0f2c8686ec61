r"""Losses that are neither smooth nor convex: a point is $(r, \alpha)$-stationary in Goldstein's sense if some
average of gradients taken within distance $r$ of it has norm at most $\alpha$. A single pass finds one privately for
a sample of size of order $\frac{\sqrt d}{r \alpha^3} + \frac{d}{\varepsilon r \alpha^2}$, several passes in
polynomial time for $\frac{d}{\alpha^2} + \frac{d^{3/4}}{\varepsilon r^{1/2} \alpha^{3/2}}$, up to logarithms.
"""

from sympy import Expr, Rational, Symbol, sqrt

from dpbounds.expressions.symbols import (
    Quantity,
    Unit,
    delta,
    dimension,
    domain_of,
    epsilon,
    initial_gap,
    lipschitz,
    stationarity,
)
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.record import Metric, Note, Rate, Read, Side, Status, Theorem

goldstein_radius = Symbol("goldstein_radius", positive=True)
RADIUS = Quantity(
    name="goldstein_radius",
    symbol=goldstein_radius,
    domain=domain_of(goldstein_radius),
    unit=Unit(length=1),
    meaning="how far from the point gradients may be taken",
    latex="r",
)
HIDDEN = (delta, lipschitz, initial_gap)


def single_pass() -> Expr:
    return sqrt(dimension) / (goldstein_radius * stationarity**3) + dimension / (
        epsilon * goldstein_radius * stationarity**2
    )


def multiple_passes() -> Expr:
    first = dimension / stationarity**2
    return first + dimension ** Rational(3, 4) / (epsilon * sqrt(goldstein_radius) * stationarity ** Rational(3, 2))


THEOREM = Theorem(
    id="cited/kornowski-et-al-2024/main-result",
    statement=__doc__,
    title="private Goldstein-stationary points",
    where="Abstract",
    metric=Metric.SAMPLE_SIZE,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=single_pass,
            name="single-pass",
            meaning="records that suffice for one pass",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(epsilon, goldstein_radius, stationarity),
        ),
        Rate(
            formula=multiple_passes,
            name="multiple-passes",
            meaning="records that suffice for several passes",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(epsilon, goldstein_radius, stationarity),
        ),
    ),
    local=(RADIUS,),
    notes=(Note("The abstract calls the radius α and the norm β."),),
)
