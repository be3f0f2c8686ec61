r"""A mechanism is $\varphi$-zCDP (here: $\rho$) if for every order $q > 1$ and all neighbouring datasets the Rényi
divergence of order $q$ between its outputs is at most $\varphi q$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, renyi_order
from dpbounds.theorems.language import Bound, Unit, q

THEOREM = PAPER.theorem(
    title="zero-concentrated differential privacy",
    where="Appendix A, Definition A.2",
    bounds="privacy",
    status="definition",
    relation=None,
    sampling="",
    parts=Bound(q.rho * renyi_order, "divergence", "largest Rényi divergence of order q", unit=Unit(samples=-2)),
    notes="The paper calls the order α and the budget φ.",
)
