r"""DP-FW-L2: for $t = 1, \dots, T$ take $v_t = \arg\max_{v \in C} \langle v, -(\nabla F(x_t) + e_t) \rangle$ with
$e_t \sim N(0, \sigma^2 I_d)$ and step to $x_{t+1} = x_t + \gamma_t (v_t - x_t)$; return $x_R$, $R$ uniform.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="DP-FW-L2, Frank-Wolfe with Gaussian noise",
    where="High Dimension Case, Algorithm 2",
    bounds="frank-wolfe-gap",
    status="proved",
    relation="replace-one",
    sampling="full batch",
    assumptions="smooth risk, Lipschitz, bounded set",
    notes="""
    - Noise, steps and step size are those of Theorem 4.
    - The text at hand mixes the indices k and t and has ∇F(x) for ∇F(x_t).
    - The linear maximisation has a closed form on the l2 ball, the l1 ball and the simplex.
    """,
)
