r"""Rates for second-order stationary points with all constants 1, each to be read as its minimum with 1. Empirical
risk: $(\sqrt d/(\varepsilon n))^{2/3}$ before (Liu et al. 2023), $d^{2/3}/(\varepsilon n)$ here, the lower bound $\sqrt
d/(\varepsilon n)$. Population risk: $n^{-1/3} + (\sqrt d/(\varepsilon n))^{3/7}$ before, $\zeta^{1/3} n^{-1/3} +
\zeta^{3/7} (\sqrt d/(\varepsilon n))^{3/7}$ here with $\zeta = 1 \wedge (d/(\varepsilon n) + \sqrt{d/n})$, the lower
bound $1/\sqrt n + \sqrt d/(\varepsilon n)$.
"""

from functools import partial

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import GRADIENT, Expr, Min, Parameter, Rate, Rational, q, sqrt

plain_ratio = sqrt(q.d) / (q.epsilon * q.n)
factor = Min(1, q.d / (q.epsilon * q.n) + sqrt(q.d / q.n))
new_empirical = q.d ** Rational(2, 3) / (q.epsilon * q.n)
sampling = (q.G * q.L * q.Delta_F / q.n) ** Rational(1, 3)
noise = (q.G * q.L**3 * q.Delta_F**3) ** Rational(1, 7)


def restored_new_population() -> Expr:
    warm = q.G * q.D * factor  # the excess population risk of the warm start, for the gap
    sampling = (q.G * q.L * warm / q.n) ** Rational(1, 3)
    noise = (q.G * q.L**3 * warm**3) ** Rational(1, 7)
    return sampling + noise * plain_ratio ** Rational(3, 7)


lower_population = 1 / sqrt(q.n) + plain_ratio

row = partial(Rate, unit=GRADIENT, hides="G L rho_H Delta_F D")

THEOREM = PAPER.theorem(
    title="rates for second-order stationary points",
    where="Section 1, Figure 1",
    status="empirical",
    parts=(
        row(
            plain_ratio ** Rational(2, 3),
            "liu-empirical",
            "before: Liu et al. 2023",
            logs_hidden=True,
            restored=(sqrt(q.G * q.L * q.Delta_F) * plain_ratio) ** Rational(2, 3),
        ),
        row(
            new_empirical,
            "new-empirical",
            "here: Corollary 4.4",
            logs_hidden=True,
            restored=(q.G**2 * q.L * q.D) ** Rational(1, 3) * new_empirical,
        ),
        row(
            plain_ratio, "lower-empirical", "lower bound, for first-order stationary points", restored=q.G * plain_ratio
        ),
        row(
            q.n ** Rational(-1, 3) + plain_ratio ** Rational(3, 7),
            "liu-population",
            "before: Liu et al. 2023",
            logs_hidden=True,
            restored=sampling + noise * plain_ratio ** Rational(3, 7),
            bases="loss length",
        ),
        row(
            (factor / q.n) ** Rational(1, 3) + (factor * plain_ratio) ** Rational(3, 7),
            "new-population",
            "here: Corollary 7.1",
            logs_hidden=True,
            restored=restored_new_population,
            bases="loss length",
        ),
        row(
            lower_population,
            "lower-population",
            "lower bound, for first-order stationary points",
            restored=q.G * lower_population,
            bases="loss length",
        ),
        Parameter(factor, "factor", "ζ of the caption", bases="loss length"),
    ),
    relies_on="lowy-ullman-wright-2024/corollary-4.4 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    notes="""
    - The figure is an image that was not in the text at hand: only its caption was read, and the rows are reconstructed
      from what the text says of them. Whether they are complete is not known.
    - All upper bounds of the figure are for second-order stationary points and rest on the disputed lemma, see
      lowy-ullman-wright-2024/lemma-3.3. The first-order analogues for the empirical risk do not.
    """,
)
