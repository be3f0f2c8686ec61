r"""Quoted from Jin et al. 2019: if $x_1, \dots, x_k$ are, each given the past, of mean 0 and $\mathrm{nSG}(\zeta_i)$,
then for an absolute constant $c$, with probability at least $1 - \omega$, $\|\sum x_i\| \le c\sqrt{\sum_i \zeta_i^2
\ln(2d/\omega)}$. The $\zeta_i$ are fixed in advance.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dimension, failure_probability
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    CONSTANT,
    SQUARED_ERRORS,
    squared_errors,
    universal_constant,
)
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Side, Status, Theorem


def deviation() -> Expr:
    return universal_constant * sqrt(squared_errors * log(2 * dimension / failure_probability))


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-2.4",
    title="sums of norm-sub-Gaussian vectors",
    statement=__doc__,
    where="Section 2, Lemma 2.4",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    local=(CONSTANT, SQUARED_ERRORS),
    parts=(
        Bound(
            formula=deviation,
            unit=Unit(1, -1),
            meaning="norm of the sum; C stands for c, the squared errors for Σζ²",
            increasing_in=(universal_constant, squared_errors, dimension),
            decreasing_in=(failure_probability,),
        ),
    ),
    relies_on=("cited/jin-et-al-2019/hoeffding",),
    notes=(
        Note(
            "The constant c is absolute and not stated. For bounded or Gaussian vectors, "
            "ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit has a version with constants and without the dimension."
        ),
        Note(
            "The last sentence reads nSG(√(c log d) Σζ²) in the text at hand: the root should reach over the sum, "
            "and log(2d) serves d = 1, too. 'For any δ > 0' stands for any ω."
        ),
    ),
)
