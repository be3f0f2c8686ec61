r"""A saddle point is a first-order stationary point that is no local minimum (local maxima are among them); it is
strict if $\lambda_{\min}(\nabla^2 f(x)) < 0$.
"""

from dpbounds.theorems.assumptions import STRICT_SADDLES
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="tholeti-kalyani-2020/definition-5",
    title="strict saddles",
    statement=__doc__,
    where="Section II, Definition 5",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(STRICT_SADDLES,),
    notes=(
        Note(
            "The property has no constants here; the theorem that the paper takes over needs some, see "
            "tholeti-kalyani-2020/theorem-2."
        ),
    ),
)
