r"""Fix a point, and let $n$ records be independent draws. With probability at least $1 - \omega$ the gradient of the
sample is within $O(G\log(d/\omega)/\sqrt n)$ of the population's, and the Hessian within $O(M\log(d/\omega)/\sqrt n)$
in operator norm.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import CURVATURE, GRADIENT, Rate, log, q, sqrt

factor = log(q.d / q.zeta) / sqrt(q.n)

THEOREM = PAPER.theorem(
    title="sample and population at one point",
    where="Section 4.2, Lemma 4.5; proof in Appendix C.3",
    bounds="generalisation-gap, probability",
    status="proved",
    sampling="i.i.d.",
    assumptions="Lipschitz, smooth, i.i.d. records",
    parts=(
        Rate(q.G * factor, "gradient", "distance of the gradients", unit=GRADIENT, bases="loss length"),
        Rate(q.L * factor, "hessian", "distance of the Hessians", unit=CURVATURE, bases="loss length"),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-a.6 ganesh-liu-oh-thakurta-2023/lemma-4.5/explicit",
    notes="""
    - log(d/ω) is meant as log(2d/ω): for d = 1 and ω near 1 it would vanish.
    - At one fixed point; for T points chosen from other data, ω/T, as Theorem 4.6 uses it.
    """,
)
