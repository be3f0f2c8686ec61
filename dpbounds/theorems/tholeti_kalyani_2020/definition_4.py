r"""First-order stationary points have $\nabla f(x) = 0$; second-order ones also have
$\lambda_{\min}(\nabla^2 f(x)) \ge 0$.
"""

from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="tholeti-kalyani-2020/definition-4",
    title="stationary points",
    statement=__doc__,
    where="Section II, Definition 4",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    notes=(
        Note(
            "For second-order points only the condition on the Hessian is printed; the two halves of the sentence are "
            "read as cumulative here, so that the gradient vanishes, too."
        ),
        Note("Both are exact: no approximate stationary point, and no rate towards one, is defined in the paper."),
    ),
)
