r"""Quoted from Arora et al. 2023: let $M$ be $(\varepsilon, \delta)$-DP, with expected norm of the empirical gradient
at most $g(d, n, L, G, D, \varepsilon, \delta)$ whenever a minimiser has norm at most $D$, and with outputs of
polynomial norm with probability $1 - 1/\sqrt n$. For generalised linear losses with features of norm $O(1)$ and rank
$r$, project the features to dimension $k = \arg\min_j [g(j, \dots, \delta/2) + G/\sqrt j] \wedge r$ by a
Johnson-Lindenstrauss matrix, run $M$, and map back: this is $(\varepsilon, \delta)$-DP, and the expected norm of the
population gradient is of order $G/\sqrt n + g(k, \dots, \delta/2)$, up to logarithms.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GENERALISED_LINEAR, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.lowy_ullman_wright_2024._quantities_landscape import PROJECTED_RATE, projected_rate
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem


def rate() -> Expr:
    return lipschitz / sqrt(dataset_size) + projected_rate


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-8.1",
    title="projecting generalised linear models",
    statement=__doc__,
    where="Section 8, Lemma 8.1",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, GENERALISED_LINEAR, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="with the value g of M's rate in dimension k at δ/2",
            bases=("loss", "length"),
            logs_hidden=True,
            increasing_in=(lipschitz, projected_rate),
            decreasing_in=(dataset_size,),
        ),
    ),
    local=(PROJECTED_RATE,),
    relies_on=("cited/arora-et-al-2023/theorem-6.1",),
    notes=(
        Note(
            "The matrix does not look at the data. That a projected feature has norm above 2 is covered by δ/2; "
            "clipping projected features to norm 2 costs no δ."
        ),
        Note("G is the link's Lipschitz constant times the largest norm of a feature, which print takes as O(1)."),
        Note(
            "The link is printed as a function on R^d, and is one on R; the cited k has r ln(2n/δ) in the place of r."
        ),
        Note(
            "In the text of the cited proof that was read, the branch k < r bounds E|I - JΦ| by O(1/√k), with J the "
            "inclusion of R^k: JΦ has rank k < d, so that norm is at least 1. The step that is needed, "
            "|v| <= 2|Φv| + O(G/√k) for every empirical gradient v, is proved in corollary_8_2.md."
        ),
    ),
)
