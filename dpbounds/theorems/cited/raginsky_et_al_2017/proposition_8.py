r"""How far gradient Langevin dynamics lags behind its diffusion: for a smooth, dissipative risk, the laws of the $T$-th
iterate with step length $\eta$ and inverse temperature $\beta$ and of the diffusion at time $\eta T$ have 2-Wasserstein
distance of order $C_1 \eta^{1/4} \cdot \eta T$, where $C_1$ grows like $\sqrt\beta$ with the other constants fixed.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import Unit, dimension, inverse_temperature, smoothness, step_size, steps
from dpbounds.theorems.assumptions import DISSIPATIVE, SMOOTH_RISK
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (smoothness, dimension)


def rate() -> Expr:
    return sqrt(inverse_temperature) * step_size ** Rational(1, 4) * (step_size * steps)


THEOREM = Theorem(
    id="cited/raginsky-et-al-2017/proposition-8",
    statement=__doc__,
    title="discretisation error of Langevin dynamics",
    where="Proposition 8, as used in Theorem 2 of Wang, Chen & Xu 2019",
    metric=Metric.DISTANCE,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    assumptions=(SMOOTH_RISK, DISSIPATIVE),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(length=1),
            meaning="2-Wasserstein distance of iterate and diffusion",
            hides=HIDDEN,
            increasing_in=(inverse_temperature, step_size, steps),
        ),
    ),
    notes=(
        Note(
            "The growth of C₁ with β is what the terms of Theorem 2 of Wang, Chen & Xu imply; the source's own "
            "constant was not compared. With stochastic gradients there is a second term, in their relative variance."
        ),
    ),
)
