r"""A second-order stationary point has gradient 0 and a positive semi-definite Hessian. An $\alpha$-SOSP of a
function with $\rho$-Lipschitz Hessian has a gradient of norm at most $\alpha$ and no eigenvalue of its Hessian below
$-\sqrt{\rho \alpha}$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import CURVATURE, Parameter, q, sqrt

curvature = sqrt(q.rho_H * q.alpha)

THEOREM = PAPER.theorem(
    title="second-order stationary points",
    where="Section 1.1, Definition 1.2",
    bounds="sosp",
    status="definition",
    assumptions="Hessian-Lipschitz",
    parts=Parameter(curvature, "curvature", "how negative an eigenvalue of the Hessian may be", unit=CURVATURE),
)
