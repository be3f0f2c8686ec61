r"""The slope of equation (6) in $z = (\Delta_g/2r_u)^2$ is $(1-z)^{(d-1)/2} z^{-1/2} / B(\frac12, \frac{d+1}2)$:
positive, so that $\delta$ grows with the distance. In the distance itself the slope is $(1-z)^{(d-1)/2} / (r_u
B(\frac12, \frac{d+1}2))$, which never rises: $\delta$ is concave in the distance, and its slope at 0 bounds it.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.theorems.language import Bound, Condition, Piecewise, Rational, Unit, beta, q

_beta = beta(Rational(1, 2), (q.d + 1) / 2)
rest = 1 - (q.Delta_g / (2 * q.r_u)) ** 2
_density = Piecewise((rest ** ((q.d - 1) / 2) / _beta, q.Delta_g < 2 * q.r_u), (0, True))

THEOREM = PAPER.theorem(
    title="how δ of one release grows with the distance",
    where="Section IV.A.1, equation (10)",
    bounds="privacy, tight, always",
    status="proved",
    parts=(
        Bound(
            _density * 2 * q.r_u / q.Delta_g,
            "in-the-square",
            "slope of δ in (Δ/2r)²: the printed one",
            conditions=Condition(q.Delta_g > 0, "the slope in the square is infinite at 0"),
            decreasing_in="Delta_g",
        ),
        Bound(
            _density / q.r_u, "in-the-distance", "slope of δ in the distance", unit=Unit(-1, 1), decreasing_in="Delta_g"
        ),
        Bound(
            1 / (q.r_u * _beta),
            "at-zero",
            "its largest value: δ is at most this times the distance",
            unit=Unit(-1, 1),
            increasing_in="d",
            decreasing_in="r_u",
        ),
    ),
    notes="""
    - The paper differentiates for distances below 2r; the slope is 0 beyond.
    - That δ is concave in the distance is not in the paper.
    """,
)
