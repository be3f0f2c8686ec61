r"""The Minkowski norm of a centrally symmetric convex set: $\|v\|_C = \min\{r > 0 : v \in r C\}$; its dual norm is
$\|v\|_{C^*} = \max_{w \in C} \langle w, v \rangle$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="the norm of a set",
    where="High Dimension Case, Definition 7",
    status="definition",
    assumptions="centrally symmetric set",
)
