r"""Rates of $\alpha$ for an $\alpha$-SOSP, empirical and population, and of the excess population risk in polynomial
and in exponential time: the best known before, this paper's, and lower bounds. Lipschitz constants and the like are
1, and logarithms are left out but in the polynomial-time column.
"""

from sympy import Expr, Min, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    diameter,
    dimension,
    epsilon,
    hessian_lipschitz,
    lipschitz,
    loss_range,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Erratum, Metric, Note, Rate, Severity, Side, Status, Theorem

_SMOOTH = (lipschitz, smoothness, hessian_lipschitz, loss_range)
_RISK = (lipschitz, diameter)


def share() -> Expr:
    return dimension / (dataset_size * epsilon)


def root_share() -> Expr:
    return sqrt(dimension) / (dataset_size * epsilon)


def before() -> Expr:
    return Min(sqrt(root_share()), share() ** Rational(4, 7))


def empirical() -> Expr:
    return root_share() ** Rational(2, 3)


def population() -> Expr:
    return dataset_size ** Rational(-1, 3) + root_share() ** Rational(3, 7)


def population_lower() -> Expr:
    return 1 / sqrt(dataset_size) + root_share()


def polynomial_before() -> Expr:
    return dimension / (epsilon**2 * log(dataset_size))


def polynomial() -> Expr:
    return dimension * log(log(dataset_size)) / (epsilon * log(dataset_size))


def exponential() -> Expr:
    return share() + sqrt(dimension / dataset_size)


_FALLS = (dataset_size, epsilon)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/table-1",
    title="stationary points and excess risks",
    statement=__doc__,
    where="Section 1.1, Table 1 and the text after Definition 1.2",
    metric=Metric.NONE,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Rate(
            formula=before,
            name="empirical-sosp-before",
            status=Status.CLAIMED,
            relies_on=("cited/wang-xu-2020/main-result",),
            meaning="Wang, Chen & Xu 2019, and Wang & Xu 2020, as quoted",
            hides=_SMOOTH,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=_FALLS,
        ),
        Rate(
            formula=empirical,
            name="empirical-sosp",
            meaning="Theorem 4.2 (disputed)",
            hides=_SMOOTH,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=_FALLS,
        ),
        Rate(
            formula=root_share,
            name="empirical-lower",
            side=Side.LOWER,
            status=Status.CLAIMED,
            relies_on=("cited/arora-et-al-2023/theorem-4.3",),
            meaning="lower bound of Arora et al., for first-order points already",
            hides=_SMOOTH,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=_FALLS,
        ),
        Rate(
            formula=population,
            name="population-sosp",
            meaning="Theorem 4.6 (disputed)",
            hides=_SMOOTH,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=_FALLS,
        ),
        Rate(
            formula=population_lower,
            name="population-lower",
            side=Side.LOWER,
            status=Status.CLAIMED,
            relies_on=("cited/arora-et-al-2023/population-rate",),
            meaning="lower bound of Arora et al., for first-order points already",
            hides=_SMOOTH,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=_FALLS,
        ),
        Rate(
            formula=polynomial_before,
            name="polynomial-before",
            status=Status.CLAIMED,
            relies_on=("wang-chen-xu-2019/theorem-2",),
            meaning="excess risk of Wang, Chen & Xu 2019, for smooth losses, as quoted",
            hides=_RISK,
            increasing_in=(dimension,),
        ),
        Rate(
            formula=polynomial,
            name="polynomial",
            status=Status.CLAIMED,
            relies_on=("ganesh-liu-oh-thakurta-2023/theorem-5.6",),
            meaning="excess risk, Theorem 5.6",
            hides=_RISK,
        ),
        Rate(
            formula=exponential,
            name="exponential",
            status=Status.PROVED,
            relies_on=("ganesh-liu-oh-thakurta-2023/theorem-5.8",),
            meaning="excess risk in exponential time, Theorem 5.8",
            hides=_RISK,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=_FALLS,
        ),
        Rate(
            formula=exponential,
            name="excess-lower",
            side=Side.LOWER,
            status=Status.CLAIMED,
            relies_on=("cited/ganesh-et-al-2022/main-result",),
            meaning="lower bound for the excess risk, Theorem 5.11, without its factor log(1/δ)",
            hides=_RISK,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=_FALLS,
        ),
    ),
    errata=(
        Erratum(
            printed="'a factor (√d/n)^{-1/6} gap to a known lower bound of √d/n'",
            right="(√d/n)^{2/3}/(√d/n) = (√d/n)^{-1/3}",
            severity=Severity.TYPO,
            evidence="test_table_1.py::test_the_gap_to_the_lower_bound",
            where="Section 1.1, after Definition 1.2",
            survives="both bounds",
        ),
    ),
    relies_on=(
        "ganesh-liu-oh-thakurta-2023/theorem-4.2",
        "ganesh-liu-oh-thakurta-2023/theorem-4.6",
        "ganesh-liu-oh-thakurta-2023/theorem-5.6",
        "ganesh-liu-oh-thakurta-2023/theorem-5.8",
        "cited/wang-xu-2020/main-result",
        "cited/arora-et-al-2023/theorem-6.1",
    ),
    notes=(
        Note("'Improves in all regimes' holds for d <= n²ε² and nε >= 1: the ratio is d^{-5/21}(nε)^{-2/21}, or less."),
        Note("Disputed are the two rows of second-order points; see the theorems for the others."),
        Note("Section 1.1 has d√log(1/δ)/(ε log(nd)) for the polynomial time, Theorem 5.6 a factor log log n more."),
    ),
)
