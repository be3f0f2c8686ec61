r"""Algorithm 1 is $(0, \hat\delta)$-private with $\hat\delta = \frac TN \big[1 - I_{1 - (\Delta/2r_u)^2}(\frac{d+1}2,
\frac12)\big]$ for $\Delta < 2r_u$ ($r_u = 1$ in the paper): one step on a known record has the bracket as its $\delta$,
a random record has $1/N$ of that, and $T$ steps have at most $T$ times as much.
"""

from sympy import Piecewise, Rational, betainc_regularized

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import run
from dpbounds.theorems.language import PER_SAMPLE, Bound, Condition, Erratum, Privacy, q

kept = betainc_regularized((q.d + 1) / 2, Rational(1, 2), 0, 1 - (q.Delta / (2 * q.r_u)) ** 2)

THEOREM = PAPER.theorem(
    title="privacy of PrGD",
    where="Section IV.A, Theorem 1",
    bounds="privacy, always",
    status="proved",
    assumptions="bounded gradient differences",
    conditions=Condition(q.Delta < 2 * q.r_u, "assumed in the paper; with the bracket 1 it holds beyond it"),
    parts=Bound(
        q.T / q.n * Piecewise((1 - kept, q.Delta < 2 * q.r_u), (1, True)),
        meaning="δ of the whole run, at every ε",
        unit=PER_SAMPLE,
        increasing_in="T Delta d",
        decreasing_in="n r_u",
    ),
    privacy=Privacy(run, "r_u Delta d n T"),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    relies_on="tholeti-kalyani-2020/equation-6 cited/kairouz-oh-viswanath-2015/theorem-3.3",
    errata=Erratum(
        printed="the adaptive strong composition theorem turns (εᵢ, δᵢ) into (Σεᵢ, Σδᵢ)",
        right="that is basic composition; where all εᵢ are 0 the theorem that is cited gives 1 - Π(1 - δᵢ), which "
        "is less, and attained",
        severity="harmless",
        evidence="test_theorem_1.py::test_the_sum_is_not_what_optimal_composition_gives",
        where="Section IV.A, proof of Theorem 1, third step",
        survives="the theorem, with a δ that is not the smallest: see tholeti-kalyani-2020/theorem-1/explicit",
    ),
    notes="""
    - Above 1, that is for T > N/δ₁ with the bracket δ₁, the guarantee is true but empty. It is below 1/N, the δ of
      publishing one random record, only as long as Tδ₁ < 1.
    - Amplification: two mixtures over N records that differ in one have the rest in common, so their total variation is
      exactly 1/N of that of the differing pair. The paper cites it from Abadi et al. 2016.
    - Adding or removing a record costs the same or less, with N the size of the larger dataset, if Δ bounds the
      distance of the gradients of any two records.
    - Noise on the sphere (the Note after the proof): two shifted spheres share no mass for d >= 2, so that a step on a
      known record is not private at all, as the paper says (for d = 1 and distance 2r they share half). Because the
      record is random the run is (0, T/N)-private all the same.
    - That the noise is bounded excludes pure ε-privacy. (0, δ) means (ε, δ) at every ε; no larger ε has a smaller δ.
    """,
)
