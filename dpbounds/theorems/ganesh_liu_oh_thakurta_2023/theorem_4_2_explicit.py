r"""Stochastic Spider without kicks, with full-batch Gaussian oracles, $T$ steps, at most $T_1$ fresh estimates and a
drift that includes the last step: with probability at least $1 - \omega$, $\min_t\|\nabla F_D(x_t)\| \le \sqrt{2MB/T
+ E^2}$, where $E = \sqrt{\sigma_1^2 + \kappa\sigma_2^2}(\sqrt d + \sqrt{2\ln(2T_1/\omega)})$, if $T_1 \ge 1 + (6B/M +
\frac92TE^2/M^2)/\kappa$. With $\sigma_1 = 2G\sqrt{T_1}/(n\sqrt\rho)$ and $\sigma_2 = 2M\sqrt T/(n\sqrt\rho)$ the
iterates together are $\rho$-zCDP if a record is replaced.

Tuned: $\min_t\|\nabla F_D(x_t)\| \le \sqrt2\,(70\,a^2 GBM/(n^2\rho))^{1/3}$, with $a$ of order $\sqrt d$ plus a root
of a logarithm. So the first-order part of Theorem 4.2 holds, without powers of logarithms. Which iterate it is, a
selection has to find, with a budget of its own (`lemma-4.1/explicit`).
"""

from sympy import And, Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    difference_noise_stddev,
    dimension,
    drift_threshold,
    failure_probability,
    lipschitz,
    loss_range,
    noise_stddev,
    rho,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import BOUNDED_RANGE
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import FRESH, LEVEL, accuracy, fresh_estimates
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023.lemma_3_3_explicit import error
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023.lemma_3_7_explicit import count
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def bound() -> Expr:
    return sqrt(2 * smoothness * loss_range / steps + error() ** 2)


def enough_estimates() -> tuple[Condition, ...]:
    needed = count(steps * error() ** 2)
    return (Condition(holds=fresh_estimates >= needed, why="so that the run is not stopped early"),)


def level(size: Expr) -> Expr:
    scale = lipschitz * loss_range * smoothness / (dataset_size**2 * rho)
    return (70 * size * scale) ** Rational(1, 3)


def tuned_level() -> Expr:
    estimates = 2 + 8 * smoothness * loss_range / (lipschitz * level(dimension))
    return level((sqrt(dimension) + sqrt(2 * log(2 * estimates / failure_probability))) ** 2)


def tuned() -> Expr:
    return sqrt(2) * tuned_level()


def small_level() -> tuple[Condition, ...]:
    whole = smoothness * loss_range
    return (
        Condition(
            holds=And(tuned_level() ** 2 <= whole, lipschitz * tuned_level() <= whole),
            why="else the bound says little: a bounded M-smooth risk has |∇F|² <= 2MB everywhere",
        ),
    )


def best_steps() -> Expr:
    return 2 * smoothness * loss_range / accuracy**2


def best_threshold() -> Expr:
    return sqrt(Rational(15, 2)) * lipschitz * accuracy / smoothness**2


def best_estimates() -> Expr:
    return count(steps * accuracy**2)


def first_noise() -> Expr:
    return 2 * lipschitz / dataset_size * sqrt(fresh_estimates / rho)


def second_noise() -> Expr:
    return 2 * smoothness / dataset_size * sqrt(steps / rho)


def mechanism(at: Numbers) -> Mechanism:
    fresh = Gaussian(at.down(2 * sqrt(fresh_estimates / rho))) ** at.count(fresh_estimates)
    return fresh @ Gaussian(at.down(2 * sqrt(steps / rho))) ** at.count(steps)


_GRADIENT = Unit(1, -1)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit",
    title="first-order stationary points of the empirical risk, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 4.2",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RANGE, UNCONSTRAINED),
    local=(FRESH, LEVEL),
    parts=(
        Bound(
            formula=bound,
            unit=_GRADIENT,
            meaning="smallest gradient norm of an iterate, for any parameters",
            conditions=enough_estimates,
            increasing_in=(loss_range, noise_stddev, difference_noise_stddev, dimension),
            decreasing_in=(failure_probability,),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_GRADIENT,
            meaning="the same with the parameters below, for a search that is ρ-zCDP",
            conditions=small_level,
        ),
        Parameter(
            formula=tuned_level,
            name="accuracy",
            unit=_GRADIENT,
            meaning="E, for which to choose the parameters",
            increasing_in=(lipschitz, dimension),
            decreasing_in=(dataset_size, rho, failure_probability),
        ),
        Parameter(
            formula=best_steps,
            name="steps",
            meaning="T for an accuracy E; round up",
            increasing_in=(smoothness, loss_range),
            decreasing_in=(accuracy,),
        ),
        Parameter(
            formula=best_threshold,
            name="drift_threshold",
            unit=Unit(length=2),
            meaning="κ for an accuracy E",
            increasing_in=(lipschitz, accuracy),
            decreasing_in=(smoothness,),
        ),
        Parameter(
            formula=best_estimates,
            name="fresh_estimates",
            meaning="T₁ for an accuracy E, T steps and κ; round up",
            increasing_in=(steps, accuracy, loss_range),
            decreasing_in=(drift_threshold, smoothness),
        ),
        Parameter(
            formula=first_noise,
            name="noise_stddev",
            unit=_GRADIENT,
            meaning="σ₁ for half of the budget ρ",
            increasing_in=(lipschitz, fresh_estimates),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=second_noise,
            name="difference_noise_stddev",
            unit=Unit(1, -2),
            meaning="σ₂ for half of the budget ρ",
            increasing_in=(smoothness, steps),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, fresh_estimates, steps)),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-4.2",
    derivation="spider.md",
    relies_on=(
        "ganesh-liu-oh-thakurta-2023/lemma-3.3/explicit",
        "ganesh-liu-oh-thakurta-2023/lemma-3.5/explicit",
        "ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit",
    ),
    notes=(
        Note("ρ is the budget of the search alone: φ/2 in Theorem 4.2."),
        Note("B may be the risk of the first iterate minus the infimum. No bound on the Hessian is used."),
    ),
)
