r"""DP-SGD for a $q_c$-quasar-convex risk (a minimiser within $D$ of the start), then DP-SPIDER, each on the full
batch with half of a budget of $\rho$-zCDP: with $a = \sqrt{2d}/(n \sqrt\rho)$ and $\psi = 2GDa/q_c$, $E \|\nabla
F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L \psi G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G a^2$, of order $\sqrt d/(n
\sqrt\rho)$: the leading term is $\sqrt6\, 2^{2/3} (L G^2 D/q_c)^{1/3} a$.

The proof is in the Markdown file of `theorem-3.2/explicit`.
"""

from sympy import Expr, ceiling, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    dimension,
    lipschitz,
    quasar_convexity,
    rho,
    smoothness,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, QUASAR_CONVEX, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024 import _spider
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


def warm_risk() -> Expr:
    return 2 * lipschitz * diameter * _spider.noise_ratio(rho / 2) / quasar_convexity


def bound() -> Expr:
    return _spider.bound(warm_risk(), rho / 2)


def descent_steps() -> Expr:
    return ceiling(dataset_size**2 * rho / (4 * dimension))


def steps() -> Expr:
    return _spider.steps(warm_risk(), rho / 2)


def mechanism(at: Numbers) -> Mechanism:
    count = at.count(descent_steps())
    return Gaussian(at.down(sqrt(4 * count / rho))) ** count @ _spider.mechanism(at, warm_risk(), rho / 2)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-5.3/explicit",
    title="stationarity for quasar-convex risks, with constants",
    statement=__doc__,
    where="derived here; compare Corollary 5.3",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED, QUASAR_CONVEX),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1),
            increasing_in=(lipschitz, smoothness, diameter, dimension),
            decreasing_in=(dataset_size, rho, quasar_convexity),
        ),
        Bound(
            formula=warm_risk,
            name="excess_risk",
            unit=Unit(loss=1),
            meaning="ψ: what the warm start reaches in expectation",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, rho, quasar_convexity),
        ),
        Parameter(formula=descent_steps, name="descent_steps", meaning="steps of DP-SGD"),
        Parameter(formula=steps, name="steps", meaning="steps of DP-SPIDER"),
    ),
    privacy=Privacy(
        claim=Claim.ZCDP,
        mechanism=mechanism,
        needs=(rho, dataset_size, dimension, lipschitz, smoothness, diameter, quasar_convexity),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on=(
        "lowy-ullman-wright-2024/proposition-d.1/explicit",
        "lowy-ullman-wright-2024/theorem-3.2/explicit",
    ),
    makes_explicit="lowy-ullman-wright-2024/corollary-5.3",
    derivation="theorem_3_2_explicit.md",
    notes=(Note("Quasar-convexity is assumed on all of R^d; 1/q_c enters to the power 1/3."),),
)
