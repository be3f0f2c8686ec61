r"""In force throughout the paper: for every record the loss is $G$-Lipschitz and $L$-smooth on all of $R^d$, and the
risk that is studied (empirical, or population) has a finite infimum over $R^d$.
"""

from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/assumption-2.3",
    title="Lipschitz and smooth per record, bounded below",
    statement=__doc__,
    where="Section 2, Assumption 2.3",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED),
    notes=(
        Note(
            "Lipschitz on all of R^d excludes quadratics; smoothness per record, not only of the mean, is what bounds "
            "the sensitivity of a gradient difference in Algorithm 1."
        ),
    ),
)
