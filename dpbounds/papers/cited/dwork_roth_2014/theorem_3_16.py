r"""Basic composition: $T$ releases, each $(\varepsilon_0, \delta_0)$-differentially private (each may depend on what
earlier ones published), are together $(T \varepsilon_0, T \delta_0)$-differentially private; in general the
$\varepsilon_i$ and the $\delta_i$ add up.
"""

from dpbounds.papers.cited.dwork_roth_2014 import PAPER, step_delta
from dpbounds.theorems.language import PER_SAMPLE, Bound, Min, q

THEOREM = PAPER.theorem(
    title="basic composition",
    where="Section 3.5, Theorem 3.16 (releases of different budgets: the sums)",
    bounds="privacy, always",
    status="proved",
    parts=(
        Bound(q.T * q.epsilon_0, "epsilon", "ε of all T releases", unit=PER_SAMPLE),
        Bound(Min(1, q.T * step_delta), "delta", "δ of all T releases, at most 1"),
    ),
    superseded_by="cited/kairouz-oh-viswanath-2015/theorem-3.3",
    notes="For pure releases and ε alone it cannot be improved: it is the case i = 0 of the optimal theorem.",
)
