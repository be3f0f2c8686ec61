r"""Private stochastic gradient methods, adaptive ones among them, on smooth losses that need not be convex: the
population gradient at the output has norm of order $d^{1/4} / \sqrt{n}$ by the abstract, which takes the privacy
parameters as constants; with them another paper quotes it as $\varepsilon\sqrt d + (\sqrt d/(n\varepsilon))^{1/2}$.
The proof bounds the error of each gradient by differential privacy itself (adaptive data analysis) instead of by
uniform convergence over the set.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, initial_gap, lipschitz, smoothness
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (epsilon, delta, lipschitz, smoothness, initial_gap)


def abstract() -> Expr:
    return dimension ** Rational(1, 4) / sqrt(dataset_size)


def as_quoted() -> Expr:
    return epsilon * sqrt(dimension) + sqrt(sqrt(dimension) / (dataset_size * epsilon))


THEOREM = Theorem(
    id="cited/zhou-et-al-2020/main-result",
    statement=__doc__,
    title="population stationarity by adaptive private methods",
    where="Abstract; with ε as quoted in the introduction of Lowy, Ullman & Wright 2024, version 1",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ, SMOOTH, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=as_quoted,
            meaning="with ε, as another paper quotes it",
            hides=HIDDEN[1:],
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size,),
        ),
        Rate(
            formula=abstract,
            name="abstract",
            meaning="with ε and δ as constants",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size,),
        ),
    ),
    notes=(
        Note("The two do not say the same: the first one does not fall below ε√d, however many records there are."),
        Note(
            "Taken at its word, the abstract's order is at most the n^(-1/3) + (√d/n)^(1/2) that later work calls an "
            "improvement on it; the form with ε is what that work compares with."
        ),
    ),
)
