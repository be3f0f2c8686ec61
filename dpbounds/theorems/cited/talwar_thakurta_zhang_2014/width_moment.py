r"""The squared dual norm of a Gaussian vector: for $v \sim N(0, I_d)$ and a bounded set $C$,
$E\left(\sup_{w \in C} \langle w, v \rangle\right)^2 = O(w_C^2 + R_C^2)$, with $w_C$ the Gaussian width and $R_C$ the
largest norm. The constant is 1. Proof: the supremum is $R_C$-Lipschitz in $v$, so its variance is at most $R_C^2$ by
the Gaussian Poincaré inequality, and its mean is $w_C$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, gaussian_width, norm_bound
from dpbounds.theorems.assumptions import BOUNDED_SET
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def second_moment() -> Expr:
    return gaussian_width**2 + norm_bound**2


THEOREM = Theorem(
    id="cited/talwar-thakurta-zhang-2014/width-moment",
    statement=__doc__,
    title="second moment of the supremum of a Gaussian over a set",
    where="A lemma of arXiv version; quoted as Lemma 4 of Wang & Xu 2019",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.QUOTED,
    assumptions=(BOUNDED_SET,),
    parts=(
        Bound(
            formula=second_moment,
            unit=Unit(length=2),
            meaning="E of the squared supremum, with constant 1 (quoted: O)",
            increasing_in=(gaussian_width, norm_bound),
        ),
    ),
    notes=(
        Note(
            "Without the second term it is false: a segment from -R to R has w² = 2R²/π, and its second moment is R²."
        ),
    ),
)
