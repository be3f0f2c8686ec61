r"""Noisy stochastic gradient descent without projection: from $w_1 \in R^d$, for $t = 1, \dots, T$ draw a batch of
$b$ records uniformly with replacement, set $\tilde\nabla_t$ to the mean gradient of the batch plus $N(0, \sigma^2
I_d)$, and $w_{t+1} = w_t - \eta \tilde\nabla_t$. The output is uniform on $w_1, \dots, w_T$.

The mean gradient over $b$ draws, in which a record counts as often as it was drawn, has noise multiplier
$z = \sigma b / G$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import (
    batch_size,
    dataset_size,
    delta,
    epsilon,
    lipschitz,
    noise_stddev,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, SampledWithReplacement
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Status, Theorem
from dpbounds.theorems.spending import Numbers


def multiplier() -> Expr:
    return noise_stddev * batch_size / lipschitz


def mechanism(at: Numbers) -> Mechanism:
    batch = SampledWithReplacement(Gaussian(at.down(multiplier())), at.count(batch_size), at.count(dataset_size))
    return batch ** at.count(steps)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/algorithm-3",
    title="DP-SGD",
    statement=__doc__,
    where="Section 5, Algorithm 3; the way of sampling is stated in Appendix D",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    sampling="with replacement",
    assumptions=(LIPSCHITZ, SMOOTH, UNCONSTRAINED),
    parts=(
        Parameter(
            formula=multiplier,
            name="noise_multiplier",
            meaning="noise per unit of the per-record bound G on the sum of a batch",
            increasing_in=(noise_stddev, batch_size),
            decreasing_in=(lipschitz,),
        ),
    ),
    privacy=Privacy(
        claim=Claim.APPROXIMATE,
        mechanism=mechanism,
        needs=(epsilon, delta, dataset_size, batch_size, steps, lipschitz, noise_stddev),
    ),
    notes=(
        Note(
            "`spent` accounts for a given σ; the σ, T and η of the paper are in "
            "lowy-ullman-wright-2024/proposition-5.2."
        ),
        Note("All iterates may be released: that is what is accounted for."),
    ),
)
