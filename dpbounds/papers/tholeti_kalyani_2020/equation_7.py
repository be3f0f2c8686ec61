r"""The guarantee of Theorem 1 in the form in which its proof derives it: $T$ steps, each $(0, \delta/N)$-private with
the $\delta$ of equation (6), add up to $\hat\delta = \frac TN I_z(\frac12, \frac{d+1}2)$, $z = (\Delta/2r_u)^2$. It is
the same number as in the theorem, written without the subtraction from 1.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import lost
from dpbounds.theorems.language import PER_SAMPLE, Bound, Condition, q

THEOREM = PAPER.theorem(
    title="δ of a whole run",
    where="Section IV.A, proof of Theorem 1, equation (7)",
    bounds="privacy, always",
    status="proved",
    relation="replace-one",
    sampling="one uniformly random record per step",
    assumptions="bounded gradient differences",
    conditions=Condition(q.Delta < 2 * q.r_u, "assumed in the paper; the formula holds beyond it, too"),
    parts=Bound(
        q.T * lost(q.Delta) / q.n,
        meaning="δ of T steps, at every ε",
        unit=PER_SAMPLE,
        increasing_in="T Delta d",
        decreasing_in="n r_u",
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    relies_on="tholeti-kalyani-2020/equation-6",
    notes="Above 1 it is true but empty.",
)
