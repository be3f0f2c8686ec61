r"""DP-GD: for $t = 1, \dots, T$ step to $w_{t+1} = w_t - \eta_t (\nabla \hat F(w_t) + e_t)$ with $e_t \sim N(0,
\sigma^2 I_d)$, and return all of $w_1, \dots, w_{T+1}$. Noise, steps and $\eta = 1/L$ are those of Theorem 7.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="DP-GD, noisy gradient descent",
    where="Section 5.1, Algorithm 4",
    bounds="sosp",
    status="proved",
    relation="replace-one",
    sampling="full batch",
    assumptions="smooth risk, Lipschitz, unconstrained",
    notes="""
    - The input calls the step size γ_t, the steps η_t. Its privacy is recorded with Theorem 7.
    - Its gradient norms have an explicit bound: algorithm-4/explicit.
    """,
)
