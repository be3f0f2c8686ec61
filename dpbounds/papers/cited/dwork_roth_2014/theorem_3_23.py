r"""AboveThreshold is private: with Laplace noise of scale $2/\varepsilon$ on the threshold, drawn once, and of scale
$4/\varepsilon$ on the answer to each query of sensitivity 1, reporting which query is the first to exceed the threshold
(and stopping there) is $\varepsilon$-differentially private, however many queries there are and however they depend on
earlier reports. With scales $b_1$ and $b_2$ it is $\left(\frac{1}{b_1} + \frac{2}{b_2}\right)$-private.
"""

from dpbounds.papers.cited.dwork_roth_2014 import PAPER
from dpbounds.privacy.mechanisms import AboveThreshold, Mechanism
from dpbounds.theorems.language import PER_SAMPLE, SAMPLES, Bound, Numbers, Parameter, Privacy, q

on_the_threshold = 2 / q.epsilon
on_each_query = 4 / q.epsilon
threshold_scale = PAPER.quantity(
    "threshold_scale", "b_{1}", "Laplace scale on the threshold, per unit of the queries' sensitivity", unit=SAMPLES
)
query_scale = PAPER.quantity(
    "query_scale", "b_{2}", "Laplace scale on each query, per unit of its sensitivity", unit=SAMPLES
)


def mechanism(at: Numbers) -> Mechanism:
    first, second = at.down(on_the_threshold), at.down(on_each_query)
    return AboveThreshold(threshold_noise=first, query_noise=second, relation=at.relation)


THEOREM = PAPER.theorem(
    title="privacy of AboveThreshold",
    where="Section 3.6, Algorithm 1 and Theorem 3.23; general scales: Lyu, Su & Li 2017",
    bounds="privacy, always",
    status="proved",
    relation="replace-one",
    parts=(
        Parameter(
            on_the_threshold,
            "threshold-scale",
            "Laplace scale on the threshold, per unit of the queries' sensitivity",
            unit=SAMPLES,
        ),
        Parameter(
            on_each_query, "query-scale", "Laplace scale on each query, per unit of its sensitivity", unit=SAMPLES
        ),
        Bound(1 / threshold_scale + 2 / query_scale, "epsilon", "ε of one run with given scales", unit=PER_SAMPLE),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    notes="""
    The threshold's noise serves one report only. A variant that goes on after a report, or that has less noise on the
    queries, is not covered.
    """,
)
