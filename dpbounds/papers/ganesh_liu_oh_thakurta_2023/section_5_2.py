r"""Quoted from Ganesh, Thakurta & Upadhyay 2022: a sample of the density proportional to
$e^{-\frac{\varepsilon n}{GD} F_D}$ is $\varepsilon$-DP, and for convex losses its excess empirical risk is
$\tilde O\big(\frac{DGd}{n\varepsilon}\big)$. This $\varepsilon$ is right if a record's loss is removed; if a record is
replaced, $2\varepsilon$ is spent.
"""

from fractions import Fraction

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Erratum, Numbers, Parameter, Privacy, Rate, Unit, q

printed = q.epsilon * q.n / (q.G * q.D)


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor) / at.count(q.n)
    span = at.up(printed * q.G * q.D)
    return ExponentialMechanism(share * span, relation=at.relation)


THEOREM = PAPER.theorem(
    title="the exponential mechanism on a set",
    where="Section 5.2, first paragraph (not numbered)",
    bounds="excess-empirical-risk, expectation",
    status="repaired",
    assumptions="Lipschitz, convex, bounded set",
    parts=(
        Rate(q.D * q.G * q.d / (q.n * q.epsilon), meaning="excess empirical risk of convex losses", logs_hidden=True),
        Parameter(
            printed,
            "printed_temperature",
            "as printed: ε-DP where a loss is taken out and the 1/n stays",
            unit=Unit(loss=-1),
        ),
        Parameter(q.epsilon * q.n / (2 * q.G * q.D), "inverse_temperature", "ε-DP where a record is replaced"),
    ),
    privacy=Privacy(mechanism, "epsilon n G D"),
    relies_on="cited/ganesh-et-al-2022/main-result",
    errata=Erratum(
        printed="sampling from exp(-(εn/(GD)) F_D) is ε-DP",
        right="2ε if a record is replaced: F_D - F_D' has range 2GD/n. Which relation is meant is unclear: "
        "datasets 'differ in at most one element', Section 4 and this section count G/n (a record added or removed), "
        "Theorem 5.1 2G/n and Algorithm 2 4G/(nε) (a record replaced)",
        severity="privacy",
        evidence="test_section_5_2.py::test_a_tilted_interval_spends_twice_epsilon",
        where="Section 5.2, first sentence",
        survives="ε-DP where a loss is taken out and the 1/n stays; with half the temperature, replace-one",
        relation="replace-one",
    ),
    notes="""
    - `spent` accounts for the temperature as printed. No convexity is needed for privacy.
    - Section 1.1 says of the cited risk bound that it is for non-convex losses, Section 5.2 for convex ones.
    """,
)
