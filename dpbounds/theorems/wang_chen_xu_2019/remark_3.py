r"""If all but $d$, $\varepsilon$ and $\alpha$ are constants, Theorem 9 asks for $\tilde\Omega(d/(\varepsilon\alpha^2))$
records, as many as Theorem 8. The quadratic program of Algorithm 6 is NP-hard in general, and has approximate solutions
in polynomial time for balls and intersections of ellipsoids.
"""

from sympy import Expr, Max, Rational, sqrt

from dpbounds.expressions.symbols import (
    approximation_ratio,
    delta,
    diameter,
    dimension,
    epsilon,
    failure_probability,
    hessian_lipschitz,
    lipschitz,
    loss_range,
    smoothness,
    stationarity,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem

HIDDEN = (
    lipschitz,
    smoothness,
    hessian_lipschitz,
    loss_range,
    diameter,
    approximation_ratio,
    delta,
    failure_probability,
)


def printed() -> Expr:
    return dimension / (epsilon * stationarity**2)


def sharper() -> Expr:
    return Max(sqrt(dimension) / (epsilon * stationarity**2), dimension / (epsilon * stationarity ** Rational(3, 2)))


THEOREM = Theorem(
    id="wang-chen-xu-2019/remark-3",
    title="how many records escape saddle points in a set",
    statement=__doc__,
    where="Section 5.2, Remark 3",
    metric=Metric.SAMPLE_SIZE,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    parts=(
        Rate(
            formula=printed,
            name="sample_size",
            meaning="as printed",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(epsilon, stationarity),
        ),
        Rate(
            formula=sharper,
            name="sharper_sample_size",
            meaning="what Theorem 9 itself says: d stands with α^(-3/2) only",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(epsilon, stationarity),
        ),
    ),
    relies_on=("wang-chen-xu-2019/theorem-9",),
    notes=(Note("The printed rate is sufficient for α <= 1, but loose: compare the three terms of Theorem 9."),),
)
