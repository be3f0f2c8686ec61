r"""Warm start by a good empirical risk: if $A$ is $(\varepsilon/2, \delta/2)$-DP and its output has $F(w_0) - \inf F
\le \psi$ with probability at least $1 - \zeta$, $\zeta \le \sqrt d/(\varepsilon n)$, then Algorithm 2 with DP-SPIDER
in the second half is $(\varepsilon, \delta)$-DP and $E \|\nabla F(w)\| \lesssim G A + (G L \psi)^{1/3} A^{2/3}$ with
$A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$.

Proof: where $w_0$ is good, Lemma 3.1 holds with $\Delta_F = \psi$; elsewhere the norm is at most $G$, which adds
$\zeta G \le G A$ as $\ln(1/\delta) \ge 1$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Condition, Rate, Rational, exp, log, q, sqrt

noise_ratio = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
warm = (q.G * q.L * q.psi) ** Rational(1, 3) * noise_ratio ** Rational(2, 3)
rate = q.G * noise_ratio + warm

THEOREM = PAPER.theorem(
    title="stationarity after a warm start",
    where="Section 3, Theorem 3.2",
    bounds="gradient-norm, expectation",
    status="proved",
    sampling="batches",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained, private warm start",
    conditions=(
        Condition(q.zeta <= sqrt(q.d) / (q.epsilon * q.n), "ζ <= √d/(εn), assumed"),
        Condition(q.epsilon <= 1, "inherited from Lemma 3.1"),
        Condition(q.delta <= exp(-1), "so that ζG is at most the first term"),
    ),
    parts=Rate(rate),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on="lowy-ullman-wright-2024/lemma-3.1 lowy-ullman-wright-2024/algorithm-2",
    notes="""
    - ψ must be known: the parameters of DP-SPIDER are set from it, and not from the gap that was realised.
    - An expectation of F(w₀) - inf F is enough, and no ζ is needed: lowy-ullman-wright-2024/theorem-3.2/explicit. It
      improves on Lemma 3.1 exactly if ψ is below Δ_F.
    """,
)
