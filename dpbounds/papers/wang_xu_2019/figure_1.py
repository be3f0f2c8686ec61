r"""Norm of the projected gradient along 200 steps of DP-PGD for $\varepsilon \in \{0.1, 0.5, 2, 5\}$, $\delta =
10^{-3}$: synthetic data (10 000 x 100) and Covertype (200 000 x 54), sigmoid loss plus $\frac\lambda2\|\theta\|_1$,
$\lambda = 0.01$, features scaled so that the loss is 1-Lipschitz.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import PURE, REAL, Bound, Erratum, exp

margin = PAPER.quantity("margin", "m", "y <θ, x>, positive where the label is right", domain=REAL)

THEOREM = PAPER.theorem(
    title="gradient norm for several budgets",
    where="Experiments, Figure 1 and the section Experiment Settings",
    bounds="projected-gradient-norm, tight",
    status="empirical",
    parts=Bound(1 / (1 + exp(-margin)), "loss", "the sigmoid loss as printed, in the margin m = y<θ, x>", unit=PURE),
    errata=Erratum(
        printed="loss 1/(1 + exp(-y<θ, x>))",
        right="1/(1 + exp(y<θ, x>)): the printed loss grows with the margin, so that its minimiser misclassifies",
        severity="typo",
        evidence="test_figure_1.py::test_the_printed_loss_rewards_mistakes",
        where="Experiments, the displayed problem",
        survives="every gradient norm that is reported: θ -> -θ maps one problem to the other",
    ),
    notes="""
    - The text at hand lacks the figures; only captions and their discussion were read.
    - δ = 0.001 is used where the text recommends δ = 1/n: n δ is 10 and 200 here.
    - The labels are said to be drawn, but are then set by a threshold on a probability that contains the label.
    """,
)
