r"""On the unit l1 ball or the simplex in $R^d$ the Frank-Wolfe gap of Theorem 6 is
$O\big((\ln(1/\delta))^{1/4}\sqrt{\ln(nd)}/\sqrt{n\varepsilon}\big)$: the vertices are the $2d$ (or $d$) candidates.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Rate, Rational, log, q, sqrt

THEOREM = PAPER.theorem(
    title="Frank-Wolfe gap on the l1 ball and the simplex",
    where="Further Reducing the Utility, Corollary 1",
    bounds="frank-wolfe-gap, probability",
    status="proved",
    assumptions="smooth risk, Lipschitz in l1, bounded risk, l1 ball or simplex",
    parts=Rate(
        log(1 / q.delta) ** Rational(1, 4) * sqrt(log(q.n * q.d)) / sqrt(q.n * q.epsilon), hides="G_1 L Delta_F"
    ),
    algorithm="wang-xu-2019/algorithm-4",
    relies_on="wang-xu-2019/theorem-6",
    notes="As for Theorem 6, the fourth root of ln(1/δ) is read where the text at hand has a square root.",
)
