r"""Accuracies $\alpha$ to which $\alpha$-SOSPs are found privately, empirical and population; logarithms, the privacy
parameters and Lipschitz constants are left out.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    hessian_lipschitz,
    lipschitz,
    loss_range,
    smoothness,
)
from dpbounds.theorems.record import Metric, Note, Rate, Side, Status, Theorem

_HIDDEN = (lipschitz, smoothness, hessian_lipschitz, loss_range, epsilon, delta)


def quarter() -> Expr:
    return dimension ** Rational(1, 4) / sqrt(dataset_size)


def trust_region() -> Expr:
    return (dimension / dataset_size) ** Rational(4, 7)


def half() -> Expr:
    return sqrt(sqrt(dimension) / dataset_size)


def empirical() -> Expr:
    return (sqrt(dimension) / dataset_size) ** Rational(2, 3)


def population() -> Expr:
    return dataset_size ** Rational(-1, 3) + (sqrt(dimension) / dataset_size) ** Rational(3, 7)


def row(name: str, formula: object, meaning: str, quoted: str = "") -> Rate:
    assert callable(formula)
    return Rate(
        formula=formula,
        name=name,
        meaning=meaning,
        status=Status.CLAIMED if quoted else None,
        relies_on=(quoted,) if quoted else None,
        hides=_HIDDEN,
        logs_hidden=True,
        increasing_in=(dimension,),
        decreasing_in=(dataset_size,),
    )


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/table-3",
    title="private second-order stationary points",
    statement=__doc__,
    where="Appendix F, Table 3",
    metric=Metric.SOSP,
    side=Side.UPPER,
    status=Status.DISPUTED,
    parts=(
        row("wang-chen-xu-2019", quarter, "empirical", "wang-chen-xu-2019/theorem-7"),
        row("wang-xu-2020", trust_region, "empirical", "cited/wang-xu-2020/main-result"),
        row("gao-wright-2023", half, "empirical; the same rate as the first row", "cited/gao-wright-2023/main-result"),
        row("empirical", empirical, "Theorem 4.2 (disputed)"),
        row("population", population, "Theorem 4.6 (disputed)"),
    ),
    relies_on=(
        "ganesh-liu-oh-thakurta-2023/theorem-4.2",
        "ganesh-liu-oh-thakurta-2023/theorem-4.6",
        "cited/wang-xu-2020/main-result",
        "cited/gao-wright-2023/main-result",
    ),
    notes=(Note("n stands for nε."),),
)
