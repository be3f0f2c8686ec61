r"""With $\beta = \kappa \ln n$, possible for $\ln n$ at least of the order of $d$, Theorem 2 gives as $T \to \infty$ an
excess population risk of $\tilde O(\ln(1/\delta)/(n\varepsilon^2) + d/\ln n)$, which is at most $\tilde O(d
\ln(1/\delta)/(\varepsilon^2 \ln n))$; the same for the empirical risk. For comparison, convex losses have $\sqrt{d
\ln(1/\delta)}/(n\varepsilon)$ and (strongly convex ones) $d \ln(1/\delta)/(n\varepsilon)^2$.
"""

from functools import partial

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import Condition, Rate, log, q, sqrt

enough_records = (Condition(log(q.n) >= q.d, "β >= d; up to a constant"),)

rate = partial(Rate, hides="G L regularisation")

THEOREM = PAPER.theorem(
    title="excess risk of DP-GLD at the best temperature",
    where="Section 4, Remark 1; the abstract",
    bounds="excess-population-risk, expectation",
    status="claimed",
    assumptions="regularised Lipschitz loss",
    parts=(
        rate(
            log(1 / q.delta) / (q.n * q.epsilon**2) + q.d / log(q.n),
            meaning="excess risk as T grows",
            logs_hidden=True,
            conditions=enough_records,
        ),
        rate(
            q.d * log(1 / q.delta) / (log(q.n) * q.epsilon**2),
            "product",
            "as in the abstract",
            logs_hidden=True,
            conditions=(
                *enough_records,
                Condition(log(1 / q.delta) >= q.epsilon**2, "a sum is bounded by a product of factors that are >= 1"),
            ),
        ),
        rate(sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon), "convex", "quoted for convex losses"),
        rate(
            q.d * log(1 / q.delta) / (q.n * q.epsilon) ** 2,
            "strongly-convex",
            "quoted for convex losses; it holds for strongly convex ones",
        ),
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on="wang-chen-xu-2019/theorem-2 cited/bassily-smith-thakurta-2014/main-result",
    notes="""
    - The leading term is d/ln n, whatever ε and δ are: the factor ln(1/δ)/ε² of the product is a convention for ε <=
      √ln(1/δ), and makes the bound look worse in ε than it is.
    - On a bounded set, and without smoothness, sampling from a Gibbs density has a risk of the same kind, of order d ln
      ln n/(ε ln(nd)): ganesh-liu-oh-thakurta-2023/theorem-5.6.
    - The paper names the two convex rates as those of population and of empirical risk, respectively.
    """,
)
