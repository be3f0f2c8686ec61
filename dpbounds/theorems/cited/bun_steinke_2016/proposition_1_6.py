r"""The Gaussian mechanism in zCDP: an answer of sensitivity $\Delta$ with noise of standard deviation $\sigma$ in
each coordinate is released with $\frac{\Delta^2}{2\sigma^2}$-zCDP. Attained: the Rényi divergence of order $\lambda$
of two Gaussians at distance $\Delta$ is $\lambda \Delta^2 / 2\sigma^2$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import noise_stddev, sensitivity
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Read, Side, Status, Theorem


def budget() -> Expr:
    return sensitivity**2 / (2 * noise_stddev**2)


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=noise_stddev > 0, why="without noise nothing is private"),)


THEOREM = Theorem(
    id="cited/bun-steinke-2016/proposition-1.6",
    title="zCDP of the Gaussian mechanism",
    statement=__doc__,
    where="Section 1, Proposition 1.6",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    conditions=conditions,
    parts=(
        Bound(
            formula=budget,
            name="rho",
            meaning="ρ of one release; those of several add up",
            increasing_in=(sensitivity,),
            decreasing_in=(noise_stddev,),
        ),
    ),
)
