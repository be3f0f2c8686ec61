r"""Private empirical risk minimisation of convex, Lipschitz losses on a bounded set: excess empirical risk of order
$GD \sqrt{d \ln(1/\delta)} / (n\varepsilon)$ under $(\varepsilon, \delta)$-privacy and $GD\, d / (n\varepsilon)$ under
pure $\varepsilon$-privacy, up to logarithms; lower bounds of the same orders in $n$, $d$ and $\varepsilon$ exist. The
second is attained by the exponential mechanism, whose proof does not need convexity on a net of the set.
"""

from sympy import Expr, Min, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, delta, diameter, dimension, epsilon, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, CONVEX, LIPSCHITZ
from dpbounds.theorems.record import Claim, Condition, Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, diameter)


def approximate() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon)


def approximate_restored() -> Expr:
    return lipschitz * diameter * approximate()


def pure() -> Expr:
    return dimension / (dataset_size * epsilon)


def pure_restored() -> Expr:
    return lipschitz * diameter * pure()


def approximate_lower() -> Expr:
    return Min(1, sqrt(dimension) / (dataset_size * epsilon))


def approximate_lower_restored() -> Expr:
    return lipschitz * diameter * approximate_lower()


def pure_lower() -> Expr:
    return Min(1, pure())


def pure_lower_restored() -> Expr:
    return lipschitz * diameter * pure_lower()


def small_epsilon() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon <= 1, why="the usual range of the lower bound"),)


def small_budget() -> tuple[Condition, ...]:
    return (*small_epsilon(), Condition(holds=delta <= 1 / dataset_size, why="the usual range of the lower bound"))


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
            side=Side.UPPER,
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
            side=Side.UPPER,
            under=Claim.PURE,
            meaning="under pure ε-privacy",
            hides=HIDDEN,
            restored=pure_restored,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=approximate_lower,
            name="approximate-lower",
            unit=Unit(loss=1),
            side=Side.LOWER,
            meaning="under (ε, δ)-privacy, at least; without the upper bound's power of ln(1/δ), which cannot be meant "
            "for every δ: an ε-private method reaches the pure order, whatever δ is",
            conditions=small_budget,
            hides=HIDDEN,
            restored=approximate_lower_restored,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=pure_lower,
            name="pure-lower",
            unit=Unit(loss=1),
            side=Side.LOWER,
            under=Claim.PURE,
            meaning="under pure ε-privacy, at least",
            conditions=small_epsilon,
            hides=HIDDEN,
            restored=pure_lower_restored,
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
