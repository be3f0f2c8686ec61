r"""A loss is Lipschitz over the parameters (in l2, with constant $G$, the paper's L) if
$|f(w, z) - f(w', z)| \le G \|w - w'\|_2$ for every record $z$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="Lipschitz losses",
    where="Preliminaries, Definition 2",
    status="definition",
)
