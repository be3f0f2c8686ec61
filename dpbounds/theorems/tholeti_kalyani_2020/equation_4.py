r"""The problem: minimise the empirical loss $L(w) = \frac1N \sum_i \ell(f_w(x_i), y_i)$, which may be non-convex. It is
assumed to be bounded, with Lipschitz gradients and Hessians, and to have strict saddles only. None of this matters for
privacy, which needs bounded differences of gradients alone.
"""

from dpbounds.theorems.assumptions import BOUNDED_LOSS, HESSIAN_LIPSCHITZ, SMOOTH, STRICT_SADDLES, UNCONSTRAINED
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="tholeti-kalyani-2020/equation-4",
    title="empirical risk minimisation",
    statement=__doc__,
    where="Section III, equation (4) and assumptions 1) and 2)",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(UNCONSTRAINED, BOUNDED_LOSS, SMOOTH, HESSIAN_LIPSCHITZ, STRICT_SADDLES),
    notes=(
        Note(
            "A bounded loss with Lipschitz gradients is Lipschitz on R^d, but print gives no constant for it: how "
            "large Δ may become is left to whoever runs the algorithm (clipping the gradients to norm G gives 2G)."
        ),
    ),
)
