r"""A sample of $\pi_D \propto e^{-\beta(F_D + \frac\lambda2\|w\|^2)}$ on a bounded convex set generalises: $E[F_P -
F_D] = O\big(\frac{G^2 e^{\beta G D}}{n\lambda}\big)$. The proof bounds the Wasserstein distance of two neighbours'
Gibbs distributions by their log-Sobolev constant.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import LOSS, Rate, exp, q

growth = exp(q.beta * q.G * q.D)

THEOREM = PAPER.theorem(
    title="generalisation of a Gibbs sample",
    where="Section 5.1, Lemma 5.5; proof in Appendix D.1",
    bounds="generalisation-gap, expectation",
    status="proved",
    assumptions="Lipschitz, bounded set, i.i.d. records",
    parts=Rate(q.G**2 * growth / (q.n * q.regularisation), unit=LOSS, bases="loss length"),
    relies_on="ganesh-liu-oh-thakurta-2023/lemma-5.2 ganesh-liu-oh-thakurta-2023/lemma-5.4",
    superseded_by="ganesh-liu-oh-thakurta-2023/lemma-5.5/explicit",
    notes="""
    - Holds with the constant 2. A bound without e^{βGD} and without λ is in lemma-5.5/explicit.
    - The restriction to the convex set does not hurt the log-Sobolev inequality of the regulariser.
    """,
)
