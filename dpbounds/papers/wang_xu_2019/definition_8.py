r"""The Gaussian width of a set is $w_C = E_b \sup_{w \in C} \langle b, w \rangle$ with $b \sim N(0, I_d)$. For the
unit l2 ball it is $E\|b\|_2 = \sqrt2\, \Gamma(\frac{d+1}2)/\Gamma(\frac d2) \le \sqrt d$; for the unit l1 ball
it is $E \max_i |b_i| \le \sqrt{2 \ln 2d}$, and for the simplex $E \max_i b_i \le \sqrt{2 \ln d}$.
"""

from sympy import loggamma

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import LENGTH, Bound, Rational, exp, log, q, sqrt

half = Rational(1, 2)

THEOREM = PAPER.theorem(
    title="Gaussian width",
    where="High Dimension Case, Definition 8 and the paragraph after it",
    bounds="upper",
    status="proved here",
    parts=(
        Bound(
            q.R * sqrt(2) * exp(loggamma((q.d + 1) * half) - loggamma(q.d * half)),
            "l2-ball",
            "width of an l2 ball of radius R, exact",
            unit=LENGTH,
            increasing_in="d",
        ),
        Bound(q.R * sqrt(2 * log(2 * q.d)), "l1-ball", "bound on the width of an l1 ball", unit=LENGTH),
        Bound(q.R * sqrt(2 * log(q.d)), "simplex", "bound on the width of R times the simplex", unit=LENGTH),
    ),
    notes="""
    - The paper gives O(√log d) for the l1 ball and O(√(s log(d/s))) for unit s-sparse vectors. The latter is 0 at s = d
      where the width is of order √d: the usual form is √(s log(ed/s)), which also follows if the logarithm is read as
      at least 1.
    - Maximum of N Gaussians: E max <= √(2 ln N) by Jensen's inequality for exp(t max).
    """,
)
