r"""Population gradients by a binary tree: with batches of $b = \max(n^{2/3}, \sqrt n\, d^{1/4}/\sqrt\varepsilon)$
records, trees of depth $D$ with $D 2^{D+1} = b$ and $T = n/(b(D/2 + 1))$ of them, with probability at least $1 - p$ the
population gradient at the output has norm of at most $3\sqrt2\, G\, \tilde C \max\big(n^{-1/3}, (\frac{\sqrt
d}{n\varepsilon})^{1/2}\big)$, where $\tilde C = 256 \ln\frac{1.25}\delta \ln\frac{2T 2^{D+1}}p + \frac{8 L \Delta_F
\sqrt{2D(D/2 + 1)}}{2G^2}$, for $n \ge \max\big(\sqrt d (D/2 + 1)^2/\varepsilon, (D/2 + 1)^3\big)$.
"""

from dpbounds.papers.cited.arora_et_al_2023 import PAPER
from dpbounds.theorems.language import PURE, Bound, Condition, LambertW, Max, Parameter, Rational, log, q, sqrt

batch = Max(q.n ** Rational(2, 3), sqrt(q.n) * q.d ** Rational(1, 4) / sqrt(q.epsilon))
depth = LambertW(batch * log(2) / 2) / log(2)
levels = depth / 2 + 1
trees = q.n / (batch * levels)
leaves = batch / depth  # 2^(D+1)
constant = 256 * log(Rational(5, 4) / q.delta) * log(2 * trees * leaves / q.zeta)
constant += 8 * q.L * q.Delta_F * sqrt(2 * depth * levels) / (2 * q.G**2)

THEOREM = PAPER.theorem(
    title="population stationarity by gradients along a binary tree, with constants",
    where="Theorem 3.2",
    bounds="population-gradient-norm, probability",
    status="claimed",
    read="converted text",
    relation=None,
    assumptions="Lipschitz, smooth, i.i.d. records, bounded risk",
    conditions=(
        Condition(q.epsilon <= 1, "range of Theorem 3.1"),
        Condition(q.n >= sqrt(q.d) * levels**2 / q.epsilon, "range of the theorem"),
        Condition(q.n >= levels**3, "range of the theorem"),
    ),
    parts=(
        Bound(
            3 * sqrt(2) * q.G * constant * Max(q.n ** Rational(-1, 3), sqrt(sqrt(q.d) / (q.n * q.epsilon))),
            meaning="norm of the population gradient, constants as in the copy",
            bases="loss length",
            decreasing_in="delta zeta",
        ),
        Parameter(batch, "tree-batch", "b, records at the root of a tree", bases=""),
        Parameter(
            depth,
            "tree-depth",
            "D, with D 2^(D+1) = b",
            unit=PURE,
            bases="",
            increasing_in="n d",
            decreasing_in="epsilon",
        ),
    ),
    relies_on="cited/arora-et-al-2023/theorem-3.1",
    notes="""
    - Its step length is left out: the copy prints α min(1, √(bε)/√d), where the count of the noise needs √b ε/√d.
    - D is taken as a real number, as in the paper.
    """,
)
