r"""With $\beta = \kappa \ln n$, possible for $\ln n$ at least of the order of $d$, Theorem 2 gives as $T \to \infty$ an
excess population risk of $\tilde O(\ln(1/\delta)/(n\varepsilon^2) + d/\ln n)$, which is at most $\tilde O(d
\ln(1/\delta)/(\varepsilon^2 \ln n))$; the same for the empirical risk. For comparison, convex losses have $\sqrt{d
\ln(1/\delta)}/(n\varepsilon)$ and (strongly convex ones) $d \ln(1/\delta)/(n\varepsilon)^2$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    lipschitz,
    regularisation,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Side, Status, Theorem
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED

HIDDEN = (lipschitz, smoothness, regularisation)


def rate() -> Expr:
    return log(1 / delta) / (dataset_size * epsilon**2) + dimension / log(dataset_size)


def product() -> Expr:
    return dimension * log(1 / delta) / (log(dataset_size) * epsilon**2)


def convex() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon)


def strongly_convex() -> Expr:
    return dimension * log(1 / delta) / (dataset_size * epsilon) ** 2


def enough_records() -> tuple[Condition, ...]:
    return (Condition(holds=log(dataset_size) >= dimension, why="β >= d; up to a constant"),)


def strict_privacy() -> tuple[Condition, ...]:
    return (
        *enough_records(),
        Condition(holds=log(1 / delta) >= epsilon**2, why="a sum is bounded by a product of factors that are >= 1"),
    )


THEOREM = Theorem(
    id="wang-chen-xu-2019/remark-1",
    title="excess risk of DP-GLD at the best temperature",
    statement=__doc__,
    where="Section 4, Remark 1; the abstract",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    parts=(
        Rate(
            formula=rate,
            meaning="excess risk as T grows",
            hides=HIDDEN,
            logs_hidden=True,
            conditions=enough_records,
            increasing_in=(dimension,),
            decreasing_in=(epsilon, delta),
        ),
        Rate(
            formula=product,
            name="product",
            meaning="as in the abstract",
            hides=HIDDEN,
            logs_hidden=True,
            conditions=strict_privacy,
            increasing_in=(dimension,),
            decreasing_in=(epsilon, delta),
        ),
        Rate(
            formula=convex,
            name="convex",
            meaning="quoted for convex losses",
            hides=HIDDEN,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Rate(
            formula=strongly_convex,
            name="strongly-convex",
            meaning="quoted for convex losses; it holds for strongly convex ones",
            hides=HIDDEN,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on=("wang-chen-xu-2019/theorem-2", "cited/bassily-smith-thakurta-2014/main-result"),
    notes=(
        Note(
            "The leading term is d/ln n, whatever ε and δ are: the factor ln(1/δ)/ε² of the product is a convention "
            "for ε <= √ln(1/δ), and makes the bound look worse in ε than it is."
        ),
        Note(
            "On a bounded set, and without smoothness, sampling from a Gibbs density has a risk of the same kind,"
            " of order "
            "d ln ln n/(ε ln(nd)): ganesh-liu-oh-thakurta-2023/theorem-5.6."
        ),
        Note("Print names the two convex rates as those of population and of empirical risk, respectively."),
    ),
)
