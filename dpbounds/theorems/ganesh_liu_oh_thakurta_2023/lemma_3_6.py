r"""Claimed: with oracles of parameters $\zeta_1, \zeta_2$ and $\gamma = O(\sqrt{(\zeta_2^2\kappa + 4\zeta_1^2) \log(Td
/\omega)})$, with probability at least $1 - \omega$ at least one iterate of Algorithm 1 is an $\alpha$-SOSP, $\alpha =
\gamma\log^3(BMd/(\rho\omega\gamma))$. The proof needs Lemma 3.4, which is false as stated; that some iterate is an
$O(\gamma)$-FOSP needs it not.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dimension, drift_threshold, failure_probability, steps
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import BOUNDED_RANGE, GOOD_ORACLES, SADDLES_ARE_HARDER
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    ACCURACY,
    FIRST_NOISE,
    SECOND_NOISE,
    first_oracle_noise,
    gradient_accuracy,
    second_oracle_noise,
)
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023.algorithm_1 import scale
from dpbounds.theorems.record import Metric, Mode, Note, Parameter, Rate, Side, Status, Theorem


def rate() -> Expr:
    return sqrt(second_oracle_noise**2 * drift_threshold + 4 * first_oracle_noise**2)


def gamma() -> Expr:
    return rate() * sqrt(log(steps * dimension / failure_probability))


def alpha() -> Expr:
    return gradient_accuracy * log(scale() / gradient_accuracy) ** 3


_GRADIENT = Unit(1, -1)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-3.6",
    title="second-order stationarity of Stochastic Spider",
    statement=__doc__,
    where="Section 3, Lemma 3.6; proof in Appendix B.4",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RANGE, SADDLES_ARE_HARDER, GOOD_ORACLES, UNCONSTRAINED),
    local=(ACCURACY, FIRST_NOISE, SECOND_NOISE),
    parts=(
        Rate(
            formula=rate,
            unit=_GRADIENT,
            meaning="α without its logarithms",
            logs_hidden=True,
            increasing_in=(second_oracle_noise, first_oracle_noise, drift_threshold),
        ),
        Parameter(
            formula=gamma,
            name="gradient_accuracy",
            unit=_GRADIENT,
            meaning="γ",
            up_to_constant=True,
            increasing_in=(second_oracle_noise, first_oracle_noise, drift_threshold, steps, dimension),
            decreasing_in=(failure_probability,),
        ),
        Rate(
            formula=alpha,
            name="with-logs",
            unit=_GRADIENT,
            meaning="α in terms of γ; the argument of the logarithm carries units",
            bases=(),
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    relies_on=(
        "ganesh-liu-oh-thakurta-2023/lemma-3.3",
        "ganesh-liu-oh-thakurta-2023/lemma-3.4",
        "ganesh-liu-oh-thakurta-2023/lemma-3.5",
    ),
    notes=(
        Note(
            "In the text at hand the root of the last display reaches over log³, which contradicts α = γ log³: taken "
            "for a loss of transcription, like the different arguments of the first logarithm."
        ),
    ),
)
