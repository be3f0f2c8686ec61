r"""Population stationarity in time linear in $n$ (a binary tree of private gradient differences): the population
gradient at the output has norm of order $n^{-1/3} + \left(\frac{\sqrt d}{n\varepsilon}\right)^{1/2}$, up to
logarithms. For convex losses $\frac{1}{\sqrt n} + \frac{\sqrt d}{n\varepsilon}$ is the exact order, up to logarithms.
"""

from dpbounds.papers.cited.arora_et_al_2023 import PAPER
from dpbounds.theorems.language import Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="population stationarity in linear time; the convex case, exactly",
    where="Abstract",
    bounds="population-gradient-norm",
    status="claimed",
    read="abstract only",
    relation=None,
    assumptions="Lipschitz, smooth, i.i.d. records",
    parts=(
        Rate(
            q.n ** Rational(-1, 3) + sqrt(sqrt(q.d) / (q.n * q.epsilon)),
            meaning="losses that need not be convex",
            logs_hidden=True,
            hides="G L Delta_F",
        ),
        Rate(
            1 / sqrt(q.n) + sqrt(q.d) / (q.n * q.epsilon),
            "convex",
            "the exact order for convex losses; so a lower bound in general",
            side="tight",
            logs_hidden=True,
            hides="G L Delta_F",
            assumptions="convex",
        ),
    ),
)
