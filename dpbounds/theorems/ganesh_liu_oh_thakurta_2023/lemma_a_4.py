r"""Quoted from Bun & Steinke 2016: what is $\varepsilon$-DP is $\frac{\varepsilon^2}2$-zCDP, and what is $\varphi$-zCDP
is $(\varphi + 2\sqrt{\varphi \ln(1/\delta)}, \delta)$-DP for every $\delta > 0$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon, rho
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def from_pure() -> Expr:
    return epsilon**2 / 2


def to_approximate() -> Expr:
    return rho + 2 * sqrt(rho * log(1 / delta))


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-a.4",
    title="zCDP and (ε, δ)-DP",
    statement=__doc__,
    where="Appendix A, Lemma A.4",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    parts=(
        Bound(
            formula=to_approximate,
            name="epsilon",
            meaning="of a ρ-zCDP mechanism at δ",
            bases=("loss", "length"),
            increasing_in=(rho,),
            decreasing_in=(delta,),
        ),
        Bound(
            formula=from_pure,
            name="rho",
            unit=Unit(samples=-2),
            meaning="of an ε-DP mechanism",
            increasing_in=(epsilon,),
        ),
    ),
    relies_on=("cited/bun-steinke-2016/proposition-1.3", "cited/bun-steinke-2016/proposition-1.4"),
    notes=(Note("An exponential mechanism, whose loss has range ε, is even (ε²/8)-zCDP."),),
)
