r"""A point is an $\alpha$-first-order stationary point if $\|\nabla g(w)\| \le \alpha$; if $\nabla^2 g$ is
$\rho_H$-Lipschitz, it is an $\alpha$-second-order stationary point if also
$\nabla^2 g(w) \succeq -\sqrt{\rho_H \alpha}\, I$.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import Unit, hessian_lipschitz, stationarity
from dpbounds.theorems.record import Metric, Parameter, Status, Theorem


def curvature() -> Expr:
    return -sqrt(hessian_lipschitz * stationarity)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/definition-2.4",
    title="approximate stationary points",
    statement=__doc__,
    where="Section 2, Definition 2.4",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    parts=(
        Parameter(
            formula=curvature,
            name="curvature",
            unit=Unit(1, -2),
            meaning="smallest eigenvalue that an α-second-order stationary point may have",
            decreasing_in=(hessian_lipschitz, stationarity),
        ),
    ),
)
