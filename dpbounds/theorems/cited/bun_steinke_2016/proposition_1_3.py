r"""From zCDP to approximate privacy: a $\rho$-zCDP mechanism is
$\left(\rho + 2 \sqrt{\rho \ln(1/\delta)},\, \delta\right)$-differentially private for every $\delta > 0$. Proof: the
privacy loss has a moment generating function of at most $e^{\rho \lambda (\lambda + 1)}$; Markov's inequality at the
best $\lambda$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, rho
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def total_epsilon() -> Expr:
    return rho + 2 * sqrt(rho * log(1 / delta))


THEOREM = Theorem(
    id="cited/bun-steinke-2016/proposition-1.3",
    title="zCDP implies approximate privacy",
    statement=__doc__,
    where="Section 1, Proposition 1.3",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    parts=(
        Bound(
            formula=total_epsilon,
            name="epsilon",
            unit=Unit(samples=-1),
            meaning="ε at a given δ",
            bases=("loss", "length"),
            increasing_in=(rho,),
            decreasing_in=(delta,),
        ),
    ),
    notes=(
        Note(
            "Sharper conversions exist (Canonne, Kamath & Steinke 2020), and the accountant uses them; a ρ-zCDP "
            "mechanism need not lie below the curve of the Gaussian with the same ρ."
        ),
    ),
)
