r"""Population gradients by a binary tree: the method of Theorem 3.2 is $(\varepsilon, \delta)$-differentially private
for $\varepsilon, \delta \le 1$.
"""

from dpbounds.papers.cited.arora_et_al_2023 import PAPER
from dpbounds.theorems.language import Condition, q

THEOREM = PAPER.theorem(
    title="privacy of gradients along a binary tree",
    where="Theorem 3.1",
    bounds="privacy, upper",
    status="claimed",
    read="converted text",
    relation=None,
    assumptions="Lipschitz, smooth",
    conditions=(Condition(q.epsilon <= 1, "range of the theorem"), Condition(q.delta <= 1, "range of the theorem")),
    notes="""
    No noise is recorded: its scale depends on a step length β that the copy garbles (it would make the noise larger
    than the error that Theorem 3.2 claims). For privacy that can be certified there is dpbounds/storm, or the trees of
    `dpbounds.privacy.mechanisms`.
    """,
)
