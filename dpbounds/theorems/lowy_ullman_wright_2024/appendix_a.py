r"""What the paper compares with, with all constants 1: empirical gradient norms $A^{2/3}$ (Arora et al. 2023; Tran &
Cutkosky 2022; second-order: Liu et al. 2023) and $A^{1/2}$ (before 2022), $A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$;
the lower bound $\sqrt d/(\varepsilon n)$; population gradient norms of Zhou et al. 2020 and Arora et al. 2023 with
the lower bound $1/\sqrt n + \sqrt d/(\varepsilon n)$; and, for generalised linear models of rank $r$, $1/\sqrt n +
\big((\sqrt r/(\varepsilon n))^{2/3} \wedge (\varepsilon n)^{-2/5}\big)$.
"""

from sympy import Expr, Min, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    initial_gap,
    lipschitz,
    rank,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Rate, Read, Status, Theorem

HIDDEN = (lipschitz, smoothness, initial_gap)


def noise_ratio() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def plain_ratio() -> Expr:
    return sqrt(dimension) / (epsilon * dataset_size)


def spider() -> Expr:
    return noise_ratio() ** Rational(2, 3)


def restored_spider() -> Expr:
    return (sqrt(lipschitz * smoothness * initial_gap) * noise_ratio()) ** Rational(2, 3)


def descent() -> Expr:
    return sqrt(noise_ratio())


def restored_descent() -> Expr:
    return sqrt(lipschitz * sqrt(smoothness * initial_gap) * noise_ratio())


def restored_lower() -> Expr:
    return lipschitz * plain_ratio()


def zhou() -> Expr:
    return epsilon * sqrt(dimension) + sqrt(plain_ratio())


def arora_population() -> Expr:
    return dataset_size ** Rational(-1, 3) + sqrt(plain_ratio())


def lower_population() -> Expr:
    return 1 / sqrt(dataset_size) + plain_ratio()


def restored_lower_population() -> Expr:
    return lipschitz * lower_population()


def arora_glm() -> Expr:
    size = epsilon * dataset_size
    return 1 / sqrt(dataset_size) + Min((sqrt(rank) / size) ** Rational(2, 3), size ** Rational(-2, 5))


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/appendix-a",
    title="rates of earlier work",
    statement=__doc__,
    where="Section 1 and Appendix A, related work",
    metric=Metric.NONE,
    status=Status.EMPIRICAL,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Rate(
            formula=spider,
            name="arora-empirical",
            unit=Unit(1, -1),
            meaning="Arora et al. 2023, Tran & Cutkosky 2022",
            hides=HIDDEN,
            restored=restored_spider,
            logs_hidden=True,
        ),
        Rate(
            formula=descent,
            name="before-2022",
            unit=Unit(1, -1),
            meaning="private gradient descent",
            hides=HIDDEN,
            restored=restored_descent,
            logs_hidden=True,
        ),
        Rate(
            formula=plain_ratio,
            name="lower-empirical",
            unit=Unit(1, -1),
            meaning="lower bound of Arora et al. 2023, for convex losses",
            hides=(lipschitz,),
            restored=restored_lower,
        ),
        Rate(
            formula=zhou,
            name="zhou-population",
            unit=Unit(1, -1),
            meaning="Zhou et al. 2020, as quoted",
            hides=HIDDEN,
        ),
        Rate(
            formula=arora_population,
            name="arora-population",
            unit=Unit(1, -1),
            meaning="Arora et al. 2023",
            hides=HIDDEN,
            logs_hidden=True,
        ),
        Rate(
            formula=lower_population,
            name="lower-population",
            unit=Unit(1, -1),
            meaning="lower bound of Arora et al. 2023",
            bases=("loss", "length"),
            hides=(lipschitz,),
            restored=restored_lower_population,
        ),
        Rate(
            formula=arora_glm,
            name="arora-glm",
            unit=Unit(1, -1),
            meaning="Arora et al. 2023, generalised linear models",
            hides=(lipschitz, smoothness, diameter),
            logs_hidden=True,
        ),
    ),
    relies_on=(
        "cited/arora-et-al-2023/theorem-4.2",
        "cited/arora-et-al-2023/theorem-4.3",
        "cited/arora-et-al-2023/population-rate",
        "cited/arora-et-al-2023/theorem-6.1",
        "cited/tran-cutkosky-2022/main-result",
        "cited/zhou-et-al-2020/main-result",
    ),
    notes=(
        Note("Recorded as the paper quotes these results; they were not compared with their sources here."),
        Note(
            "The first term of Zhou et al. grows with ε and does not fall with n. It is recorded as it stands in "
            "the text "
            "at hand."
        ),
        Note("The population rate of Arora et al. 2023 is attributed to another paper of 2022 there."),
    ),
)
