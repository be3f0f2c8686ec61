r"""A loss is $L$-smooth in a norm if $\|\nabla f(w, z) - \nabla f(w', z)\|_* \le L \|w - w'\|$ with the dual norm
on the left; then $f(w, z) \le f(w', z) + \langle \nabla f(w', z), w - w' \rangle + \frac L2 \|w - w'\|^2$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="smooth losses",
    where="Preliminaries, Definition 3",
    status="definition",
    assumptions="smooth",
    notes="The paper says 'if f is differentiable, this yields' the quadratic upper bound; the set must be convex.",
)
