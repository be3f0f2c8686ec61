r"""Basic composition: $T$ releases, each $(\varepsilon_0, \delta_0)$-differentially private (each may depend on what
earlier ones published), are together $(T \varepsilon_0, T \delta_0)$-differentially private; in general the
$\varepsilon_i$ and the $\delta_i$ add up.
"""

from sympy import Expr, Min

from dpbounds.expressions.symbols import Unit, step_epsilon, steps
from dpbounds.theorems.cited.dwork_roth_2014._quantities import STEP_DELTA, step_delta
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def total_epsilon() -> Expr:
    return steps * step_epsilon


def total_delta() -> Expr:
    return Min(1, steps * step_delta)


THEOREM = Theorem(
    id="cited/dwork-roth-2014/theorem-3.16",
    title="basic composition",
    statement=__doc__,
    where="Section 3.5, Theorem 3.16 (releases of different budgets: the sums)",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    parts=(
        Bound(
            formula=total_epsilon,
            name="epsilon",
            unit=Unit(samples=-1),
            meaning="ε of all T releases",
            increasing_in=(steps, step_epsilon),
        ),
        Bound(
            formula=total_delta,
            name="delta",
            meaning="δ of all T releases, at most 1",
            increasing_in=(steps, step_delta),
        ),
    ),
    local=(STEP_DELTA,),
    superseded_by=("cited/kairouz-oh-viswanath-2015/theorem-3.3",),
    notes=(Note("For pure releases and ε alone it cannot be improved: it is the case i = 0 of the optimal theorem."),),
)
