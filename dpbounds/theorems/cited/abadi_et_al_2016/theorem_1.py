r"""Private stochastic gradient descent, by the moments accountant: there are constants $c_1, c_2$ such that for
sampling probability $q$, $T$ steps and every $\varepsilon < c_1 q^2 T$, noise of at least
$z = c_2\, q \sqrt{T \ln(1/\delta)} / \varepsilon$ per unit of the clipping norm makes it
$(\varepsilon, \delta)$-differentially private. Records are drawn independently in every step.
"""

from sympy import Expr, Symbol, log, sqrt

from dpbounds.expressions.symbols import Quantity, Unit, delta, domain_of, epsilon, noise_constant, sample_rate, steps
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Claim, Condition, Metric, Note, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers

range_constant = Symbol("range_constant", positive=True)
RANGE = Quantity(
    name="range_constant",
    symbol=range_constant,
    domain=domain_of(range_constant),
    unit=Unit(samples=-1),
    meaning="constant of the range of ε, whose existence alone is stated",
    latex="c_{1}",
)


def noise() -> Expr:
    return noise_constant * sample_rate * sqrt(steps * log(1 / delta)) / epsilon


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon < range_constant * sample_rate**2 * steps, why="range of the theorem"),)


def mechanism(at: Numbers) -> Mechanism:
    return PoissonSampled(Gaussian(at.down(noise())), at[sample_rate]) ** at.count(steps)


THEOREM = Theorem(
    id="cited/abadi-et-al-2016/theorem-1",
    title="noise of private stochastic gradient descent",
    statement=__doc__,
    where="Section 3, Theorem 1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    read=Read.QUOTED,
    relation=Relation.ADD_OR_REMOVE_ONE,
    sampling="Poisson",
    conditions=conditions,
    parts=(
        Parameter(
            formula=noise,
            name="noise_multiplier",
            unit=Unit(samples=1),
            meaning="per unit of the clipping norm; c stands for c₂",
            up_to_constant=True,
            increasing_in=(sample_rate, steps, noise_constant),
            decreasing_in=(epsilon, delta),
        ),
    ),
    local=(RANGE,),
    privacy=Privacy(
        claim=Claim.APPROXIMATE,
        mechanism=mechanism,
        needs=(epsilon, delta, steps, sample_rate, noise_constant),
        relation=Relation.ADD_OR_REMOVE_ONE,
    ),
    notes=(
        Note(
            "The proof bounds moments of the privacy loss for q < 1/(16z) and orders up to z² ln(1/(qz)). Papers that "
            "quote it at q = 1 (full batches), or with c₁ and c₂ as if they were known, leave that range; there a "
            "direct account of the Gaussians replaces it. What c₂ has to be is the accountant's to say."
        ),
        Note(
            "It is quoted for any δ > 0. No constants serve all δ close to 1: with q and ε fixed and 1 - δ = 2(1-q)^T "
            "the prescribed noise vanishes as T grows, and whether a record ever took part shows."
        ),
    ),
)
