r"""The Gaussian mechanism adds $N(0, \sigma^2 I)$ to a query of l2 sensitivity $\Delta$; it is said to be
$(\varepsilon, \delta)$-differentially private for $\sigma \ge \Delta \sqrt{2 \ln(1.25/\delta)} / \varepsilon$.
The classical proof needs $\varepsilon < 1$, which is not printed.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Condition, Erratum, Parameter, Privacy, Rational, Unit, log, q, sqrt

noise = sqrt(2 * log(Rational(5, 4) / q.delta)) * q.Delta / q.epsilon

THEOREM = PAPER.theorem(
    title="the Gaussian mechanism",
    where="Preliminaries, Definition 5",
    bounds="privacy, upper",
    status="repaired",
    sampling="",
    conditions=Condition(q.epsilon < 1, "the classical proof; not printed"),
    parts=Parameter(
        noise, "noise_stddev", "smallest standard deviation that the definition asks for", unit=Unit(1, -1, 1)
    ),
    privacy=Privacy(lambda at: Gaussian(noise_stddev=at.down(noise), sensitivity=at[q.Delta]), "epsilon delta Delta"),
    errata=Erratum(
        printed="(ε, δ)-DP for every ε > 0",
        right="for ε < 1; the formula itself first fails beyond ε = 4.46 (δ = 1/2), 8.42 (1e-5), 9.37 (1e-8)",
        severity="constant",
        evidence="test_definition_5.py::test_the_formula_fails_for_large_epsilon",
        survives="the standard statement for ε < 1",
    ),
)
