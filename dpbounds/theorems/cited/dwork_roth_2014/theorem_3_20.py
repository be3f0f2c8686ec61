r"""Advanced composition: $T$ releases, each $(\varepsilon_0, \delta_0)$-differentially private (each may depend on what
earlier ones published), are together $(\varepsilon, T\delta_0 + \delta')$-differentially private for every
$\delta' \in (0, 1)$, with $\varepsilon = \sqrt{2 T \ln(1/\delta')}\, \varepsilon_0
+ T \varepsilon_0 (e^{\varepsilon_0} - 1)$. Here `delta` stands for the slack $\delta'$.
"""

from sympy import Expr, Min, exp, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, step_epsilon, steps
from dpbounds.theorems.cited.dwork_roth_2014._quantities import STEP_DELTA, step_delta
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def total_epsilon() -> Expr:
    return sqrt(2 * steps * log(1 / delta)) * step_epsilon + steps * step_epsilon * (exp(step_epsilon) - 1)


def total_delta() -> Expr:
    return Min(1, steps * step_delta + delta)


THEOREM = Theorem(
    id="cited/dwork-roth-2014/theorem-3.20",
    title="advanced composition",
    statement=__doc__,
    where="Section 3.5.2, Theorem 3.20 (Dwork, Rothblum & Vadhan 2010)",
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
            meaning="ε of all T releases, given up with probability δ' more",
            bases=("loss", "length"),
            increasing_in=(steps, step_epsilon),
            decreasing_in=(delta,),
        ),
        Bound(
            formula=total_delta,
            name="delta",
            meaning="δ of all T releases, at most 1",
            increasing_in=(steps, step_delta, delta),
        ),
    ),
    local=(STEP_DELTA,),
    superseded_by=("cited/kairouz-oh-viswanath-2015/theorem-3.3",),
    notes=(
        Note(
            "The mean of one loss is at most ε₀ tanh(ε₀/2), not ε₀(e^ε₀ - 1): the sharp form of dpbounds.privacy uses "
            "that, and is about half as large for big T ε₀²."
        ),
        Note("For few releases it exceeds basic composition: take the smaller of the two."),
    ),
)
