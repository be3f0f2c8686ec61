r"""Oracles on fresh batches: $O_1$ averages the gradients of $b_1$ records that were not used before and adds $N(0,
\sigma_1^2 I_d)$, $O_2$ averages $\nabla f(x, z) - \nabla f(y, z)$ over $b_2$ such records and adds $N(0,
\sigma_2^2\|x - y\|^2 I_d)$. Each record takes part in one query, so that a run costs as much as its most expensive
query: at most $2G^2/( b_1^2\sigma_1^2)$ or $2M^2/(b_2^2\sigma_2^2)$ in zCDP if a record is replaced.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, difference_noise_stddev, lipschitz, noise_stddev, smoothness
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import FRESH_SAMPLES
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    FIRST_BATCH,
    SECOND_BATCH,
    first_batch,
    second_batch,
)
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Side, Status, Theorem


def fresh() -> Expr:
    return 2 * (lipschitz / (first_batch * noise_stddev)) ** 2


def difference() -> Expr:
    return 2 * (smoothness / (second_batch * difference_noise_stddev)) ** 2


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/equation-3",
    title="oracles on fresh batches",
    statement=__doc__,
    where="Section 4.2, equation (3)",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="fresh batches",
    assumptions=(LIPSCHITZ, SMOOTH, FRESH_SAMPLES),
    local=(FIRST_BATCH, SECOND_BATCH),
    parts=(
        Bound(
            formula=fresh,
            name="fresh-cost",
            unit=Unit(samples=-2),
            meaning="zCDP cost of a fresh estimate",
            increasing_in=(lipschitz,),
            decreasing_in=(first_batch, noise_stddev),
        ),
        Bound(
            formula=difference,
            name="difference-cost",
            unit=Unit(samples=-2),
            meaning="zCDP cost of a difference",
            increasing_in=(smoothness,),
            decreasing_in=(second_batch, difference_noise_stddev),
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-a.5",),
    notes=(
        Note(
            "'Without replacement' must mean: by position, or by a public order, and no record twice in a run. Drawing "
            "each batch anew from all records would be something else."
        ),
    ),
)
