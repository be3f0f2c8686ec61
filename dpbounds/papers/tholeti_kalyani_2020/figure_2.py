r"""The $\delta$ of one release against $\Delta_g \in [0, 2]$ at radius 1, for several dimensions: equation (6). The
record has the curve, its closed form in the plane, $\frac2\pi(\arcsin a + a\sqrt{1 - a^2})$ at $a = \Delta_g/2r_u$, and
the approximation $\mathrm{erf}(\Delta_g\sqrt d / (2\sqrt2\, r_u))$ for many dimensions, which has a relative error of
the order of $1/d$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import lost
from dpbounds.theorems.language import Bound, Min, Rate, asin, erf, pi, q, sqrt

half = Min(1, q.Delta_g / (2 * q.r_u))

THEOREM = PAPER.theorem(
    title="δ against the distance, for several dimensions",
    where="Section IV.A.1, Figure 2",
    bounds="privacy, tight, always",
    status="proved",
    parts=(
        Bound(
            lost(q.Delta_g), "curve", "the plotted curve, at any radius", increasing_in="Delta_g d", decreasing_in="r_u"
        ),
        Bound(
            2 * (asin(half) + half * sqrt(1 - half**2)) / pi,
            "dimension-2",
            "the curve for d = 2",
            increasing_in="Delta_g",
            decreasing_in="r_u",
        ),
        Rate(
            erf(q.Delta_g * sqrt(q.d) / (2 * sqrt(2) * q.r_u)),
            "many-dimensions",
            "its limit where Δ√d/r is kept and d grows; not in the paper",
        ),
    ),
    relies_on="tholeti-kalyani-2020/equation-6",
    notes="""
    - The figure was not available in the text at hand: which dimensions it shows is not known here.
    - In many dimensions what counts is Δ√d/r: at Δ = r the curve is at 0.92 for d = 10 and at 0.9999 for d = 50.
    """,
)
