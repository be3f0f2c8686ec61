r"""Volumes: the unit ball of $R^d$ has $V_d = \pi^{d/2} / \Gamma(1 + \frac d2)$. The cap that a hyperplane at distance
$a \in [0, 1]$ from its centre cuts off has $\frac12 V_d\, I_{1-a^2}(\frac{d+1}2, \frac12)$, and two unit balls whose
centres lie $2a$ apart overlap in two such caps.
"""

from fractions import Fraction

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.theorems.language import Bound, Domain, Rational, betainc_regularized, gamma, pi, q

cap_distance = PAPER.quantity(
    "cap_distance",
    "a",
    "distance of a hyperplane from the centre of a unit ball",
    domain=Domain(Fraction(0), Fraction(1), lower_open=False, upper_open=False),
)
ball = pi ** (q.d / 2) / gamma(1 + q.d / 2)
overlap = ball * betainc_regularized((q.d + 1) / 2, Rational(1, 2), 0, 1 - cap_distance**2)

THEOREM = PAPER.theorem(
    title="volumes of a ball, of its caps, of the overlap of two",
    where="Section IV.A, equation (5) and the two displays after it",
    bounds="tight",
    status="proved",
    parts=(
        Bound(ball, "ball", "volume of the unit ball"),
        Bound(overlap / 2, "cap", "volume of one cap", decreasing_in=(cap_distance,)),
        Bound(
            overlap,
            "overlap",
            "volume that two unit balls share whose centres lie 2a apart",
            decreasing_in=(cap_distance,),
        ),
    ),
    notes="The volume of a cap is quoted from Li 2011; it was integrated again here.",
)
