r"""Losses that are neither smooth nor convex, of which only values are queried: a $(r, \alpha)$-stationary point in
Goldstein's sense is found for a sample of size of order $\frac{d}{r \alpha^3} + \frac{d^{3/2}}{\mu r \alpha^2}$, up to
logarithms, with Rényi differential privacy of $(a, a\mu^2/2)$ for every order $a$.
"""

from dpbounds.papers.cited.zhang_et_al_2024 import PAPER
from dpbounds.theorems.language import LENGTH, Rate, Rational, q, sqrt

goldstein_radius = PAPER.quantity("goldstein_radius", "r", "how far from the point gradients may be taken", unit=LENGTH)
spent = sqrt(2 * q.rho)  # (a, aμ²/2) for every order a is μ²/2-zCDP

THEOREM = PAPER.theorem(
    title="private Goldstein-stationary points from values alone",
    where="Abstract",
    bounds="sample-size",
    status="claimed",
    assumptions="Lipschitz, i.i.d. records",
    parts=Rate(
        q.d / (goldstein_radius * q.alpha**3) + q.d ** Rational(3, 2) / (spent * goldstein_radius * q.alpha**2),
        meaning="records that suffice",
        logs_hidden=True,
        hides="G Delta_F",
    ),
    notes="The abstract calls the radius δ, the norm ε and μ ρ; privacy is free, it says, where μ is above √d α.",
)
