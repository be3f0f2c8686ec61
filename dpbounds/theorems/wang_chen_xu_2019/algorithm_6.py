r"""DP-GD-SO, for a closed convex set $C$: with $g_t = \nabla \hat F(w_t) + e_t$ take the Frank-Wolfe point $v_t =
\arg\max_{v \in C} -\langle g_t, v\rangle$; if $\langle g_t, v_t - w_t\rangle < -\alpha/2$ step to $(1 - \eta_t) w_t +
\eta_t v_t$. Otherwise release $\tilde H_t = \nabla^2 \hat F(w_t) + H_t$ ($H_t$ as in Algorithm 5) and find a
$\Phi$-approximate minimiser $u_t$ of $q(u) = (u - w_t)^T \tilde H_t (u - w_t)$ over $u \in C$ with $\langle g_t, u -
w_t\rangle \le r$; if $q(u_t) \le -\frac\Phi2 \sqrt{\rho_H \alpha}$ step to $(1 - \theta) w_t + \theta u_t$, else return
$w_t$.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import approximation_ratio, hessian_lipschitz, stationarity
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET
from dpbounds.theorems.record import Metric, Note, Parameter, Status, Theorem
from dpbounds.theorems.wang_chen_xu_2019._assumptions import SECOND_ORDER


def first_order_test() -> Expr:
    return -stationarity / 2


def second_order_test() -> Expr:
    return -approximation_ratio * sqrt(hessian_lipschitz * stationarity) / 2


THEOREM = Theorem(
    id="wang-chen-xu-2019/algorithm-6",
    title="DP-GD-SO, second-order steps within a set",
    statement=__doc__,
    where="Section 5.2, Algorithm 6",
    metric=Metric.SOSP,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SECOND_ORDER, BOUNDED_SET),
    parts=(
        Parameter(
            formula=first_order_test,
            name="first_order_test",
            meaning="a Frank-Wolfe step is taken below this value of <g, v - w>",
            bases=("samples",),
            decreasing_in=(stationarity,),
        ),
        Parameter(
            formula=second_order_test,
            name="second_order_test",
            meaning="a curvature step is taken below this value of q",
            bases=("samples",),
            decreasing_in=(approximation_ratio, hessian_lipschitz, stationarity),
        ),
    ),
    notes=(
        Note("Noise, steps, θ, r and η are those of Theorem 9. The input lists γ_t and x₁, the steps use η_t and w₁."),
        Note("An oracle's ratio Φ lies in (0, 1]: q(u_t) <= Φ min q, where min q <= 0."),
    ),
)
