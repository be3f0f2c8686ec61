r"""Rates that the paper compares with, with all constants 1: empirical gradient norms $A^{2/3}$ (Arora et al. 2023;
Tran & Cutkosky 2022; second-order: Liu et al. 2023) and $A^{1/2}$ (before 2022),
$A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$; the lower bound $\sqrt d/(\varepsilon n)$; population gradient norms of
Zhou et al. 2020 and Arora et al. 2023 with the lower bound $1/\sqrt n + \sqrt d/(\varepsilon n)$; and, for generalised
linear models of rank $r$, $1/\sqrt n + \big((\sqrt r/(\varepsilon n))^{2/3} \wedge (\varepsilon n)^{-2/5}\big)$.
"""

from functools import partial

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import GRADIENT, Min, Rate, Rational, log, q, sqrt

noise_ratio = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
plain_ratio = sqrt(q.d) / (q.epsilon * q.n)
lower_population = 1 / sqrt(q.n) + plain_ratio
size = q.epsilon * q.n

row = partial(Rate, unit=GRADIENT, hides="G L Delta_F")

THEOREM = PAPER.theorem(
    title="rates of earlier work",
    where="Section 1 and Appendix A, related work",
    status="empirical",
    read="as quoted by another paper",
    parts=(
        row(
            noise_ratio ** Rational(2, 3),
            "arora-empirical",
            "Arora et al. 2023, Tran & Cutkosky 2022",
            logs_hidden=True,
            restored=(sqrt(q.G * q.L * q.Delta_F) * noise_ratio) ** Rational(2, 3),
        ),
        row(
            sqrt(noise_ratio),
            "before-2022",
            "private gradient descent",
            logs_hidden=True,
            restored=sqrt(q.G * sqrt(q.L * q.Delta_F) * noise_ratio),
        ),
        Rate(
            plain_ratio,
            "lower-empirical",
            "lower bound of Arora et al. 2023, for convex losses",
            unit=GRADIENT,
            hides="G",
            restored=q.G * plain_ratio,
        ),
        row(q.epsilon * sqrt(q.d) + sqrt(plain_ratio), "zhou-population", "Zhou et al. 2020, as quoted"),
        row(q.n ** Rational(-1, 3) + sqrt(plain_ratio), "arora-population", "Arora et al. 2023", logs_hidden=True),
        Rate(
            lower_population,
            "lower-population",
            "lower bound of Arora et al. 2023",
            unit=GRADIENT,
            hides="G",
            restored=q.G * lower_population,
            bases="loss length",
        ),
        Rate(
            1 / sqrt(q.n) + Min((sqrt(q.r) / size) ** Rational(2, 3), size ** Rational(-2, 5)),
            "arora-glm",
            "Arora et al. 2023, generalised linear models",
            unit=GRADIENT,
            logs_hidden=True,
            hides="G L D",
        ),
    ),
    relies_on="cited/arora-et-al-2023/theorem-4.2 cited/arora-et-al-2023/theorem-4.3 "
    "cited/arora-et-al-2023/population-rate cited/arora-et-al-2023/theorem-6.1 "
    "cited/tran-cutkosky-2022/main-result cited/zhou-et-al-2020/main-result",
    notes="""
    - Recorded as the paper quotes these results; they were not compared with their sources here.
    - The first term of Zhou et al. grows with ε and does not fall with n. It is recorded as it is in the text at
      hand.
    - The population rate of Arora et al. 2023 is attributed to another paper of 2022 there.
    """,
)
