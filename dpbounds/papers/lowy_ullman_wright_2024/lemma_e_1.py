r"""Quoted from Liu et al. 2023 (Theorem 4.6): an $(\varepsilon/2, \delta/2)$-DP variant of DP-SPIDER, started with
population gap $\Delta_F$, returns with probability $1 - \zeta$ an $S$-second-order stationary point of the population
risk, with $s = (G L \Delta_F / n)^{1/3} + (G L^3 \Delta_F^3)^{1/7} A^{3/7}$ and $S = s + \frac{L}{\sqrt{\rho_H}} h
\sqrt s + G h$ up to logarithms, where $A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$ and $h = \frac{1}{n\varepsilon} +
\frac{1}{\sqrt n}$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Rate, Rational, log, q, sqrt

noise_level = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
resolution = 1 / (q.n * q.epsilon) + 1 / sqrt(q.n)
sampling = (q.G * q.L * q.Delta_F / q.n) ** Rational(1, 3)
private = (q.G * q.L**3 * q.Delta_F**3) ** Rational(1, 7) * noise_level ** Rational(3, 7)
first_order = sampling + private
hessian = q.L / sqrt(q.rho_H) * resolution * sqrt(first_order)
second_order = first_order + hessian + q.G * resolution

THEOREM = PAPER.theorem(
    title="second-order points of the population risk",
    where="Appendix E, Lemma E.1",
    bounds="population-sosp, probability",
    status="disputed",
    read="as quoted by another paper",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded risk, i.i.d. records, unconstrained",
    parts=(
        Rate(second_order, meaning="S", logs_hidden=True, bases="loss length"),
        Rate(first_order, "first_order", "s, which S is built on", logs_hidden=True, bases="loss length"),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-4.6 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    superseded_by="cited/liu-talwar-2024/main-result",
    notes="""
    - Its proof uses an escape lemma that is false as stated; that the algorithm, with Gaussian noise, misses the rate
      is not shown. Δ_F stands for the bound on the range that the cited theorem has there.
    - The formula agrees with the cited theorem as read from its own text.
    """,
)
