r"""Norm of the projected gradient of DP-PGD for several sample sizes at $\varepsilon = 2$, $T = 400$: it falls with
$n$.
"""

from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/figure-3",
    title="gradient norm for several sample sizes",
    statement=__doc__,
    where="Experiments, Figure 3 and its discussion",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    status=Status.EMPIRICAL,
    notes=(Note("Only the caption and its discussion were read. At fixed T the noise falls as 1/n, not as 1/√n."),),
)
