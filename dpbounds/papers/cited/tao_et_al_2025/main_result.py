r"""An $\alpha$-second-order stationary point of the population risk without a private selection at the end: noisy SGD
that declares a saddle escaped once the iterate has drifted far enough, with an adaptive SPIDER estimate of the
gradient; $\alpha$ of order $n^{-1/3} + \left(\frac{\sqrt d}{n\varepsilon}\right)^{2/5}$, up to logarithms. The abstract
says that earlier error rates overlook the variance of gradients in the escape from saddles, and that this method
rectifies them.
"""

from dpbounds.papers.cited.tao_et_al_2025 import PAPER
from dpbounds.theorems.language import Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="population second-order stationary points by drift",
    where="Abstract; the order from a published summary of the text",
    bounds="population-sosp",
    status="claimed",
    read="summary",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, i.i.d. records",
    parts=Rate(
        q.n ** Rational(-1, 3) + (sqrt(q.d) / (q.n * q.epsilon)) ** Rational(2, 5),
        meaning="the α of the point",
        logs_hidden=True,
        hides="delta G L rho_H Delta_F",
    ),
    notes="""
    - The abstract states no exponent. The copy of the text lacks its formulas, and the theorem was not read.
    - The 2/5 is worse than the 1/2 of Liu & Talwar 2024. The abstract does not say whether its criticism concerns their
      proof. Both results are recorded as claimed.
    """,
)
