r"""On a convex set, $f$ is $G$-Lipschitz if $|f(x) - f(y)| \le G\|x - y\|$, $M$-smooth if its gradient changes by at
most $M\|x - y\|$, and $\rho$-Hessian-Lipschitz if its Hessian changes by at most $\rho\|x - y\|$.
"""

from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-2.1",
    title="Lipschitz, smooth, Hessian-Lipschitz",
    statement=__doc__,
    where="Section 2, Definition 2.1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ),
    notes=(Note("All norms are l2; that of a Hessian is the operator norm."),),
)
