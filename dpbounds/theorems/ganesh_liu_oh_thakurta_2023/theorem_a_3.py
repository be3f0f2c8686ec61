r"""Quoted from Bun & Steinke 2016: running mechanisms that are $\varphi_1$-, ..., $\varphi_k$-zCDP one after the other,
each with the earlier outputs in view, is $(\varphi_1 + \dots + \varphi_k)$-zCDP. Recorded for $k = T$ equal budgets.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, rho, steps
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def total() -> Expr:
    return steps * rho


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-a.3",
    title="composition of zCDP",
    statement=__doc__,
    where="Appendix A, Theorem A.3",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    parts=(
        Bound(
            formula=total,
            name="total",
            unit=Unit(samples=-2),
            meaning="budget of T mechanisms of ρ each",
            increasing_in=(rho, steps),
        ),
    ),
    notes=(
        Note("Proof: the Rényi divergence of a joint law is at most the first one's plus the worst conditional one's."),
        Note("Attained by Gaussian noise: the squared shifts add up."),
        Note("On disjoint parts of the data the budgets do not add up: the total is their maximum."),
    ),
)
