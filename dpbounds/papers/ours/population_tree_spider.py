r"""Half of the records for an exponential mechanism on a net of a ball of diameter $D$ that holds a minimiser of the
population risk, the other half for DP-SPIDER along binary trees from the point chosen: up to logarithms $E \|\nabla
F_P(\hat w)\|$ is of order $(GL\psi/n)^{1/3} + (L\psi \sqrt d/(\varepsilon n))^{1/2} + G/\sqrt n + G\sqrt
d/(\varepsilon n)$, where $\psi = GD(d/(\varepsilon n) + \sqrt{d/n})$.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.theorems.language import Condition, Expr, Rate, Rational, log, q, sqrt

MINIMISER = PAPER.assumption(
    "population minimiser in a known ball",
    "a ball of diameter D is known that holds a point at which the population risk is least over all of R^d",
    holds_for="infimum",  # a ball around it
)
start = q.G * q.D * (q.d / (q.epsilon * q.n) + sqrt(q.d / q.n))


def rate() -> Expr:
    sampling = (q.G * q.L * start / q.n) ** Rational(1, 3)
    privacy = sqrt(q.L * start * sqrt(q.d) / (q.epsilon * q.n))
    floor = q.G / sqrt(q.n) + q.G * sqrt(q.d) / (q.epsilon * q.n)
    return sampling + privacy + floor


THEOREM = PAPER.theorem(
    title="population stationarity by tree-SPIDER and a warm start",
    where="derived here; compare Arora et al. 2023 and Lowy, Ullman & Wright 2024, Section 7",
    bounds="population-gradient-norm, expectation",
    status="proved here",
    sampling="fresh batches",
    assumptions="Lipschitz, smooth, i.i.d. records, unconstrained, population minimiser in a known ball",
    conditions=Condition(q.epsilon <= log(1 / q.delta), "ρ is of the order of ε²/ln(1/δ)"),
    parts=Rate(rate, meaning="norm of the population gradient", logs_hidden=True, bases="loss length"),
    relies_on="dpbounds/population-tree-spider/explicit ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit",
    derivation="population_tree_spider.md",
    notes="δ is hidden among the logarithms.",
)
