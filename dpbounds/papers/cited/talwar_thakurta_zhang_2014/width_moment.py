r"""The squared dual norm of a Gaussian vector: for $v \sim N(0, I_d)$ and a bounded set $C$,
$E\left(\sup_{w \in C} \langle w, v \rangle\right)^2 = O(w_C^2 + R_C^2)$, with $w_C$ the Gaussian width and $R_C$ the
largest norm. The constant is 1. Proof: the supremum is $R_C$-Lipschitz in $v$, so its variance is at most $R_C^2$ by
the Gaussian Poincaré inequality, and its mean is $w_C$.
"""

from dpbounds.papers.cited.talwar_thakurta_zhang_2014 import PAPER
from dpbounds.theorems.language import Bound, Unit, q

THEOREM = PAPER.theorem(
    title="second moment of the supremum of a Gaussian over a set",
    where="A lemma of arXiv version; quoted as Lemma 4 of Wang & Xu 2019",
    bounds="estimation-error, expectation",
    status="proved here",
    assumptions="bounded set",
    parts=Bound(
        q.w_C**2 + q.R_C**2, meaning="E of the squared supremum, with constant 1 (quoted: O)", unit=Unit(length=2)
    ),
    notes="Without the second term it is false: a segment from -R to R has w² = 2R²/π, and its second moment is R².",
)
