r"""Gradient Langevin dynamics: $w_k = w_{k-1} - \eta \nabla \hat F^r(w_{k-1}) + \sqrt{2\eta/\beta}\, \xi_{k-1}$ with
standard Gaussian $\xi$, inverse temperature $\beta$ and step size $\eta$ (equation 1); a discretisation of the
diffusion of equation 2.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="Langevin dynamics",
    where="Section 4, equation (1)",
    status="definition",
    algorithm="wang-chen-xu-2019/algorithm-1",
)
