r"""Assumption 3: at every point the Hessian of the population risk has norm at most $H$, the Hessian of each loss is
$\rho_H$-Lipschitz in operator norm, and for some constant $c$, $H \le \tau^2 d^c$ and $\rho_H \le \tau^3 d^c$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="bounded and Lipschitz Hessians",
    where="Extension to Population Risk, Assumption 3",
    status="definition",
    assumptions="Hessian-Lipschitz, smooth risk, i.i.d. records",
    notes="""
    - It is printed 'for all x₀', the bound on the Hessian being that of the population risk; L stands for the constant
      of the Hessian here, and for smoothness in Assumption 1.
    - H <= τ²d^c and ρ_H <= τ³d^c compare powers of the loss's unit: they are meant in a fixed unit.
    """,
)
