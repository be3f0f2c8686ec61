r"""Advanced composition: $T$ adaptively chosen $(\varepsilon_0, \delta)$-DP algorithms are together
$(\varepsilon', T\delta + \delta')$-DP with $\varepsilon' = \sqrt{2 T \ln(1/\delta')}\, \varepsilon_0 +
T \varepsilon_0 (e^{\varepsilon_0} - 1)$, for every $\delta' \in (0, 1)$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, slack
from dpbounds.theorems.language import Bound, exp, log, q, sqrt

THEOREM = PAPER.theorem(
    title="advanced composition",
    where="Appendix B, Lemma B.1",
    bounds="privacy",
    status="proved",
    parts=(
        Bound(
            sqrt(2 * q.T * log(1 / slack)) * q.epsilon_0 + q.T * q.epsilon_0 * (exp(q.epsilon_0) - 1),
            "epsilon",
            "ε of all T together",
            bases="loss length",
        ),
        Bound(q.T * q.delta + slack, "delta", "δ of all T together"),
    ),
    relies_on="cited/dwork-roth-2014/theorem-3.20",
)
