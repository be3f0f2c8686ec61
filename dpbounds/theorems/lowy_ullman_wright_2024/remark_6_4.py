r"""With DP-SPIDER-SOSP in the place of DP-SPIDER, Theorem 3.4 gives second-order stationary points of KL losses at the
rate of Corollary 6.3. No formula is printed.
"""

from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, KL, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Side, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/remark-6.4",
    title="second-order points of KL losses",
    statement=__doc__,
    where="Section 6, Remark 6.4",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, KL),
    relies_on=("lowy-ullman-wright-2024/theorem-3.4", "ganesh-liu-oh-thakurta-2023/lemma-3.4"),
    notes=(
        Note(
            "The second-order part rests on an escape lemma that is false as stated; the bound on the gradient alone "
            "does not, and is that of Corollary 6.3."
        ),
    ),
)
