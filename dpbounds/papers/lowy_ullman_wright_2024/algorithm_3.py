r"""Noisy stochastic gradient descent without projection: from $w_1 \in R^d$, for $t = 1, \dots, T$ draw a batch of
$b$ records uniformly with replacement, set $\tilde\nabla_t$ to the mean gradient of the batch plus $N(0, \sigma^2
I_d)$, and $w_{t+1} = w_t - \eta \tilde\nabla_t$. The output is uniform on $w_1, \dots, w_T$.

The mean gradient over $b$ draws, in which a record counts as often as it was drawn, has noise multiplier
$z = \sigma b / G$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, SampledWithReplacement
from dpbounds.theorems.language import Numbers, Parameter, Privacy, q

multiplier = q.sigma * q.b / q.G


def mechanism(at: Numbers) -> Mechanism:
    batch = SampledWithReplacement(Gaussian(at.down(multiplier)), at.count(q.b), at.count(q.n))
    return batch ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="DP-SGD",
    where="Section 5, Algorithm 3; the way of sampling is stated in Appendix D",
    bounds="excess-empirical-risk",
    status="definition",
    sampling="with replacement",
    assumptions="Lipschitz, smooth, unconstrained",
    parts=Parameter(multiplier, "noise_multiplier", "noise per unit of the per-record bound G on the sum of a batch"),
    privacy=Privacy(mechanism, "epsilon delta n b T G sigma"),
    notes="""
    - `spent` accounts for a given σ; the σ, T and η of the paper are in lowy-ullman-wright-2024/proposition-5.2.
    - All iterates may be released: the accounting covers them.
    """,
)
