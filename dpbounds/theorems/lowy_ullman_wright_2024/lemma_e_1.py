r"""Quoted from Liu et al. 2023 (Theorem 4.6): an $(\varepsilon/2, \delta/2)$-DP variant of DP-SPIDER, started with
population gap $\Delta_F$, returns with probability $1 - \zeta$ an $S$-second-order stationary point of the population
risk, with $s = (G L \Delta_F / n)^{1/3} + (G L^3 \Delta_F^3)^{1/7} A^{3/7}$ and $S = s + \frac{L}{\sqrt{\rho_H}} h
\sqrt s + G h$ up to logarithms, where $A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$ and $h = \frac{1}{n\varepsilon} +
\frac{1}{\sqrt n}$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    BOUNDED_RISK,
    HESSIAN_LIPSCHITZ,
    LIPSCHITZ,
    SAMPLED_RECORDS,
    SMOOTH,
    UNCONSTRAINED,
)
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem


def noise_level() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def resolution() -> Expr:
    return 1 / (dataset_size * epsilon) + 1 / sqrt(dataset_size)


def first_order() -> Expr:
    sampling = (lipschitz * smoothness * initial_gap / dataset_size) ** Rational(1, 3)
    private = (lipschitz * smoothness**3 * initial_gap**3) ** Rational(1, 7) * noise_level() ** Rational(3, 7)
    return sampling + private


def second_order() -> Expr:
    hessian = smoothness / sqrt(hessian_lipschitz) * resolution() * sqrt(first_order())
    return first_order() + hessian + lipschitz * resolution()


_GRADIENT = Unit(1, -1)
_LARGER = (lipschitz, smoothness, initial_gap, dimension)
_SMALLER = (dataset_size, epsilon, delta)

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-e.1",
    title="second-order points of the population risk",
    statement=__doc__,
    where="Appendix E, Lemma E.1",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RISK, SAMPLED_RECORDS, UNCONSTRAINED),
    parts=(
        Rate(
            formula=second_order,
            unit=_GRADIENT,
            meaning="S",
            bases=("loss", "length"),
            logs_hidden=True,
            increasing_in=_LARGER,
            decreasing_in=(*_SMALLER, hessian_lipschitz),
        ),
        Rate(
            formula=first_order,
            name="first_order",
            unit=_GRADIENT,
            meaning="s, which S is built on",
            bases=("loss", "length"),
            logs_hidden=True,
            increasing_in=_LARGER,
            decreasing_in=_SMALLER,
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-4.6", "ganesh-liu-oh-thakurta-2023/lemma-3.4"),
    superseded_by=("cited/liu-talwar-2024/main-result",),
    notes=(
        Note(
            "Its proof uses an escape lemma that is false as stated; that the algorithm, with Gaussian noise, "
            "misses the "
            "rate is not shown. Δ_F stands for the bound on the range that the cited theorem has there."
        ),
        Note("The formula agrees with the cited theorem as read from its own text."),
    ),
)
