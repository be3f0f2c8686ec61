r"""Warm-starting DP-SPIDER with the algorithm of Lemma 6.2: on $(\gamma, k)$-KL* losses the expected norm of the
empirical gradient is of order $G A + A^{(k+2)/3} (G^{k+1} L \gamma^k)^{1/3} \big(1 + (\gamma \sqrt L)^{k/3} /
\Delta_F^{(2-k)/6}\big)$ up to logarithms, $A = \sqrt{d \ln(1/\delta)} / (\varepsilon n)$. It is of order $G A$, which
is optimal, where $(\gamma \sqrt L)^{k/3} / \Delta_F^{(2-k)/6} \lesssim 1$ and $(L \gamma^k / G^{2-k})^{1/(k-1)}
\lesssim 1/A$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Condition, Erratum, Parameter, Rate, Rational, log, q, sqrt

noise_level = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
power = q.k / 3
curvature = (q.gamma * sqrt(q.L)) ** power / q.Delta_F ** ((2 - q.k) / 6)
shape = (q.G ** (q.k + 1) * q.L * q.gamma**q.k) ** Rational(1, 3)
rate = q.G * noise_level + noise_level ** ((q.k + 2) / 3) * shape * (1 + curvature)
base = q.L * q.gamma**q.k / q.G ** (2 - q.k)

THEOREM = PAPER.theorem(
    title="gradient norm for KL losses",
    where="Section 6, Corollary 6.3 and the text after it",
    bounds="gradient-norm, expectation",
    status="claimed",
    assumptions="Lipschitz, smooth, Kurdyka-Łojasiewicz",
    parts=(
        Rate(rate, logs_hidden=True),
        Parameter(curvature, "curvature", "must be at most of order 1 for the optimal rate", up_to_constant=True),
        Parameter(
            base ** (1 / (q.k - 1)),
            "conditioning",
            "must be at most of order εn/√(d ln(1/δ)) for the optimal rate",
            up_to_constant=True,
            conditions=Condition(q.k > 1, "for k = 1 the second condition is Lγ ≲ G"),
        ),
    ),
    relies_on="lowy-ullman-wright-2024/theorem-3.2 lowy-ullman-wright-2024/lemma-6.2 "
    "cited/arora-et-al-2023/theorem-4.2",
    errata=Erratum(
        printed="for example, the rate is optimal for μ-PL* losses with L/μ ≲ εn/√(d ln(1/δ)) (in arXiv version 1)",
        right="Lemma 6.2 and Theorem 3.2 need (L/μ)² ≲ εn/√(d ln(1/δ)), and the corollary's own first condition needs "
        "L/μ of order 1",
        severity="gap",
        evidence="test_corollary_6_3.py::test_the_example_does_not_follow",
        where="Section 6, example after Corollary 6.3",
        survives="the corollary. Whether the example's claim is true is open here: for losses that are PL on all of "
        "R^d, and then not Lipschitz there, another algorithm reaches it "
        "(dpbounds/polyak-lojasiewicz-restarted-spider), but those are other losses than the paper's",
    ),
    notes="""
    - The formula was derived again from Theorem 3.2 and Lemma 6.2 (a root of a sum is at most the sum of the roots);
      claimed, because Lemma 6.2 was not checked against its source. The proof's 'risk bound in Corollary 6.3' means
      Lemma 6.2.
    - The text says that minimising the excess risk alone does not lead to near-optimal stationarity. True for k < 2;
      for k = 2 and L/μ of order 1 it does, as |∇F| <= √(2L(F - inf F)) for smooth losses.
    """,
)
