r"""For odd $d$ equation (6) is a polynomial in $a = \Delta_g/2r_u \le 1$:
$\delta = a \sum_{k=0}^{(d-1)/2} \frac{(1/2)_k}{k!} (1 - a^2)^k$. So $\delta = a$ for $d = 1$, uniform noise on an
interval, and $\delta = a(3 - a^2)/2$ for $d = 3$; each further odd dimension adds one non-negative term, so that
$\delta$ grows with $d$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.theorems.language import Bound, Erratum, Min, Rational, gamma, pi, q, sqrt

_half = Min(1, q.Delta_g / (2 * q.r_u))
rest = 1 - _half**2
k = (q.d + 1) / 2

THEOREM = PAPER.theorem(
    title="δ of one release in odd dimensions",
    where="Section IV.A.1, equation (9) and the paragraph after it",
    bounds="privacy, tight, always",
    status="proved",
    relation="replace-one",
    parts=(
        Bound(_half, "dimension-1", "δ for d = 1"),
        Bound(_half * (3 - _half**2) / 2, "dimension-3", "δ for d = 3", increasing_in="Delta_g", decreasing_in="r_u"),
        Bound(
            _half * (1 + rest / 2 + Rational(3, 8) * rest**2),
            "dimension-5",
            "δ for d = 5",
            increasing_in="Delta_g",
            decreasing_in="r_u",
        ),
        Bound(
            _half * gamma(k + Rational(1, 2)) / (sqrt(pi) * gamma(k + 1)) * (1 - _half**2) ** k,
            "increment",
            "δ in d + 2 dimensions minus δ in d: positive until the balls are disjoint",
            decreasing_in="d",
        ),
    ),
    relies_on="tholeti-kalyani-2020/equation-8",
    errata=Erratum(
        printed="(1 - a²)^k decreases with k, and this results in an increase of δ with d",
        right="δ increases because every term is positive; that factors decrease neither implies it nor is needed",
        severity="harmless",
        evidence="test_equation_9.py::test_falling_factors_neither_imply_nor_are_needed",
        where="Section IV.A.1, the last two sentences of the paragraph after (9)",
        survives="the conclusion, and the sentence before, which gives the right reason",
    ),
    notes="""
    The increment from d to d + 2 has the same form for even d, by the same integration by parts; and δ grows from d to
    d + 1 because the square of a ball's coordinate, Beta(1/2, (d+1)/2), falls stochastically.
    """,
)
