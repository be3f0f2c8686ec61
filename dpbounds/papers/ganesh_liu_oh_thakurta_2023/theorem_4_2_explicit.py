r"""Stochastic Spider without kicks, with full-batch Gaussian oracles, $T$ steps, at most $T_1$ fresh estimates and a
drift that includes the last step: with probability at least $1 - \omega$, $\min_t\|\nabla F_D(x_t)\| \le \sqrt{2MB/T +
E^2}$, where $E = \sqrt{\sigma_1^2 + \kappa\sigma_2^2}(\sqrt d + \sqrt{2\ln(2T_1/\omega)})$, if $T_1 \ge 1 + (6B/M +
\frac92TE^2/M^2)/\kappa$. With $\sigma_1 = 2G\sqrt{T_1}/(n\sqrt\rho)$ and $\sigma_2 = 2M\sqrt T/(n\sqrt\rho)$ the
iterates together are $\rho$-zCDP if a record is replaced.

Tuned: $\min_t\|\nabla F_D(x_t)\| \le \sqrt2\,(70\,a^2 GBM/(n^2\rho))^{1/3}$, with $a$ of order $\sqrt d$ plus a root of
a logarithm. So the first-order part of Theorem 4.2 holds, without powers of logarithms. That iterate has to be found by
a selection with a budget of its own (`lemma-4.1/explicit`).
"""

from sympy import And, Expr, Rational, log, sqrt

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, accuracy, fresh_estimates
from dpbounds.papers.ganesh_liu_oh_thakurta_2023.lemma_3_3_explicit import error
from dpbounds.papers.ganesh_liu_oh_thakurta_2023.lemma_3_7_explicit import count
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import GRADIENT, Bound, Condition, Numbers, Parameter, Privacy, q

needed = count(q.T * error**2)


def level(size: Expr) -> Expr:
    scale = q.G * q.B * q.L / (q.n**2 * q.rho)
    return (70 * size * scale) ** Rational(1, 3)


estimates = 2 + 8 * q.L * q.B / (q.G * level(q.d))
tuned_level = level((sqrt(q.d) + sqrt(2 * log(2 * estimates / q.zeta))) ** 2)
whole = q.L * q.B


def mechanism(at: Numbers) -> Mechanism:
    fresh = Gaussian(at.down(2 * sqrt(fresh_estimates / q.rho))) ** at.count(fresh_estimates)
    return fresh @ Gaussian(at.down(2 * sqrt(q.T / q.rho))) ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="first-order stationary points of the empirical risk, with constants",
    bounds="gradient-norm, probability",
    assumptions="Lipschitz, smooth, bounded range, unconstrained",
    parts=(
        Bound(
            sqrt(2 * q.L * q.B / q.T + error**2),
            meaning="smallest gradient norm of an iterate, for any parameters",
            conditions=Condition(fresh_estimates >= needed, "so that the run is not stopped early"),
        ),
        Bound(
            sqrt(2) * tuned_level,
            "tuned",
            "the same with the parameters below, for a search that is ρ-zCDP",
            conditions=Condition(
                And(tuned_level**2 <= whole, q.G * tuned_level <= whole),
                "else the bound says little: a bounded M-smooth risk has |∇F|² <= 2MB everywhere",
            ),
        ),
        Parameter(
            tuned_level,
            "accuracy",
            "E, for which to choose the parameters",
            unit=GRADIENT,
            increasing_in="G d",
            decreasing_in="n rho",
        ),
        Parameter(2 * q.L * q.B / accuracy**2, "steps", "T for an accuracy E; round up"),
        Parameter(sqrt(Rational(15, 2)) * q.G * accuracy / q.L**2, "drift_threshold", "κ for an accuracy E"),
        Parameter(count(q.T * accuracy**2), "fresh_estimates", "T₁ for an accuracy E, T steps and κ; round up"),
        Parameter(2 * q.G / q.n * sqrt(fresh_estimates / q.rho), "noise_stddev", "σ₁ for half of the budget ρ"),
        Parameter(2 * q.L / q.n * sqrt(q.T / q.rho), "difference_noise_stddev", "σ₂ for half of the budget ρ"),
    ),
    privacy=Privacy(mechanism, (q.rho, fresh_estimates, q.T)),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    relies_on="ganesh-liu-oh-thakurta-2023/lemma-3.3/explicit ganesh-liu-oh-thakurta-2023/lemma-3.5/explicit "
    "ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit",
    derivation="spider.md",
    notes="""
    - ρ is the budget of the search alone: φ/2 in Theorem 4.2.
    - B may be the risk of the first iterate minus the infimum. No bound on the Hessian is used.
    """,
)
