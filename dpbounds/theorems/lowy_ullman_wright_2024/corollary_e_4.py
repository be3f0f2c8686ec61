r"""The exponential mechanism of Lemma E.3 in front of the algorithm of Lemma E.1: with probability $1 - 2\zeta$ a
$\kappa$-second-order stationary point of the population risk. With $Z = \frac{d}{\varepsilon n} + \sqrt{d/n}$, $A =
\sqrt{d\ln(1/\delta)}/(\varepsilon n)$, $h = \frac{1}{n\varepsilon} + \frac1{\sqrt n}$, up to logarithms $\kappa =
(G^2 L D Z/n)^{1/3} + (G^4 L^3 D^3 Z^3)^{1/7} A^{3/7} + \frac{L}{\sqrt{\rho_H}} h \big[(G^2 L D Z/n)^{1/6} + (G^4 L^3
D^3 Z^3)^{1/14} A^{3/14}\big] + G h$: Theorem E.2 with $\psi = G D Z$. Print has other powers in three places.
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
from dpbounds.theorems.assumptions import (
    BOUNDED_RISK,
    HESSIAN_LIPSCHITZ,
    LIPSCHITZ,
    SAMPLED_RECORDS,
    SMOOTH,
    UNCONSTRAINED,
)
from dpbounds.theorems.record import (
    Erratum,
    Metric,
    Mode,
    Note,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)


def noise_level() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def closeness() -> Expr:
    return dimension / (epsilon * dataset_size) + sqrt(dimension / dataset_size)


def resolution() -> Expr:
    return 1 / (dataset_size * epsilon) + 1 / sqrt(dataset_size)


def sampling() -> Expr:
    return (lipschitz**2 * smoothness * diameter * closeness() / dataset_size) ** Rational(1, 3)


def private() -> Expr:
    inner = lipschitz**4 * smoothness**3 * diameter**3 * closeness() ** 3
    return inner ** Rational(1, 7) * noise_level() ** Rational(3, 7)


def hessian() -> Expr:
    return smoothness / sqrt(hessian_lipschitz) * resolution() * (sqrt(sampling()) + sqrt(private()))


def rate() -> Expr:
    return sampling() + private() + hessian() + lipschitz * resolution()


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-e.4",
    title="second-order points of the population risk after the exponential mechanism",
    statement=__doc__,
    where="Appendix E, Corollary E.4",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RISK, SAMPLED_RECORDS, UNCONSTRAINED),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="κ, repaired",
            bases=("loss", "length"),
            logs_hidden=True,
            increasing_in=(lipschitz, smoothness, diameter, dimension),
            decreasing_in=(dataset_size, epsilon, delta, hessian_lipschitz),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-4",
    relies_on=(
        "lowy-ullman-wright-2024/theorem-e.2",
        "lowy-ullman-wright-2024/lemma-e.3",
        "ganesh-liu-oh-thakurta-2023/lemma-3.4",
    ),
    errata=(
        Erratum(
            printed="first term ((GL)^(1/3)/n^(1/3)) (GD)^(1/3) (d/(εn))^(1/3)",
            right="(d/(εn) + √(d/n))^(1/3) in the place of (d/(εn))^(1/3); in version 1",
            severity=Severity.TYPO,
            evidence="test_corollary_e_4.py::test_the_first_term_lost_a_summand",
            survives="Corollary 7.1, which has the summand",
        ),
        Erratum(
            printed="within the third term GD(d/(εn) + √(d/n)) to the first power",
            right="to the power 1/6; as printed the term does not scale like a gradient norm; in version 1",
            severity=Severity.TYPO,
            evidence="test_corollary_e_4.py::test_the_third_term_does_not_scale_as_printed",
            survives="Corollary 7.1, where the third term is of lower order",
        ),
        Erratum(
            printed="within the third term (GL³)^(1/4)",
            right="(GL³)^(1/14); in version 1",
            severity=Severity.TYPO,
            evidence="test_corollary_e_4.py::test_the_third_term_does_not_scale_as_printed",
            survives="Corollary 7.1, where the third term is of lower order",
        ),
    ),
    notes=(Note("What is recorded is Theorem E.2 with ψ = GDZ; it rests on an escape lemma that is false as stated."),),
)
