r"""Private empirical risk minimisation of convex, Lipschitz losses on a bounded set: excess empirical risk of order
$GD \sqrt{d \ln(1/\delta)} / (n\varepsilon)$ under $(\varepsilon, \delta)$-privacy and $GD\, d / (n\varepsilon)$ under
pure $\varepsilon$-privacy, up to logarithms; lower bounds of the same orders in $n$, $d$ and $\varepsilon$ exist. The
second is attained by the exponential mechanism, whose proof does not need convexity on a net of the set.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, delta, diameter, dimension, epsilon, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, CONVEX, LIPSCHITZ
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, diameter)


def approximate() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon)


def approximate_restored() -> Expr:
    return lipschitz * diameter * approximate()


def pure() -> Expr:
    return dimension / (dataset_size * epsilon)


def pure_restored() -> Expr:
    return lipschitz * diameter * pure()


THEOREM = Theorem(
    id="cited/bassily-smith-thakurta-2014/main-result",
    statement=__doc__,
    title="private convex empirical risk minimisation, upper and lower bounds",
    where="Main results; quoted by Wang, Chen & Xu 2019 (after Theorem 2, after Theorem 4) and by Ganesh et al. 2023",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.TIGHT,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, CONVEX, BOUNDED_SET),
    parts=(
        Rate(
            formula=approximate,
            name="approximate",
            unit=Unit(loss=1),
            meaning="under (ε, δ)-privacy",
            hides=HIDDEN,
            restored=approximate_restored,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Rate(
            formula=pure,
            name="pure",
            unit=Unit(loss=1),
            meaning="under pure ε-privacy",
            hides=HIDDEN,
            restored=pure_restored,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note("Tight up to logarithms, and within the range where the rate is below the trivial risk GD."),
        Note("For strongly convex losses the quoted order is d ln(1/δ)/(nε)²; it is not recorded as a part here."),
    ),
)
