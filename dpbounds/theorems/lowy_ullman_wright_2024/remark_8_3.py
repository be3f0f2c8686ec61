r"""With DP-SPIDER-SOSP in the place of DP-SPIDER, second-order stationary points of generalised linear models are
said to be found at essentially the rate of Corollary 8.2. No formula is printed.
"""

from dpbounds.theorems.assumptions import GENERALISED_LINEAR, HESSIAN_LIPSCHITZ, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Side, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/remark-8.3",
    title="second-order points of generalised linear models",
    statement=__doc__,
    where="Section 8, Remark 8.3",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, GENERALISED_LINEAR, SAMPLED_RECORDS),
    relies_on=("lowy-ullman-wright-2024/theorem-3.4", "ganesh-liu-oh-thakurta-2023/lemma-3.4"),
    notes=(
        Note(
            "The second-order part rests on an escape lemma that is false as stated. That curvature, too, is kept"
            " by the "
            "projection was not checked."
        ),
    ),
)
