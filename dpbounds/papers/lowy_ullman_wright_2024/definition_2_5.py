r"""$(\varepsilon, \delta)$-differential privacy, $\varepsilon \ge 0$ and $\delta \in [0, 1)$, for datasets of the same
size $n$ that differ in one record: neighbours replace a record.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="differential privacy",
    where="Section 2, Definition 2.5",
    bounds="privacy",
    status="definition",
    relation="replace-one",
    notes="So a record moves a mean of n gradients of norm at most G by at most 2G/n.",
)
