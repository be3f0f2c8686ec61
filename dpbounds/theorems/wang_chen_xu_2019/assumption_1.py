r"""Assumption 1: $C = \mathbb R^d$ with the regulariser $r(w) = \frac\lambda2 \|w\|_2^2$, $\lambda > 0$; every loss is
$G$-Lipschitz, $f(0, z) \le A$, twice differentiable and $L$-smooth.

What it gives: the regularised empirical risk is $(L + \lambda)$-smooth and dissipative, $\langle w, \nabla \hat
F^r(w)\rangle \ge \frac\lambda2\|w\|^2 - \frac{G^2}{2\lambda}$, because $G\|w\| \le \frac\lambda2\|w\|^2 +
\frac{G^2}{2\lambda}$; its minimisers have norm at most $G/\lambda$, because there $\lambda w = -\nabla \hat F(w)$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, lipschitz, regularisation, smoothness
from dpbounds.theorems.record import Bound, Metric, Note, Status, Theorem
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED


def smoothness_of_the_sum() -> Expr:
    return smoothness + regularisation


def slope() -> Expr:
    return regularisation / 2


def offset() -> Expr:
    return lipschitz**2 / (2 * regularisation)


def radius() -> Expr:
    return lipschitz / regularisation


THEOREM = Theorem(
    id="wang-chen-xu-2019/assumption-1",
    title="regularised Lipschitz losses on the whole space",
    statement=__doc__,
    where="Section 4, Assumption 1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(REGULARISED,),
    parts=(
        Bound(
            formula=smoothness_of_the_sum,
            name="smoothness",
            unit=Unit(1, -2),
            meaning="of the regularised risk",
            increasing_in=(smoothness, regularisation),
        ),
        Bound(formula=slope, name="dissipativity_slope", unit=Unit(1, -2), meaning="m in <w, ∇F> >= m|w|² - b"),
        Bound(
            formula=offset,
            name="dissipativity_offset",
            unit=Unit(1),
            meaning="b in <w, ∇F> >= m|w|² - b",
            increasing_in=(lipschitz,),
            decreasing_in=(regularisation,),
        ),
        Bound(
            formula=radius,
            name="radius",
            unit=Unit(length=1),
            meaning="of a ball that holds every minimiser",
            increasing_in=(lipschitz,),
            decreasing_in=(regularisation,),
        ),
    ),
    notes=(
        Note(
            "A, λ, G and L are constants in the paper, left out of its O; λ = 2m explains the condition β >= 4/λ = 2/m "
            "of Theorem 2."
        ),
        Note("Only f(0,z) <= A is asked for; |f(0,z)| <= A, or a centred loss f(w,z) - f(0,z), is what is used."),
    ),
)
