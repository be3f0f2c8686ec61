r"""Noisy gradient descent on an $L$-smooth risk with steps $0 < \eta < 2/L$ has, at a random one of its iterates $w_1,
\dots, w_T$ (and so at the best of them), a root mean square gradient norm of at most $\sqrt{\frac{\Delta_F/(\eta T) +
\frac{L\eta}2 d \sigma^2}{1 - L\eta/2}}$. At the printed $\eta = 1/L$ that is $\sqrt{2 L \Delta_F/T + d\sigma^2}$.

With $\sigma^2 = 2G^2T/(n^2\rho)$ ($\rho$-zCDP under replace-one) and $\eta = s/T$, $s = \frac nG \sqrt{\Delta_F \rho/(L
d)}$, $T > L s/2$, it is $\big(\frac{2 G \sqrt{d L \Delta_F/\rho}}{n (1 - L s/2T)}\big)^{1/2}$, no worse the more steps
are taken.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Bound, Condition, Parameter, Privacy, q, sqrt

curvature = q.L * q.eta / 2
travel = q.Delta_F / (q.eta * q.T)
norm = sqrt((travel + curvature * q.d * q.sigma**2) / (1 - curvature))
time = q.n / q.G * sqrt(q.Delta_F * q.rho / (q.L * q.d))
limit = 2 * q.G * sqrt(q.d * q.L * q.Delta_F / q.rho) / q.n

THEOREM = PAPER.theorem(
    title="gradient norm of DP-GD, with constants",
    where="derived here; compare Algorithm 4 and the paragraph after Theorem 7",
    bounds="gradient-norm, expectation",
    assumptions="smooth risk, Lipschitz, bounded risk, unconstrained",
    parts=(
        Bound(
            norm,
            meaning="root mean square gradient norm at a random iterate",
            conditions=Condition(q.eta < 2 / q.L, "a step decreases the risk on average"),
        ),
        Bound(sqrt(2 * q.L * q.Delta_F / q.T + q.d * q.sigma**2), "printed_step", "the same at η = 1/L"),
        Bound(
            sqrt(limit / (1 - q.L * time / (2 * q.T))),
            "tuned",
            "the same with the step size and the noise below",
            conditions=Condition(q.T > q.L * time / 2, "η = s/T < 2/L"),
            decreasing_in="T",
        ),
        Parameter(time / q.T, "step_size", "η = s/T"),
        Parameter(q.G / q.n * sqrt(2 * q.T / q.rho), "noise_stddev", "σ for a budget ρ and T steps"),
    ),
    free="T eta",
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), "rho T"),
    algorithm="wang-chen-xu-2019/algorithm-4",
    derivation="algorithm_4_explicit.md",
)
