r"""The alternating sampler of Lee, Shen & Tian 2021 for a density proportional to $e^{-\hat F}$: from $x_0 \sim \pi_0$,
for $t = 1, \dots, T$ draw $y_t = x_{t-1} + \sqrt\eta\, N(0, I_d)$ and then $x_t$ from the density proportional to
$e^{-\hat F(x) - \|x - y_t\|^2/(2\eta)}$; return $x_T$. Here $\hat F = \beta(F_D + \frac\mu2\|\cdot\|^2)$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    title="AlternateSample",
    where="Appendix D.3, Algorithm 3",
    bounds="distance",
    status="proved",
    notes="""
    - T and η are prescribed in the proof of Theorem 5.7 and recorded there.
    - The two steps are a Gibbs sampler on (x, y): the target is invariant for every η > 0.
    - Only x_T may be published: the privacy of Theorem 5.7 is that of one sample.
    """,
)
