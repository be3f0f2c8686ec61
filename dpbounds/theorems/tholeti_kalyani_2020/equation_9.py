r"""For odd $d$ equation (6) is a polynomial in $a = \Delta_g/2r_u \le 1$:
$\delta = a \sum_{k=0}^{(d-1)/2} \frac{(1/2)_k}{k!} (1 - a^2)^k$. So $\delta = a$ for $d = 1$, uniform noise on an
interval, and $\delta = a(3 - a^2)/2$ for $d = 3$; each further odd dimension adds one non-negative term, so that
$\delta$ grows with $d$.
"""

from sympy import Expr, Min, Rational, gamma, pi, sqrt

from dpbounds.expressions.symbols import dimension, distance, radius
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Bound, Erratum, Metric, Mode, Note, Severity, Side, Status, Theorem


def _half() -> Expr:
    return Min(1, distance / (2 * radius))


def one() -> Expr:
    return _half()


def three() -> Expr:
    return _half() * (3 - _half() ** 2) / 2


def five() -> Expr:
    rest = 1 - _half() ** 2
    return _half() * (1 + rest / 2 + Rational(3, 8) * rest**2)


def increment() -> Expr:
    k = (dimension + 1) / 2
    return _half() * gamma(k + Rational(1, 2)) / (sqrt(pi) * gamma(k + 1)) * (1 - _half() ** 2) ** k


THEOREM = Theorem(
    id="tholeti-kalyani-2020/equation-9",
    title="δ of one release in odd dimensions",
    statement=__doc__,
    where="Section IV.A.1, equation (9) and the paragraph after it",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Bound(
            formula=one, name="dimension-1", meaning="δ for d = 1", increasing_in=(distance,), decreasing_in=(radius,)
        ),
        Bound(
            formula=three, name="dimension-3", meaning="δ for d = 3", increasing_in=(distance,), decreasing_in=(radius,)
        ),
        Bound(
            formula=five, name="dimension-5", meaning="δ for d = 5", increasing_in=(distance,), decreasing_in=(radius,)
        ),
        Bound(
            formula=increment,
            name="increment",
            meaning="δ in d + 2 dimensions minus δ in d: positive until the balls are disjoint",
            decreasing_in=(dimension,),
        ),
    ),
    errata=(
        Erratum(
            printed="(1 - a²)^k decreases with k, and this results in an increase of δ with d",
            right="δ increases because every term is positive; that factors decrease neither implies it nor is needed",
            severity=Severity.HARMLESS,
            evidence="test_equation_9.py::test_falling_factors_neither_imply_nor_are_needed",
            where="Section IV.A.1, the last two sentences of the paragraph after (9)",
            survives="the conclusion, and the sentence before, which gives the right reason",
        ),
    ),
    relies_on=("tholeti-kalyani-2020/equation-8",),
    notes=(
        Note(
            "The increment from d to d + 2 has the same form for even d, by the same integration by parts; and δ grows "
            "from d to d + 1 because the square of a ball's coordinate, Beta(1/2, (d+1)/2), falls stochastically."
        ),
    ),
)
