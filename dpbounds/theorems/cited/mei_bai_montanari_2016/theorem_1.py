r"""Gradients converge uniformly: if one record's gradient is $\tau$-sub-Gaussian at every parameter of a ball, and the
Hessian is suitably bounded, then for $n \ge C d \ln d$ the empirical and the population gradient differ nowhere in the
ball by more than $\tau \sqrt{C d \ln(n) / n}$ with high probability, where $C$ grows with the logarithms of the radius
and of the failure probability.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, sub_gaussian
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, SAMPLED_RECORDS, SUB_GAUSSIAN_GRADIENTS
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem


def rate() -> Expr:
    return sub_gaussian * sqrt(dimension * log(dataset_size) / dataset_size)


THEOREM = Theorem(
    id="cited/mei-bai-montanari-2016/theorem-1",
    statement=__doc__,
    title="uniform convergence of gradients",
    where="Theorem 1; behind Theorem 3 of Wang & Xu 2019, who quote the result without its number",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    assumptions=(SUB_GAUSSIAN_GRADIENTS, SAMPLED_RECORDS, HESSIAN_LIPSCHITZ),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="largest distance of empirical and population gradient over the ball",
            logs_hidden=True,
            bases=("loss", "length"),
            increasing_in=(dimension, sub_gaussian),
        ),
    ),
    notes=(
        Note(
            "Wang & Xu write the factor log(τ/β), which is negative for τ < β: a logarithm of this kind is meant as "
            "max(1, log(rτ/β)) with the radius r of the ball, and the ball has to be bounded."
        ),
    ),
)
