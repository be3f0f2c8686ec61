r"""Generalised linear losses with features of norm $O(1)$ and rank $r$, $G$, $L$ and $D$ taken as constants: the
projection of Lemma 8.1, with the exponential mechanism and DP-SPIDER in the projected space, gives an expected norm of
the population gradient of order $\frac{1}{\sqrt n} + \frac{r^{2/3}}{\varepsilon n} \wedge \frac{1}{(\varepsilon
n)^{3/7}}$ up to logarithms. The two branches meet at $r = (\varepsilon n)^{6/7}$, which is the projected dimension for
larger ranks.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Erratum, Max, Min, Parameter, Rate, Rational, q, sqrt

_THIRD = Rational(1, 3)
scale = q.epsilon * q.n
branches = Min(q.r ** (2 * _THIRD) / scale, scale ** -Rational(3, 7))
rate = 1 / sqrt(q.n) + branches
constant = Max(q.G, (q.G**2 * q.L * q.D) ** _THIRD)
restored = q.G / sqrt(q.n) + constant * branches
projected_dimension = Min(q.r, (q.epsilon * q.n) ** Rational(6, 7))

THEOREM = PAPER.theorem(
    title="population gradient of generalised linear models",
    where="Section 8, Corollary 8.2; restated and proved as Corollary F.1",
    bounds="population-gradient-norm, expectation",
    status="claimed",
    assumptions="Lipschitz, smooth, generalised linear, i.i.d. records",
    parts=(
        Rate(
            rate,
            meaning="δ is hidden among the logarithms",
            logs_hidden=True,
            hides="G L D",
            restored=restored,
            bases="loss length",
        ),
        Parameter(projected_dimension, "projected_dimension", "k: where r^(2/3)/(εn) meets 1/√r", up_to_constant=True),
    ),
    relies_on="lowy-ullman-wright-2024/lemma-8.1 lowy-ullman-wright-2024/corollary-4.3",
    derivation="corollary_8_2.md",
    errata=Erratum(
        printed="Corollary 4.3 is inserted for M in Lemma 8.1, whose condition on a problem is that it has a "
        "minimiser of norm at most D (in arXiv version 1)",
        right="the projected problem, on which M runs, may have its minimisers much further out; but within 2D there "
        "is a point whose risk is within O(GD/√k) of the infimum, up to logarithms, which suffices",
        severity="gap",
        evidence="test_corollary_8_2.py::test_projected_minimisers_may_be_far_away",
        where="Appendix F, proof of Corollary F.1",
        survives="the rate: the additional term is (εn)^(-11/21), of lower order than (εn)^(-3/7)",
    ),
    notes="""
    - Claimed, because Lemma 8.1 was not proved here in full: corollary_8_2.md closes the gap, and the one in the proof
      of the cited lemma, for the empirical gradient. The step from there to the population is the cited paper's.
    - With constants restored: every rate of a branch is at most max(G, (G²LD)^(1/3)) times the printed one.
    - Compared with 1/√n + r^(1/3)/(εn)^(2/3) ∧ (εn)^(-2/5) (Arora et al. 2023) the branches are smaller for every rank,
      not only for r < nε.
    """,
)
