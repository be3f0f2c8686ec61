r"""The definition of an $\alpha$-SOSP once more: gradient norm at most $\alpha$, eigenvalues of the Hessian at least
$-\sqrt{\rho\alpha}$; the same as Definition 1.2.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.papers.ganesh_liu_oh_thakurta_2023.definition_1_2 import curvature
from dpbounds.theorems.language import CURVATURE, Parameter

THEOREM = PAPER.theorem(
    title="second-order stationary points, again",
    where="Appendix F, Definition F.1",
    bounds="sosp",
    status="definition",
    assumptions="Hessian-Lipschitz",
    parts=Parameter(curvature, "curvature", "how negative an eigenvalue of the Hessian may be", unit=CURVATURE),
    notes="The same as ganesh-liu-oh-thakurta-2023/definition-1.2.",
)
