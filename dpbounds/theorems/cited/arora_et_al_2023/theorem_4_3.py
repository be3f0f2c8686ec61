r"""A lower bound: for every $(\varepsilon, \delta)$-private algorithm there are data and a smooth $G$-Lipschitz loss
(even a convex one) such that the empirical gradient at the output has expected norm of at least the order of $G
\min\left(1, \frac{\sqrt d}{n\varepsilon}\right)$.
"""

from sympy import Expr, Min, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, epsilon, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import CONVEX, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Read, Side, Status, Theorem


def rate() -> Expr:
    return lipschitz * Min(1, sqrt(dimension) / (dataset_size * epsilon))


def small_epsilon() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon <= 1, why="the range was not quoted; this is the usual one"),)


THEOREM = Theorem(
    id="cited/arora-et-al-2023/theorem-4.3",
    statement=__doc__,
    title="lower bound for private stationary points",
    where="Theorem 4.3; quoted in Table 1 of Ganesh et al. 2023 and in Section 1 of Lowy, Ullman & Wright 2024, "
    "version 1",
    metric=Metric.GRADIENT_NORM,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, CONVEX),
    conditions=small_epsilon,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="norm of the empirical gradient, at least",
            logs_hidden=True,
            increasing_in=(dimension, lipschitz),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "A gradient is the smallest thing a second-order stationary point bounds, so it holds for those, too. The "
            "range of δ was not quoted."
        ),
    ),
)
