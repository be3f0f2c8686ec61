r"""Let $w_1, \dots, w_N \in W$ be an $r_n$-net of $W$, fixed in advance, and $\tilde w \in W$ a point with $|w -
\tilde w| \le D$ on $W$ and population excess risk at most $\psi$. Choosing $w_i$ with probability proportional to
$\exp(-\varepsilon n F(w_i)/(4GD))$, $F$ the empirical risk, is $\varepsilon$-DP under replace-one, and with
probability $1 - \zeta$ (over records and choice) the population excess risk of the chosen point is at most $\psi + G
r_n + \frac{4 G D}{\varepsilon n} \ln\frac{2N}{\zeta} + 2 G D \sqrt{\frac{2}{n} \ln\frac{4N}{\zeta}}$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import PureDP
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.language import LOSS, Bound, Parameter, Privacy, log, q, sqrt

selection = 4 * q.G * q.D / (q.epsilon * q.n) * log(2 * q.N / q.zeta)
deviation = q.G * q.D * sqrt(2 * log(4 * q.N / q.zeta) / q.n)

THEOREM = PAPER.theorem(
    title="exponential mechanism for the population risk, with constants",
    bounds="excess-population-risk, probability",
    assumptions="Lipschitz, i.i.d. records",
    parts=(
        Bound(
            q.psi + q.G * q.r_n + selection + 2 * deviation,
            meaning="D bounds the distance of every net point from w̃: half a diameter",
            bases="loss length",
        ),
        Parameter(
            deviation,
            "deviation",
            "p: every difference of risks is off by at most this, but for probability ζ/2",
            unit=LOSS,
            bases="loss length",
        ),
    ),
    privacy=Privacy(lambda at: PureDP(at[q.epsilon], relation=Relation.REPLACE_ONE), "epsilon"),
    derivation="lemma_e_3_explicit.md",
    notes="Neither the minimiser of the population risk nor an infimum of the empirical risk is used.",
)
