r"""Quoted from Ganesh, Thakurta & Upadhyay 2022: a sample of the density proportional to $e^{-\frac{\varepsilon
n}{GD} F_D}$ is $\varepsilon$-DP, and for convex losses its excess empirical risk is $\tilde
O\big(\frac{DGd}{n\varepsilon}\big)$. The factor is right where a record's loss is taken out; where a record is
replaced, twice $\varepsilon$ is spent.
"""

from fractions import Fraction

from sympy import Expr

from dpbounds.expressions.symbols import Unit, dataset_size, diameter, dimension, epsilon, lipschitz
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, CONVEX, LIPSCHITZ
from dpbounds.theorems.record import (
    Claim,
    Erratum,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def printed() -> Expr:
    return epsilon * dataset_size / (lipschitz * diameter)


def repaired() -> Expr:
    return epsilon * dataset_size / (2 * lipschitz * diameter)


def rate() -> Expr:
    return diameter * lipschitz * dimension / (dataset_size * epsilon)


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor) / at.count(dataset_size)
    span = at.up(printed() * lipschitz * diameter)
    return ExponentialMechanism(share * span, relation=at.relation)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/section-5.2",
    title="the exponential mechanism on a set",
    statement=__doc__,
    where="Section 5.2, first paragraph (not numbered)",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, CONVEX, BOUNDED_SET),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            meaning="excess empirical risk of convex losses",
            logs_hidden=True,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=printed,
            name="printed_temperature",
            unit=Unit(loss=-1),
            meaning="as printed: ε-DP where a loss is taken out and the 1/n stays",
            increasing_in=(epsilon, dataset_size),
        ),
        Parameter(
            formula=repaired,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="ε-DP where a record is replaced",
            increasing_in=(epsilon, dataset_size),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon, dataset_size, lipschitz, diameter)),
    relies_on=("cited/ganesh-et-al-2022/main-result",),
    errata=(
        Erratum(
            printed="sampling from exp(-(εn/(GD)) F_D) is ε-DP",
            right="2ε if a record is replaced: F_D - F_D' has range 2GD/n. Which relation is meant cannot be "
            "told: data "
            "sets 'differ in at most one element', Section 4 and this section count G/n (a record added or removed), "
            "Theorem 5.1 2G/n and Algorithm 2 4G/(nε) (a record replaced)",
            severity=Severity.PRIVACY,
            evidence="test_section_5_2.py::test_a_tilted_interval_spends_twice_epsilon",
            where="Section 5.2, first sentence",
            survives="ε-DP where a loss is taken out and the 1/n stays; with half the temperature, replace-one",
            relation=Relation.REPLACE_ONE,
        ),
    ),
    notes=(
        Note("`spent` accounts for the temperature as printed. No convexity is needed for privacy."),
        Note("Section 1.1 says of the cited risk bound that it is for non-convex losses, Section 5.2 for convex ones."),
    ),
)
