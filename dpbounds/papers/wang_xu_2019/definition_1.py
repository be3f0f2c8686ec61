r"""Private empirical risk minimisation: find $w$ in a closed convex set $C$ that makes
$F^r(w) = \frac1n \sum_i f(w, z_i) + r(w)$ small, with $r$ a simple convex regulariser, differentially privately.
For convex losses utility is the expected excess of $F^r$ (empirical) or of $E_z f$ (population) over its minimum.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="private empirical risk minimisation",
    where="Introduction, Definition 1",
    status="definition",
    assumptions="closed convex set, convex regulariser",
)
