r"""DP-SPIDER along binary trees, every record in one release: $S$ segments of $m = 2^J$ steps $w_{t+1} = w_t - r
g_t/|g_t|$ on $\mathbb R^d$. At a segment's start $g_t$ is the mean of $b_1$ fresh gradients with noise of $\sigma =
\frac G{b_1} \sqrt{2/\rho}$. At its $t$-th step the estimates of $\nabla F_P(w_{(i+1)2^j}) - \nabla F_P(w_{i2^j})$ over
the dyadic blocks of $t$ are added, each made once from $2^j b_2$ fresh records with noise of $2^{-j}\sigma_2$ times the
distance of its points, $\sigma_2 = \frac L{b_2} \sqrt{2/\rho}$. If $S(b_1 + J m b_2/2) \le n$ and $E F_P(w_0) - \inf
F_P \le \psi$, all iterates together are $\rho$-zCDP and the mean of $|\nabla F_P(w_R)|$, $R$ uniform on the $T = Sm$
iterates $w_0, \dots, w_{T-1}$, is at most $$\frac\psi{Tr} + \frac{Lr}2 + 2 E, \quad E^2 = \frac{G^2}{b_1} + d\sigma^2 +
\frac{(m-1) L^2 r^2}{2 b_2} + \frac{J d r^2 \sigma_2^2}2.$$ With $\ell = \frac12 \log_2 n$ and the parameters below that
is at most $\frac{11}2 A$, $$A = \Bigl(\frac{4 \ell G L \psi}n\Bigr)^{1/3} + 2 G \sqrt{\frac \ell n} + \Bigl(\frac{5
\ell^{3/2} L \psi \sqrt d}{2 n \sqrt\rho}\Bigr)^{1/2} + \frac{5 \ell^{3/2} G \sqrt d}{2 n \sqrt\rho},$$ where $n \ge 4$
and $A \le G$.
"""

from sympy import Max, Rational, log

from dpbounds.papers.ours import PAPER
from dpbounds.privacy.mechanisms import Gaussian, InParallel, Mechanism
from dpbounds.theorems.language import (
    COUNT,
    GRADIENT,
    LENGTH,
    SAMPLES,
    Bound,
    Condition,
    Numbers,
    Parameter,
    Privacy,
    ceiling,
    q,
    sqrt,
)

segments = PAPER.quantity(
    "segments", "S", "number of segments, each of which begins with a fresh gradient", domain=COUNT
)
levels = PAPER.quantity("levels", "J", "levels of a segment's tree: it has 2^J steps", domain=COUNT)
first_batch = PAPER.quantity("first_batch", "b_1", "records of a fresh gradient", domain=COUNT, unit=SAMPLES)
leaf_batch = PAPER.quantity(
    "leaf_batch", "b_2", "records of a difference, per step it spans", domain=COUNT, unit=SAMPLES
)
move = PAPER.quantity("move_length", "r", "length of every step", unit=LENGTH)
accuracy = PAPER.quantity("tree_accuracy", "A", "gradient norm for which parameters are chosen", unit=GRADIENT)

steps = 2**levels
error = sqrt(
    q.G**2 / first_batch
    + q.d * q.sigma**2
    + (steps - 1) * (q.L * move) ** 2 / (2 * leaf_batch)
    + levels * q.d * (q.sigma_2 * move) ** 2 / 2
)
bound = q.psi / (segments * steps * move) + q.L * move / 2 + 2 * error

depth = log(q.n) / (2 * log(2))
private = sqrt(q.d / q.rho) / q.n
level = (
    (4 * depth * q.G * q.L * q.psi / q.n) ** Rational(1, 3)
    + 2 * q.G * sqrt(depth / q.n)
    + sqrt(Rational(5, 2) * depth ** Rational(3, 2) * q.L * q.psi * private)
    + Rational(5, 2) * depth ** Rational(3, 2) * q.G * private
)


def mechanism(at: Numbers) -> Mechanism:
    query = Gaussian(at.down(sqrt(2 / q.rho)))  # per unit of G/b₁, or of L‖x - y‖/(2ʲb₂)
    return InParallel((query, query), partition="index")


THEOREM = PAPER.theorem(
    title="population stationarity by tree-SPIDER, with constants",
    where="derived here; compare Arora et al. 2023, Theorem 3.2, and Liu & Talwar 2024",
    bounds="population-gradient-norm, expectation",
    status="proved here",
    sampling="fresh batches",
    assumptions="gradients near a common field, smooth, i.i.d. records, unconstrained",
    parts=(
        Bound(
            bound,
            meaning="mean norm of the population gradient at w_R",
            conditions=Condition(
                segments * (first_batch + levels * steps * leaf_batch / 2) <= q.n, "each record enters one release"
            ),
            bases="loss length",
        ),
        Bound(error, "error", "root mean square error of the estimates, over all steps", bases="loss length"),
        Bound(
            Rational(11, 2) * level,
            "tuned",
            "the same at the parameters below, with A from tree_accuracy",
            conditions=(Condition(q.n >= 4), Condition(level <= q.G, "else the bound says little")),
            bases="loss length",
        ),
        Parameter(level, "tree_accuracy", "A", bases="loss length"),
        Parameter(accuracy / q.L, "move_length", "r"),
        Parameter(
            Max(1, ceiling(log(q.G / accuracy) / log(2))),
            "levels",
            "J",
            increasing_in="G",
            decreasing_in=accuracy,
        ),
        Parameter(
            ceiling(Max((q.G / accuracy) ** 2, q.G / accuracy * sqrt(2 * q.d / q.rho))),
            "first_batch",
            "b₁",
            bases="loss length",
        ),
        Parameter(ceiling(Max(steps / 2, sqrt(levels * q.d / q.rho))), "leaf_batch", "b₂", bases="loss length"),
        Parameter(Max(1, ceiling(q.psi * q.L / (accuracy**2 * steps))), "segments", "S"),
        Parameter(sqrt(2 / q.rho) * q.G / first_batch, "noise_stddev", "σ"),
        Parameter(sqrt(2 / q.rho) * q.L / leaf_batch, "difference_noise_stddev", "σ₂"),
    ),
    privacy=Privacy(mechanism, "rho"),
    derivation="population_tree_spider.md",
    notes="""
    - Records are assigned to releases by position, before anything is looked at; a start that depends on data needs
      records of its own.
    - Smoothness is used wherever the iterates go: within Tr of the start.
    - Arora et al. and Liu & Talwar have trees and moves of this kind, and claim this order; the constants are new.
    """,
)
