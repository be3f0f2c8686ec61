r"""Stochastic Spider without kicks on fresh batches of $b_1$ and $b_2$ records, $b_1T_1 + b_2T \le n$: with
probability at least $1 - \omega$, $\min_t\|\nabla F_P(x_t)\| \le \sqrt{2MB/T + E^2}$ for the population risk, where
$E = \Lambda \sqrt{G^2/b_1 + \kappa M^2/b_2} + \sqrt{\sigma_1^2 + \kappa\sigma_2^2}(\sqrt d + \Lambda/2)$ and $\Lambda
= 2\sqrt{2\ln(4T_1/ \omega)}$, if $T_1 \ge 1 + (6B/M + \frac92TE^2/M^2)/\kappa$. With $\sigma_1 = \sqrt2
G/(b_1\sqrt\rho)$ and $\sigma_2 = \sqrt2 M/(b_2\sqrt\rho)$ the iterates together are $\rho$-zCDP if a record is
replaced.

Tuned, with $\Lambda = 2\sqrt{2\ln(2n/\omega)}$ and $x = (\sqrt d + \Lambda/2)/(n\sqrt\rho)$, it is at most $\sqrt2$
times the largest of $(514\Lambda^2GBM/n)^{1/3}$, $(2250000\,G(BMx)^3)^{1/7}$,
$(6350000\,\Lambda^2G^2(BM)^3x^2/n)^{1/8}$ and $(94000 \,\Lambda^2G(BM)^2x/n)^{1/5}$. The dimension enters through $x$
only; the last term never matters for the order of growth.
"""

from sympy import And, Expr, Max, Rational, log, sqrt

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
from dpbounds.privacy.mechanisms import Gaussian, InParallel, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import BOUNDED_RANGE, FRESH_SAMPLES
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    FIRST_BATCH,
    FRESH,
    LEVEL,
    SECOND_BATCH,
    accuracy,
    first_batch,
    fresh_estimates,
    second_batch,
)
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


def error() -> Expr:
    deviation = sqrt(2 * log(4 * fresh_estimates / failure_probability))
    sampling = sqrt(lipschitz**2 / first_batch + drift_threshold * smoothness**2 / second_batch)
    noise = sqrt(noise_stddev**2 + drift_threshold * difference_noise_stddev**2)
    return 2 * deviation * sampling + noise * (sqrt(dimension) + deviation)


def bound() -> Expr:
    return sqrt(2 * smoothness * loss_range / steps + error() ** 2)


def enough() -> tuple[Condition, ...]:
    return (
        Condition(holds=fresh_estimates >= count(steps * error() ** 2), why="so that the run is not stopped early"),
        Condition(
            holds=first_batch * fresh_estimates + second_batch * steps <= dataset_size,
            why="each record takes part in one query",
        ),
    )


def deviation() -> Expr:
    return 2 * sqrt(2 * log(2 * dataset_size / failure_probability))


def privacy_error() -> Expr:
    return (sqrt(dimension) + deviation() / 2) / (dataset_size * sqrt(rho))


def tuned_level() -> Expr:
    risk = loss_range * smoothness
    sampling = deviation() ** 2 * lipschitz / dataset_size
    return Max(
        (514 * sampling * risk) ** Rational(1, 3),
        (2250000 * lipschitz * (risk * privacy_error()) ** 3) ** Rational(1, 7),
        (6350000 * lipschitz * sampling * risk**3 * privacy_error() ** 2) ** Rational(1, 8),
        (94000 * sampling * risk**2 * privacy_error()) ** Rational(1, 5),
    )


def tuned() -> Expr:
    return sqrt(2) * tuned_level()


def threshold_at(level: Expr) -> Expr:
    by_samples = 1376 * deviation() ** 2 * lipschitz**2 * loss_range / (smoothness * dataset_size * level**2)
    return Max(by_samples, 487 * lipschitz * loss_range * privacy_error() / (smoothness * level))


def best_threshold() -> Expr:
    return threshold_at(accuracy)


def small_level() -> tuple[Condition, ...]:
    level = tuned_level()
    return (
        Condition(holds=And(level**2 <= smoothness * loss_range, level <= lipschitz), why="else the bound says little"),
        Condition(holds=threshold_at(level) * smoothness <= loss_range, why="so that T₁ is of order B/(Mκ)"),
    )


def best_steps() -> Expr:
    return 2 * smoothness * loss_range / accuracy**2


def best_estimates() -> Expr:
    return count(steps * accuracy**2)


def first_batch_size() -> Expr:
    return dataset_size / (2 * fresh_estimates)


def second_batch_size() -> Expr:
    return dataset_size / (2 * steps)


def first_noise() -> Expr:
    return sqrt(2 / rho) * lipschitz / first_batch


def second_noise() -> Expr:
    return sqrt(2 / rho) * smoothness / second_batch


def mechanism(at: Numbers) -> Mechanism:
    query = Gaussian(at.down(sqrt(2 / rho)))  # per unit of G/b₁, or of M‖x - y‖/b₂
    return InParallel((query, query), partition="index")  # two pools; within a pool, too, a record is in one query


_GRADIENT = Unit(1, -1)
_BASES = ("loss", "length")

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit",
    title="first-order stationary points of the population risk, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 4.6",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="fresh batches",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RANGE, SAMPLED_RECORDS, FRESH_SAMPLES, UNCONSTRAINED),
    local=(FIRST_BATCH, FRESH, LEVEL, SECOND_BATCH),
    parts=(
        Bound(
            formula=bound,
            unit=_GRADIENT,
            meaning="smallest gradient norm of an iterate, for any parameters",
            conditions=enough,
            bases=_BASES,
        ),
        Bound(
            formula=error,
            name="error",
            unit=_GRADIENT,
            meaning="largest error of all estimates of a run",
            bases=_BASES,
            increasing_in=(lipschitz, noise_stddev, difference_noise_stddev, dimension, fresh_estimates),
            decreasing_in=(failure_probability, first_batch, second_batch),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_GRADIENT,
            meaning="the same with the parameters below, for iterates that are ρ-zCDP",
            conditions=small_level,
            bases=_BASES,
        ),
        Parameter(
            formula=tuned_level,
            name="accuracy",
            unit=_GRADIENT,
            meaning="E, for which to choose the parameters",
            bases=_BASES,
            increasing_in=(lipschitz, loss_range, smoothness, dimension),
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
            bases=_BASES,
            increasing_in=(lipschitz, loss_range, dimension),
            decreasing_in=(accuracy, smoothness),
        ),
        Parameter(
            formula=best_estimates,
            name="fresh_estimates",
            meaning="T₁ for an accuracy E, T steps and κ; round up",
            increasing_in=(steps, accuracy, loss_range),
            decreasing_in=(drift_threshold, smoothness),
        ),
        Parameter(
            formula=first_batch_size,
            name="first_batch",
            unit=Unit(samples=1),
            meaning="b₁; round down",
            increasing_in=(dataset_size,),
            decreasing_in=(fresh_estimates,),
        ),
        Parameter(
            formula=second_batch_size,
            name="second_batch",
            unit=Unit(samples=1),
            meaning="b₂; round down",
            increasing_in=(dataset_size,),
            decreasing_in=(steps,),
        ),
        Parameter(
            formula=first_noise,
            name="noise_stddev",
            unit=_GRADIENT,
            meaning="σ₁",
            decreasing_in=(first_batch, rho),
        ),
        Parameter(
            formula=second_noise,
            name="difference_noise_stddev",
            unit=Unit(1, -2),
            meaning="σ₂",
            decreasing_in=(second_batch, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho,)),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-4.6",
    derivation="population.md",
    relies_on=(
        "ganesh-liu-oh-thakurta-2023/lemma-3.5/explicit",
        "ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit",
    ),
    notes=(
        Note("Records are assigned to queries by position, from two pools of n/2, before anything is looked at."),
        Note("The constants of the tuned bound are generous; the bound for given parameters is much smaller."),
    ),
)
