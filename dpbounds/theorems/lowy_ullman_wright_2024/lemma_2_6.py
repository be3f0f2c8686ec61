r"""Basic composition: an $(\varepsilon_1, \delta_1)$-DP algorithm followed by one that, whatever the first has
released, is $(\varepsilon_2, \delta_2)$-DP, are $(\varepsilon_1 + \varepsilon_2, \delta_1 + \delta_2)$-DP together.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.lowy_ullman_wright_2024._quantities import (
    FIRST_DELTA,
    FIRST_EPSILON,
    SECOND_DELTA,
    SECOND_EPSILON,
    first_delta,
    first_epsilon,
    second_delta,
    second_epsilon,
)
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def epsilons() -> Expr:
    return first_epsilon + second_epsilon


def deltas() -> Expr:
    return first_delta + second_delta


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-2.6",
    title="basic composition",
    statement=__doc__,
    where="Section 2, Lemma 2.6",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    local=(FIRST_EPSILON, FIRST_DELTA, SECOND_EPSILON, SECOND_DELTA),
    parts=(
        Bound(
            formula=epsilons,
            name="epsilon",
            unit=Unit(samples=-1),
            meaning="ε of both together",
            increasing_in=(first_epsilon, second_epsilon),
        ),
        Bound(formula=deltas, name="delta", meaning="δ of both together", increasing_in=(first_delta, second_delta)),
    ),
    notes=(Note("δ₁ + δ₂ may exceed 1, and is then vacuous."),),
)
