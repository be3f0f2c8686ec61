r"""The Laplace distribution of scale $b$ has the density $\frac1{2b} e^{-|x|/b}$ on the real line."""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, laplace_point, laplace_scale
from dpbounds.theorems.language import Abs, Bound, exp

THEOREM = PAPER.theorem(
    title="Laplace distribution",
    where="Appendix A, Definition A.1",
    bounds="tight",
    status="definition",
    parts=Bound(exp(-Abs(laplace_point) / laplace_scale) / (2 * laplace_scale), "density", "at the point x"),
)
