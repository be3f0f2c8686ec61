r"""Warm start for second-order stationary points: if the first algorithm is $(\varepsilon/2, \delta/2)$-DP and reaches
$F(w_0) - \inf F \le \psi$ with probability at least $1 - \zeta$, Algorithm 2 with the second-order variant of DP-SPIDER
is $(\varepsilon, \delta)$-DP and, with probability at least $1 - 2\zeta$, its output is an
$\tilde\alpha$-second-order stationary point of the empirical risk, where $\tilde\alpha = \tilde O\big(G A +
(G L \psi)^{1/3} A^{2/3} + \frac{L^{7/6} (G \psi)^{1/6} \sqrt{\ln(1/\delta)}}{\varepsilon n \sqrt{\rho_H}} A^{1/3}\big)$
and $A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    excess_risk,
    hessian_lipschitz,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import WARM_START
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem


def noise_ratio() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def gradient_terms() -> Expr:
    warm = (lipschitz * smoothness * excess_risk) ** Rational(1, 3) * noise_ratio() ** Rational(2, 3)
    return lipschitz * noise_ratio() + warm


def printed_third() -> Expr:
    constants = smoothness ** Rational(7, 6) * (lipschitz * excess_risk) ** Rational(1, 6) / sqrt(hessian_lipschitz)
    return constants / dataset_size * noise_ratio() ** Rational(1, 3)


def rate() -> Expr:
    return gradient_terms() + printed_third() * sqrt(log(1 / delta)) / epsilon


def printed() -> Expr:
    return gradient_terms() + printed_third()


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/theorem-3.4",
    title="second-order stationarity after a warm start",
    statement=__doc__,
    where="Section 3, Theorem 3.4; restated and proved as Theorem C.1",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED, HESSIAN_LIPSCHITZ, WARM_START),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="with the factor √ln(1/δ)/ε of the third term put back",
            logs_hidden=True,
            increasing_in=(dimension, lipschitz, smoothness, excess_risk),
            decreasing_in=(dataset_size, epsilon, delta, hessian_lipschitz),
        ),
        Rate(
            formula=printed,
            name="printed",
            unit=Unit(1, -1),
            meaning="as printed",
            logs_hidden=True,
            bases=("loss", "length"),
            increasing_in=(dimension, lipschitz, smoothness, excess_risk),
            decreasing_in=(dataset_size, epsilon, delta, hessian_lipschitz),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on=("lowy-ullman-wright-2024/lemma-3.3", "ganesh-liu-oh-thakurta-2023/lemma-3.4"),
    notes=(
        Note("The factor √ln(1/δ)/ε that Lemma 3.3 lost is missing in print here, too, and restored."),
        Note(
            "The reduction itself is sound. What is disputed is the second-order method that it is applied to "
            "(lowy-ullman-wright-2024/lemma-3.3)."
        ),
    ),
)
