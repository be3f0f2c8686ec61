r"""Population stationarity in time linear in $n$ (a binary tree of private gradient differences): the population
gradient at the output has norm of order $n^{-1/3} + \left(\frac{\sqrt d}{n\varepsilon}\right)^{1/2}$, up to
logarithms. For convex losses $\frac{1}{\sqrt n} + \frac{\sqrt d}{n\varepsilon}$ is the exact order, up to logarithms.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import dataset_size, dimension, epsilon, initial_gap, lipschitz, smoothness
from dpbounds.theorems.assumptions import CONVEX, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, initial_gap)


def rate() -> Expr:
    return dataset_size ** Rational(-1, 3) + sqrt(sqrt(dimension) / (dataset_size * epsilon))


def convex() -> Expr:
    return 1 / sqrt(dataset_size) + sqrt(dimension) / (dataset_size * epsilon)


THEOREM = Theorem(
    id="cited/arora-et-al-2023/population-rate",
    statement=__doc__,
    title="population stationarity in linear time; the convex case, exactly",
    where="Abstract",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ, SMOOTH, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            meaning="losses that need not be convex",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=convex,
            name="convex",
            side=Side.TIGHT,
            assumptions=(CONVEX,),
            meaning="the exact order for convex losses; so a lower bound in general",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
)
