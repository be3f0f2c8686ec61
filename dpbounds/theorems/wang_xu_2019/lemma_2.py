r"""Quoted from Abadi et al. 2016: with sampling probability $q = l/n$ and $T$ steps there are constants $c_1, c_2$ such
that for $\varepsilon < c_1 q^2 T$ stochastic gradient descent on batches of $l$ with Gaussian noise is
$(\varepsilon, \delta)$-DP for any $\delta > 0$ if its noise multiplier is at least
$c_2\, q \sqrt{T \ln(1/\delta)}/\varepsilon$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon, noise_constant, sample_rate, steps
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def noise() -> Expr:
    return noise_constant * sample_rate * sqrt(steps * log(1 / delta)) / epsilon


def mechanism(at: Numbers) -> Mechanism:
    return PoissonSampled(Gaussian(at.down(noise())), at[sample_rate]) ** at.count(steps)


THEOREM = Theorem(
    id="wang-xu-2019/lemma-2",
    title="noise of private stochastic gradients",
    statement=__doc__,
    where="Preliminaries, Lemma 2",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.ADD_OR_REMOVE_ONE,
    sampling="Poisson",
    parts=(
        Parameter(
            formula=noise,
            name="noise_multiplier",
            unit=Unit(samples=1),
            meaning="per unit of the clipping norm; c stands for c₂",
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
            "Abadi et al. prove it for q < 1/(16σ) and a batch sampled record by record; the theorems here quote it at "
            "q = 1, outside that range. The accountant says what c₂ really is: dpbounds.hidden_constant."
        ),
        Note(
            "The text at hand has noise of 'standard deviation (ε/n) σ', which may be a lost letter: a Gaussian of "
            "standard deviation Gσ on the batch sum is what the cited theorem uses."
        ),
    ),
)
