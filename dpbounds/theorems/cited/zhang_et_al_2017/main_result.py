r"""RRPSGD (private stochastic gradient descent that stops after a random number of rounds) on smooth, Lipschitz
losses that need not be convex: the gradient at the output has norm of order $\left(d \ln(1/\delta)
\ln(2/\varepsilon)\right)^{1/4} / \sqrt{n\varepsilon}$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, initial_gap, lipschitz, smoothness
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, initial_gap)


def rate() -> Expr:
    return (dimension * log(1 / delta) * log(2 / epsilon)) ** Rational(1, 4) / sqrt(dataset_size * epsilon)


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon < 2, why="the logarithm, as quoted, is positive"),)


THEOREM = Theorem(
    id="cited/zhang-et-al-2017/main-result",
    statement=__doc__,
    title="stationary points by private SGD with a random number of rounds",
    where="Main result for non-convex losses; quoted in Table 1 of Wang & Xu 2019",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, UNCONSTRAINED),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            meaning="norm of the gradient, without a regulariser",
            hides=HIDDEN,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    superseded_by=("cited/wang-ye-xu-2017/main-result",),
    notes=(
        Note(
            "The factor ln(2/ε) stands in the quotation; the source itself was not compared, and ln(n/δ) would be "
            "usual for an analysis by advanced composition."
        ),
    ),
)
