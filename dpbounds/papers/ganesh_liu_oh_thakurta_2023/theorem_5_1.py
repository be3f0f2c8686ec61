r"""Quoted from Minami et al. 2016: if all densities proportional to $e^{-\beta F_D - r}$ with a public $r$ have the
log-Sobolev inequality with constant $C$, one sample is $(\varepsilon, \delta)$-DP with $\varepsilon = \frac{2G\beta}n
\sqrt C \sqrt{1 + 2\ln(1/\delta)}$. Solved for $\beta$ it prescribes the inverse temperature.
"""

from fractions import Fraction

from sympy import Expr, log, sqrt

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.privacy.mechanisms import ZCDP, Mechanism
from dpbounds.theorems.language import PER_SAMPLE, Bound, Condition, Erratum, Numbers, Parameter, Privacy, q

loss = 2 * q.G * q.beta / q.n * sqrt(q.C_LS) * sqrt(1 + 2 * log(1 / q.delta))


def largest_loss() -> Expr:
    root = sqrt(1 + 2 * log(1 / q.delta))
    return 2 * root / (root + sqrt(2 * log(1 / q.delta)))


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ZCDP(share**2 * at.up(q.epsilon**2 / (2 * (1 + 2 * log(1 / q.delta)))), relation=at.relation)


THEOREM = PAPER.theorem(
    title="privacy of a sample under a log-Sobolev inequality",
    where="Section 5.1, Theorem 5.1",
    bounds="privacy",
    status="repaired",
    assumptions="Lipschitz, closed convex set, log-Sobolev",
    parts=(
        Bound(
            loss,
            "epsilon",
            "at δ, for one sample",
            unit=PER_SAMPLE,
            conditions=Condition(loss <= largest_loss(), "range of the proof: every value up to 1, none above 2"),
        ),
        Parameter(
            q.epsilon * q.n / (2 * q.G * sqrt(q.C_LS * (1 + 2 * log(1 / q.delta)))),
            "inverse_temperature",
            "the β at which the bound is ε",
            conditions=Condition(q.epsilon <= largest_loss(), "range of the proof: every ε up to 1, none above 2"),
        ),
    ),
    privacy=Privacy(mechanism, "epsilon delta"),
    errata=Erratum(
        printed="the formula without a range for ε",
        right="wherever its value is at most 1 (a little further for large δ); two unit Gaussians at distance 20 "
        "refute it far outside",
        severity="harmless",
        evidence="test_theorem_5_1.py::test_two_gaussians_refute_it_without_a_range",
        survives="every use in this paper, where ε < 1/2; for all ε see theorem-5.1/explicit",
        relation="replace-one",
    ),
    notes="""
    - The text at hand has βG/r with r for n, which may be a letter lost in it; the proof gives n.
    - `spent` is the zCDP budget 2CG²β²/n² of the prescribed β, proven in theorem-5.1/explicit.
    - On a bounded set the same sample is pure (2βGD/n)-DP with no log-Sobolev inequality at all.
    """,
)
