r"""Noisy projected gradient descent on full batches, $\rho$-zCDP under replace-one with $\sigma^2 = 2G^2T/(n^2\rho)$:
for every $T \ge 1$, with $\eta = D/\sqrt{T(G^2 + d\sigma^2)}$, the expected excess empirical risk of a uniformly drawn
iterate is at most $\frac{G D}{q_c} \sqrt{\frac1T + \frac{2d}{n^2\rho}}$. Each iterate may be projected onto the ball of
radius $D$ around $w_1$, which holds the minimiser.

Of $N$ such runs at $\rho/N$ each, an exponential mechanism of budget $\varepsilon_0$ over the outputs (which lie within
$2D$ of each other) selects one whose excess is at most the part `selected` with probability $1 - 2^{-N} - \zeta/2$,
which for $N \ge \log_2(2/\zeta)$ is at least $1 - \zeta$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Bound, Condition, Parameter, Privacy, log, q, sqrt

bound = q.G * q.D / q.quasar_convexity * sqrt(1 / q.T + 2 * q.d / (q.n**2 * q.rho))
one_run = bound.subs(q.rho, q.rho / q.N)
error = 4 * q.G * q.D / (q.epsilon_0 * q.n) * log(2 * q.N / q.zeta)
selected = 2 * one_run + error

THEOREM = PAPER.theorem(
    title="private minimisation of quasar-convex losses, with constants",
    where="derived here; compare Propositions 5.2 and D.1",
    bounds="excess-empirical-risk, expectation",
    sampling="full batch",
    assumptions="Lipschitz, quasar-convex, unconstrained",
    parts=(
        Bound(bound, meaning="one run, in expectation"),
        Bound(
            selected,
            "selected",
            "the selected one of N projected runs at ρ/N each, with probability 1 - ζ",
            conditions=Condition(2**q.N >= 2 / q.zeta, "one run in which Markov's bound holds"),
        ),
        Parameter(q.G / q.n * sqrt(2 * q.T / q.rho), "noise_stddev", "σ for a budget ρ and T steps"),
        Parameter(q.D / (q.G * sqrt(q.T * (1 + 2 * q.d * q.T / (q.n**2 * q.rho)))), "step_size", "η at that noise"),
    ),
    free="T",
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), "rho T"),
    derivation="proposition_5_2_explicit.md",
    notes="""
    - `spent` covers one run. The selection costs another ε₀ (pure), hence ε₀²/8 in zCDP: it is bounded-range.
    - Quasar-convexity is needed at all iterates: with projection, on the ball of radius D around w₁.
    """,
)
