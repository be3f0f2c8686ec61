r"""Three points on Theorem 3: (1) its constant is polynomial in $\beta$ with a degree independent of $d$; (2) the
dependence on $d$ can be quantified; (3) returning a random iterate turns $1/\ln n$ into $n^{-\tau}$. If $C$ did not
depend on $\beta$ the rate would be $\tilde O(C_1(d)/(n\varepsilon)^{2/3})$. In general $C \propto \beta^m$ would give
$\tau = 2/(m + 3)$.
"""

from sympy import Expr, Rational

from dpbounds.expressions.symbols import dataset_size, dimension, epsilon, lipschitz, regularisation, smoothness
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED


def ideal() -> Expr:
    return (dataset_size * epsilon) ** Rational(-2, 3)


THEOREM = Theorem(
    id="wang-chen-xu-2019/remark-2",
    title="what a polynomial constant would give",
    statement=__doc__,
    where="Section 4, Remark 2",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.FALSE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    parts=(
        Rate(
            formula=ideal,
            meaning="if C did not depend on β ('ideal scenario'); hides C₁(d) and ln(1/δ), too",
            hides=(lipschitz, smoothness, regularisation, dimension),
            logs_hidden=True,
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on=("wang-chen-xu-2019/theorem-3",),
    notes=(
        Note("β solves Cβ²/(nε)² = 1/β up to logarithms: with C proportional to β^m, β = (nε)^(2/(m+3))."),
        Note(
            "That C is at most polynomial in β fails as in theorem-3: for potentials with a metastable well it is "
            "exponential."
        ),
    ),
)
