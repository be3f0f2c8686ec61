r"""Momentum with private aggregation, and a sensitivity analysis that uses how often examples recur: a gradient of
norm of order $d^{1/3} / (n\varepsilon)^{2/3}$, up to logarithms, after $n^{7/3} \varepsilon^{4/3} / d^{2/3}$ gradient
evaluations.
"""

from sympy import Expr, Rational

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (delta, lipschitz, smoothness, initial_gap)


def rate() -> Expr:
    return dimension ** Rational(1, 3) / (dataset_size * epsilon) ** Rational(2, 3)


def evaluations() -> Expr:
    return dataset_size ** Rational(7, 3) * epsilon ** Rational(4, 3) / dimension ** Rational(2, 3)


THEOREM = Theorem(
    id="cited/tran-cutkosky-2022/main-result",
    statement=__doc__,
    title="stationary points by momentum aggregation",
    where="Abstract",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK),
    parts=(
        Rate(
            formula=rate,
            meaning="norm of the empirical gradient",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=evaluations,
            name="gradient-evaluations",
            unit=Unit(samples=1),
            meaning="how many gradients of one record are taken",
            hides=HIDDEN,
            increasing_in=(dataset_size, epsilon),
            decreasing_in=(dimension,),
        ),
    ),
    notes=(
        Note("Ganesh et al. 2023 (Table 2) quote it with a further term 1/√n; the abstract has none."),
        Note("The order in n, d and ε is that of private SpiderBoost; neither replaces the other."),
    ),
)
