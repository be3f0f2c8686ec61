r"""A loss is $G$-Lipschitz in a norm if $|f(w, z) - f(w', z)| \le G \|w - w'\|$ for every record $z$ and all
$w, w' \in C$; the paper uses the l2 norm for its first three algorithms and the l1 norm for the fourth. Linear
regression with bounded entries is its example of a loss whose l1 constant does not grow with the dimension.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="Lipschitz losses",
    where="Preliminaries, Definition 2",
    status="definition",
    assumptions="Lipschitz, Lipschitz in l1",
)
