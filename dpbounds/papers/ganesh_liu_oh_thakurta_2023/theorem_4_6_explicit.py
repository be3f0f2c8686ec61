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

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, accuracy, first_batch, fresh_estimates, second_batch
from dpbounds.papers.ganesh_liu_oh_thakurta_2023.lemma_3_7_explicit import count
from dpbounds.privacy.mechanisms import Gaussian, InParallel, Mechanism
from dpbounds.theorems.language import GRADIENT, SAMPLES, Bound, Condition, Numbers, Parameter, Privacy, q


def error() -> Expr:
    deviation = sqrt(2 * log(4 * fresh_estimates / q.zeta))
    sampling = sqrt(q.G**2 / first_batch + q.kappa * q.L**2 / second_batch)
    noise = sqrt(q.sigma**2 + q.kappa * q.sigma_2**2)
    return 2 * deviation * sampling + noise * (sqrt(q.d) + deviation)


deviation = 2 * sqrt(2 * log(2 * q.n / q.zeta))
privacy_error = (sqrt(q.d) + deviation / 2) / (q.n * sqrt(q.rho))
risk = q.B * q.L
sampling = deviation**2 * q.G / q.n
tuned_level = Max(
    (514 * sampling * risk) ** Rational(1, 3),
    (2250000 * q.G * (risk * privacy_error) ** 3) ** Rational(1, 7),
    (6350000 * q.G * sampling * risk**3 * privacy_error**2) ** Rational(1, 8),
    (94000 * sampling * risk**2 * privacy_error) ** Rational(1, 5),
)


def threshold_at(level: Expr) -> Expr:
    by_samples = 1376 * deviation**2 * q.G**2 * q.B / (q.L * q.n * level**2)
    return Max(by_samples, 487 * q.G * q.B * privacy_error / (q.L * level))


level = tuned_level


def mechanism(at: Numbers) -> Mechanism:
    query = Gaussian(at.down(sqrt(2 / q.rho)))  # per unit of G/b₁, or of M‖x - y‖/b₂
    return InParallel((query, query), partition="index")


THEOREM = PAPER.theorem(
    title="first-order stationary points of the population risk, with constants",
    bounds="population-gradient-norm, probability",
    sampling="fresh batches",
    assumptions="Lipschitz, smooth, bounded range, i.i.d. records, fresh samples, unconstrained",
    parts=(
        Bound(
            sqrt(2 * q.L * q.B / q.T + error() ** 2),
            meaning="smallest gradient norm of an iterate, for any parameters",
            conditions=(
                Condition(fresh_estimates >= count(q.T * error() ** 2), "so that the run is not stopped early"),
                Condition(
                    first_batch * fresh_estimates + second_batch * q.T <= q.n, "each record takes part in one query"
                ),
            ),
            bases="loss length",
        ),
        Bound(error, "error", "largest error of all estimates of a run", bases="loss length"),
        Bound(
            sqrt(2) * tuned_level,
            "tuned",
            "the same with the parameters below, for iterates that are ρ-zCDP",
            conditions=(
                Condition(And(level**2 <= q.L * q.B, level <= q.G), "else the bound says little"),
                Condition(threshold_at(level) * q.L <= q.B, "so that T₁ is of order B/(Mκ)"),
            ),
            bases="loss length",
        ),
        Parameter(
            tuned_level,
            "accuracy",
            "E, for which to choose the parameters",
            unit=GRADIENT,
            bases="loss length",
            decreasing_in="n",
        ),
        Parameter(2 * q.L * q.B / accuracy**2, "steps", "T for an accuracy E; round up"),
        Parameter(threshold_at(accuracy), "drift_threshold", "κ for an accuracy E", bases="loss length"),
        Parameter(count(q.T * accuracy**2), "fresh_estimates", "T₁ for an accuracy E, T steps and κ; round up"),
        Parameter(q.n / (2 * fresh_estimates), "first_batch", "b₁; round down", unit=SAMPLES),
        Parameter(q.n / (2 * q.T), "second_batch", "b₂; round down", unit=SAMPLES),
        Parameter(sqrt(2 / q.rho) * q.G / first_batch, "noise_stddev", "σ₁"),
        Parameter(sqrt(2 / q.rho) * q.L / second_batch, "difference_noise_stddev", "σ₂"),
    ),
    privacy=Privacy(mechanism, "rho"),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    relies_on="ganesh-liu-oh-thakurta-2023/lemma-3.5/explicit ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit",
    derivation="population.md",
    notes="""
    - Records are assigned to queries by position, from two pools of n/2, before anything is looked at.
    - The constants of the tuned bound are generous; the bound for given parameters is much smaller.
    """,
)
