r"""Quoted from Abadi et al. 2016: with sampling probability $q = l/n$ and $T$ steps there are constants $c_1, c_2$
such that for $\varepsilon < c_1 q^2 T$ private stochastic gradient descent on batches of $l$, with Gaussian noise of
standard deviation $G\sigma$ on the batch's sum, is $(\varepsilon, \delta)$-DP for any $\delta > 0$ if $\sigma \ge
c_2\, q \sqrt{T \ln(1/\delta)}/\varepsilon$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon, noise_constant, sample_rate, steps
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def noise() -> Expr:
    return noise_constant * sample_rate * sqrt(steps * log(1 / delta)) / epsilon


def mechanism(at: Numbers) -> Mechanism:
    return PoissonSampled(Gaussian(at.down(noise())), at[sample_rate]) ** at.count(steps)


THEOREM = Theorem(
    id="wang-chen-xu-2019/lemma-1",
    title="noise of private stochastic gradients",
    statement=__doc__,
    where="Preliminaries, Lemma 1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.ADD_OR_REMOVE_ONE,
    sampling="Poisson",
    assumptions=(LIPSCHITZ,),
    parts=(
        Parameter(
            formula=noise,
            name="noise_multiplier",
            unit=Unit(samples=1),
            meaning="σ, per unit of the Lipschitz constant; c stands for c₂",
            up_to_constant=True,
            increasing_in=(sample_rate, steps),
            decreasing_in=(epsilon, delta),
        ),
    ),
    privacy=Privacy(
        claim=Claim.APPROXIMATE,
        mechanism=mechanism,
        needs=(epsilon, delta, steps, sample_rate, noise_constant),
        relation=Relation.ADD_OR_REMOVE_ONE,
    ),
    relies_on=("cited/abadi-et-al-2016/theorem-1",),
    notes=(
        Note(
            "Abadi et al. prove it for q < 1/(16σ), a batch sampled record by record, and neighbours that differ by "
            "one record added or removed; Theorems 1, 5, 7 and 9 use it at q = 1, outside that range, and for a "
            "replaced record. See wang-xu-2019/lemma-2 and, for q = 1, wang-xu-2019/theorem-1/explicit."
        ),
    ),
)
