r"""Advanced composition: $T$ releases, each $(\varepsilon_0, \delta_0)$-differentially private (each may depend on what
earlier ones published), are together $(\varepsilon, T\delta_0 + \delta')$-differentially private for every $\delta' \in
(0, 1)$, with $\varepsilon = \sqrt{2 T \ln(1/\delta')}\, \varepsilon_0 + T \varepsilon_0 (e^{\varepsilon_0} - 1)$. Here
`delta` stands for the slack $\delta'$.
"""

from dpbounds.papers.cited.dwork_roth_2014 import PAPER, step_delta
from dpbounds.theorems.language import PER_SAMPLE, Bound, Min, exp, log, q, sqrt

THEOREM = PAPER.theorem(
    title="advanced composition",
    where="Section 3.5.2, Theorem 3.20 (Dwork, Rothblum & Vadhan 2010)",
    bounds="privacy, always",
    status="proved",
    parts=(
        Bound(
            sqrt(2 * q.T * log(1 / q.delta)) * q.epsilon_0 + q.T * q.epsilon_0 * (exp(q.epsilon_0) - 1),
            "epsilon",
            "ε of all T releases, given up with probability δ' more",
            unit=PER_SAMPLE,
            bases="loss length",
        ),
        Bound(Min(1, q.T * step_delta + q.delta), "delta", "δ of all T releases, at most 1"),
    ),
    superseded_by="cited/kairouz-oh-viswanath-2015/theorem-3.3",
    notes="""
    - The mean of one loss is at most ε₀ tanh(ε₀/2), not ε₀(e^ε₀ - 1): the sharp form of dpbounds.privacy uses that, and
      is about half as large for big T ε₀².
    - For few releases it exceeds basic composition: take the smaller of the two.
    """,
)
