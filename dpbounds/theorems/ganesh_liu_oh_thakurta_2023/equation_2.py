r"""Full-batch oracles: $O_1(x) = \nabla F_D(x) + N(0, \sigma_1^2 I_d)$ and $O_2(x, y) = \nabla F_D(x) - \nabla F_D(y)
+ N(0, \sigma_2^2\|x - y\|^2 I_d)$. Replacing a record moves the first by at most $2G/n$, the second by at most $2M\|x
- y\|/n$, so that a query costs $2G^2/(n^2\sigma_1^2)$ or $2M^2/(n^2\sigma_2^2)$ in zCDP.
"""

from sympy import Expr

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    difference_noise_stddev,
    lipschitz,
    noise_stddev,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Side, Status, Theorem


def fresh() -> Expr:
    return 2 * (lipschitz / (dataset_size * noise_stddev)) ** 2


def difference() -> Expr:
    return 2 * (smoothness / (dataset_size * difference_noise_stddev)) ** 2


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/equation-2",
    title="full-batch oracles",
    statement=__doc__,
    where="Section 4.1, equation (2)",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH),
    parts=(
        Bound(
            formula=fresh,
            name="fresh-cost",
            unit=Unit(samples=-2),
            meaning="zCDP cost of a fresh estimate",
            increasing_in=(lipschitz,),
            decreasing_in=(dataset_size, noise_stddev),
        ),
        Bound(
            formula=difference,
            name="difference-cost",
            unit=Unit(samples=-2),
            meaning="zCDP cost of a difference",
            increasing_in=(smoothness,),
            decreasing_in=(dataset_size, difference_noise_stddev),
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-a.5",),
    notes=(
        Note(
            "The proof of Theorem 4.2 has sensitivities G/n and M‖x - y‖/n, those of a record that is added or removed "
            "with n public, and charges G²/(n²σ₁²) per query: half of what a replaced record costs, and twice what an "
            "added one does."
        ),
        Note("Attained: linear losses ±G<u, x>, and quadratic ones for the differences."),
    ),
)
