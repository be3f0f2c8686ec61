r"""A point is an $\alpha$-first-order stationary point if $\|\nabla g(w)\| \le \alpha$; if $\nabla^2 g$ is
$\rho_H$-Lipschitz, it is an $\alpha$-second-order stationary point if also
$\nabla^2 g(w) \succeq -\sqrt{\rho_H \alpha}\, I$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import CURVATURE, Parameter, q, sqrt

THEOREM = PAPER.theorem(
    title="approximate stationary points",
    where="Section 2, Definition 2.4",
    status="definition",
    parts=Parameter(
        -sqrt(q.rho_H * q.alpha),
        "curvature",
        "smallest eigenvalue that an α-second-order stationary point may have",
        unit=CURVATURE,
    ),
)
