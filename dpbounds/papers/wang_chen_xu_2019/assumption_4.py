r"""Assumption 4: every loss is $G$-Lipschitz, $L$-smooth and has a $\rho_H$-Lipschitz Hessian, and the empirical risk
is bounded by a constant $B$; only $\hat F(w_1) - \inf \hat F$ is used (footnote 5). A bounded set $C$ has l2 diameter
$D$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="smooth losses with Lipschitz Hessian",
    where="Section 5, Assumption 4",
    status="definition",
    assumptions="smooth with Lipschitz Hessian",
    notes="The quantity loss_range stands for B, and initial_gap for the difference that is really used.",
)
