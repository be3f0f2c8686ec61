r"""Total variation of one step with uniform-ball noise: two gradients at distance $\Delta_g$, each with noise uniform
on the $d$-ball of radius $r_u$, differ in total variation by exactly $I_z(\frac12, \frac{d+1}2)$ at
$z = (\Delta_g/2r_u)^2$, with $I$ the regularised incomplete beta function, and by 1 where $\Delta_g \ge 2r_u$.
Equivalently: it is the probability that one coordinate of a point drawn from the unit ball lies in
$\pm\Delta_g/2r_u$. The likelihood ratio takes only the values 0, 1 and $\infty$, so that the same $\delta$ belongs to
every $\varepsilon \ge 0$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import lost
from dpbounds.privacy.mechanisms import UniformBall
from dpbounds.theorems.language import Bound, Privacy, q

THEOREM = PAPER.theorem(
    title="total variation of two balls of noise",
    where="Section IV.A, equation (6), and the display before it",
    bounds="privacy, tight, always",
    status="proved",
    sampling="",
    parts=Bound(
        lost(q.Delta_g), meaning="δ of one release, at every ε", increasing_in="Delta_g d", decreasing_in="r_u"
    ),
    privacy=Privacy(lambda at: UniformBall(at[q.r_u], int(at[q.d]), sensitivity=at[q.Delta_g]), "r_u d Delta_g"),
    notes="""
    - The paper has radius 1 and assumes Δx < 2; with the value 1 beyond that the formula covers every distance.
    - The paper derives it as 1 - I_(1-z)((d+1)/2, 1/2), the share of the ball outside of the overlap, and applies the
      symmetry I_z(a, b) = 1 - I_(1-z)(b, a).
    - As a function of the distance it is concave and has slope 1/(r B(1/2, (d+1)/2)) at 0, of the order of √d: see
      tholeti-kalyani-2020/equation-10.
    """,
)
