r"""Discretisation error of gradient Langevin dynamics: for a smooth, dissipative risk, the distributions of the $T$-th
iterate with step length $\eta$ and inverse temperature $\beta$ and of the diffusion at time $\eta T$ have 2-Wasserstein
distance of order $C_1 \eta^{1/4} \cdot \eta T$, where $C_1$ grows like $\sqrt\beta$ with the other constants fixed.
"""

from dpbounds.papers.cited.raginsky_et_al_2017 import PAPER
from dpbounds.theorems.language import LENGTH, Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="discretisation error of Langevin dynamics",
    where="Proposition 8, as used in Theorem 2 of Wang, Chen & Xu 2019",
    bounds="distance, always",
    status="claimed",
    assumptions="smooth risk, dissipative",
    parts=Rate(
        sqrt(q.beta) * q.eta ** Rational(1, 4) * (q.eta * q.T),
        meaning="2-Wasserstein distance of iterate and diffusion",
        unit=LENGTH,
        hides="L d",
    ),
    notes="""
    The growth of C₁ with β is inferred from the terms of Theorem 2 of Wang, Chen & Xu; the source's own constant was
    not compared. With stochastic gradients there is a second term, in their relative variance.
    """,
)
