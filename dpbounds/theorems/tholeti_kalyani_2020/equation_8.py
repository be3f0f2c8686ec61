r"""For a whole number $m \ge 1$ the regularised incomplete beta function is a finite sum:
$I_z(a, m) = z^a \sum_{k=0}^{m-1} \frac{(a)_k (1-z)^k}{k!}$ with $(a)_k = a(a+1)\cdots(a+k-1)$.
Recorded are $m = 1, 2, 3$ and what each further term adds.
"""

from fractions import Fraction

from sympy import Expr, Symbol, gamma

from dpbounds.expressions.symbols import Domain, Quantity, Unit
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem

argument = Symbol("argument", positive=True)
parameter = Symbol("parameter", positive=True)
terms = Symbol("terms", integer=True, positive=True)

ARGUMENT = Quantity(
    "argument",
    argument,
    Domain(Fraction(0), Fraction(1), upper_open=False),
    Unit(),
    "z, up to where is integrated",
    "z",
)
PARAMETER = Quantity("parameter", parameter, Domain(Fraction(0)), Unit(), "first parameter of the beta function", "a")
TERMS = Quantity(
    "terms", terms, Domain(Fraction(1), lower_open=False, whole=True), Unit(), "its second, a whole number", "m"
)


def one_term() -> Expr:
    return argument**parameter


def two_terms() -> Expr:
    return argument**parameter * (1 + parameter * (1 - argument))


def three_terms() -> Expr:
    rest = 1 - argument
    return argument**parameter * (1 + parameter * rest + parameter * (parameter + 1) * rest**2 / 2)


def increment() -> Expr:
    rising = gamma(parameter + terms) / gamma(parameter)
    return argument**parameter * rising * (1 - argument) ** terms / gamma(terms + 1)


THEOREM = Theorem(
    id="tholeti-kalyani-2020/equation-8",
    title="the incomplete beta function as a finite sum",
    statement=__doc__,
    where="Section IV.A.1, equation (8)",
    metric=Metric.NONE,
    side=Side.TIGHT,
    status=Status.PROVED,
    local=(ARGUMENT, PARAMETER, TERMS),
    parts=(
        Bound(formula=one_term, name="one-term", meaning="I_z(a, 1)", increasing_in=(argument,)),
        Bound(formula=two_terms, name="two-terms", meaning="I_z(a, 2)", increasing_in=(argument,)),
        Bound(formula=three_terms, name="three-terms", meaning="I_z(a, 3)", increasing_in=(argument,)),
        Bound(formula=increment, name="increment", meaning="I_z(a, m + 1) - I_z(a, m), never negative"),
    ),
    notes=(
        Note(
            "Quoted in print from a collection of formulas. Induction: the derivative of z^a (1-z)^m (a)_m / m! is "
            "the difference of the two densities, and both sides vanish at z = 0."
        ),
    ),
)
