r"""Losses that are neither smooth nor convex: a point is $(r, \alpha)$-stationary in Goldstein's sense if some
average of gradients taken within distance $r$ of it has norm at most $\alpha$. A single pass finds one privately for
a sample of size of order $\frac{\sqrt d}{r \alpha^3} + \frac{d}{\varepsilon r \alpha^2}$, several passes in
polynomial time for $\frac{d}{\alpha^2} + \frac{d^{3/4}}{\varepsilon r^{1/2} \alpha^{3/2}}$, up to logarithms.
"""

from dpbounds.papers.cited.kornowski_et_al_2024 import PAPER
from dpbounds.theorems.language import LENGTH, Rate, Rational, q, sqrt

goldstein_radius = PAPER.quantity("goldstein_radius", "r", "how far from the point gradients may be taken", unit=LENGTH)
single_pass = sqrt(q.d) / (goldstein_radius * q.alpha**3) + q.d / (q.epsilon * goldstein_radius * q.alpha**2)
first = q.d / q.alpha**2
multiple_passes = first + q.d ** Rational(3, 4) / (q.epsilon * sqrt(goldstein_radius) * q.alpha ** Rational(3, 2))

THEOREM = PAPER.theorem(
    title="private Goldstein-stationary points",
    where="Abstract",
    bounds="sample-size",
    status="claimed",
    assumptions="Lipschitz, i.i.d. records",
    parts=(
        Rate(
            single_pass, "single-pass", "records that suffice for one pass", logs_hidden=True, hides="delta G Delta_F"
        ),
        Rate(
            multiple_passes,
            "multiple-passes",
            "records that suffice for several passes",
            logs_hidden=True,
            hides="delta G Delta_F",
        ),
    ),
    notes="The abstract calls the radius α and the norm β.",
)
