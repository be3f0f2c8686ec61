r"""The promise of Theorem 1 as its proof arrives at it: $T$ steps, each $(0, \delta/N)$-private with the $\delta$ of
equation (6), add up to $\hat\delta = \frac TN I_z(\frac12, \frac{d+1}2)$, $z = (\Delta/2r_u)^2$. It is the same number
as in the theorem, written without the subtraction from 1.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, radius, sensitivity, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GRADIENT_DISTANCE
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Note, Side, Status, Theorem
from dpbounds.theorems.tholeti_kalyani_2020._ball import lost


def bound() -> Expr:
    return steps * lost(sensitivity) / dataset_size


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=sensitivity < 2 * radius, why="assumed in print; the formula holds beyond it, too"),)


THEOREM = Theorem(
    id="tholeti-kalyani-2020/equation-7",
    title="δ of a whole run",
    statement=__doc__,
    where="Section IV.A, proof of Theorem 1, equation (7)",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="one uniformly random record per step",
    assumptions=(GRADIENT_DISTANCE,),
    conditions=conditions,
    parts=(
        Bound(
            formula=bound,
            unit=Unit(samples=-1),
            meaning="δ of T steps, at every ε",
            increasing_in=(steps, sensitivity, dimension),
            decreasing_in=(dataset_size, radius),
        ),
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    relies_on=("tholeti-kalyani-2020/equation-6",),
    notes=(Note("Above 1 it is true and says nothing."),),
)
