r"""Norm of the projected gradient of DP-PGD for several sample sizes at $\varepsilon = 2$, $T = 400$: it falls with
$n$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="gradient norm for several sample sizes",
    where="Experiments, Figure 3 and its discussion",
    bounds="projected-gradient-norm",
    status="empirical",
    notes="Only the caption and its discussion were read. At fixed T the noise falls as 1/n, not as 1/√n.",
)
