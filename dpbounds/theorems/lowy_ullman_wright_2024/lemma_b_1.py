r"""Advanced composition: $T$ adaptively chosen $(\varepsilon_0, \delta)$-DP algorithms are together
$(\varepsilon', T\delta + \delta')$-DP with $\varepsilon' = \sqrt{2 T \ln(1/\delta')}\, \varepsilon_0 +
T \varepsilon_0 (e^{\varepsilon_0} - 1)$, for every $\delta' \in (0, 1)$.
"""

from sympy import Expr, exp, log, sqrt

from dpbounds.expressions.symbols import delta, step_epsilon, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.lowy_ullman_wright_2024._quantities import SLACK, slack
from dpbounds.theorems.record import Bound, Metric, Side, Status, Theorem


def composed_epsilon() -> Expr:
    return sqrt(2 * steps * log(1 / slack)) * step_epsilon + steps * step_epsilon * (exp(step_epsilon) - 1)


def composed_delta() -> Expr:
    return steps * delta + slack


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-b.1",
    title="advanced composition",
    statement=__doc__,
    where="Appendix B, Lemma B.1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    local=(SLACK,),
    parts=(
        Bound(
            formula=composed_epsilon,
            name="epsilon",
            meaning="ε of all T together",
            bases=("loss", "length"),
            increasing_in=(step_epsilon, steps),
            decreasing_in=(slack,),
        ),
        Bound(formula=composed_delta, name="delta", meaning="δ of all T together", increasing_in=(steps, delta, slack)),
    ),
    relies_on=("cited/dwork-roth-2014/theorem-3.20",),
)
