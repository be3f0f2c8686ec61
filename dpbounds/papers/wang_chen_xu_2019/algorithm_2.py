r"""DP-FW-L2: for $t = 1, \dots, T$ take $v_t = \arg\max_{v \in C} \langle v, -(\nabla \hat F(w_t) + e_t)\rangle$ with
$e_t \sim N(0, \sigma^2 I_d)$ and step to $w_{t+1} = w_t + \gamma_t (v_t - w_t)$; return $w_R$, $R$ uniform on $1,
\dots, T$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="DP-FW-L2, Frank-Wolfe with Gaussian noise",
    where="Section 4, Algorithm 2",
    bounds="excess-population-risk",
    status="proved",
    relation="replace-one",
    sampling="full batch",
    assumptions="smooth risk, Lipschitz, bounded set",
    notes="""
    - Noise, steps and step size are those of Theorem 5; its privacy is recorded there.
    - The same algorithm as wang-xu-2019/algorithm-2, here for the population risk of special losses.
    """,
)
