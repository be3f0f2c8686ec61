r"""Utility of Algorithm 1, with constants: for losses with gradients of norm at most $G$ and $L$-smooth mean $F$, any
$\eta > 0$ and $T$, and $R$ uniform on $1, \dots, T$, $E\|\nabla F(w_R)\|^2 \le \frac{\Delta_F}{\eta T} + \frac{L\eta}2
V$ with $V = G^2 + \frac{d}{d+2} r_u^2$; at the best step size that is $\sqrt{2 L \Delta_F V / T}$. With the sampling
variance $s^2 \ge E_i\|\nabla\ell(w; z_i) - \nabla F(w)\|^2$ and $\eta \le 1/L$ it is at most $\frac{2\Delta_F}{\eta
T} + L\eta(s^2 + \frac{d}{d+2} r_u^2)$. The run is $(0, 1 - (1 - \delta_1/N)^T)$-private with the $\delta_1$ of equation
(6) at distance $2G$. The bounds are on root mean squares, so they hold for expected norms, too.
"""

from sympy import Rational, log, sqrt

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import lost, run
from dpbounds.theorems.language import GRADIENT, NONNEGATIVE, Bound, Condition, Parameter, Privacy, q

sampling_stddev = PAPER.quantity(
    "sampling_stddev",
    "s",
    "root mean square distance of a random record's gradient from the mean",
    domain=NONNEGATIVE,
    unit=GRADIENT,
)
_ball_square = q.d * q.r_u**2 / (q.d + 2)
_second_moment = q.G**2 + _ball_square
bound = sqrt(q.Delta_F / (q.eta * q.T) + q.L * q.eta * _second_moment / 2)
noise = sampling_stddev**2 + _ball_square
most_steps = log(1 - q.delta) / log(1 - lost(2 * q.G) / q.n)
best_step = sqrt(2 * q.Delta_F / (q.L * q.T * _second_moment))
one_step = (
    Condition(lost(2 * q.G) <= q.delta * q.n, "δ must allow one step"),
    Condition(q.n >= 2, "with one record and disjoint balls nothing is hidden"),
)

THEOREM = PAPER.theorem(
    title="gradient norm of PrGD, with constants",
    where="derived here; compare Algorithm 1 and Section IV.B",
    bounds="gradient-norm, expectation",
    assumptions="unconstrained, Lipschitz, smooth risk, bounded risk",
    parts=(
        Bound(bound, meaning="root mean square of the gradient norm, any step size"),
        Bound(
            sqrt(2 * q.Delta_F / (q.eta * q.T) + q.L * q.eta * noise),
            "sampling-variance",
            "the same where the gradients of records differ little",
            conditions=Condition(q.eta <= 1 / q.L, "half of the decrease must remain"),
        ),
        Bound(
            (2 * q.L * q.Delta_F * _second_moment / q.T) ** Rational(1, 4),
            "tuned",
            "the first one at its best step size",
        ),
        Bound(
            (4 * q.L * q.Delta_F * _second_moment / most_steps) ** Rational(1, 4),
            "private",
            "at the best step size with as many steps as (0, δ) allows, rounded down",
            conditions=one_step,
            bases="loss length",
            increasing_in="d G",
            decreasing_in="n delta",
        ),
        Parameter(best_step, "step_size", "the best step size of the first bound"),
        Parameter(
            most_steps,
            "steps",
            "round down: the most steps that (0, δ) allows",
            conditions=one_step,
            bases="loss length",
            increasing_in="delta n r_u",
            decreasing_in="G d",
        ),
    ),
    privacy=Privacy(lambda at: run(at, 2 * q.G), "r_u G d n T"),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    relies_on="tholeti-kalyani-2020/theorem-1/explicit",
    derivation="algorithm_1_explicit.md",
    notes="""
    - The paper states convergence to a neighbourhood of a local minimum (Theorem 2, quoted, without constants). This
      record has the weaker claim of a small gradient, with all constants.
    - The effect of the noise at a fixed δ is in dpbounds/ball-noise-at-fixed-delta.
    """,
)
