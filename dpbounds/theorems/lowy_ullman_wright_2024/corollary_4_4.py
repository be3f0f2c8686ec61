r"""The exponential mechanism on a net as warm start for the second-order variant of DP-SPIDER: for every $\zeta > 0$
it is $(\varepsilon, \delta)$-DP and returns, with probability at least $1 - \zeta$, an $\omega$-second-order
stationary point of the empirical risk with $\omega = \gamma + \tilde O\big(\frac{G^{1/3} D^{1/6} L^{7/6}
\sqrt{\ln(1/\delta)}}{\sqrt{\rho_H}\, \varepsilon n} A^{1/2} d^{1/12}\big)$, $\gamma$ from Corollary 4.3 and $A =
\sqrt{d \ln(1/\delta)}/(\varepsilon n)$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    hessian_lipschitz,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import NEAR_MINIMISER
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Side, Status, Theorem


def noise_ratio() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def gamma() -> Expr:
    warm = (lipschitz**2 * smoothness * diameter) ** Rational(1, 3)
    return lipschitz * noise_ratio() + warm * noise_ratio() * dimension ** Rational(1, 6)


def printed_second() -> Expr:
    constants = lipschitz ** Rational(1, 3) * diameter ** Rational(1, 6) * smoothness ** Rational(7, 6)
    shape = sqrt(noise_ratio()) * dimension ** Rational(1, 12)
    return constants / (sqrt(hessian_lipschitz) * dataset_size) * shape


def rate() -> Expr:
    return gamma() + printed_second() * sqrt(log(1 / delta)) / epsilon


def printed() -> Expr:
    return gamma() + printed_second()


def conditions() -> tuple[Condition, ...]:
    enough = epsilon * dataset_size >= (2 + sqrt(2)) * dimension
    return (Condition(holds=enough, why="equation (2); else the second half alone is better"),)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-4.4",
    title="second-order stationarity for non-convex losses",
    statement=__doc__,
    where="Section 4, Corollary 4.4",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED, HESSIAN_LIPSCHITZ, NEAR_MINIMISER),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="with the factor √ln(1/δ)/ε of the last term put back",
            logs_hidden=True,
            increasing_in=(dimension, lipschitz, smoothness, diameter),
            decreasing_in=(dataset_size, epsilon, delta, hessian_lipschitz),
        ),
        Rate(
            formula=printed,
            name="printed",
            unit=Unit(1, -1),
            meaning="as printed",
            logs_hidden=True,
            bases=("loss", "length"),
            increasing_in=(dimension, lipschitz, smoothness, diameter),
            decreasing_in=(dataset_size, epsilon, delta, hessian_lipschitz),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on=(
        "lowy-ullman-wright-2024/theorem-3.4",
        "lowy-ullman-wright-2024/lemma-4.2",
        "ganesh-liu-oh-thakurta-2023/lemma-3.4",
    ),
    notes=(
        Note("The factor √ln(1/δ)/ε that Lemma 3.3 lost is missing in print here, too, and restored."),
        Note("As in Corollary 4.3, logarithms of δ are printed slightly larger than the derivation has them."),
        Note("Disputed as Lemma 3.3 is; the part on the warm start is Corollary 4.3."),
    ),
)
