r"""Upper bounds of $(\varepsilon, \delta)$-DP algorithms for non-convex empirical risk, with Lipschitz and smoothness
constants 1 and $\|C\|_2 \le 1$; the measure differs from row to row (gradient norm, projected gradient, Frank-Wolfe
gap).
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    gaussian_width,
    initial_gap,
    lipschitz,
    norm_bound,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Rate, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, initial_gap)
_QUARTER = Rational(1, 4)


def zhang() -> Expr:
    return (dimension * log(1 / delta) * log(2 / epsilon)) ** _QUARTER / sqrt(dataset_size * epsilon)


def low_dimension() -> Expr:
    return (dimension * log(1 / delta)) ** _QUARTER / sqrt(dataset_size * epsilon)


def width() -> Expr:
    return ((norm_bound**2 + gaussian_width**2) * log(1 / delta)) ** _QUARTER / sqrt(dataset_size * epsilon)


def polytope() -> Expr:
    return log(1 / delta) ** _QUARTER * sqrt(log(dataset_size * dimension)) / sqrt(dataset_size * epsilon)


THEOREM = Theorem(
    id="wang-xu-2019/table-1",
    title="private algorithms for non-convex empirical risk",
    statement=__doc__,
    where="Introduction, Table 1",
    metric=Metric.NONE,
    side=Side.UPPER,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Rate(formula=zhang, name="zhang-et-al-2017", meaning="l2 norm of the gradient, no regulariser", hides=HIDDEN),
        Rate(formula=low_dimension, name="wang-ye-xu-2017", meaning="l2 norm of the gradient", hides=HIDDEN),
        Rate(formula=low_dimension, name="algorithm-1", meaning="projected gradient, any regulariser", hides=HIDDEN),
        Rate(formula=width, name="algorithm-2", meaning="Frank-Wolfe gap, bounded set", hides=(*HIDDEN, norm_bound)),
        Rate(formula=width, name="algorithm-3", meaning="projected gradient, bounded set", hides=(*HIDDEN, norm_bound)),
        Rate(formula=polytope, name="algorithm-4", meaning="Frank-Wolfe gap, l1 ball or polytope", hides=HIDDEN),
    ),
    notes=(
        Note("The denominators read √(ne) in the text at hand, for √(nε)."),
        Note("The row of Zhang et al. has ln(2/ε), as quoted here; their own theorem was not compared."),
        Note(
            "Rows 2, 3 and 6 agree with Theorems 2, 5 and 6 (with the fourth root); ‖C‖₂ <= 1 is part of the caption."
        ),
    ),
)
