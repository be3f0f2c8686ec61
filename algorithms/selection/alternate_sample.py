"""AlternateSample: Algorithm 3 of Ganesh, Liu, Oh & Thakurta 2023 (Appendix D.3), with a rejection step.

From x_0, for t = 1, ..., T: y_t = x_{t-1} + √η N(0, I), then x_t from the density proportional to exp(-β(F(x) +
(μ/2)‖x‖²) - ‖x - y_t‖²/(2η)) on the ball. The losses need be neither smooth nor convex.

The inner step draws X and Z from the Gaussian part, N(y/(1 + ηβμ), η/(1 + ηβμ) I) restricted to the ball, and keeps X
with probability min(e^W, 2)/2, W = β(F(Z) - F(X)). The paper estimates e^W from the losses of single random records;
here F is evaluated, which is a matrix product for all repetitions at once and leaves one source of error less.

How far x_T is from its target, in total variation, line by line (κ = 1/η + βμ; βF is βS-Lipschitz):

1. X and Z are independent, of a density that is κ-strongly log-concave on a convex set, so that they have the
   log-Sobolev inequality with constant 1/κ (Bakry & Émery). W has mean 0 and is √2 βS-Lipschitz in (X, Z): by Herbst's
   argument E e^(λW) <= e^(λ²v/2), v = 2β²S²/κ.
2. Where W <= ln 2 the step is right: P(keep | X) is e^(-βF(X)) times a constant. So the distribution of what is kept is
   off by at most b = E[(e^W - 2)⁺]/E e^W, with E e^W >= 1 (Jensen) and E[e^W; W > ln 2] <= e^((1+θ)²v/2 - θ ln 2),
   which is 2 e^(-ln²2/(2v)) = 2 exp(-κ ln²2/(4β²S²)) at 1 + θ = ln 2/v.
3. An attempt succeeds with probability at least (1 - b)/2; after K attempts the last X is kept, come what may. That
   adds ((1 + b)/2)^K.
4. With an exact inner step the Kullback-Leibler divergence from the target falls by 1/(1 + η/C) at least in every
   step, where C is a log-Sobolev constant of the target: along the heat flow that makes y_t, at time s it falls at a
   rate of half the relative Fisher information, and the target has by then the constant C + s (convolution with a
   Gaussian adds s); integrated over 0 <= s <= η that is the factor. The inner step maps both distributions alike and
   cannot increase it. (Theorem D.1, cited from Chen et al. 2022, has the square of that factor: half the number of
   steps.)
5. From the uniform distribution the divergence starts at sup - inf of β(F + (μ/2)‖x‖²) at most, which is at most βSD +
   p/8. By Pinsker's inequality the root of half of what is left bounds the total variation. The T inner steps add
   T (b + ((1 + b)/2)^K).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import sympy
from attrs import field, frozen
from scipy import special

from dpbounds.algorithms import fields
from dpbounds.algorithms.fields import named
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.selection.gibbs import Gibbs
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, to_float
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import (
    lemma_5_2,
    proximal_step,
    renyi_order,
    start_divergence,
    theorem_d_1,
)

THEOREMS = {"distance": "ganesh-liu-oh-thakurta-2023/theorem-d.1"}

_BLOCK = 256  # rows of random numbers drawn at once, of each repetition
_LARGEST_REACH = 100  # e^100 steps would be useless
_PATIENCE = 100_000  # pairs in a row outside the ball


@frozen(field_transformer=named)
class Schedule:
    """The run length of AlternateSample.

    Attributes:
        steps: T.
        proximal_step: η > 0, in the unit of the points squared.
        attempts: K, the cap of the rejection step.
    """

    steps: int = field(converter=fields.count)
    proximal_step: Fraction = field(converter=fields.positive)
    attempts: int = field(converter=fields.count)


def log_sobolev(target: Gibbs) -> sympy.Expr:
    """Return C of the target: e^(βSD)/(βμ) (Holley & Stroock's perturbation of the Gaussian on the ball)."""
    values = {
        symbols.inverse_temperature: 1,
        symbols.lipschitz: sympy.Rational(target.slope),
        symbols.diameter: target.diameter,
        symbols.regularisation: sympy.Rational(target.precision),
    }
    return lemma_5_2.regularised.subs(values)


def distance(target: Gibbs, schedule: Schedule) -> Enclosure:
    """Enclose the bound, derived above, on the total variation between the distribution of x_T and the target."""
    eta = sympy.Rational(schedule.proximal_step)
    divergence = theorem_d_1.divergence.subs(
        {
            start_divergence: sympy.Rational(target.slope) * target.diameter + sympy.Rational(target.dimension, 8),
            proximal_step: eta,
            symbols.log_sobolev: log_sobolev(target),
            renyi_order: 1,
            symbols.steps: sympy.Rational(schedule.steps, 2),  # half of that rate is what is proven above
        }
    )
    bias = _bias(1 / eta + sympy.Rational(target.precision), sympy.Rational(target.slope))
    return evaluate(sympy.sqrt(divergence / 2) + schedule.steps * (bias + ((1 + bias) / 2) ** schedule.attempts), {})


def schedule_for(target: Gibbs, tolerance: ExactLike, most_steps: int) -> Schedule:
    """Return the schedule for x_T within a total variation of its target: half for the start, half for T steps.

    η is 1/(β²S²) over (4/ln²2) ln(2/b), the step of Lemma D.2 with a constant, for b = tolerance/(4T).

    Raises:
        InvalidValue: The tolerance is not in (0, 1), or more steps would be needed (with their number).
    """
    goal = fields.share(tolerance, "tolerance")
    share, slope = float(goal), float(target.slope)
    reach = slope * 2 * float(target.radius)
    start = reach + target.dimension / 8
    advice = f"T grows like e^(βSD), here with βSD = {reach:.4g}: a lower inverse temperature, or the exact sampler"
    if reach > _LARGEST_REACH:
        raise InvalidValue("inverse_temperature", float(target.inverse_temperature), "one with βSD <= 100", advice)
    constant = math.exp(reach) / float(target.precision)
    widest = float(target.radius) ** 2 / (4 * target.dimension)  # beyond, the Gaussian part would rarely meet the ball
    steps = 1.0
    for _ in range(60):
        eta = min(widest, math.log(2) ** 2 / (4 * slope**2 * math.log(8 * steps / share)) * (1 - 1e-9))
        # ln x/ln(1 + η/C) steps of the proof, x from the root of half of the divergence
        needed = 2 * math.log(max(math.e, 2 * math.sqrt(start / 2) / share)) / math.log1p(eta / constant) * (1 + 1e-6)
        if not needed <= most_steps:
            raise InvalidValue("steps", f"{needed:.4g}", f"at most {most_steps}", advice)
        if needed <= steps:
            break
        steps = math.ceil(needed) + 1
    attempts = math.ceil(math.log2(4 * steps / share)) + 2
    found = Schedule(int(steps), Fraction(eta), attempts)
    if not distance(target, found).exact_upper <= goal:
        raise InvalidValue("tolerance", share, "one that double precision can plan for", advice)
    return found


def alternate_sample(target: Gibbs, schedule: Schedule, generators: Sequence[np.random.Generator]) -> Array:
    """Run Algorithm 3 from a uniform start, for every generator; returns x_T, shape (R, p).

    No repetition waits for another: each is at a step of its own, and every round is one attempt of each. A round takes
    3p normal numbers (for y, X and Z) and three uniform ones (X, Z, keep) of each stream, used or not. How many rounds
    there are depends on the data: who may see a clock must not see this one.

    Raises:
        InvalidValue: The Gaussian part meets the ball too rarely to be drawn by rejection.
    """
    p, count = target.dimension, len(generators)
    radius, eta = to_float(target.radius, "down"), float(schedule.proximal_step)
    shrink = 1 / (1 + eta * float(target.precision))
    spread = math.sqrt(eta * shrink)
    x = _uniform(generators, p, radius)
    y = np.zeros_like(x)
    step = np.zeros(count, dtype=np.int64)  # how many are done
    attempt, outside = np.zeros_like(step), np.zeros_like(step)
    fresh = np.ones(count, dtype=bool)  # whether y is to be drawn
    rows = _rows(generators, 3 * p, 3)
    while (step < schedule.steps).any():
        normal, uniform = next(rows)
        y[fresh] = x[fresh] + math.sqrt(eta) * normal[fresh, :p]
        X = near_the_ball(shrink * y, spread, radius, normal[:, p : 2 * p], uniform[:, 0])
        Z = near_the_ball(shrink * y, spread, radius, normal[:, 2 * p :], uniform[:, 1])
        inside = (np.maximum((X * X).sum(axis=1), (Z * Z).sum(axis=1)) <= radius**2) & (step < schedule.steps)
        X[~inside], Z[~inside] = 0.0, 0.0
        level = target.exponent(np.concatenate([X, Z]))
        gain = level[count:] - level[:count]  # W
        attempt += inside
        outside = np.where(inside | (step == schedule.steps), 0, outside + 1)
        if (outside > _PATIENCE).any():
            advice = "a smaller one, or the exact sampler"
            raise InvalidValue("proximal_step", eta, "one whose Gaussian meets the ball", advice)
        kept = (2 * uniform[:, 2] < np.exp(np.minimum(gain, math.log(2)))) | (attempt >= schedule.attempts)
        fresh = inside & kept
        x[fresh] = X[fresh]
        step[fresh] += 1
        attempt[fresh] = 0
    return x


def _bias(precision: sympy.Expr, slope: sympy.Expr) -> sympy.Expr:
    """Return the b of line 2."""
    return 2 * sympy.exp(-precision * sympy.log(2) ** 2 / (4 * slope**2))


def _uniform(generators: Sequence[np.random.Generator], dimension: int, radius: float) -> Array:
    drawn = np.empty((len(generators), dimension))
    for generator, row in zip(generators, drawn, strict=True):
        direction = generator.standard_normal(dimension)
        row[:] = direction / np.linalg.norm(direction) * (radius * generator.random() ** (1 / dimension))
    return drawn


def near_the_ball(centres: Array, spread: float, radius: float, normal: Array, uniform: Array) -> Array:
    """Draw N(centre, spread² I) restricted to a half-space that holds the ball, for every centre, shape (R, p).

    For a centre outside, at the distance t from the nearest point of the ball, that is the half-space beyond the
    tangent plane there: along the normal N(t, spread²) restricted to negative numbers (by inversion), across it as it
    is. Plain rejection would take infinitely many draws on average. For a centre inside it is the whole space. It is
    made of standard normal numbers, shape (R, p), and uniform ones, shape (R,), and to be refused outside the ball.
    """
    lengths = np.sqrt((centres * centres).sum(axis=1))
    beyond = np.maximum(lengths - radius, 0.0)
    directions = centres / np.maximum(lengths, radius)[:, None]  # unit vectors, for the centres that are outside
    along = beyond + spread * special.ndtri((1 - uniform) * special.ndtr(-beyond / spread))
    across = normal - (normal * directions).sum(axis=1, keepdims=True) * directions
    tilted = (radius + along)[:, None] * directions + spread * across
    return np.where((beyond > 0)[:, None], tilted, centres + spread * normal)


def _rows(generators: Sequence[np.random.Generator], normal: int, uniform: int) -> Iterator[tuple[Array, Array]]:
    """Yield rounds of random numbers, drawn in blocks: normal, shape (R, k), and uniform, shape (R, m)."""
    while True:
        normals = np.stack([generator.standard_normal((_BLOCK, normal)) for generator in generators])
        uniforms = np.stack([generator.random((_BLOCK, uniform)) for generator in generators])
        for row in range(_BLOCK):
            yield normals[:, row], uniforms[:, row]
