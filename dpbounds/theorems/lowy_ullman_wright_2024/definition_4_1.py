r"""The exponential mechanism on a net: from a net of the compact set $W$ of diameter $D$ with radius $D
d/(\varepsilon n)$, choose $w$ with probability proportional to $\exp(-\varepsilon n F(w)/(4 G D))$, where $F$ is the
empirical risk.

Its privacy: replacing a record changes $F(w)$ by $(f(w, x') - f(w, x))/n$, a function of $w$ that is
$2G/n$-Lipschitz, so that over $W$ it varies by at most $2GD/n$; a constant cancels in the normalisation. The privacy
loss therefore lies in an interval of length $\frac{\varepsilon n}{4GD} \cdot \frac{2GD}{n} = \varepsilon/2$.
"""

from fractions import Fraction

from sympy import Expr

from dpbounds.expressions.symbols import Unit, dataset_size, diameter, dimension, epsilon, lipschitz
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import NEAR_MINIMISER
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Status, Theorem
from dpbounds.theorems.spending import Numbers


def inverse_temperature() -> Expr:
    return epsilon * dataset_size / (4 * lipschitz * diameter)


def net_radius() -> Expr:
    return diameter * dimension / (epsilon * dataset_size)


def approximation() -> Expr:
    return lipschitz * diameter * dimension / (epsilon * dataset_size)


def mechanism(at: Numbers) -> Mechanism:
    # the loss spans ε/2 when a record is replaced, and half of that when it is added or removed (n kept as normaliser)
    share = Fraction(at.relation.sensitivity_factor, 4)
    return ExponentialMechanism(share * at[epsilon], relation=at.relation)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/definition-4.1",
    title="exponential mechanism on a net",
    statement=__doc__,
    where="Section 4, the setting and Definition 4.1",
    metric=Metric.PRIVACY,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, NEAR_MINIMISER),
    parts=(
        Parameter(
            formula=inverse_temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="factor of the risk in the exponent",
            increasing_in=(epsilon, dataset_size),
            decreasing_in=(lipschitz, diameter),
        ),
        Parameter(
            formula=net_radius,
            name="net_radius",
            unit=Unit(length=1),
            meaning="every point of W is this close to a point of the net",
            increasing_in=(diameter, dimension),
            decreasing_in=(epsilon, dataset_size),
        ),
        Parameter(
            formula=approximation,
            name="excess_risk",
            unit=Unit(loss=1),
            meaning="how far above the infimum over R^d the best point of W may be",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(epsilon, dataset_size),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    notes=(
        Note(
            "As a set of diameter D is assumed, the temperature is twice what ε-DP needs: 2GD in place of 4GD "
            "gives ε-DP "
            "and half the error (lowy-ullman-wright-2024/lemma-4.2/explicit). For the geometry of Lemma E.3 (radius D) "
            "4GD is exactly what is needed."
        ),
        Note(
            "Lipschitz losses bound f(w, x) - f(w, x') only up to a constant: as a score, the risk is meant "
            "relative to "
            "its value at a fixed point, which changes no probability."
        ),
        Note("The risk is evaluated at every point of the net, of which there are up to (2εn/d)^d."),
    ),
)
