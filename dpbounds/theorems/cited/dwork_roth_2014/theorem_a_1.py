r"""The Gaussian mechanism: for $0 < \varepsilon < 1$ and an answer that neighbours change by at most $\Delta$ in $l_2$,
noise of standard deviation $\sigma \ge \sqrt{2 \ln(1.25/\delta)}\, \Delta / \varepsilon$ in each coordinate makes its
release $(\varepsilon, \delta)$-differentially private. It rests on the tail bound
$P(x > t) \le \frac{\sigma}{t \sqrt{2\pi}} e^{-t^2/2\sigma^2}$ of a Gaussian.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.record import (
    Claim,
    Condition,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def noise() -> Expr:
    return sqrt(2 * log(Rational(5, 4) / delta)) / epsilon


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon < 1, why="range of the theorem"),)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(noise_stddev=at.down(noise()), sensitivity=1)


THEOREM = Theorem(
    id="cited/dwork-roth-2014/theorem-a.1",
    title="noise of the Gaussian mechanism",
    statement=__doc__,
    where="Appendix A, Theorem A.1 (also Theorem 3.22)",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    conditions=conditions,
    parts=(
        Parameter(
            formula=noise,
            name="noise_multiplier",
            unit=Unit(samples=1),
            meaning="standard deviation per unit of the sensitivity",
            decreasing_in=(epsilon, delta),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta)),
    notes=(
        Note(
            "The range ε < 1 is often left out. The formula is enough somewhat beyond it, and fails from ε = 4.47 (δ = "
            "1/2), 6.77 (1e-2), 7.46 (1e-3), 8.42 (1e-5) on."
        ),
        Note("The least noise that suffices is smaller at every ε: the accountant computes it exactly."),
    ),
)
