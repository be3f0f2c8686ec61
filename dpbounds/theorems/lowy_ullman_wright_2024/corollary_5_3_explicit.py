r"""Full batches and $\rho$-zCDP, half of it for each stage. Stage one is noisy gradient descent as in
`proposition-5.2/explicit`, for $T$ steps; its expected excess risk is at most $\psi = \frac{G D}{q_c} \sqrt{\frac1T +
2a^2}$, $a = \sqrt{2d}/(n\sqrt\rho)$. Stage two is DP-SPIDER from its output, with step size $1/(2L)$, $T_2 = \lceil
T_* \rceil$ steps, $T_* = (L\psi/(4G^2a^4))^{1/3}$, and a new gradient every $1 + \lfloor 1/(2 a^2 T_2) \rfloor$
steps. The expected norm of the empirical gradient at a uniformly drawn one of its first $T_2$ iterates is at most
$\sqrt{6 \cdot 4^{1/3}}\, (1 + 1/T_*) (G L \psi)^{1/3} a^{2/3} + 2 G a$. For large $T$ that is of order $\big(G + (G^2
L D/q_c)^{1/3}\big) a$.
"""

from sympy import Expr, Rational, ceiling, floor, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    dimension,
    lipschitz,
    quasar_convexity,
    rho,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, QUASAR_CONVEX, SMOOTH
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

_THIRD = Rational(1, 3)


def noise_level() -> Expr:
    return sqrt(2 * dimension / rho) / dataset_size


def warm_gap() -> Expr:
    return lipschitz * diameter / quasar_convexity * sqrt(1 / steps + 2 * noise_level() ** 2)


def best_steps() -> Expr:
    return (smoothness * warm_gap() / (4 * lipschitz**2 * noise_level() ** 4)) ** _THIRD


def spider_steps() -> Expr:
    return ceiling(best_steps())


def period() -> Expr:
    return 1 + floor(1 / (2 * noise_level() ** 2 * spider_steps()))


def bound() -> Expr:
    shape = (lipschitz * smoothness * warm_gap() * noise_level() ** 2) ** _THIRD
    return sqrt(6 * 4**_THIRD) * (1 + 1 / best_steps()) * shape + 2 * lipschitz * noise_level()


def mechanism(at: Numbers) -> Mechanism:
    descent = Gaussian(at.down(2 * sqrt(steps / rho))) ** at.count(steps)
    count, length = at.count(spider_steps()), at.count(period())
    anchors = -(-count // length)
    # a quarter of ρ for the gradients, a quarter for the differences: N (2/z)²/2 = ρ/4
    parts = [(descent, 1), (Gaussian(at.down(sqrt(8 * anchors / rho))), anchors)]
    if count > anchors:
        parts.append((Gaussian(at.down(sqrt(8 * (count - anchors) / rho))), count - anchors))
    return Composed(tuple(parts))


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-5.3/explicit",
    title="gradient norm for quasar-convex losses, with constants",
    statement=__doc__,
    where="derived here; compare Corollary 5.3",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, QUASAR_CONVEX),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1),
            meaning="mean norm of the empirical gradient",
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, rho),
        ),
        Bound(
            formula=warm_gap,
            name="excess_risk",
            unit=Unit(loss=1),
            meaning="ψ: mean excess empirical risk after the first stage",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, rho, steps, quasar_convexity),
        ),
        Parameter(
            formula=spider_steps,
            name="spider_steps",
            meaning="T₂",
            increasing_in=(smoothness, diameter, dataset_size, rho),
            decreasing_in=(quasar_convexity, lipschitz),
        ),
        Parameter(formula=period, name="anchor_period", meaning="steps of DP-SPIDER from one gradient to the next"),
    ),
    privacy=Privacy(
        claim=Claim.ZCDP,
        mechanism=mechanism,
        needs=(rho, steps, dataset_size, dimension, lipschitz, smoothness, diameter, quasar_convexity),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    makes_explicit="lowy-ullman-wright-2024/corollary-5.3",
    derivation="corollary_5_3_explicit.md",
    notes=(
        Note(
            "ψ, T₂ and the period are computed from public numbers, before the first stage is run: the realised gap is "
            "never used."
        ),
        Note("With T of the order 1/a² the first stage is as good, up to a constant, as with any number of steps."),
    ),
)
