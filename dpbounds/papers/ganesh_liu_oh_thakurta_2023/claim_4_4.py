r"""For i.i.d. records the oracles of equation (3) have norm-sub-Gaussian parameters $O(G\sqrt{\log d}/\sqrt{b_1} +
\sqrt d\,\sigma_1)$ and $O(M\sqrt{\log d}/\sqrt{b_2} + \sqrt d\,\sigma_2)$, towards the population's gradient.
"""

from sympy import Symbol

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, first_batch, second_batch
from dpbounds.theorems.language import CURVATURE, GRADIENT, Expr, Rate, log, q, sqrt


def parameter(bound: Symbol, batch: Symbol, noise: Symbol) -> Expr:
    return bound * sqrt(log(q.d) / batch) + sqrt(q.d) * noise


THEOREM = PAPER.theorem(
    title="how accurate batches are",
    where="Section 4.2, Claim 4.4; proof in Appendix C.2",
    bounds="estimation-error, probability",
    status="proved",
    sampling="fresh batches",
    assumptions="Lipschitz, smooth, i.i.d. records, fresh samples",
    parts=(
        Rate(
            parameter(q.G, first_batch, q.sigma),
            "first",
            "parameter of a fresh estimate",
            unit=GRADIENT,
            bases="loss length",
        ),
        Rate(
            parameter(q.L, second_batch, q.sigma_2),
            "second",
            "parameter of a difference, per distance",
            unit=CURVATURE,
            bases="loss length",
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/fact-2.3 ganesh-liu-oh-thakurta-2023/lemma-2.4",
    notes="""
    - The paper has L where the Lipschitz constant is called G everywhere else.
    - log d is meant as log(2d): for d = 1 there is sampling noise, too.
    - The logarithm of d is not needed: bounded vectors of mean 0 in a Hilbert space obey 2 exp(-r²/(2b²)), see
      ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit.
    """,
)
