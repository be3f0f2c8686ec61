r"""The Gaussian width of a set is $w_C = E_b \sup_{w \in C} \langle b, w \rangle$ with $b \sim N(0, I_d)$. For the
unit l2 ball it is $E\|b\|_2 = \sqrt2\, \Gamma(\frac{d+1}2)/\Gamma(\frac d2) \le \sqrt d$; for the unit l1 ball
it is $E \max_i |b_i| \le \sqrt{2 \ln 2d}$, and for the simplex $E \max_i b_i \le \sqrt{2 \ln d}$.
"""

from sympy import Expr, Rational, exp, log, loggamma, sqrt

from dpbounds.expressions.symbols import Unit, dimension, enclosing_radius
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def of_l2_ball() -> Expr:
    half = Rational(1, 2)
    return enclosing_radius * sqrt(2) * exp(loggamma((dimension + 1) * half) - loggamma(dimension * half))


def of_l1_ball() -> Expr:
    return enclosing_radius * sqrt(2 * log(2 * dimension))


def of_simplex() -> Expr:
    return enclosing_radius * sqrt(2 * log(dimension))


THEOREM = Theorem(
    id="wang-xu-2019/definition-8",
    title="Gaussian width",
    statement=__doc__,
    where="High Dimension Case, Definition 8 and the paragraph after it",
    metric=Metric.NONE,
    side=Side.UPPER,
    status=Status.PROVED_HERE,
    parts=(
        Bound(
            formula=of_l2_ball, name="l2-ball", unit=Unit(length=1), meaning="width of an l2 ball of radius R, exact"
        ),
        Bound(formula=of_l1_ball, name="l1-ball", unit=Unit(length=1), meaning="bound on the width of an l1 ball"),
        Bound(
            formula=of_simplex, name="simplex", unit=Unit(length=1), meaning="bound on the width of R times the simplex"
        ),
    ),
    notes=(
        Note(
            "Print gives O(√log d) for the l1 ball and O(√(s log(d/s))) for unit s-sparse vectors. The latter is 0 at "
            "s = d where the width is of order √d: the usual form is √(s log(ed/s)), which is what a logarithm of "
            "at least 1 gives, too."
        ),
        Note("Maximum of N Gaussians: E max <= √(2 ln N) by Jensen's inequality for exp(t max)."),
    ),
)
