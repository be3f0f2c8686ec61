"""The moment generating function M(s) = ∫ F(t; s) dt of one sampled pair, enclosed in balls.

F(t; s) = φ(t) χ(t) A^{1+s} (remove), φ(t) A^{-s} (add), φ(t) χ(t) A^{1+s} A₋^{-s} (replace), with
A(t) = 1 - q + q e^{t/z - 1/2z²}, A₋(t) = A(-t), χ(t) = erfc((t - edge)/C)/2. Every bound is proven in ``proof.md``;
each of its conditions is asserted here by ``need``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any, Generic, TypeVar

from flint import acb, arb, fmpq

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.routes.contour.choices import Nodes
from dpbounds.privacy.routes.contour.power_sums import power_sums

Ball = TypeVar("Ball", arb, acb)


def need(condition: object, what: str) -> None:
    """Assert a condition of the proof; ball comparisons are True only where every point of both balls agrees."""
    if condition is not True:
        raise Declined(f"condition not proven: {what}")


def upper(x: arb) -> arb:
    """Return the upper endpoint as an exact ball; the bounds below only grow by this."""
    return x.upper()


def up_to(x: arb) -> arb:
    """Return the ball [-|x|, |x|]."""
    bound = x.abs_upper()
    return (-bound).union(bound)


def soft_step(x: Ball) -> Ball:
    """Return erfc(x)/2; where it differs from 1 by less than the precision shows, 1 less at most |e^{-x²}|/2."""
    if isinstance(x, arb):
        if x < 0 and x * x > working_bits():
            return 1 - arb(0).union((-x * x).exp() / 2)
    else:
        fall = x.real * x.real - x.imag * x.imag
        if x.real < 0 and fall > working_bits():
            slack = up_to((-fall).exp() / 2)
            return 1 - acb(slack, slack)
    return x.erfc() / 2


def angle(p: arb, v: arb) -> arb:
    """Return arg(1 - p + p e^{iv}) for 0 < v < π, increasing in p."""
    sine, cosine = v.sin_cos()
    return acb(1 - p + p * cosine, p * sine).arg()


def dent(low: arb, high: arb, v: arb) -> arb:
    """Return an upper bound on 4p(1-p) sin²(v/2) for p in [low, high]: |A(t+iy)|² = A² (1 - this)."""
    half = (v / 2).sin()
    if high <= arb(fmpq(1, 2)):
        share = 4 * high * (1 - high)
    elif low >= arb(fmpq(1, 2)):
        share = 4 * low * (1 - low)
    else:
        share = arb(1)
    return share * half * half


@dataclass(frozen=True, slots=True)
class Observation(Generic[Ball]):
    """Values at one t, real or complex, for the bounds: log A, log A₋ and the weights p, p₋."""

    t: Ball
    log_a: Ball
    log_a_minus: Ball
    p: Ball
    p_minus: Ball


def _remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """Cache a method's values with the object, by its arguments: each is used several times per query."""

    @wraps(method)
    def kept(self: Moments, tilt: float, *rest: float) -> Any:
        key = (method.__name__, tilt, *(value for value in rest if value is not False))
        if key not in self.kept:
            self.kept[key] = method(self, tilt, *rest)
        return self.kept[key]

    return kept


class Moments:
    """M(s) of one part, by the trapezoidal rule on ``nodes`` with proven errors. All at the current precision."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.kept: dict[tuple[object, ...], Any] = {}
        pair = nodes.part.pair
        self.direction = pair.direction
        self.count = nodes.part.count
        self.cut = nodes.part.cut
        self.q, variance = ball(pair.sample_rate), ball(pair.variance)
        self.z = variance.sqrt()
        self.kappa = 1 / (2 * variance)
        self.step, self.strip = arb(nodes.step), arb(nodes.strip)
        self.edge, self.softness = arb(nodes.edge), arb(nodes.softness)
        self.t0, self.t1 = arb(nodes.first) * self.step, arb(nodes.last) * self.step
        self.turn = self.strip / self.z  # v = d/z
        self.root_two = arb(2).sqrt()
        self.sqrt_two_pi = (2 * arb.pi()).sqrt()
        need(self.step > 0, "the step is positive")
        need(self.strip > 0, "the strip's half-width is positive")
        need(self.strip < arb.pi() * self.z, "the strip ends before the branch points of log A, d < πz")
        need(not nodes.lifted or 2 * self.strip < arb.pi() * self.z, "as does that around lifted nodes, 2d < πz")
        need(not self.cut or self.softness > 0, "the cut-off's softness is positive")
        need(nodes.bulk is None or nodes.bulk.softness > 0, "the split's softness is positive")

    # --- the integrand on the real line ------------------------------------------------------------------------

    def point(self, t: Ball) -> Observation[Ball]:
        """Return a and its relatives at t."""
        grown = self.q * (t / self.z - self.kappa).exp()
        a = 1 - self.q + grown
        if self.direction is not Direction.REPLACE:
            zero = 0 * t
            return Observation(t, a.log(), zero, grown / a, zero)
        shrunk = self.q * (-t / self.z - self.kappa).exp()
        a_minus = 1 - self.q + shrunk
        return Observation(t, a.log(), a_minus.log(), grown / a, shrunk / a_minus)

    @cached_property
    def grid(self) -> list[Observation[arb]]:
        """The points at all nodes."""
        return [self.point(arb(j) * self.step) for j in range(self.nodes.first, self.nodes.last + 1)]

    @cached_property
    def base(self) -> list[arb]:
        """Step · P-density · cut-off at all nodes: F(t; 0) per node."""
        return [self.step * self.density(point) for point in self.grid]

    def density(self, point: Observation[Ball]) -> Ball:
        """Return F(t; 0)."""
        exponent = -point.t * point.t / 2
        if not self.cut:
            return exponent.exp() / self.sqrt_two_pi
        value = (exponent + point.log_a).exp() / self.sqrt_two_pi
        return value * soft_step((point.t - self.edge) / self.softness)

    def loss(self, point: Observation[Ball]) -> Ball:
        """Return L(t)."""
        match self.direction:
            case Direction.REMOVE:
                return point.log_a
            case Direction.ADD:
                return -point.log_a
            case Direction.REPLACE:
                return point.log_a - point.log_a_minus

    @cached_property
    def losses(self) -> list[arb]:
        """L at all nodes."""
        return [self.loss(point) for point in self.grid]

    @_remembered
    def tilted(self, tilt: float) -> list[arb]:
        """Return F(t; tilt) · step at all nodes."""
        a = arb(tilt)
        return [weight * (a * loss).exp() for weight, loss in zip(self.base, self.losses, strict=True)]

    @property
    def _split(self) -> tuple[arb, arb]:
        """Edge and softness of the bulk."""
        assert self.nodes.bulk is not None
        return arb(self.nodes.bulk.edge), arb(self.nodes.bulk.softness)

    def below_bulk_edge(self, t: Ball) -> Ball:
        """Return ψ(t) = erfc((t - edge_b)/C_b)/2, the share of the mass at t that counts as bulk."""
        edge, softness = self._split
        return soft_step((t - edge) / softness)

    def above_bulk_edge(self, t: arb) -> arb:
        """Return 1 - ψ(t), accurate where it is small."""
        edge, softness = self._split
        return soft_step((edge - t) / softness)

    @cached_property
    def bulk_share(self) -> list[arb]:
        """ψ at all nodes."""
        return [self.below_bulk_edge(point.t) for point in self.grid]

    # --- bounds on integrals over cells and tails --------------------------------------------------------------

    @cached_property
    def cells(self) -> list[tuple[Observation[arb], Observation[arb]]]:
        """Adjacent cells; the tails of the line bounds lie outside them."""
        corners = [self.point(arb(t)) for t in self.nodes.corners]
        for left, right in pairwise(corners):
            need(left.t < right.t, "the corners of the cells increase")
        for end in (self.nodes.corners[0], self.nodes.corners[-1]):
            need(
                arb(round(end / self.nodes.step)) * self.step == arb(end),
                "the cells end a whole number of steps from 0",
            )
        if self.cut:
            need(corners[0].t <= -1 / (2 * self.z), "left of the cells A <= 1 and A₋ >= 1")
            need(corners[-1].t > self.edge, "the cells end beyond the cut-off")
        else:
            need(corners[0].t < 0, "the cells begin left of 0")
            need(corners[-1].t >= 1 / (2 * self.z), "right of the cells A >= 1")
        return list(pairwise(corners))

    @_remembered
    def cell_masses(self, tilt: float, bulk: bool = False) -> list[arb]:
        """Return upper bounds on ∫ F(t; tilt) dt (or ψF) over each cell: every factor at the end where it is largest.

        The first entry is for everything left of the cells, the last for everything right of them.
        """
        a = arb(tilt)
        found = [self.left_tail(self.cells[0][0], tilt)]
        for left, right in self.cells:
            nearest = left.t if left.t > 0 else right.t if right.t < 0 else arb(0)
            exponent = -nearest * nearest / 2
            if self.direction is Direction.ADD:
                exponent = exponent - a * left.log_a
                value = exponent.exp()
            else:
                exponent = exponent + (1 + a) * right.log_a - a * right.log_a_minus
                value = exponent.exp() * soft_step((left.t - self.edge) / self.softness)
            if bulk:
                value = value * self.below_bulk_edge(left.t)
            found.append(upper(value * (right.t - left.t) / self.sqrt_two_pi))
        last = self.cells[-1][1]
        found.append(self.right_tail(last, tilt, bulk))
        return found

    def left_tail(self, at: Observation[arb], tilt: float) -> arb:
        """Return an upper bound on ∫ F left of the point, and on step · ΣF over nodes further left than it."""
        a = arb(tilt)
        if self.cut:  # A <= 1, A₋ >= 1, χ <= 1: F <= φ, which increases there
            return upper((-at.t / self.root_two).erfc() / 2)
        # -a log A is concave: F <= F(at) e^{-slope u} at distance u
        slope = -at.t - a * at.p / self.z
        need(slope > 0, "the left tail of the add direction decays")
        top = (-at.t * at.t / 2 - a * at.log_a).exp() / self.sqrt_two_pi
        # 1/slope bounds both ∫ e^{-slope u} du over u > 0 and step · Σ_{m >= 1} e^{-slope·step·m}
        return upper(top * (1 / slope))

    def right_tail(self, at: Observation[arb], tilt: float, bulk: bool = False) -> arb:
        """Bound the right tail, from the point on (for ψF if ``bulk``)."""
        a = arb(tilt)
        if not self.cut:  # A increases and is >= 1, so F <= φ A(t)^{-a}, and φ decreases
            return upper((at.t / self.root_two).erfc() / 2 * (-a * at.log_a).exp())
        c = self.softness
        y = (at.t - self.edge) / c
        exponent = -at.t * at.t / 2 - y * y + (1 + a) * at.log_a - a * at.log_a_minus
        # (log A)'' <= 1/4z²: the quadratic terms cancel if (1+a)/4z² <= 1 + 2/C²; otherwise (log A)' <= 1/z
        gentle = (1 + a) / (4 * self.z * self.z) <= 1 + 2 / (c * c)
        slope = at.t + 2 * y / c - (1 + a) * (at.p if gentle else arb(1)) / self.z - a * at.p_minus / self.z
        if bulk:
            edge, split = self._split
            beyond = (at.t - edge) / split
            need(beyond > 0, "the last point lies beyond the bulk's edge")
            exponent = exponent - beyond * beyond
            slope = slope + 2 * beyond / split
        need(slope > 0, "the cut-off's tail decays")
        return upper(exponent.exp() / self.sqrt_two_pi * (1 / slope))

    @cached_property
    def _cell_turns(self) -> list[tuple[arb, arb]]:
        """Per cell and tail: (largest total argument, largest dent) on the line Im t = d, left tail first."""
        v = self.turn
        turns = []
        for (low, high), minus in self.spans:
            turn = angle(high, v)
            if self.direction is Direction.REPLACE:
                turn = turn + angle(minus[1], v)
            turns.append((turn, self.shrinking(v, (low, high), minus)))
        return turns

    @cached_property
    def spans(self) -> list[tuple[tuple[arb, arb], tuple[arb, arb]]]:
        """Per cell and tail, left tail first, the least and the largest p, and those of p₋."""
        zero, one = arb(0), arb(1)
        first, last = self.cells[0][0], self.cells[-1][1]
        inner = [((left.p, right.p), (right.p_minus, left.p_minus)) for left, right in self.cells]
        return [((zero, first.p), (first.p_minus, one)), *inner, ((last.p, one), (zero, last.p_minus))]

    def shrinking(self, v: arb, p: tuple[arb, arb], p_minus: tuple[arb, arb]) -> arb:
        """Return the dent of |A| (add) or |A₋| (replace), whose negative power is in e^{λL}."""
        if self.direction is Direction.REMOVE:
            return arb(0)
        return dent(*(p if self.direction is Direction.ADD else p_minus), v)

    @_remembered
    def line_integral(self, tilt: float, frequency: float, bulk: bool = False) -> arb:
        """Return an upper bound on ∫ |F(t ± id; tilt + iw)| dt (or ψF) for all |w| <= frequency."""
        a, w = arb(tilt), arb(frequency)
        total = arb(0)
        for mass, (turn, gone) in zip(self.cell_masses(tilt, bulk), self._cell_turns, strict=True):
            total = total + upper(mass * (w * turn - a / 2 * (-gone).log1p()).exp())
        return upper(total * self.bend(self.strip, bulk).exp())

    def bend(self, y: arb, bulk: bool) -> arb:
        """Log of the factor by which φ, the cut-off and (for ψF or (1-ψ)F) the split may grow on the line Im t = y."""
        exponent = y * y / 2
        if self.cut:
            exponent = exponent + y * y / (self.softness * self.softness)
        return exponent + y * y / self._split[1] ** 2 if bulk else exponent

    @_remembered
    def omitted(self, tilt: float, bulk: bool = False) -> arb:
        """Return an upper bound on step · ΣF (or ψF) over all nodes that are left out.

        A cell of width w holds at most w/step + 1 nodes, each with F at most the cell's bound over w; the tails begin
        a whole step beyond the last corner.
        """
        masses = self.cell_masses(tilt, bulk)
        total = masses[0] + masses[-1]
        for (left, right), mass in zip(self.cells, masses[1:-1], strict=True):
            if left.t >= self.t1 or right.t <= self.t0:
                total = total + mass * (1 + self.step / (right.t - left.t))
            else:
                need(left.t >= self.t0, "no cell straddles the first node")
                need(right.t <= self.t1, "no cell straddles the last node")
        return upper(total)

    def _lifted_error(self, tilt: float, bulk: bool) -> arb:
        """Bound |step · ΣF over the lifted nodes - M(tilt + iw)| for all w >= 0 (or the same for ψF)."""
        there, beyond = self._growth(self.strip, tilt, bulk), self._growth(2 * self.strip, tilt, bulk)
        mistake = (1 + beyond) / ((2 * arb.pi() * self.strip / self.step).exp() - 1)
        outside = self.omitted(tilt, bulk) if self.nodes.corners else self._outside(tilt)
        return upper(mistake * upper(self.at_real(tilt)) + there * outside)

    def _growth(self, y: arb, tilt: float, bulk: bool = False) -> arb:
        """Return an upper bound on |F(t ± iy; tilt)| / F(t; tilt) (or on ψF over F)."""
        exponent = self.bend(y, bulk)
        if self.direction is not Direction.REMOVE:
            exponent = exponent - arb(tilt) * (y / self.z / 2).cos().log()
        return upper(exponent.exp())

    @_remembered
    def error(self, tilt: float, frequency: float, bulk: bool = False) -> arb:
        """Bound |step · ΣF over the nodes - M(tilt + iw)| for |w| <= frequency (or the same for ψF)."""
        if not self.nodes.corners:
            need(not bulk, "a split distribution has cells")
            return upper(self._mistake(tilt, frequency) * self._largest(tilt) + self._outside(tilt))
        decay = (2 * arb.pi() * self.strip / self.step).exp() - 1
        return upper(2 * self.line_integral(tilt, frequency, bulk) / decay + self.omitted(tilt, bulk))

    def _mistake(self, tilt: float, frequency: float) -> arb:
        """Bound the error of the trapezoidal rule, relative to M(tilt), without cells.

        On the line |F| is at most a constant times F on the real one.
        """
        growth = self._growth(self.strip, tilt) * (arb(frequency) * self._whole_turn).exp()
        return upper(2 * growth / ((2 * arb.pi() * self.strip / self.step).exp() - 1))

    @cached_property
    def _whole_turn(self) -> arb:
        """Upper bound on the argument of e^{L(t+id)}: v; twice that for the replace direction, unless p + p₋ <= 1."""
        if self.direction is not Direction.REPLACE or self.q * (-self.kappa).exp() <= 1 - self.q:
            return self.turn
        return 2 * self.turn

    def _largest(self, tilt: float) -> arb:
        """Return an upper bound on M(tilt), by the nodes alone: M <= Σ + mistake · M."""
        mistake = self._mistake(tilt, 0.0)
        need(mistake < 1, "the nodes are close enough")
        return upper((sum(self.tilted(tilt), arb(0)) + self._outside(tilt)) / (1 - mistake))

    def _outside(self, tilt: float) -> arb:
        """Return an upper bound on step · ΣF over the nodes beyond the first and the last."""
        first, last = self.grid[0], self.grid[-1]
        if self.cut:
            need(first.t <= -1 / (2 * self.z), "left of the nodes A <= 1 and A₋ >= 1")
            need(last.t > self.edge, "the nodes end beyond the cut-off")
        else:
            need(first.t < 0, "the nodes begin left of 0")
            need(last.t >= 1 / (2 * self.z), "right of the nodes A >= 1")
        return upper(self.left_tail(first, tilt) + self.right_tail(last, tilt))

    # --- values ------------------------------------------------------------------------------------------------

    def at_real(self, tilt: float) -> arb:
        """Return a ball around M(tilt)."""
        value = sum(self.tilted(tilt), arb(0)) + up_to(self.error(tilt, 0.0, False))
        need(value > 0, "M is positive")
        return value

    def bulk_at_real(self, tilt: float) -> arb:
        """Return a ball around the bulk's part of M(tilt)."""
        terms = (share * value for share, value in zip(self.bulk_share, self.tilted(tilt), strict=True))
        return sum(terms, arb(0)) + up_to(self.error(tilt, 0.0, True))

    @_remembered
    def at_frequencies(self, tilt: float, spacing: float, frequencies: int, bits: float) -> tuple[list[acb], list[acb]]:
        """Return balls around M(tilt + i·spacing·k), k = 0..frequencies; and around the bulk's part of it (or nothing).

        ``bits`` behind the point, relative to the largest weight, are kept in the sums over the nodes.
        """
        d = arb(spacing)
        top = math.nextafter(spacing * frequencies, math.inf)
        need(arb(top) >= d * frequencies, "the error covers the highest frequency")
        weights, losses = self._lifted(tilt) if self.nodes.lifted else self._along(tilt)
        sums = power_sums(weights, [d * loss for loss in losses], frequencies, bits)
        for values, is_bulk in zip(sums, (False, True), strict=False):
            error = up_to(self._lifted_error(tilt, is_bulk) if self.nodes.lifted else self.error(tilt, top, is_bulk))
            slack = acb(error, error)
            values[:] = [value + slack for value in values]
        return sums[0], sums[1] if self.nodes.bulk is not None else []

    def _along(self, tilt: float) -> tuple[list[list[acb]], list[acb]]:
        """Step · F(t; tilt) (and ψF, where the distribution is split) and L at all nodes, on the real line."""
        whole = self.tilted(tilt)
        weights = [whole]
        if self.nodes.bulk is not None:
            weights.append([value * share for value, share in zip(whole, self.bulk_share, strict=True)])
        return [[acb(value) for value in own] for own in weights], [acb(loss) for loss in self.losses]

    def _lifted(self, tilt: float) -> tuple[list[list[acb]], list[acb]]:
        """Return the same at nodes moved to the line Im t = d on which A^{iw} (or A^{-iw}) shrinks for w > 0."""
        height = -self.strip if self.direction is Direction.ADD else self.strip
        points = [self.point(acb(point.t, height)) for point in self.grid]
        losses = [self.loss(point) for point in points]
        whole = [
            self.step * self.density(point) * (arb(tilt) * loss).exp()
            for point, loss in zip(points, losses, strict=True)
        ]
        weights = [whole]
        if self.nodes.bulk is not None:
            weights.append([value * self.below_bulk_edge(point.t) for value, point in zip(whole, points, strict=True)])
        return weights, losses

    def cut_mass(self) -> arb:
        """Return an upper bound on the P-mass that the cut-off removes, ∫ (1-χ) dP, in one step."""
        if not self.cut:
            return arb(0)
        spread = (2 + self.softness * self.softness).sqrt()
        here, there = (self.edge / spread).erfc() / 2, ((self.edge - 1 / self.z) / spread).erfc() / 2
        return upper((1 - self.q) * here + self.q * there)
