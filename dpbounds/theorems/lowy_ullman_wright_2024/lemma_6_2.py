r"""Quoted from Menart et al. 2023: if the empirical risk is $(\gamma, k)$-KL*, $1 \le k \le 2$, on a centred ball of
size $\Delta_F^{1/k}/(\gamma L) + \Delta_F^{(k-1)/k} \gamma$, where $\Delta_F$ is the gap at the centre, some
$(\varepsilon/2, \delta/2)$-DP algorithm has with probability $1 - \zeta$ an excess empirical risk of order
$\Big[\gamma G \frac{\sqrt{d \ln(1/\delta)}}{\varepsilon n} \sqrt{1 + \Delta_F^{-(2-k)/k} \gamma^2 L}\Big]^k$, up to
logarithms.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    initial_gap,
    kl_constant,
    kl_exponent,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import KL, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Parameter, Rate, Read, Side, Status, Theorem


def noise_level() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def rate() -> Expr:
    curvature = 1 + initial_gap ** (-(2 - kl_exponent) / kl_exponent) * kl_constant**2 * smoothness
    return (kl_constant * lipschitz * noise_level() * sqrt(curvature)) ** kl_exponent


def ball() -> Expr:
    near = initial_gap ** (1 / kl_exponent) / (kl_constant * smoothness)
    return near + initial_gap ** ((kl_exponent - 1) / kl_exponent) * kl_constant


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-6.2",
    title="private minimisation of KL losses",
    statement=__doc__,
    where="Section 6, Lemma 6.2",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, KL),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            logs_hidden=True,
            increasing_in=(lipschitz, smoothness, kl_constant, dimension),
            decreasing_in=(dataset_size, epsilon, delta, initial_gap),
        ),
        Parameter(
            formula=ball,
            name="diameter",
            unit=Unit(length=1),
            meaning="size of the ball on which the inequality is needed",
            increasing_in=(initial_gap,),
        ),
    ),
    relies_on=("cited/menart-et-al-2023/theorem-1",),
    notes=(
        Note("The cited paper's theorem and algorithm were not read here; this is the lemma as quoted."),
        Note("The ball is written with radius D and called of diameter D."),
        Note("The bound grows as Δ_F falls (k < 2), because the cited algorithm is tuned to Δ_F."),
    ),
)
