r"""The 2-Wasserstein distance of two distributions with finite second moments is the smallest root mean square distance
$(E \|V - W\|_2^2)^{1/2}$ over all couplings of $V \sim \mu$ and $W \sim \nu$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="Wasserstein distance",
    where="Preliminaries, Definition 5",
    bounds="distance",
    status="definition",
)
