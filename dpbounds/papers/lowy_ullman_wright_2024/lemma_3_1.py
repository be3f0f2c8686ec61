r"""With suitable parameters DP-SPIDER (Algorithm 1), started at $w_0$, is $(\varepsilon/2, \delta/2)$-DP and its
output has $E \|\nabla F(\hat w)\| \lesssim (\sqrt{\Delta_F G L}\, A)^{2/3} + G A$, where $A = \sqrt{d
\ln(1/\delta)}/(\varepsilon n)$ and $\Delta_F = F(w_0) - \inf F$. Quoted from Arora et al. 2023.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Condition, Erratum, Rate, Rational, exp, log, q, sqrt

noise_ratio = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
rate = (sqrt(q.Delta_F * q.G * q.L) * noise_ratio) ** Rational(2, 3) + q.G * noise_ratio

THEOREM = PAPER.theorem(
    title="stationarity of DP-SPIDER",
    where="Section 3, Lemma 3.1 and equation (1)",
    bounds="gradient-norm, expectation",
    status="proved",
    sampling="batches (full batch in lowy-ullman-wright-2024/lemma-3.1/explicit)",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained",
    conditions=(
        Condition(q.epsilon <= 1, "assumed in Arora et al. 2023; up to a constant, ε <= ln(1/δ) is enough"),
        Condition(q.delta <= exp(-1), "so that ln(1/δ) >= 1; at δ near 1 the printed rate is 0"),
    ),
    parts=Rate(rate),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    relies_on="cited/arora-et-al-2023/theorem-4.2",
    errata=Erratum(
        printed="no condition on n",
        right="the source asks for n >= (Gε)²/(Δ_F L d ln(1/δ)) (so that its batch size b₂ is at most n) and for n "
        ">= √d max(1, √(LΔ_F)/G)/ε (so that the bound says something). In a warm start Δ_F becomes ψ, which may "
        "be so small that the first one fails",
        severity="harmless",
        evidence="test_lemma_3_1.py::test_the_omitted_condition_keeps_the_batch_within_the_data",
        survives="the rate, for every n: with full batches neither condition is needed "
        "(lowy-ullman-wright-2024/lemma-3.1/explicit)",
    ),
    notes="""
    - The parameters need an upper bound on Δ_F that is public. In a warm start it is ψ, never the gap that was
      realised.
    - With T steps of size 1/(2L) and an anchor every 1/(TA²) steps, the two terms √(Δ_F L/T) and G T A² are equal at
      the best T, where they are the first term of the rate; the second is the noise of one anchor. With its constants,
      and proven there, it is lowy-ullman-wright-2024/lemma-3.1/explicit.
    """,
)
