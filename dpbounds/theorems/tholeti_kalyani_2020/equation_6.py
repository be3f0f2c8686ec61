r"""What one step of uniform-ball noise leaks: two gradients at distance $\Delta_g$, each blurred by noise uniform on
the $d$-ball of radius $r_u$, differ in total variation by exactly $I_z(\frac12, \frac{d+1}2)$ at $z =
(\Delta_g/2r_u)^2$, with $I$ the regularised incomplete beta function, and by 1 where $\Delta_g \ge 2r_u$.
Equivalently: it is the probability that one coordinate of a point drawn from the unit ball lies in
$\pm\Delta_g/2r_u$. The likelihood ratio takes only the values 0, 1 and $\infty$, so that the same $\delta$ belongs to
every $\varepsilon \ge 0$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import dimension, distance, radius
from dpbounds.privacy.mechanisms import Mechanism, UniformBall
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Note, Privacy, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.tholeti_kalyani_2020._ball import lost


def bound() -> Expr:
    return lost(distance)


def mechanism(at: Numbers) -> Mechanism:
    return UniformBall(at[radius], int(at[dimension]), sensitivity=at[distance])


THEOREM = Theorem(
    id="tholeti-kalyani-2020/equation-6",
    title="total variation of two balls of noise",
    statement=__doc__,
    where="Section IV.A, equation (6), and the display before it",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Bound(
            formula=bound,
            meaning="δ of one release, at every ε",
            increasing_in=(distance, dimension),
            decreasing_in=(radius,),
        ),
    ),
    privacy=Privacy(claim=Claim.TOTAL_VARIATION, mechanism=mechanism, needs=(radius, dimension, distance)),
    notes=(
        Note("Print has radius 1 and assumes Δx < 2; with the value 1 beyond that the formula covers every distance."),
        Note(
            "Print derives it as 1 - I_(1-z)((d+1)/2, 1/2), the share of the ball outside of the overlap, and turns "
            "that round by the symmetry I_z(a, b) = 1 - I_(1-z)(b, a)."
        ),
        Note(
            "As a function of the distance it is concave and has slope 1/(r B(1/2, (d+1)/2)) at 0, of the order of √d: "
            "see tholeti-kalyani-2020/equation-10."
        ),
    ),
)
