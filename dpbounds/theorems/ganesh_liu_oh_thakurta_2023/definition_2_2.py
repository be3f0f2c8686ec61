r"""A random vector $x$ is sub-Gaussian, $\mathrm{SG}(\zeta)$, if $E e^{\langle v, x - Ex\rangle} \le
e^{\|v\|^2\zeta^2/2}$ for every $v$, and norm-sub-Gaussian, $\mathrm{nSG}(\zeta)$, if $\|x - Ex\| \ge t$ has a
probability of at most $2 e^{-t^2/(2\zeta^2)}$ for every $t$. With $u = t/\zeta$ the tail is $2 e^{-u^2/2}$.
"""

from sympy import Expr, Rational, exp

from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import STANDARDISED, standardised
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def tail() -> Expr:
    return 2 * exp(-(standardised**2) * Rational(1, 2))


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-2.2",
    title="sub-Gaussian and norm-sub-Gaussian vectors",
    statement=__doc__,
    where="Section 2, Definition 2.2",
    metric=Metric.NONE,
    side=Side.UPPER,
    status=Status.DEFINITION,
    local=(STANDARDISED,),
    parts=(
        Bound(
            formula=tail,
            name="tail",
            meaning="chance of a deviation of u sub-Gaussian parameters or more",
            decreasing_in=(standardised,),
        ),
    ),
    notes=(Note("For t < 0 the tail bound is meant to be trivial; as printed, 'for all t in R' is harmless."),),
)
