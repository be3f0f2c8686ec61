r"""Let $N$ be a norm, $w$ a distance generating function of modulus 1 for it, $\tilde L$ the smoothness of $F$ in
$N$, and $W = E N^*(b)^2$ for $b \sim N(0, I_d)$. For every $T \ge 1$ and $0 < \gamma < 2/\tilde L$ the output of
DP-PMD has $\sqrt{E\, N(P_R)^2} \le \sqrt A$ (noisy mapping) and $\sqrt{E\, N(\bar P_R)^2} \le \sqrt A + \sigma\sqrt
W$ (at the true gradient), with $A = \frac{\Delta_F}{\gamma a T} + \frac{\sigma^2 W}{a}$, $a = 1 - \tilde L\gamma/2$.

For $N = \|\cdot\|_C$ one has $W \le w_C^2 + \|C\|_2^2$, $\tilde L \le L\|C\|_2^2$ and $\|P\|_2 \le \|C\|_2 N(P)$.
With $\sigma^2 = 2G^2T/(n^2\rho)$, $\gamma = 1/(2\tilde L)$ and $T = \lceil\frac nG\sqrt{\rho\tilde
L\Delta_F/W}\rceil$, $A \le \frac{16}3\frac Gn\sqrt{\tilde L\Delta_F W/\rho} + \frac83\frac{W G^2}{n^2\rho}$.
"""

from sympy import Expr, Rational, Symbol, sqrt

from dpbounds.expressions.symbols import (
    Domain,
    Quantity,
    Unit,
    dataset_size,
    initial_gap,
    lipschitz,
    noise_stddev,
    relative_smoothness,
    rho,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, CLOSED_CONVEX_SET, CONVEX_REGULARISER, LIPSCHITZ
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Metric,
    Mode,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers

mirror_step = Symbol("mirror_step", positive=True)
dual_second_moment = Symbol("dual_second_moment", positive=True)

MIRROR_STEP = Quantity(
    "mirror_step",
    mirror_step,
    Domain.of_symbol(mirror_step),
    Unit(loss=-1),
    "step size of mirror descent",
    r"\gamma_{m}",
)
DUAL_SECOND_MOMENT = Quantity(
    "dual_second_moment",
    dual_second_moment,
    Domain.of_symbol(dual_second_moment),
    Unit(length=2),
    "E N*(b)² for b ~ N(0, I)",
    "W_{N}",
)


def mean_square() -> Expr:
    shrink = 1 - relative_smoothness * mirror_step / 2
    return initial_gap / (mirror_step * shrink * steps) + noise_stddev**2 * dual_second_moment / shrink


def noisy() -> Expr:
    return sqrt(mean_square())


def at_the_gradient() -> Expr:
    return sqrt(mean_square()) + noise_stddev * sqrt(dual_second_moment)


def tuned() -> Expr:
    first = (
        Rational(16, 3) * lipschitz * sqrt(relative_smoothness * initial_gap * dual_second_moment / rho) / dataset_size
    )
    return sqrt(first + Rational(8, 3) * dual_second_moment * lipschitz**2 / (dataset_size**2 * rho))


def best_steps() -> Expr:
    return dataset_size / lipschitz * sqrt(rho * relative_smoothness * initial_gap / dual_second_moment)


def short_step() -> tuple[Condition, ...]:
    return (Condition(holds=mirror_step < 2 / relative_smoothness, why="each step must decrease the risk"),)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


_UNIT = Unit(loss=1)  # a gradient in the dual norm of a set: gradient times length

THEOREM = Theorem(
    id="wang-xu-2019/theorem-5/explicit",
    title="projected gradient of DP-PMD, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 5",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, BOUNDED_RISK, CLOSED_CONVEX_SET, CONVEX_REGULARISER),
    local=(MIRROR_STEP, DUAL_SECOND_MOMENT),
    parts=(
        Bound(
            formula=at_the_gradient,
            unit=_UNIT,
            meaning="root mean square of N(mapping at the true gradient)",
            conditions=short_step,
            increasing_in=(initial_gap, noise_stddev, dual_second_moment),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=noisy,
            name="noisy",
            unit=_UNIT,
            meaning="root mean square of N(mapping at the noisy gradient)",
            conditions=short_step,
            increasing_in=(initial_gap, noise_stddev, dual_second_moment),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_UNIT,
            meaning="the noisy mapping with γ = 1/(2L~), the noise for ρ, and the steps below",
            increasing_in=(lipschitz, relative_smoothness, initial_gap, dual_second_moment),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(formula=best_steps, name="steps", meaning="round up: best number of steps for a budget ρ"),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    algorithm="wang-xu-2019/algorithm-3",
    makes_explicit="wang-xu-2019/theorem-5",
    derivation="theorem_5_explicit.md",
)
