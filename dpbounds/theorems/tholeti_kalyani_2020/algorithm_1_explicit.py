r"""What Algorithm 1 does for utility, with constants: for losses with gradients of norm at most $G$ and $L$-smooth mean
$F$, any $\eta > 0$ and $T$, and $R$ uniform on $1, \dots, T$,
$E\|\nabla F(w_R)\|^2 \le \frac{\Delta_F}{\eta T} + \frac{L\eta}2 V$ with $V = G^2 + \frac{d}{d+2} r_u^2$; at the best
step size that is $\sqrt{2 L \Delta_F V / T}$. With the sampling variance
$s^2 \ge E_i\|\nabla\ell(w; z_i) - \nabla F(w)\|^2$ and $\eta \le 1/L$ it is at most
$\frac{2\Delta_F}{\eta T} + L\eta(s^2 + \frac{d}{d+2} r_u^2)$. The run is $(0, 1 - (1 - \delta_1/N)^T)$-private with the
$\delta_1$ of equation (6) at distance $2G$. Bounded are root mean squares, so norms in expectation, too.
"""

from sympy import Expr, Rational, Symbol, log, sqrt

from dpbounds.expressions.symbols import (
    Domain,
    Quantity,
    Unit,
    dataset_size,
    delta,
    dimension,
    initial_gap,
    lipschitz,
    radius,
    smoothness,
    step_size,
    steps,
)
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH_RISK, UNCONSTRAINED
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
from dpbounds.theorems.tholeti_kalyani_2020._ball import lost, run

sampling_stddev = Symbol("sampling_stddev", nonnegative=True)
SAMPLING_STDDEV = Quantity(
    name="sampling_stddev",
    symbol=sampling_stddev,
    domain=Domain.of_symbol(sampling_stddev),
    unit=Unit(1, -1),
    meaning="root mean square distance of a random record's gradient from the mean",
    latex="s",
)


def _ball_square() -> Expr:
    return dimension * radius**2 / (dimension + 2)


def _second_moment() -> Expr:
    return lipschitz**2 + _ball_square()


def bound() -> Expr:
    return sqrt(initial_gap / (step_size * steps) + smoothness * step_size * _second_moment() / 2)


def by_variance() -> Expr:
    noise = sampling_stddev**2 + _ball_square()
    return sqrt(2 * initial_gap / (step_size * steps) + smoothness * step_size * noise)


def tuned() -> Expr:
    return (2 * smoothness * initial_gap * _second_moment() / steps) ** Rational(1, 4)


def most_steps() -> Expr:
    return log(1 - delta) / log(1 - lost(2 * lipschitz) / dataset_size)


def private() -> Expr:
    return (4 * smoothness * initial_gap * _second_moment() / most_steps()) ** Rational(1, 4)


def best_step() -> Expr:
    return sqrt(2 * initial_gap / (smoothness * steps * _second_moment()))


def short_step() -> tuple[Condition, ...]:
    return (Condition(holds=step_size <= 1 / smoothness, why="half of the decrease must remain"),)


def one_step() -> tuple[Condition, ...]:
    return (
        Condition(holds=lost(2 * lipschitz) <= delta * dataset_size, why="δ must allow one step"),
        Condition(holds=dataset_size >= 2, why="with one record and disjoint balls nothing is hidden"),
    )


def mechanism(at: Numbers) -> Mechanism:
    return run(at, 2 * lipschitz)


_GRADIENT = Unit(1, -1)

THEOREM = Theorem(
    id="tholeti-kalyani-2020/algorithm-1/explicit",
    title="gradient norm of PrGD, with constants",
    statement=__doc__,
    where="derived here; compare Algorithm 1 and Section IV.B",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="one uniformly random record per step",
    assumptions=(UNCONSTRAINED, LIPSCHITZ, SMOOTH_RISK, BOUNDED_RISK),
    local=(SAMPLING_STDDEV,),
    parts=(
        Bound(
            formula=bound,
            unit=_GRADIENT,
            meaning="root mean square of the gradient norm, any step size",
            increasing_in=(initial_gap, smoothness, lipschitz, radius, dimension),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=by_variance,
            name="sampling-variance",
            unit=_GRADIENT,
            meaning="the same where the gradients of records differ little",
            conditions=short_step,
            increasing_in=(initial_gap, smoothness, sampling_stddev, radius, dimension),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_GRADIENT,
            meaning="the first one at its best step size",
            increasing_in=(initial_gap, smoothness, lipschitz, radius, dimension),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=private,
            name="private",
            unit=_GRADIENT,
            meaning="at the best step size with as many steps as (0, δ) allows, rounded down",
            bases=("loss", "length"),
            conditions=one_step,
            increasing_in=(initial_gap, smoothness, dimension, lipschitz),
            decreasing_in=(dataset_size, delta),
        ),
        Parameter(
            formula=best_step,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="the best step size of the first bound",
            increasing_in=(initial_gap,),
            decreasing_in=(smoothness, steps, lipschitz, radius, dimension),
        ),
        Parameter(
            formula=most_steps,
            name="steps",
            meaning="round down: the most steps that (0, δ) allows",
            bases=("loss", "length"),
            conditions=one_step,
            increasing_in=(delta, dataset_size, radius),
            decreasing_in=(lipschitz, dimension),
        ),
    ),
    privacy=Privacy(
        claim=Claim.TOTAL_VARIATION, mechanism=mechanism, needs=(radius, lipschitz, dimension, dataset_size, steps)
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    makes_explicit="tholeti-kalyani-2020/algorithm-1",
    relies_on=("tholeti-kalyani-2020/theorem-1/explicit",),
    derivation="algorithm_1_explicit.md",
    notes=(
        Note(
            "The paper states convergence to a neighbourhood of a local minimum (Theorem 2, quoted, without "
            "constants). This is the weaker claim, a small gradient, of which every constant is known."
        ),
        Note("What the noise costs and gains at a fixed δ is in dpbounds/ball-noise-at-fixed-delta."),
    ),
)
