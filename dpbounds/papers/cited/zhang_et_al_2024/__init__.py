"""Zhang, Tran & Cutkosky 2024: private zeroth-order optimisation without smoothness; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/zhang-et-al-2024", relation=None, read="abstract only")
