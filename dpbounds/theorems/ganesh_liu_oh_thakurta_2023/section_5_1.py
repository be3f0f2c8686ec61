r"""A law has the log-Sobolev inequality with constant $C$ if $E[f^2 \ln f^2] - E[f^2] \ln E[f^2] \le 2C\, E\|\nabla
f\|^2$ for all smooth $f$. A density proportional to $e^{-\beta R}$ with a $\lambda$-strongly convex $R$ has it with
$C = 1/(\beta\lambda)$, also after restriction to a convex set. Quoted before Theorem 5.1.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, inverse_temperature, regularisation
from dpbounds.theorems.assumptions import CLOSED_CONVEX_SET, STRONGLY_CONVEX
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def strongly_convex() -> Expr:
    return 1 / (inverse_temperature * regularisation)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/section-5.1",
    title="log-Sobolev inequality of a strongly convex potential",
    statement=__doc__,
    where="Section 5.1, the paragraph before Theorem 5.1 (not numbered)",
    metric=Metric.FUNCTIONAL_INEQUALITY,
    side=Side.UPPER,
    status=Status.PROVED,
    assumptions=(STRONGLY_CONVEX, CLOSED_CONVEX_SET),
    parts=(
        Bound(
            formula=strongly_convex,
            name="log_sobolev",
            unit=Unit(length=2),
            meaning="constant C of exp(-βR)",
            decreasing_in=(inverse_temperature, regularisation),
        ),
    ),
    notes=(
        Note("Bakry & Émery's criterion, in print cited from Otto & Villani; attained by Gaussians."),
        Note("Print states it for exp(-f) with f μ-strongly convex: here f = βR and μ = βλ."),
    ),
)
