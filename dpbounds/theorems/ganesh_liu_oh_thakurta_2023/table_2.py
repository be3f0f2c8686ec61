r"""Norms of the gradient that earlier work reaches privately, empirical and population; logarithms, the privacy
parameters and Lipschitz constants are left out.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, lipschitz, loss_range, smoothness
from dpbounds.theorems.record import Metric, Note, Rate, Side, Status, Theorem

_HIDDEN = (lipschitz, smoothness, loss_range, epsilon, delta)


def quarter() -> Expr:
    return dimension ** Rational(1, 4) / sqrt(dataset_size)


def half() -> Expr:
    return sqrt(dimension) / sqrt(dataset_size)


def two_thirds() -> Expr:
    return (sqrt(dimension) / dataset_size) ** Rational(2, 3)


def momentum() -> Expr:
    return 1 / sqrt(dataset_size) + two_thirds()


def tree() -> Expr:
    return dataset_size ** Rational(-1, 3) + sqrt(sqrt(dimension) / dataset_size)


def row(name: str, formula: object, meaning: str) -> Rate:
    assert callable(formula)
    return Rate(
        formula=formula,
        name=name,
        meaning=meaning,
        hides=_HIDDEN,
        logs_hidden=True,
        increasing_in=(dimension,),
        decreasing_in=(dataset_size,),
    )


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/table-2",
    title="earlier work on first-order stationary points",
    statement=__doc__,
    where="Appendix F, Table 2",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    status=Status.CLAIMED,
    parts=(
        row("wang-ye-xu-2017", quarter, "empirical"),
        row("wang-xu-2019", quarter, "empirical"),
        row("wang-xu-2019-population", half, "population"),
        row("wang-et-al-2019", two_thirds, "empirical: Wang, Jayaraman, Evans & Gu"),
        row("zhou-et-al-2020", quarter, "empirical"),
        row("zhou-et-al-2020-population", quarter, "population"),
        row("tran-cutkosky-2022", momentum, "empirical"),
        row("arora-et-al-2023", two_thirds, "empirical"),
        row("arora-et-al-2023-population", tree, "population"),
    ),
    relies_on=(
        "cited/wang-ye-xu-2017/main-result",
        "cited/zhou-et-al-2020/main-result",
        "cited/tran-cutkosky-2022/main-result",
        "cited/arora-et-al-2023/theorem-4.2",
        "cited/arora-et-al-2023/population-rate",
    ),
    notes=(
        Note("The text announces a comparison with Algorithm 1; the table has no row for it in the text at hand."),
        Note("As quoted here; n stands for nε."),
    ),
)
