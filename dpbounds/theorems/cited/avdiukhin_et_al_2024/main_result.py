r"""The noise that privacy needs is enough to escape saddles: DP-SGD as it is reaches an $\alpha$-second-order
stationary point with $\alpha$ of order $d^{1/4} / \sqrt{n\varepsilon}$, up to logarithms, for smooth losses with
Lipschitz Hessians that need not be Lipschitz themselves.
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
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (delta, lipschitz, smoothness, hessian_lipschitz, initial_gap)


def rate() -> Expr:
    return dimension ** Rational(1, 4) / sqrt(dataset_size * epsilon)


THEOREM = Theorem(
    id="cited/avdiukhin-et-al-2024/main-result",
    statement=__doc__,
    title="second-order stationary points by DP-SGD as it is",
    where="Abstract; the order from a published summary of the text",
    metric=Metric.SOSP,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(SMOOTH, HESSIAN_LIPSCHITZ),
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
            "The abstract states no order: it comes from a summary by a third party, and the theorem was not seen. In "
            "place of a Lipschitz loss it assumes something of the noise of stochastic gradients."
        ),
    ),
)
