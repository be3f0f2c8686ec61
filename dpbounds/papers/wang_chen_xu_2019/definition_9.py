r"""$w$ is an $\alpha$-second-order stationary point ($\alpha$-SOSP, approximate local minimum) of a twice
differentiable $F$ with $\rho_H$-Lipschitz Hessian if $\|\nabla F(w)\|_2 \le \alpha$ and $\lambda_{\min}(\nabla^2 F(w))
\ge -\sqrt{\rho_H \alpha}$ (7).
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import CURVATURE, Parameter, q, sqrt

THEOREM = PAPER.theorem(
    title="approximate second-order stationary points",
    where="Section 5.1, Definition 9 and equation (7)",
    bounds="sosp",
    status="definition",
    parts=Parameter(
        sqrt(q.rho_H * q.alpha), "curvature", "largest negative curvature that is tolerated", unit=CURVATURE
    ),
)
