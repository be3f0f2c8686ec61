r"""A differentiable loss with a minimiser $w^*$ is $q_c$-quasar-convex, $0 < q_c \le 1$, if $g(w) - g(w^*) \le
\frac{1}{q_c} \langle \nabla g(w), w - w^* \rangle$ for every $w$: the inner product is at least the share $q_c$ of the
gap. With $q_c = 1$ it is star-convex; every convex loss is.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="quasar-convex losses",
    where="Section 5, Definition 5.1",
    status="definition",
    assumptions="quasar-convex, star-convex",
    notes="The paper writes q for this constant, and for the phase length of DP-SPIDER as well.",
)
