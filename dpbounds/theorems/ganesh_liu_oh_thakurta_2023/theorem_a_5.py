r"""Quoted from Bun & Steinke 2016: a vector that moves by at most $\Delta_2$ between neighbouring data sets, plus
$N(0, \sigma^2 I_d)$, is $\frac{\Delta_2^2}{2\sigma^2}$-zCDP.
"""

from sympy import Expr

from dpbounds.expressions.symbols import noise_stddev, sensitivity
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def budget() -> Expr:
    return sensitivity**2 / (2 * noise_stddev**2)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-a.5",
    title="zCDP of Gaussian noise",
    statement=__doc__,
    where="Appendix A, Theorem A.5",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    status=Status.PROVED,
    parts=(
        Bound(
            formula=budget,
            name="rho",
            meaning="of one release",
            increasing_in=(sensitivity,),
            decreasing_in=(noise_stddev,),
        ),
    ),
    relies_on=("cited/bun-steinke-2016/proposition-1.6",),
    notes=(
        Note("Print writes N(0, σ²) for the noise of a vector; σ²I_d is meant."),
        Note("Attained: the Rényi divergence of order q of two such Gaussians at distance Δ is exactly qΔ²/(2σ²)."),
    ),
)
