r"""Basic composition: an $(\varepsilon_1, \delta_1)$-DP algorithm followed by one that, whatever the first has
released, is $(\varepsilon_2, \delta_2)$-DP, are $(\varepsilon_1 + \varepsilon_2, \delta_1 + \delta_2)$-DP together.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, first_delta, first_epsilon, second_delta, second_epsilon
from dpbounds.theorems.language import PER_SAMPLE, Bound

THEOREM = PAPER.theorem(
    title="basic composition",
    where="Section 2, Lemma 2.6",
    bounds="privacy",
    status="proved",
    relation="replace-one",
    parts=(
        Bound(first_epsilon + second_epsilon, "epsilon", "ε of both together", unit=PER_SAMPLE),
        Bound(first_delta + second_delta, "delta", "δ of both together"),
    ),
    notes="δ₁ + δ₂ may exceed 1, and is then vacuous.",
)
