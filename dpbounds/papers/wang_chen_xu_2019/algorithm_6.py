r"""DP-GD-SO, for a closed convex set $C$: with $g_t = \nabla \hat F(w_t) + e_t$ take the Frank-Wolfe point $v_t =
\arg\max_{v \in C} -\langle g_t, v\rangle$; if $\langle g_t, v_t - w_t\rangle < -\alpha/2$ step to $(1 - \eta_t) w_t +
\eta_t v_t$. Otherwise release $\tilde H_t = \nabla^2 \hat F(w_t) + H_t$ ($H_t$ as in Algorithm 5) and find a
$\Phi$-approximate minimiser $u_t$ of $q(u) = (u - w_t)^T \tilde H_t (u - w_t)$ over $u \in C$ with $\langle g_t, u -
w_t\rangle \le r$; if $q(u_t) \le -\frac\Phi2 \sqrt{\rho_H \alpha}$ step to $(1 - \theta) w_t + \theta u_t$, else return
$w_t$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import Parameter, q, sqrt

THEOREM = PAPER.theorem(
    title="DP-GD-SO, second-order steps within a set",
    where="Section 5.2, Algorithm 6",
    bounds="sosp",
    status="proved",
    relation="replace-one",
    sampling="full batch",
    assumptions="smooth with Lipschitz Hessian, bounded set",
    parts=(
        Parameter(
            -q.alpha / 2,
            "first_order_test",
            "a Frank-Wolfe step is taken below this value of <g, v - w>",
            bases="samples",
        ),
        Parameter(
            -q.Phi * sqrt(q.rho_H * q.alpha) / 2,
            "second_order_test",
            "a curvature step is taken below this value of q",
            bases="samples",
        ),
    ),
    notes="""
    - Noise, steps, θ, r and η are those of Theorem 9. The input lists γ_t and x₁, the steps use η_t and w₁.
    - An oracle's ratio Φ lies in (0, 1]: q(u_t) <= Φ min q, where min q <= 0.
    """,
)
