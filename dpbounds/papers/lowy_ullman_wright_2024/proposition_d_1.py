r"""Proposition 5.2 with its parameters and its proof. Inside it, for every $T \ge 1$, step size $\eta > 0$ and noise
$\sigma$ per coordinate, the output of Algorithm 3 satisfies $E F(\hat w) - \inf F \le \frac{D^2}{2 \eta q_c T} +
\frac{\eta (G^2 + d \sigma^2)}{2 q_c}$, where $F$ is the empirical risk, $q_c$-quasar-convex along the iterates, and $D$
bounds the distance from $w_1$ to a minimiser; at the prescribed $\eta$ that is $\frac{D \sqrt{G^2 + d\sigma^2}}{q_c
\sqrt T}$.

Proof: $E[|w_{t+1} - w^*|^2 \mid w_t] \le |w_t - w^*|^2 - 2\eta q_c (F(w_t) - \inf F) + \eta^2 (G^2 + d\sigma^2)$; sum
over $t$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Bound, q, sqrt

second_moment = q.G**2 + q.d * q.sigma**2
telescoped = q.D**2 / (2 * q.eta * q.quasar_convexity * q.T) + q.eta * second_moment / (2 * q.quasar_convexity)
at_the_prescribed_step = q.D * sqrt(q.G**2 + q.d * q.sigma**2) / (q.quasar_convexity * sqrt(q.T))

THEOREM = PAPER.theorem(
    title="excess risk of noisy gradient descent, quasar-convex",
    where="Appendix D, Proposition D.1 and its proof",
    bounds="excess-empirical-risk, expectation",
    status="repaired",
    relation="replace-one",
    sampling="with replacement",
    assumptions="Lipschitz, quasar-convex, unconstrained",
    parts=(
        Bound(at_the_prescribed_step, meaning="at the step size of Proposition 5.2"),
        Bound(telescoped, "telescoped", "at any step size"),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-3",
    notes="""
    - The paper goes on to (2D/(q_c√T))(G + √(dσ²)): right, and twice as large as needed.
    - In the proof a gradient sign is missing in one inner product, and |g_t|² stands for its expectation. Smoothness is
      not used.
    - The paper prescribes a batch, and adds a private selection among several runs. Neither is as private as it says,
      see the errata of lowy-ullman-wright-2024/proposition-5.2; the record has the bound in expectation.
    """,
)
