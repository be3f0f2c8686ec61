r"""A private LASSO: least squares over an $l_1$ ball with features bounded coordinate by coordinate has a private
estimator (Frank-Wolfe steps to noisily chosen vertices) whose excess empirical risk is of order $n^{-2/3}$ up to
logarithms, with no power of the dimension; no private algorithm does much better in high dimensions, $d \gtrsim
n^{2/3}$ (in low ones the exponential mechanism on a net does).
"""

from sympy import Expr, Rational

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, l1_norm_bound, lipschitz_l1
from dpbounds.theorems.assumptions import CONVEX, L1_GEOMETRY, LIPSCHITZ_L1
from dpbounds.theorems.record import Condition, Metric, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (epsilon, delta, dimension, lipschitz_l1, l1_norm_bound)


def rate() -> Expr:
    return dataset_size ** Rational(-2, 3)


def high_dimension() -> tuple[Condition, ...]:
    return (Condition(holds=dimension >= dataset_size ** Rational(2, 3), why="up to logarithms; constant ε"),)


THEOREM = Theorem(
    id="cited/talwar-thakurta-zhang-2015/main-result",
    statement=__doc__,
    title="nearly optimal private LASSO",
    where="Abstract",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.TIGHT,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ_L1, CONVEX, L1_GEOMETRY),
    parts=(
        Rate(
            formula=rate,
            side=Side.UPPER,
            meaning="excess empirical risk; the abstract leaves out all but n",
            hides=HIDDEN,
            logs_hidden=True,
            decreasing_in=(dataset_size,),
        ),
        Rate(
            formula=rate,
            name="lower",
            side=Side.LOWER,
            meaning="excess empirical risk, at least",
            conditions=high_dimension,
            hides=HIDDEN,
            logs_hidden=True,
            decreasing_in=(dataset_size,),
        ),
    ),
    notes=(
        Note(
            "The loss is convex there. Wang & Xu 2019 carry the algorithm over to losses that are not, and then bound "
            "the Frank-Wolfe gap, at the slower n^(-1/2)."
        ),
    ),
)
