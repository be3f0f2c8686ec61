r"""Every record's loss is $G$-Lipschitz, $M$-smooth and $\rho$-Hessian-Lipschitz, and the risk is bounded by $B$. The
paper also takes $M \ge \sqrt{\rho\alpha}$: otherwise every $\alpha$-FOSP would be an $\alpha$-SOSP.
"""

from dpbounds.theorems.assumptions import BOUNDED_RISK, HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import BOUNDED_RANGE, SADDLES_ARE_HARDER
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/assumption-3.1",
    title="smooth losses of bounded risk",
    statement=__doc__,
    where="Section 3, Assumption 3.1 and the paragraph after Definition 3.2",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RISK, BOUNDED_RANGE, SADDLES_ARE_HARDER, UNCONSTRAINED),
    notes=(
        Note(
            "'The risk is upper bounded by B' is used (proof of Lemma 3.7) as sup F - inf F <= B; the results with "
            "constants only need the first iterate's risk minus the infimum to be at most B."
        ),
        Note("F is used on all of R^d: Algorithm 1 does not project."),
    ),
)
