r"""Private stochastic gradient descent, by the moments accountant: there are constants $c_1, c_2$ such that for
sampling probability $q$, $T$ steps and every $\varepsilon < c_1 q^2 T$, noise of at least
$z = c_2\, q \sqrt{T \ln(1/\delta)} / \varepsilon$ per unit of the clipping norm makes it
$(\varepsilon, \delta)$-differentially private. Records are drawn independently in every step.
"""

from dpbounds.papers.cited.abadi_et_al_2016 import PAPER
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
from dpbounds.theorems.language import PER_SAMPLE, SAMPLES, Condition, Parameter, Privacy, log, q, sqrt

range_constant = PAPER.quantity(
    "range_constant", "c_{1}", "constant of the range of ε, whose existence alone is stated", unit=PER_SAMPLE
)
noise = q.c * q.sample_rate * sqrt(q.T * log(1 / q.delta)) / q.epsilon

THEOREM = PAPER.theorem(
    title="noise of private stochastic gradient descent",
    where="Section 3, Theorem 1",
    bounds="privacy, upper",
    status="proved",
    relation="add-or-remove-one",
    conditions=Condition(q.epsilon < range_constant * q.sample_rate**2 * q.T, "range of the theorem"),
    parts=Parameter(
        noise, "noise_multiplier", "per unit of the clipping norm; c stands for c₂", unit=SAMPLES, up_to_constant=True
    ),
    privacy=Privacy(
        lambda at: PoissonSampled(Gaussian(at.down(noise)), at[q.sample_rate]) ** at.count(q.T),
        "epsilon delta T sample_rate c",
        relation="add-or-remove-one",
    ),
    notes="""
    - The proof bounds moments of the privacy loss for q < 1/(16z) and orders up to z² ln(1/(qz)). Papers that quote it
      at q = 1 (full batches), or with c₁ and c₂ as if they were known, leave that range; there a direct analysis of the
      Gaussian mechanism replaces it. The c₂ that suffices is computed by an accountant.
    - It is quoted for any δ > 0. No constants serve all δ close to 1: with q and ε fixed and 1 - δ = 2(1-q)^T the
      prescribed noise vanishes as T grows, so that the output shows whether a record took part in any step.
    """,
)
