r"""Sums of norm-sub-Gaussian vectors: if $b$ vectors of dimension $d$ have conditional mean 0 and
$P(|x_i| \ge t \mid \text{past}) \le 2 e^{-t^2/2s^2}$, then with probability at least $1 - \zeta$ their sum has norm of
order $s \sqrt{b \ln(2d/\zeta)}$, with an absolute constant; for unequal $s_i$ read $\sum s_i^2$ for $b s^2$. Proof: the
moments of $|x_i|$ bound the exponential moments of the $(d+1) \times (d+1)$ matrix with $x_i$ in its first row and
column, whose largest eigenvalue is $|x_i|$; matrix martingales then have the tail of a Gaussian times $d + 1$.
"""

from dpbounds.papers.cited.jin_et_al_2019 import PAPER
from dpbounds.theorems.language import GRADIENT, Rate, log, q, sqrt

norm_sub_gaussian = PAPER.quantity(
    "norm_sub_gaussian", "s", "s of P(|x| >= t) <= 2 exp(-t²/2s²) for one gradient's error", unit=GRADIENT
)

THEOREM = PAPER.theorem(
    title="Hoeffding's inequality for norm-sub-Gaussian vectors",
    where="Hoeffding-type inequality; quoted as Lemma 2.4 of Ganesh, Liu, Oh & Thakurta 2023",
    bounds="estimation-error, probability",
    status="proved",
    parts=Rate(norm_sub_gaussian * sqrt(q.b * log(2 * q.d / q.zeta)), meaning="norm of the sum", unit=GRADIENT),
    notes="""
    - The s_i have to be fixed in advance. Where they are known only from the past (a step's length, say) the sum of
      squares needs a bound of its own.
    - For errors bounded by G a bound without the dimension holds, with constant 2 (Pinelis).
    """,
)
