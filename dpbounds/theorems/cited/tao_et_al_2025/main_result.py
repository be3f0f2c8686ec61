r"""An $\alpha$-second-order stationary point of the population risk without a private selection at the end: noisy SGD
that declares a saddle escaped once the iterate has drifted far enough, with an adaptive SPIDER estimate of the
gradient. The abstract says that earlier error rates overlook the variance of gradients in the escape from saddles,
and that this method rectifies them; it states no exponent.
"""

from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Note, Read, Side, Status, Theorem

THEOREM = Theorem(
    id="cited/tao-et-al-2025/main-result",
    statement=__doc__,
    title="population second-order stationary points by drift",
    where="Abstract",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, SAMPLED_RECORDS),
    notes=(
        Note(
            "No formula is recorded: the abstract has none, and a second-hand summary (n^(-1/3) and the 2/5-th power "
            "of √d/(nε)) was not compared with the theorem."
        ),
        Note(
            "Whether the criticism also concerns Liu & Talwar 2024, whose order would be smaller, is not said in the "
            "abstract."
        ),
    ),
)
