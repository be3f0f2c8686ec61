r"""Under the Kurdyka-Łojasiewicz condition $F - \inf F \le \gamma^k |\nabla F|^k$, $1 \le k \le 2$, on a ball that is
large enough, a private variance-reduced gradient descent has excess empirical risk of order $\left(\frac{\gamma G
\sqrt{d \ln(1/\delta)}}{n\varepsilon} \sqrt{1 + \Delta_F^{-(2-k)/k} \gamma^2 L}\right)^k$ up to logarithms: $(\sqrt d
/ n\sqrt\rho)^k$ in terms of $\rho$-zCDP. That is nearly optimal. Not knowing $k$ costs: noisy gradient descent then
reaches $(\sqrt d / n\sqrt\rho)^{2k/(4-k)}$, which is the same for $k = 2$.
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
    rho,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import KL, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, kl_constant, initial_gap)


def rate() -> Expr:
    share = kl_constant * lipschitz * sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon)
    condition = initial_gap ** (-(2 - kl_exponent) / kl_exponent) * kl_constant**2 * smoothness
    return (share * sqrt(1 + condition)) ** kl_exponent


def concentrated() -> Expr:
    return (sqrt(dimension) / (dataset_size * sqrt(rho))) ** kl_exponent


def adaptive() -> Expr:
    return (sqrt(dimension) / (dataset_size * sqrt(rho))) ** (2 * kl_exponent / (4 - kl_exponent))


THEOREM = Theorem(
    id="cited/menart-et-al-2023/theorem-1",
    statement=__doc__,
    title="excess risk under the Kurdyka-Łojasiewicz condition",
    where="Theorem 1, as quoted in Lemma 6.2 of Lowy, Ullman & Wright 2024, version 1; the other parts: abstract",
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
            meaning="excess empirical risk, constants as quoted",
            logs_hidden=True,
            increasing_in=(kl_constant, lipschitz, dimension, smoothness),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Rate(
            formula=concentrated,
            name="concentrated",
            meaning="excess empirical risk under ρ-zCDP (abstract)",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, rho),
        ),
        Rate(
            formula=adaptive,
            name="adaptive",
            meaning="the same without knowing k and γ (abstract)",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    notes=(
        Note(
            "For k >= 2 the abstract has the same order for Lipschitz, weakly convex losses by a private proximal "
            "point method; without the condition its noisy gradient descent finds gradients of norm between a = "
            "√d/(n√ρ) and √a."
        ),
        Note("Theorem and algorithm were not seen: what they need of the ball is known only as quoted."),
    ),
)
