r"""A function $g$ on $R^d$ is $G$-Lipschitz if $|g(w) - g(w')| \le G \|w - w'\|_2$ for all $w, w'$."""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="Lipschitz functions",
    where="Section 2, Definition 2.1",
    status="definition",
    assumptions="Lipschitz",
)
