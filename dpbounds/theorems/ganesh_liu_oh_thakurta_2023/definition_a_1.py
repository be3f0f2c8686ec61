r"""The Laplace distribution of scale $b$ has the density $\frac1{2b} e^{-|x|/b}$ on the real line."""

from sympy import Abs, Expr, exp

from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities_sampling import (
    LAPLACE_POINT,
    LAPLACE_SCALE,
    laplace_point,
    laplace_scale,
)
from dpbounds.theorems.record import Bound, Metric, Side, Status, Theorem


def density() -> Expr:
    return exp(-Abs(laplace_point) / laplace_scale) / (2 * laplace_scale)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-a.1",
    title="Laplace distribution",
    statement=__doc__,
    where="Appendix A, Definition A.1",
    metric=Metric.NONE,
    side=Side.TIGHT,
    status=Status.DEFINITION,
    local=(LAPLACE_POINT, LAPLACE_SCALE),
    parts=(Bound(formula=density, name="density", meaning="at the point x"),),
)
