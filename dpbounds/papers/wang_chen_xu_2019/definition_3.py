r"""A loss is smooth over the parameters (with constant $L$, the paper's M) if $\|\nabla f(w, z) - \nabla f(w', z)\|_2
\le L \|w - w'\|_2$ for every record; then it lies below its tangent plus $\frac L2 \|w - w'\|_2^2$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="smooth losses",
    where="Preliminaries, Definition 3",
    status="definition",
)
