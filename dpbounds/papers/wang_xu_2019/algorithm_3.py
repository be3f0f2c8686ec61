r"""DP-PMD, mirror descent: for $k = 1, \dots, T$ step to $x_{k+1} = \arg\min_{u \in C} \langle \nabla F(x_k) + e_k, u
\rangle + V(u, x_k)/\gamma_k + r(u)$ with $e_k \sim N(0, \sigma^2 I_d)$ and $V$ the Bregman divergence of a distance
generating function of modulus 1; return $x_R$, $R$ uniform.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="DP-PMD, private mirror descent",
    where="High Dimension Case, Algorithm 3",
    bounds="projected-gradient-norm",
    status="proved",
    relation="replace-one",
    sampling="full batch",
    assumptions="smooth risk, Lipschitz, centrally symmetric set, convex regulariser",
    notes="""
    - Noise, steps and step size are those of Theorem 5.
    - The text at hand has V(u, x) for V(u, x_k).
    - Functions of modulus 1: ‖x‖²/2r² on an l2 ball of radius r (in the norm of the ball), negative entropy on the
      simplex (in l1), e²/(2(q-1)) ‖x‖_q² with q = 1 + 1/ln d on the l1 ball.
    """,
)
