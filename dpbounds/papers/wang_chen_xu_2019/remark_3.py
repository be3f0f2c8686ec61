r"""If all but $d$, $\varepsilon$ and $\alpha$ are constants, Theorem 9 asks for $\tilde\Omega(d/(\varepsilon\alpha^2))$
records, as many as Theorem 8. The quadratic program of Algorithm 6 is NP-hard in general, and has approximate solutions
in polynomial time for balls and intersections of ellipsoids.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import Max, Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="how many records escape saddle points in a set",
    where="Section 5.2, Remark 3",
    bounds="sample-size, probability",
    status="claimed",
    parts=(
        Rate(
            q.d / (q.epsilon * q.alpha**2),
            "sample_size",
            "as printed",
            logs_hidden=True,
            hides="G L rho_H B D Phi delta zeta",
        ),
        Rate(
            Max(sqrt(q.d) / (q.epsilon * q.alpha**2), q.d / (q.epsilon * q.alpha ** Rational(3, 2))),
            "sharper_sample_size",
            "by Theorem 9 itself: d occurs with α^(-3/2) only",
            logs_hidden=True,
            hides="G L rho_H B D Phi delta zeta",
        ),
    ),
    relies_on="wang-chen-xu-2019/theorem-9",
    notes="The printed rate is sufficient for α <= 1, but loose: compare the three terms of Theorem 9.",
)
