r"""DP-FW-L2: for $t = 1, \dots, T$ take $v_t = \arg\max_{v \in C} \langle v, -(\nabla F(x_t) + e_t) \rangle$ with
$e_t \sim N(0, \sigma^2 I_d)$ and step to $x_{t+1} = x_t + \gamma_t (v_t - x_t)$; return $x_R$, $R$ uniform.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SMOOTH_RISK
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/algorithm-2",
    title="DP-FW-L2, Frank-Wolfe with Gaussian noise",
    statement=__doc__,
    where="High Dimension Case, Algorithm 2",
    metric=Metric.FRANK_WOLFE_GAP,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_SET),
    notes=(
        Note("Noise, steps and step size are those of Theorem 4."),
        Note("The text at hand mixes the indices k and t and has ∇F(x) for ∇F(x_t)."),
        Note("The linear maximisation has a closed form on the l2 ball, the l1 ball and the simplex."),
    ),
)
