r"""Methods of private gradient descent on Covertype at $\varepsilon = 0.5$ and $2$: the zCDP calibration against
Zhang et al. 2017 and Wang, Ye & Xu 2017.
"""

from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/figure-4",
    title="gradient norm of several methods",
    statement=__doc__,
    where="Experiments, Figure 4 and its discussion",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    status=Status.EMPIRICAL,
    notes=(
        Note(
            "The noise quoted for Zhang et al., 32 ln(1/δ) ln(T/δ)/(n²ε²), has no factor T and would be below the"
            " zCDP noise; "
            "with the factor T the printed order of the curves comes out. Which of the two was used is not said."
        ),
    ),
)
