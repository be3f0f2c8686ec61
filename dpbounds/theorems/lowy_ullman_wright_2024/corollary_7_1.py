r"""Second-order stationary points of the population risk: for $n d \ge 1/\varepsilon^2$ and with $G$, $L$, $D$,
$\rho_H$ taken as constants, the exponential mechanism followed by the algorithm of Lemma E.1 returns with high
probability a $\kappa$-SOSP, $\kappa = n^{-1/3} Z^{1/3} + \big(\frac{\sqrt d}{\varepsilon n}\big)^{3/7} Z^{3/7}$ up to
logarithms, $Z = \frac{d}{\varepsilon n} + \sqrt{d/n}$. For $Z < 1$ that is better than the rate without a warm start,
which is the same with $Z = 1$; for constant $d$ and $\varepsilon$ it is $1/\sqrt n$.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    dimension,
    epsilon,
    hessian_lipschitz,
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
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Side, Status, Theorem

_THIRD, _THREE_SEVENTHS = Rational(1, 3), Rational(3, 7)


def closeness() -> Expr:
    return dimension / (epsilon * dataset_size) + sqrt(dimension / dataset_size)


def rate() -> Expr:
    private = sqrt(dimension) / (epsilon * dataset_size)
    return (closeness() / dataset_size) ** _THIRD + (private * closeness()) ** _THREE_SEVENTHS


def restored() -> Expr:
    private = sqrt(dimension) / (epsilon * dataset_size)
    first = (lipschitz**2 * smoothness * diameter * closeness() / dataset_size) ** _THIRD
    second = lipschitz ** Rational(4, 7) * (smoothness * diameter * private * closeness()) ** _THREE_SEVENTHS
    return first + second


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(
            holds=dataset_size * dimension * epsilon**2 >= 1,
            why="the terms of Corollary E.4 that are left out are then of lower order",
        ),
    )


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-7.1",
    title="stationary points of the population risk",
    statement=__doc__,
    where="Section 7, Corollary 7.1",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RISK, SAMPLED_RECORDS, UNCONSTRAINED),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="κ; δ is hidden among the logarithms",
            hides=(lipschitz, smoothness, diameter, hessian_lipschitz),
            restored=restored,
            bases=("loss", "length"),
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-4",
    relies_on=("lowy-ullman-wright-2024/corollary-e.4", "ganesh-liu-oh-thakurta-2023/lemma-3.4"),
    notes=(
        Note(
            "With constants restored these are the first two terms of lowy-ullman-wright-2024/corollary-e.4; the other "
            "two are of lower order only while those constants are of order 1."
        ),
        Note("It follows from the repaired Corollary E.4, not from that corollary as printed."),
        Note(
            "'Improves the state of the art' refers to Liu et al. 2023. As a bound on the gradient alone, Arora et al. "
            "2023 (n^(-1/3) + (√d/(εn))^(1/2)) and, for second-order points, Liu & Talwar 2024 are better where "
            "Z⁶ > √d/(εn) and the second terms dominate."
        ),
        Note("For comparison, the lower bound on an expected gradient is 1/√n + √d/(εn) (Figure 1)."),
    ),
)
