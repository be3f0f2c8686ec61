r"""DP-FW-L2: for $t = 1, \dots, T$ take $v_t = \arg\max_{v \in C} \langle v, -(\nabla \hat F(w_t) + e_t)\rangle$ with
$e_t \sim N(0, \sigma^2 I_d)$ and step to $w_{t+1} = w_t + \gamma_t (v_t - w_t)$; return $w_R$, $R$ uniform on $1,
\dots, T$.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SMOOTH_RISK
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-chen-xu-2019/algorithm-2",
    title="DP-FW-L2, Frank-Wolfe with Gaussian noise",
    statement=__doc__,
    where="Section 4, Algorithm 2",
    metric=Metric.EXCESS_POPULATION_RISK,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_SET),
    notes=(
        Note("Noise, steps and step size are those of Theorem 5; its privacy is recorded there."),
        Note("The same algorithm as wang-xu-2019/algorithm-2, here for the population risk of special losses."),
    ),
)
