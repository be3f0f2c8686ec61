r"""Upper bounds of $(\varepsilon, \delta)$-DP algorithms for non-convex empirical risk, with Lipschitz and smoothness
constants 1 and $\|C\|_2 \le 1$; the measure differs from row to row (gradient norm, projected gradient, Frank-Wolfe
gap).
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Rate, Rational, log, q, sqrt

_QUARTER = Rational(1, 4)
low_dimension = (q.d * log(1 / q.delta)) ** _QUARTER / sqrt(q.n * q.epsilon)
width = ((q.R_C**2 + q.w_C**2) * log(1 / q.delta)) ** _QUARTER / sqrt(q.n * q.epsilon)

THEOREM = PAPER.theorem(
    title="private algorithms for non-convex empirical risk",
    where="Introduction, Table 1",
    bounds="upper",
    status="claimed",
    sampling="",
    parts=(
        Rate(
            (q.d * log(1 / q.delta) * log(2 / q.epsilon)) ** _QUARTER / sqrt(q.n * q.epsilon),
            "zhang-et-al-2017",
            "l2 norm of the gradient, no regulariser",
            hides="G L Delta_F",
        ),
        Rate(low_dimension, "wang-ye-xu-2017", "l2 norm of the gradient", hides="G L Delta_F"),
        Rate(low_dimension, "algorithm-1", "projected gradient, any regulariser", hides="G L Delta_F"),
        Rate(width, "algorithm-2", "Frank-Wolfe gap, bounded set", hides="G L Delta_F R_C"),
        Rate(width, "algorithm-3", "projected gradient, bounded set", hides="G L Delta_F R_C"),
        Rate(
            log(1 / q.delta) ** _QUARTER * sqrt(log(q.n * q.d)) / sqrt(q.n * q.epsilon),
            "algorithm-4",
            "Frank-Wolfe gap, l1 ball or polytope",
            hides="G L Delta_F",
        ),
    ),
    notes="""
    - The denominators read √(ne) in the text at hand, for √(nε).
    - The row of Zhang et al. has ln(2/ε), as quoted here; their own theorem was not compared.
    - Rows 2, 3 and 6 agree with Theorems 2, 5 and 6 (with the fourth root); ‖C‖₂ <= 1 is part of the caption.
    """,
)
