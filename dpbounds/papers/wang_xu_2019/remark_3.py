r"""If $\|C\|_2 \le 1$ and $w_C = o(\sqrt d)$ the bound (7) is below (4); and without the terms in $C$ Theorems 4 and
5 have the same rate.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="mirror descent against projected gradients",
    where="High Dimension Case, Remark 3",
    bounds="projected-gradient-norm",
    status="claimed",
    relies_on="wang-xu-2019/theorem-2 wang-xu-2019/theorem-5",
    notes="(7) and (4) bound different mappings: for l2 balls of radius r they differ by the factor r².",
)
