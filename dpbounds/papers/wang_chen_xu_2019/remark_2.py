r"""Three points on Theorem 3: (1) its constant is polynomial in $\beta$ with a degree independent of $d$; (2) the
dependence on $d$ can be quantified; (3) returning a random iterate turns $1/\ln n$ into $n^{-\tau}$. If $C$ did not
depend on $\beta$ the rate would be $\tilde O(C_1(d)/(n\varepsilon)^{2/3})$. In general $C \propto \beta^m$ would give
$\tau = 2/(m + 3)$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import Rate, Rational, q

THEOREM = PAPER.theorem(
    title="rate for a polynomial constant",
    where="Section 4, Remark 2",
    bounds="excess-empirical-risk, expectation",
    status="false",
    assumptions="regularised Lipschitz loss",
    parts=Rate(
        (q.n * q.epsilon) ** Rational(-2, 3),
        meaning="if C did not depend on β ('ideal scenario'); hides C₁(d) and ln(1/δ), too",
        logs_hidden=True,
        hides="G L regularisation d",
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on="wang-chen-xu-2019/theorem-3",
    notes="""
    - β solves Cβ²/(nε)² = 1/β up to logarithms: with C proportional to β^m, β = (nε)^(2/(m+3)).
    - That C is at most polynomial in β fails as in theorem-3: for potentials with a metastable well it is exponential.
    """,
)
