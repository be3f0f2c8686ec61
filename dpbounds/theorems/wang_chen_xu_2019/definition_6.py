r"""The Gaussian mechanism adds $N(0, \sigma^2 I)$ to a query of l2 sensitivity $\Delta$; it is said to be
$(\varepsilon, \delta)$-differentially private for $\sigma \ge \Delta \sqrt{2 \ln(1.25/\delta)} / \varepsilon$. The
classical proof needs $\varepsilon < 1$, which is not printed.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon, sensitivity
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import (
    Claim,
    Condition,
    Erratum,
    Metric,
    Parameter,
    Privacy,
    Severity,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def noise() -> Expr:
    return sensitivity * sqrt(2 * log(Rational(5, 4) / delta)) / epsilon


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon < 1, why="the classical proof; not printed"),)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(noise_stddev=at.down(noise()), sensitivity=at[sensitivity])


THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-6",
    title="the Gaussian mechanism",
    statement=__doc__,
    where="Preliminaries, Definition 6",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    conditions=conditions,
    parts=(
        Parameter(
            formula=noise,
            name="noise_stddev",
            unit=Unit(1, -1, 1),
            meaning="smallest standard deviation that the definition asks for",
            increasing_in=(sensitivity,),
            decreasing_in=(delta, epsilon),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, sensitivity)),
    relies_on=("cited/dwork-roth-2014/theorem-a.1",),
    errata=(
        Erratum(
            printed="(ε, δ)-DP for every ε > 0",
            right="for ε < 1; the formula itself first fails beyond ε = 5.74 (δ = 0.1), 7.46 (1e-3), 8.42 (1e-5)",
            severity=Severity.CONSTANT,
            evidence="test_definition_6.py::test_the_formula_fails_for_large_epsilon",
            survives="the standard statement for ε < 1",
        ),
    ),
)
