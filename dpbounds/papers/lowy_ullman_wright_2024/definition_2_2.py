r"""A differentiable function is $L$-smooth if $\|\nabla g(w) - \nabla g(w')\|_2 \le L \|w - w'\|_2$ for all $w, w'$."""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="smooth functions",
    where="Section 2, Definition 2.2",
    status="definition",
    assumptions="smooth",
)
