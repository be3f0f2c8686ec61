r"""Rates for second-order stationary points with all constants 1, each to be read as its minimum with 1. Empirical
risk: $(\sqrt d/(\varepsilon n))^{2/3}$ before (Liu et al. 2023), $d^{2/3}/(\varepsilon n)$ here, the lower bound
$\sqrt d/(\varepsilon n)$. Population risk: $n^{-1/3} + (\sqrt d/(\varepsilon n))^{3/7}$ before, $\zeta^{1/3} n^{-1/3}
+ \zeta^{3/7} (\sqrt d/(\varepsilon n))^{3/7}$ here with $\zeta = 1 \wedge (d/(\varepsilon n) + \sqrt{d/n})$, the
lower bound $1/\sqrt n + \sqrt d/(\varepsilon n)$.
"""

from sympy import Expr, Min, Rational, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    dimension,
    epsilon,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Parameter, Rate, Status, Theorem

HIDDEN = (lipschitz, smoothness, hessian_lipschitz, initial_gap, diameter)


def plain_ratio() -> Expr:
    return sqrt(dimension) / (epsilon * dataset_size)


def factor() -> Expr:
    return Min(1, dimension / (epsilon * dataset_size) + sqrt(dimension / dataset_size))


def liu_empirical() -> Expr:
    return plain_ratio() ** Rational(2, 3)


def restored_liu_empirical() -> Expr:
    return (sqrt(lipschitz * smoothness * initial_gap) * plain_ratio()) ** Rational(2, 3)


def new_empirical() -> Expr:
    return dimension ** Rational(2, 3) / (epsilon * dataset_size)


def restored_new_empirical() -> Expr:
    return (lipschitz**2 * smoothness * diameter) ** Rational(1, 3) * new_empirical()


def restored_lower_empirical() -> Expr:
    return lipschitz * plain_ratio()


def liu_population() -> Expr:
    return dataset_size ** Rational(-1, 3) + plain_ratio() ** Rational(3, 7)


def new_population() -> Expr:
    return (factor() / dataset_size) ** Rational(1, 3) + (factor() * plain_ratio()) ** Rational(3, 7)


def restored_liu_population() -> Expr:
    sampling = (lipschitz * smoothness * initial_gap / dataset_size) ** Rational(1, 3)
    noise = (lipschitz * smoothness**3 * initial_gap**3) ** Rational(1, 7)
    return sampling + noise * plain_ratio() ** Rational(3, 7)


def restored_new_population() -> Expr:
    warm = lipschitz * diameter * factor()  # the excess population risk of the warm start, for the gap
    sampling = (lipschitz * smoothness * warm / dataset_size) ** Rational(1, 3)
    noise = (lipschitz * smoothness**3 * warm**3) ** Rational(1, 7)
    return sampling + noise * plain_ratio() ** Rational(3, 7)


def lower_population() -> Expr:
    return 1 / sqrt(dataset_size) + plain_ratio()


def restored_lower_population() -> Expr:
    return lipschitz * lower_population()


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/figure-1",
    title="rates for second-order stationary points",
    statement=__doc__,
    where="Section 1, Figure 1",
    metric=Metric.NONE,
    status=Status.EMPIRICAL,
    relation=Relation.REPLACE_ONE,
    parts=(
        Rate(
            formula=liu_empirical,
            name="liu-empirical",
            unit=Unit(1, -1),
            meaning="before: Liu et al. 2023",
            hides=HIDDEN,
            restored=restored_liu_empirical,
            logs_hidden=True,
        ),
        Rate(
            formula=new_empirical,
            name="new-empirical",
            unit=Unit(1, -1),
            meaning="here: Corollary 4.4",
            hides=HIDDEN,
            restored=restored_new_empirical,
            logs_hidden=True,
        ),
        Rate(
            formula=plain_ratio,
            name="lower-empirical",
            unit=Unit(1, -1),
            meaning="lower bound, for first-order stationary points",
            hides=HIDDEN,
            restored=restored_lower_empirical,
        ),
        Rate(
            formula=liu_population,
            name="liu-population",
            unit=Unit(1, -1),
            meaning="before: Liu et al. 2023",
            bases=("loss", "length"),
            hides=HIDDEN,
            restored=restored_liu_population,
            logs_hidden=True,
        ),
        Rate(
            formula=new_population,
            name="new-population",
            unit=Unit(1, -1),
            meaning="here: Corollary 7.1",
            bases=("loss", "length"),
            hides=HIDDEN,
            restored=restored_new_population,
            logs_hidden=True,
        ),
        Rate(
            formula=lower_population,
            name="lower-population",
            unit=Unit(1, -1),
            meaning="lower bound, for first-order stationary points",
            bases=("loss", "length"),
            hides=HIDDEN,
            restored=restored_lower_population,
        ),
        Parameter(formula=factor, name="factor", meaning="ζ of the caption", bases=("loss", "length")),
    ),
    relies_on=("lowy-ullman-wright-2024/corollary-4.4", "ganesh-liu-oh-thakurta-2023/lemma-3.4"),
    notes=(
        Note(
            "The figure is an image that was not in the text at hand: only its caption was read, and the rows are "
            "reconstructed from what the text says of them. Whether they are complete is not known."
        ),
        Note(
            "All upper bounds of the figure are for second-order stationary points and rest on the disputed lemma, see "
            "lowy-ullman-wright-2024/lemma-3.3. The first-order analogues for the empirical risk do not."
        ),
    ),
)
