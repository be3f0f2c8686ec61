r"""For every $T \ge 1$, step size $0 < \gamma < 2/L$ and noise $\sigma$ per coordinate, the output $x_R$ of DP-PGD
satisfies $\sqrt{E \|P_R\|^2} \le \sqrt{A}$ for the noisy mapping and $\sqrt{E \|\bar P_R\|^2} \le \sqrt{A} +
\sigma\sqrt d$ for the mapping at the true gradient, with $A = \frac{\Delta_F}{\gamma a T} + \frac{d \sigma^2}{a}$, $a
= 1 - L\gamma/2$, and $\Delta_F \ge F^r(x_1) - \inf_C F^r$ (the regulariser included).

With $\sigma^2 = 2G^2 T/(n^2\rho)$ ($\rho$-zCDP under replace-one), $\gamma = 1/(2L)$ and $T = \lceil \frac nG
\sqrt{\rho L \Delta_F / d} \rceil$ steps, $A \le \frac{16}3 \frac Gn \sqrt{L \Delta_F d/\rho} + \frac83 \frac{d
G^2}{n^2\rho}$ (the second term pays for rounding $T$ up).
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    initial_gap,
    lipschitz,
    noise_stddev,
    rho,
    smoothness,
    step_size,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    BOUNDED_RISK,
    CLOSED_CONVEX_SET,
    CONVEX_REGULARISER,
    LIPSCHITZ,
    SMOOTH_RISK,
)
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
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


def mean_square() -> Expr:
    shrink = 1 - smoothness * step_size / 2
    return initial_gap / (step_size * shrink * steps) + dimension * noise_stddev**2 / shrink


def noisy() -> Expr:
    return sqrt(mean_square())


def at_the_gradient() -> Expr:
    return sqrt(mean_square()) + noise_stddev * sqrt(dimension)


def tuned() -> Expr:
    first = Rational(16, 3) * lipschitz * sqrt(smoothness * initial_gap * dimension / rho) / dataset_size
    return sqrt(first + Rational(8, 3) * dimension * lipschitz**2 / (dataset_size**2 * rho))


def best_steps() -> Expr:
    return dataset_size / lipschitz * sqrt(rho * smoothness * initial_gap / dimension)


def noise() -> Expr:
    return lipschitz / dataset_size * sqrt(2 * steps / rho)


def short_step() -> tuple[Condition, ...]:
    return (Condition(holds=step_size < 2 / smoothness, why="each step must decrease the risk"),)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


_GRADIENT = Unit(1, -1)

THEOREM = Theorem(
    id="wang-xu-2019/theorem-2/explicit",
    title="projected gradient of DP-PGD, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 2",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_RISK, CLOSED_CONVEX_SET, CONVEX_REGULARISER),
    in_text=((step_size, r"\gamma"),),
    parts=(
        Bound(
            formula=at_the_gradient,
            unit=_GRADIENT,
            meaning="root mean square of the mapping at the true gradient",
            conditions=short_step,
            increasing_in=(initial_gap, noise_stddev, dimension),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=noisy,
            name="noisy",
            unit=_GRADIENT,
            meaning="root mean square of the mapping at the noisy gradient (what Theorem 2 bounds)",
            conditions=short_step,
            increasing_in=(initial_gap, noise_stddev, dimension),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_GRADIENT,
            meaning="the noisy mapping with the noise, step size and steps below",
            increasing_in=(lipschitz, smoothness, initial_gap, dimension),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=best_steps,
            name="steps",
            meaning="round up: best number of steps for a budget ρ",
            decreasing_in=(dimension,),
        ),
        Parameter(
            formula=noise,
            name="noise_stddev",
            unit=_GRADIENT,
            meaning="σ for a budget ρ and T steps",
            increasing_in=(steps, lipschitz),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    algorithm="wang-xu-2019/algorithm-1",
    makes_explicit="wang-xu-2019/theorem-2",
    derivation="theorem_2_explicit.md",
    notes=(
        Note("The constant step size 2/(3L) is slightly better: 27L/8 in place of 32L/9 in the product of both terms."),
    ),
)
