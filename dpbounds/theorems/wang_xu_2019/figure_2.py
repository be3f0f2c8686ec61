r"""Norm of the projected gradient of DP-PGD for several numbers of steps $T$ at $\varepsilon = 2$. The text says that
$T$ matters less than $\varepsilon$ "since all the upper bounds are independent of $T$".
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, dimension, initial_gap, lipschitz, noise_multiplier, smoothness, steps
from dpbounds.expressions.symbols import dataset_size as n
from dpbounds.theorems.record import Bound, Erratum, Metric, Note, Severity, Side, Status, Theorem


def mean_square() -> Expr:
    noise = dimension * (noise_multiplier * lipschitz / n) ** 2 * steps
    return (8 * smoothness * initial_gap / steps + 4 * noise) / 3


THEOREM = Theorem(
    id="wang-xu-2019/figure-2",
    title="gradient norm for several numbers of steps",
    statement=__doc__,
    where="Experiments, Figure 2 and its discussion",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    side=Side.UPPER,
    status=Status.EMPIRICAL,
    parts=(
        Bound(
            formula=mean_square,
            name="mean_square",
            unit=Unit(2, -2),
            meaning="Theorem 2, explicit, at step size 1/(2L): noise multiplier z√T, z the multiplier of a single step",
            bases=("loss", "length"),
            increasing_in=(dimension, initial_gap),
        ),
    ),
    errata=(
        Erratum(
            printed="all the upper bounds are independent of T",
            right="at a fixed step size they are a/T + bT, smallest at the T that Theorem 2 prescribes",
            severity=Severity.HARMLESS,
            evidence="test_figure_2.py::test_the_bound_has_a_best_number_of_steps",
            survives="the bounds at the prescribed T",
        ),
    ),
    notes=(
        Note(
            "Only the caption and its discussion were read. A step size of order 1/T would make them independent of T."
        ),
    ),
)
