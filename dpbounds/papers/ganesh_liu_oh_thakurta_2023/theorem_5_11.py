r"""Printed: for $\varepsilon \le 1$ and $\delta \in [2^{-\Omega(n)}, n^{-1-\Omega(1)}]$ every $(\varepsilon,
\delta)$-DP algorithm for 1-Lipschitz losses on the unit ball has an excess population risk of at least
$\max\big\{\Omega\big(\frac{d \ln(1/\delta)}{\varepsilon n}\big), \tilde\Omega(\sqrt{d/n})\big\}$. The first term is
refuted by the paper's own upper bound for small $\delta$; the second holds.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Condition, Erratum, Max, Rate, log, q, sqrt

private_term = q.d * log(1 / q.delta) / (q.epsilon * q.n)
sampling_term = sqrt(q.d / q.n)
printed = Max(private_term, sampling_term)

THEOREM = PAPER.theorem(
    title="lower bound for private excess population risk",
    where="Section 5.2, Theorem 5.11",
    bounds="excess-population-risk, lower, expectation",
    status="false",
    sampling="",
    assumptions="Lipschitz, i.i.d. records, unit problem",
    conditions=Condition(q.epsilon <= 1, "stated range"),
    parts=(
        Rate(
            printed,
            "printed",
            "as printed: not a lower bound for small δ",
            logs_hidden=True,
            hides="G D",
            restored=q.G * q.D * printed,
            bases="loss length",
        ),
        Rate(
            sampling_term,
            "sampling",
            "the second term, which holds for every algorithm",
            side="lower",
            status="proved",
            logs_hidden=True,
            hides="G D",
            restored=q.G * q.D * sampling_term,
            conditions=Condition(q.n >= q.d, "a risk is at most GD"),
            bases="loss length",
            relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit",
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.9 ganesh-liu-oh-thakurta-2023/theorem-5.10",
    superseded_by="ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit",
    errata=Erratum(
        printed="Ω(d ln(1/δ)/(εn)) for every δ from 2^{-Ω(n)} on",
        right="d/(εn), as the text before it and Table 1 have it: an ε-DP algorithm is (ε, δ)-DP for every δ, so no "
        "lower bound may grow beyond the pure upper bound of Theorem 5.8 as δ falls",
        severity="false",
        evidence="test_theorem_5_11.py::test_the_first_term_exceeds_the_upper_bound_of_the_paper",
        survives="the second term; the first with min(d, ln(ε/δ)) for d ln(1/δ) is proven in theorem-5.11/explicit",
    ),
    notes="""
    - Capping the first term by 1 does not save it: at d = ln²(n) and ln(1/δ) = n^{3/4} ln 2 it tends to 0, but exceeds
      the upper bound by a factor that grows.
    - The term d/(εn) for all δ <= n^{-1-Ω(1)} is attributed to Ganesh et al. 2022 and was not checked.
    """,
)
