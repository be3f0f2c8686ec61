r"""A sketch, not a theorem: DP-SPIDER with gradients estimated along a binary tree, run once over the data from a start
whose excess population risk is $\psi$, would have $E \|\nabla F(\hat w)\|$ of order $(GL\psi/n)^{1/3} + (L\psi \sqrt
d/(\varepsilon n))^{1/2} + G/\sqrt n + G\sqrt d/(\varepsilon n)$. Warm-started by an exponential mechanism on a separate
half of the data, $\psi$ is of order $GD(d/(\varepsilon n) + \sqrt{d/n})$, and the order is the one below.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.theorems.language import Expr, Rate, Rational, q, sqrt

start = q.G * q.D * (q.d / (q.epsilon * q.n) + sqrt(q.d / q.n))


def rate() -> Expr:
    sampling = (q.G * q.L * start / q.n) ** Rational(1, 3)
    privacy = sqrt(q.L * start * sqrt(q.d) / (q.epsilon * q.n))
    floor = q.G / sqrt(q.n) + q.G * sqrt(q.d) / (q.epsilon * q.n)
    return sampling + privacy + floor


THEOREM = PAPER.theorem(
    id="population-tree-spider",
    title="population stationarity by tree-SPIDER and a warm start, a sketch",
    statement=__doc__,
    where="derived here, as a sketch; compare Arora et al. 2023 and Lowy, Ullman & Wright 2024, Section 7",
    bounds="population-gradient-norm, expectation",
    status="conjectured",
    relation=None,
    sampling="",
    assumptions="Lipschitz, smooth, i.i.d. records, bounded set",
    parts=Rate(rate, meaning="norm of the population gradient", logs_hidden=True, bases="loss length"),
    notes="""
    Not proved: that the tree's estimates have the error that is used here was not written out. Batches are of the order
    of G²/α² and G√d/(εα) records, α the order itself. The samples of start and search must be disjoint.
    """,
)
