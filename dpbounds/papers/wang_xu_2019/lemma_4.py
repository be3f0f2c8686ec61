r"""Quoted from Talwar, Thakurta & Zhang 2014: for $v \sim N(0, I_d)$,
$E (\max_{w \in C} \langle w, v \rangle)^2 = O(w_C^2 + \|C\|_2^2)$. It holds with constant 1. Proof: the supremum is a
$\|C\|_2$-Lipschitz function of $v$, so by the Gaussian Poincaré inequality its variance is at most $\|C\|_2^2$, and
its mean is the width.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Bound, Unit, q

second_moment = q.w_C**2 + q.R_C**2

THEOREM = PAPER.theorem(
    title="second moment of the dual norm of a Gaussian",
    where="High Dimension Case, Lemma 4",
    bounds="estimation-error, expectation",
    status="proved here",
    assumptions="bounded set",
    parts=Bound(
        second_moment, meaning="E of the squared dual norm, with constant 1 (in the paper: O)", unit=Unit(length=2)
    ),
    relies_on="cited/talwar-thakurta-zhang-2014/width-moment",
)
