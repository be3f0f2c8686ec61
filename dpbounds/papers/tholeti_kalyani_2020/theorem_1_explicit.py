r"""Algorithm 1 with noise of any radius $r_u$, and gradients that differ by any $\Delta$, is $(0, \hat\delta)$-private
with $\hat\delta = 1 - (1 - \delta_1/N)^T$, where $\delta_1$ is that of equation (6), and 1 for $\Delta \ge 2r_u$. No
smaller $\delta$ holds for all losses, at any $\varepsilon \ge 0$. In elementary terms
$\hat\delta \le \frac{T\Delta}{N r_u} \sqrt{\frac{d+1}{2\pi}}$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import lost, run
from dpbounds.theorems.language import PER_SAMPLE, Bound, Condition, Parameter, Privacy, log, pi, q, sqrt

step = lost(q.Delta) / q.n
most_steps = log(1 - q.delta) / log(1 - step)

THEOREM = PAPER.theorem(
    title="privacy of PrGD, the smallest δ",
    bounds="privacy, tight, always",
    assumptions="bounded gradient differences",
    parts=(
        Bound(
            1 - (1 - step) ** q.T,
            meaning="δ of the whole run, at every ε",
            bases="loss length",
            increasing_in="T Delta d",
            decreasing_in="n r_u",
        ),
        Bound(step, "step", "δ of one step", unit=PER_SAMPLE, increasing_in="Delta d", decreasing_in="n r_u"),
        Bound(
            q.T * q.Delta * sqrt((q.d + 1) / (2 * pi)) / (q.n * q.r_u),
            "elementary",
            "an upper bound of δ without special functions; at most 13% above the term that is linear in Δ",
            unit=PER_SAMPLE,
        ),
        Parameter(
            most_steps,
            "steps",
            "round down: the most steps that a δ allows",
            conditions=Condition(q.n >= 2, "with one record and disjoint balls nothing is hidden"),
            bases="loss length",
            increasing_in="delta n r_u",
            decreasing_in="Delta d",
        ),
    ),
    privacy=Privacy(run, "r_u Delta d n T"),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    relies_on="tholeti-kalyani-2020/equation-6",
    derivation="theorem_1_explicit.md",
    notes="""
    - For noise on the sphere put δ₁ = 1 (a radius at most Δ/2): the run is (0, 1 - (1 - 1/N)^T)-private by sampling
      alone.
    - BallDescent.radius computes the smallest radius for a given δ.
    """,
)
