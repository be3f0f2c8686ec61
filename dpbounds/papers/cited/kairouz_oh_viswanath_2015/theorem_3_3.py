r"""Optimal composition: $T$ releases, each $(\varepsilon_0, \delta_0)$-differentially private (each may depend on what
earlier ones published), are together $\left((T - 2i)\varepsilon_0,\ 1 - (1-\delta_0)^T (1 - \delta_i)\right)$-private
for every $i = 0, \dots, \lfloor T/2 \rfloor$, where
$\delta_i = \sum_{l < i} \binom{T}{l} \left(e^{(T-l)\varepsilon_0} - e^{(T-2i+l)\varepsilon_0}\right) /
(1 + e^{\varepsilon_0})^T$; and some releases with these guarantees attain it. The sum is a difference of two binomial
tails, and recorded as such: $\delta_i = P(X < i) - e^{(T-2i)\varepsilon_0} P(T - X < i)$ for $X$ binomial with
probability $1/(1 + e^{\varepsilon_0})$.
"""

from fractions import Fraction

from dpbounds.papers.cited.kairouz_oh_viswanath_2015 import PAPER, step_delta
from dpbounds.theorems.language import PER_SAMPLE, Bound, Condition, Domain, Piecewise, betainc_regularized, exp, q

flips = PAPER.quantity(
    "flips",
    "i",
    "which of the ⌊T/2⌋ + 1 points of the curve: i losses of -ε₀ against T - i of +ε₀",
    domain=Domain(Fraction(0), lower_open=False, whole=True),
)
total_epsilon = (q.T - 2 * flips) * q.epsilon_0
share = 1 / (1 + exp(q.epsilon_0))
below = betainc_regularized(q.T - flips + 1, flips, 0, 1 - share)
above = betainc_regularized(q.T - flips + 1, flips, 0, share)
pure_delta = Piecewise((below - exp(total_epsilon) * above, flips >= 1), (0, True))

THEOREM = PAPER.theorem(
    title="optimal composition of equal guarantees",
    where="Section 3, Theorem 3.3",
    bounds="privacy, tight, always",
    status="proved",
    conditions=Condition(2 * flips <= q.T, "i is at most half of T"),
    parts=(
        Bound(total_epsilon, "epsilon", "ε of all T releases at the i-th point", unit=PER_SAMPLE),
        Bound(
            pure_delta,
            "pure-delta",
            "δ_i: δ of T pure releases at that ε",
            bases="loss length",
            increasing_in=(flips,),
        ),
        Bound(
            1 - (1 - step_delta) ** q.T * (1 - pure_delta),
            "delta",
            "δ of all T releases at the i-th point",
            bases="loss length",
            increasing_in=(flips, step_delta),
        ),
    ),
    notes="""
    - It is optimal if only one (ε₀, δ₀) is known of each release. Of the Gaussian mechanism the whole privacy profile
      is known: composed, it gives a much smaller ε.
    - Unequal guarantees: exact values are hard to compute in general; dpbounds.privacy encloses them.
    """,
)
