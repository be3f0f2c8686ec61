r"""The Gaussian mechanism adds $N(0, \sigma^2 I)$ to a query of l2 sensitivity $\Delta$; it is said to be
$(\varepsilon, \delta)$-differentially private for $\sigma \ge \Delta \sqrt{2 \ln(1.25/\delta)} / \varepsilon$. The
classical proof needs $\varepsilon < 1$, which is not printed.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.papers.wang_xu_2019 import definition_5
from dpbounds.theorems.language import Erratum

THEOREM = PAPER.same_as(
    definition_5.THEOREM,
    where="Preliminaries, Definition 6",
    relies_on="cited/dwork-roth-2014/theorem-a.1",
    errata=Erratum(
        printed="(ε, δ)-DP for every ε > 0",
        right="for ε < 1; the formula itself first fails beyond ε = 5.74 (δ = 0.1), 7.46 (1e-3), 8.42 (1e-5)",
        severity="constant",
        evidence="test_definition_6.py::test_the_formula_fails_for_large_epsilon",
        survives="the standard statement for ε < 1",
    ),
)
