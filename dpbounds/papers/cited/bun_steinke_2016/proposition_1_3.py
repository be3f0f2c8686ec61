r"""From zCDP to approximate privacy: a $\rho$-zCDP mechanism is
$\left(\rho + 2 \sqrt{\rho \ln(1/\delta)},\, \delta\right)$-differentially private for every $\delta > 0$. Proof: the
privacy loss has a moment generating function of at most $e^{\rho \lambda (\lambda + 1)}$; Markov's inequality at the
best $\lambda$.
"""

from dpbounds.papers.cited.bun_steinke_2016 import PAPER
from dpbounds.theorems.language import PER_SAMPLE, Bound, log, q, sqrt

THEOREM = PAPER.theorem(
    title="zCDP implies approximate privacy",
    where="Section 1, Proposition 1.3",
    bounds="privacy, always",
    status="proved",
    parts=Bound(
        q.rho + 2 * sqrt(q.rho * log(1 / q.delta)), "epsilon", "ε at a given δ", unit=PER_SAMPLE, bases="loss length"
    ),
    notes="""
    Sharper conversions exist (Canonne, Kamath & Steinke 2020), and the accountant uses them; a ρ-zCDP mechanism need
    not lie below the curve of the Gaussian with the same ρ.
    """,
)
