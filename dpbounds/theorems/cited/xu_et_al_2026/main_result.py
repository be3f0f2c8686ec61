r"""Minimax problems that are non-convex in one argument and strongly concave in the other: a private, purely
first-order method (nested descent and ascent, with SPIDER estimates) finds, with high probability, an
$\alpha$-second-order stationary point of the empirical function that is left after maximising, with $\alpha$ of order
$\left(\frac{\sqrt d}{n\varepsilon}\right)^{2/3}$.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, MINIMAX, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (delta, lipschitz, smoothness, hessian_lipschitz, initial_gap)


def rate() -> Expr:
    return (sqrt(dimension) / (dataset_size * epsilon)) ** Rational(2, 3)


THEOREM = Theorem(
    id="cited/xu-et-al-2026/main-result",
    statement=__doc__,
    title="second-order stationary points of minimax problems",
    where="Abstract",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, MINIMAX),
    parts=(
        Rate(
            formula=rate,
            meaning="the α of the point",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "A minimisation problem is the case in which the objective does not depend on the second argument (up to "
            "the strong concavity, which may be added); the abstract does not say so, and draws no conclusion from it."
        ),
    ),
)
