r"""Quoted from Talwar, Thakurta & Zhang 2014: for $v \sim N(0, I_d)$,
$E (\max_{w \in C} \langle w, v \rangle)^2 = O(w_C^2 + \|C\|_2^2)$. It holds with constant 1. Proof: the supremum is a
$\|C\|_2$-Lipschitz function of $v$, so by the Gaussian Poincaré inequality its variance is at most $\|C\|_2^2$, and
its mean is the width.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, gaussian_width, norm_bound
from dpbounds.theorems.assumptions import BOUNDED_SET
from dpbounds.theorems.record import Bound, Metric, Mode, Side, Status, Theorem


def second_moment() -> Expr:
    return gaussian_width**2 + norm_bound**2


THEOREM = Theorem(
    id="wang-xu-2019/lemma-4",
    title="second moment of the dual norm of a Gaussian",
    statement=__doc__,
    where="High Dimension Case, Lemma 4",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    assumptions=(BOUNDED_SET,),
    relies_on=("cited/talwar-thakurta-zhang-2014/width-moment",),
    parts=(
        Bound(
            formula=second_moment,
            unit=Unit(length=2),
            meaning="E of the squared dual norm, with constant 1 (print: O)",
            increasing_in=(gaussian_width, norm_bound),
        ),
    ),
)
