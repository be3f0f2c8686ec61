r"""DP-FW-L1: on a polytope with vertices $A$, pick each Frank-Wolfe vertex by the exponential mechanism with score
$-\langle s, \nabla \hat F(w_t)\rangle$ and a pure budget of $\varepsilon/\sqrt{8 T \ln(1/\delta)}$ per step, step to
$w_{t+1} = (1 - \gamma_t) w_t + \gamma_t \tilde w_t$, and return $w_R$, $R$ uniform. On the unit l1 ball with
$\|x\|_\infty \le 1$ a replaced record moves a score by at most $2 G_1/n$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.papers.wang_xu_2019 import algorithm_4

mechanism = algorithm_4.mechanism

THEOREM = PAPER.same_as(
    algorithm_4.THEOREM,
    where="Section 4, Algorithm 3",
    metric="excess-population-risk",
    assumptions="Lipschitz in l1, polytope",
    notes="""
    T such choices are (ε²/64 ln(1/δ))-zCDP (bounded range): the printed budget is about four times smaller than needed,
    and is kept for ε <= 48 ln(1/δ).
    """,
)
