r"""On the unit l1 ball or the simplex in $R^d$ the Frank-Wolfe gap of Theorem 6 is
$O\big((\ln(1/\delta))^{1/4}\sqrt{\ln(nd)}/\sqrt{n\varepsilon}\big)$: the vertices are the $2d$ (or $d$) candidates.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, initial_gap, lipschitz_l1, smoothness
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, L1_GEOMETRY, LIPSCHITZ_L1, SMOOTH_RISK
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem


def rate() -> Expr:
    return log(1 / delta) ** Rational(1, 4) * sqrt(log(dataset_size * dimension)) / sqrt(dataset_size * epsilon)


THEOREM = Theorem(
    id="wang-xu-2019/corollary-1",
    title="Frank-Wolfe gap on the l1 ball and the simplex",
    statement=__doc__,
    where="Further Reducing the Utility, Corollary 1",
    metric=Metric.FRANK_WOLFE_GAP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ_L1, BOUNDED_RISK, L1_GEOMETRY),
    parts=(
        Rate(
            formula=rate,
            hides=(lipschitz_l1, smoothness, initial_gap),
            increasing_in=(dimension,),
            decreasing_in=(epsilon, delta),
        ),
    ),
    algorithm="wang-xu-2019/algorithm-4",
    relies_on=("wang-xu-2019/theorem-6",),
    notes=(Note("As for Theorem 6, the fourth root of ln(1/δ) is read where the text at hand has a square root."),),
)
