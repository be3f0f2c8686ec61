r"""The exponential mechanism on a net, then DP-SPIDER, each with half of a budget of $\rho$-zCDP: with $\varepsilon_E
= 2\sqrt\rho$, $\psi = \frac{2GDd}{\varepsilon_E n}(1 + \ln(1 + \sqrt2\, \varepsilon_E n/d))$ and $a =
\sqrt{2d}/(n\sqrt\rho)$, $E \|\nabla F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L \psi G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G
a^2$, of order $d^{2/3}/(n \sqrt\rho)$ up to a logarithm. The set holds a point that is at most $GDd/(\varepsilon_E
n)$ above the infimum.

The proof is in the Markdown file of `theorem-3.2/explicit`: the exponential mechanism is $\varepsilon_E^2/8 =
\rho/2$-zCDP and, measured from the infimum, two radii of the net times $G$ plus the logarithm of its size over the
temperature is $\psi$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    dimension,
    lipschitz,
    rho,
    smoothness,
)
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024 import _spider
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import NEAR_MINIMISER
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def selection_epsilon() -> Expr:
    return 2 * sqrt(rho)


def warm_risk() -> Expr:
    size = selection_epsilon() * dataset_size / dimension
    return 2 * lipschitz * diameter / size * (1 + log(1 + sqrt(2) * size))


def bound() -> Expr:
    return _spider.bound(warm_risk(), rho / 2)


def steps() -> Expr:
    return _spider.steps(warm_risk(), rho / 2)


def mechanism(at: Numbers) -> Mechanism:
    share = at.relation.sensitivity_factor  # ε_E is for replace-one; an added record moves the risk by half as much
    selection = ExponentialMechanism(at.up(selection_epsilon() * share / 2), relation=at.relation)
    return selection @ _spider.mechanism(at, warm_risk(), rho / 2)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-4.3/explicit",
    title="stationarity for non-convex losses, with constants",
    statement=__doc__,
    where="derived here; compare Corollary 4.3",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED, NEAR_MINIMISER),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1),
            increasing_in=(lipschitz, smoothness, diameter, dimension),
            decreasing_in=(dataset_size, rho),
        ),
        Bound(
            formula=warm_risk,
            name="excess_risk",
            unit=Unit(loss=1),
            meaning="ψ: what the warm start reaches in expectation",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=selection_epsilon,
            name="epsilon",
            unit=Unit(samples=-1),
            meaning="ε_E of the exponential mechanism, with temperature ε_E n/(2GD)",
            increasing_in=(rho,),
        ),
        Parameter(formula=steps, name="steps", meaning="steps of DP-SPIDER"),
    ),
    privacy=Privacy(
        claim=Claim.ZCDP,
        mechanism=mechanism,
        needs=(rho, dataset_size, dimension, lipschitz, smoothness, diameter),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on=("lowy-ullman-wright-2024/lemma-4.2/explicit", "lowy-ullman-wright-2024/theorem-3.2/explicit"),
    makes_explicit="lowy-ullman-wright-2024/corollary-4.3",
    derivation="theorem_3_2_explicit.md",
    notes=(Note("In the assumption on the set, ε stands for ε_E. The net has up to (1 + √2 ε_E n/d)^d points."),),
)
