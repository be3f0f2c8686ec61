r"""Quoted from Minami et al. 2016: if all densities proportional to $e^{-\beta F_D - r}$ with a public $r$ have the
log-Sobolev inequality with constant $C$, one sample is $(\varepsilon, \delta)$-DP with $\varepsilon = \frac{2G\beta}n
\sqrt C \sqrt{1 + 2\ln(1/\delta)}$. Solved for $\beta$ it prescribes the inverse temperature.
"""

from fractions import Fraction

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    epsilon,
    inverse_temperature,
    lipschitz,
    log_sobolev,
)
from dpbounds.privacy.mechanisms import ZCDP, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import CLOSED_CONVEX_SET, LIPSCHITZ
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions_sampling import LOG_SOBOLEV
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Erratum,
    Metric,
    Note,
    Parameter,
    Privacy,
    Severity,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def loss() -> Expr:
    return 2 * lipschitz * inverse_temperature / dataset_size * sqrt(log_sobolev) * sqrt(1 + 2 * log(1 / delta))


def temperature() -> Expr:
    return epsilon * dataset_size / (2 * lipschitz * sqrt(log_sobolev * (1 + 2 * log(1 / delta))))


def largest_loss() -> Expr:
    root = sqrt(1 + 2 * log(1 / delta))
    return 2 * root / (root + sqrt(2 * log(1 / delta)))


def loss_in_range() -> tuple[Condition, ...]:
    return (Condition(holds=loss() <= largest_loss(), why="range of the proof: every value up to 1, none above 2"),)


def epsilon_in_range() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon <= largest_loss(), why="range of the proof: every ε up to 1, none above 2"),)


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ZCDP(share**2 * at.up(epsilon**2 / (2 * (1 + 2 * log(1 / delta)))), relation=at.relation)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.1",
    title="privacy of a sample under a log-Sobolev inequality",
    statement=__doc__,
    where="Section 5.1, Theorem 5.1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, CLOSED_CONVEX_SET, LOG_SOBOLEV),
    parts=(
        Bound(
            formula=loss,
            name="epsilon",
            unit=Unit(samples=-1),
            meaning="at δ, for one sample",
            conditions=loss_in_range,
            increasing_in=(lipschitz, inverse_temperature, log_sobolev),
            decreasing_in=(dataset_size, delta),
        ),
        Parameter(
            formula=temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="the β at which the bound is ε",
            conditions=epsilon_in_range,
            increasing_in=(epsilon, delta, dataset_size),
            decreasing_in=(lipschitz, log_sobolev),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta)),
    errata=(
        Erratum(
            printed="the formula without a range for ε",
            right="wherever its value is at most 1 (a little further for large δ); two unit Gaussians at distance 20"
            " refute it far outside",
            severity=Severity.HARMLESS,
            evidence="test_theorem_5_1.py::test_two_gaussians_refute_it_without_a_range",
            survives="every use in this paper, where ε < 1/2; for all ε see theorem-5.1/explicit",
            relation=Relation.REPLACE_ONE,
        ),
    ),
    notes=(
        Note("The text at hand has βG/r with r for n, which may be a letter lost in it; n is what the proof gives."),
        Note("`spent` is the zCDP budget 2CG²β²/n² of the prescribed β, proven in theorem-5.1/explicit."),
        Note("On a bounded set the same sample is pure (2βGD/n)-DP with no log-Sobolev inequality at all."),
    ),
)
