"""Choice of nodes and cells: the steps, ends and corners that keep the proven errors of ``moments`` small."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour.choices import Bulk, Nodes, bend, dyadic, log_growth, log_vanish
from dpbounds.privacy.routes.contour.landscape import CutDistribution, Floats, SaddlePoint, log_erfc

_MOST_CORNERS = 6_000
_LIFT = 2.0  # factor by which steps must become wider for nodes to be lifted
_BARE = 0.05  # step, per standard deviation or distance, below which cells may pay


def _strip(
    law: CutDistribution,
    saddle: SaddlePoint,
    sigmas: tuple[float, ...],
    frequency: float,
    nats: float,
    bulk: Bulk | None,
) -> tuple[float, float]:
    """Return the widest step (and d) with a strip bound of e^-nats M(λ) at this frequency, crude at the aliases."""
    limit = min(math.pi * law.part.z, 40.0)
    d = np.append(np.geomspace(1e-4, 0.02, 10), np.linspace(0.03, 0.98, 40)) * limit
    stride = max(1, len(law.t) // 200)
    starts = np.arange(0, len(law.t), stride)
    beyond, density, loss = _beyond_scan(law)
    angle, gain = law.part.turned_both(d / law.part.z, np.concatenate([law.t[::stride], beyond]))
    growth = d * d * bend(law, bulk)
    step = np.full_like(d, math.inf)
    for tilt, w, digits in ((saddle.tilt, frequency, nats), *((sigma, 0.0, 14.0) for sigma in sigmas)):
        within = np.maximum.reduceat(law.log_mass + tilt * law.loss, starts) + math.log(stride)
        weight = np.concatenate([within, density + tilt * loss])
        weight = weight - float(law.log_moment(np.array([tilt]))[0])
        line = np.logaddexp.reduce(weight + w * angle + tilt * gain, axis=1) + growth
        step = np.minimum(step, 2 * math.pi * d / (digits + math.log(8) + np.maximum(line, 0)))
    return _best(step, d, step)


def _best(step: Floats, d: Floats, worth: Floats) -> tuple[float, float]:
    """Return the step and the half-width of most worth."""
    best = int(np.argmax(worth))
    return float(step[best]), dyadic(float(d[best]))


def _bare_strip(
    law: CutDistribution, saddle: SaddlePoint, sigmas: tuple[float, ...], frequency: float, nats: float
) -> tuple[float, float]:
    """Return the same where a multiple of F itself bounds it on the line, so that no cells are needed."""
    part = law.part
    d = np.linspace(0.02, 0.98, 49) * min(math.pi * part.z, 40.0)
    twice = part.direction is Direction.REPLACE and math.log(part.q) - 0.5 / part.z**2 > part.log_rest
    turn = frequency * d / part.z * (2 if twice else 1)
    vanish, growth = log_vanish(part, d), d * d * bend(law) + math.log(8)
    at_saddle = nats + growth + turn + saddle.tilt * vanish
    at_aliases = 14.0 + growth + max(sigmas, default=0.0) * vanish
    step = 2 * math.pi * d / np.maximum(at_saddle, at_aliases)
    return _best(step, d, step)


def _lifted_strip(
    law: CutDistribution, saddle: SaddlePoint, sigmas: tuple[float, ...], nats: float, bulk: Bulk | None
) -> tuple[float, float]:
    """Return the same for nodes that are lifted off the real line, where no frequency is too high."""
    d = np.linspace(0.02, 0.98, 49) * min(math.pi * law.part.z / 2, 20.0)
    at_saddle = nats + np.logaddexp(0.0, log_growth(law, bulk, saddle.tilt, 2 * d))
    at_aliases = 14.0 + log_growth(law, None, max(sigmas, default=0.0), d)
    step = 2 * math.pi * d / (np.maximum(at_saddle, at_aliases) + math.log(8))
    # what the summands are larger than their sum has to be carried along as digits
    return _best(step, d, step / (nats + log_growth(law, bulk, saddle.tilt, d)) ** 2)


def _beyond_scan(law: CutDistribution) -> tuple[Floats, Floats, Floats]:
    """Return points (t, log mass, loss) beyond the scan where A (add) or A₋ (replace) may be nearly 0 off the line."""
    part = law.part
    if part.direction is Direction.REMOVE:
        return np.array([]), np.array([]), np.array([])
    sign = 1.0 if part.direction is Direction.ADD else -1.0
    balanced = part.z * (part.log_rest - math.log(part.q)) + 0.5 / part.z  # where p (or p₋) is one half
    start, stop = abs(float(law.t[-1] if sign > 0 else law.t[0])), balanced + 4 * part.z
    if stop <= start:
        return np.array([]), np.array([]), np.array([])
    t = sign * np.linspace(start, stop, 80)
    return t, part.log_density(t) + math.log((stop - start) / 79), part.loss(t)


@dataclass(frozen=True)
class _Line:
    """One bound that is summed over cells: |F| on a line off the real one, at one tilt and frequency."""

    tilt: float
    frequency: float  # negative where the line shrinks the integrand
    v: float
    target: float  # log of what the sum may be, relative to nothing
    bulk: Bulk | None  # the integrand carries ψ (or 1-ψ if the frequency is negative)
    outside: bool = False  # only cells without nodes matter

    def bounds(self, law: CutDistribution, left: Floats, right: Floats) -> Floats:
        """Log of the bound over each cell; with left = right, log of the integrand."""
        part = law.part
        nearest = np.where(left > 0, left, np.where(right < 0, right, 0.0))
        value = -0.5 * nearest * nearest
        if part.direction is Direction.ADD:
            value = value - self.tilt * part.log_ratio(left)
        else:
            value = value + (1 + self.tilt) * part.log_ratio(right) + log_erfc((left - law.edge) / law.softness)
            if part.direction is Direction.REPLACE:
                value = value - self.tilt * part.log_ratio(-right)
        if self.bulk is not None:
            edge, softness = self.bulk.edge, self.bulk.softness
            value = value + log_erfc((left - edge) / softness if self.frequency >= 0 else (edge - right) / softness)
        turn = self._angle(part.weight(right if self.frequency >= 0 else left))
        if part.direction is not Direction.REMOVE:
            ends = (part.weight(left), part.weight(right))
            if part.direction is Direction.REPLACE:
                ends = (part.weight(-right), part.weight(-left))
                turn = turn + (self._angle(ends[1]) if self.frequency >= 0 else 0.0)
            p = np.clip(0.5, *ends)
            dent = 4 * p * (1 - p) * math.sin(self.v / 2) ** 2
            value = value - self.tilt / 2 * np.log1p(-np.minimum(dent, 1 - 1e-15))
        return np.asarray(value + self.frequency * turn)

    def _angle(self, p: Floats) -> Floats:
        return np.asarray(np.arctan2(p * math.sin(self.v), 1 - p + p * math.cos(self.v)))


def _cell_corners(
    law: CutDistribution, marks: tuple[float, float, float, float], lines: list[_Line]
) -> tuple[float, ...]:
    """Return corners between which every line's bound is close to the integrand wherever that matters.

    ``marks`` are corners in any case: the ends of the cells and of the nodes.
    """
    low, first, last, high = marks
    spread = np.linspace(first, last, 41)
    corners = np.unique(np.concatenate([[low], spread, last + (high - last) * np.linspace(0, 1, 9)[:-1] ** 2, [high]]))
    for _ in range(24):
        left, right = corners[:-1], corners[1:]
        middle = (left + right) / 2
        split = np.zeros(len(left), dtype=bool)
        for line in lines:
            bound = line.bounds(law, left, right)
            slack = bound - line.bounds(law, middle, middle)
            matters = bound + np.log(right - left) > line.target - 9
            if line.outside:
                matters &= (left >= last) | (right <= first)
            split |= matters & (slack > 0.8)
        if not split.any():
            break
        if len(corners) + split.sum() > _MOST_CORNERS:
            raise Declined("the bounds on the line need too many cells")
        low_end, width = left[split], (right - left)[split]
        corners = np.unique(np.concatenate([corners, *(low_end + width * share for share in (0.25, 0.5, 0.75))]))
    return tuple(float(corner) for corner in corners)


def choose_nodes(
    law: CutDistribution,
    saddle: SaddlePoint,
    sigmas: tuple[float, ...],
    frequency: float,
    nats: float,
    turn: float | None,
    bulk: Bulk | None,
    bulk_tilt: float | None,
    cells: bool,
) -> Nodes:
    """Return nodes and cells of one part, such that the errors stay e^-nats of M(λ) over all repetitions.

    Args:
        law: The part, cut off and on its scan grid.
        saddle: Supplies λ.
        sigmas: The alias tilts, at which a crude M is enough.
        frequency: The highest one.
        nats: Accuracy, as -log.
        turn: |Im t| of the line for the tail, or None.
        bulk: The split, or None.
        bulk_tilt: At which the bulk alone is bounded, or None.
        cells: Whether to choose cells as well, which only a proof needs, and not all of them.
    """
    part, top = law.part, frequency
    loss = math.log(part.count) + nats
    celled, lifted = turn is not None or bulk is not None, False
    step, strip = _bare_strip(law, saddle, sigmas, frequency, loss)
    if celled or step < _BARE * min(1.0, part.z):
        finer, other = _strip(law, saddle, sigmas, frequency, loss, bulk)
        if celled or finer > 2 * step:
            step, strip, celled = finer, other, True
        higher, half = _lifted_strip(law, saddle, sigmas, loss, bulk)
        if higher > _LIFT * step:
            step, strip, frequency, lifted, celled = higher, half, 0.0, True, turn is not None or bulk is not None
    step = min(step, 0.5)
    mantissa, exponent = math.frexp(step)
    step = math.ldexp(math.floor(mantissa * 4096), exponent - 12)
    reach = math.sqrt(2 * (loss + 2))
    if part.cut:
        low = -max(reach, 0.5 / part.z + step)
        high = _right_end(law, (saddle.tilt, *sigmas), loss)
        if not celled:
            high = _last_corner(law, (saddle.tilt, *sigmas), None, None, high, loss)
    else:
        low = _left_end(law, (saddle.tilt, *sigmas), loss)
        high = max(reach, 0.5 / part.z + step)
    if (high - low) / step > 4e6:
        raise Declined(f"{(high - low) / step:.1e} nodes are too many")
    first, last = math.floor(low / step), math.ceil(high / step)
    nodes = Nodes(part, step, first, last, strip, (), law.edge, law.softness, turn, bulk, lifted)
    if not (celled and cells):
        return nodes
    # beyond the nodes the integrand may turn by d/z (by as much again on the left for two-sided ratios)
    vanish = -saddle.tilt * math.log(math.cos(strip / part.z / 2)) if part.direction is not Direction.REMOVE else 0.0
    extra = math.sqrt(2 * (loss + 2 + 2 * frequency * strip / part.z + vanish))
    v, decay = strip / part.z, 2 * math.pi * strip / step
    growth = bend(law)
    split = 1 / bulk.softness**2 if bulk is not None else 0.0
    room = decay - strip**2 * growth
    lines = []
    for tilt, w, digits in ((saddle.tilt, frequency, loss), *((sigma, 0.0, 14.0) for sigma in sigmas)):
        moment = float(law.log_moment(np.array([tilt]))[0])
        lines.append(_Line(tilt, w, v, moment + room - digits, None))
        lines.append(_Line(tilt, 0.0, 0.0, moment - digits, None, outside=True))
        if bulk is not None and tilt == saddle.tilt:
            lines.append(_Line(tilt, w, v, moment + room - strip**2 * split - digits, bulk))
    if bulk is not None and bulk_tilt is not None:
        exponent_b = law.log_mass + log_erfc((law.t - bulk.edge) / bulk.softness) + bulk_tilt * law.loss
        moment = float(np.logaddexp.reduce(exponent_b))
        lines.append(_Line(bulk_tilt, 0.0, v, moment + room - strip**2 * split - 14.0, bulk))
        lines.append(_Line(bulk_tilt, 0.0, 0.0, moment - 14.0, bulk, outside=True))
    if turn is not None:
        moment = float(law.log_moment(np.array([saddle.tilt]))[0])
        smallest = moment - (loss if bulk is not None else nats / part.count) - turn**2 * (growth + split) - 5
        lines.append(_Line(saddle.tilt, -top, turn / part.z, smallest, bulk))
    left, right = min(first * step, -extra), max(last * step, extra)
    if part.cut:
        right = _last_corner(law, (saddle.tilt, *sigmas), bulk, bulk_tilt, right)
    ends = (step * math.floor(left / step), step * math.ceil(right / step))  # whole steps, as the tails require
    return replace(nodes, corners=_cell_corners(law, (ends[0], first * step, last * step, ends[1]), lines))


def _right_end(law: CutDistribution, tilts: tuple[float, ...], nats: float) -> float:
    """Return the t beyond which the nodes may be left out, for each tilt."""
    end = law.edge + law.softness
    for index, tilt in enumerate(tilts):
        exponent = law.log_mass + tilt * law.loss
        beyond = np.logaddexp.accumulate(exponent[::-1])[::-1]
        fine = np.flatnonzero(beyond < beyond[0] - (nats + 3 if index == 0 else 14.0))
        if len(fine) == 0:
            raise Declined("the largest jumps are not separated by the cut-off")
        end = max(end, float(law.t[fine[0]]))
    return end


def _last_corner(
    law: CutDistribution,
    tilts: tuple[float, ...],
    bulk: Bulk | None,
    bulk_tilt: float | None,
    start: float,
    nats: float | None = None,
) -> float:
    """Return the t beyond which the cut-off's geometric tail bound is negligible, or e^-nats M(λ), for each tilt."""
    part = law.part
    z, c = part.z, law.softness
    t = start + (1 + abs(start)) * np.append(0.0, np.geomspace(1e-3, 1e6, 400))
    y = (t - law.edge) / c
    jobs = [(tilt, False) for tilt in tilts] + ([(bulk_tilt, True)] if bulk_tilt is not None else [])
    end = start
    for tilt, is_bulk in jobs:
        gentle = (1 + tilt) / (4 * z * z) <= 1 + 2 / c**2
        slope = t + 2 * y / c - (1 + tilt) / z * (part.weight(t) if gentle else 1.0)
        bound = -0.5 * t * t - y * y + (1 + tilt) * part.log_ratio(t)
        if part.direction is Direction.REPLACE:
            slope = slope - tilt * part.weight(-t) / z
            bound = bound - tilt * part.log_ratio(-t)
        if is_bulk:
            assert bulk is not None
            beyond = (t - bulk.edge) / bulk.softness
            slope, bound = slope + 2 * beyond / bulk.softness, bound - beyond**2
        enough = -400.0 + tilt * max(part.log_rest, -1e3)
        if nats is not None:
            enough = float(law.log_moment(np.array([tilt]))[0]) - (nats if tilt == tilts[0] else 14.0)
        fine = np.flatnonzero((slope > 0.5) & (bound < enough))
        if len(fine) == 0:
            raise Declined("the cut-off's tail is out of reach")
        end = max(end, float(t[fine[0]]))
    return end


def _left_end(law: CutDistribution, tilts: tuple[float, ...], nats: float) -> float:
    part = law.part
    end = -0.5
    t = -np.geomspace(0.5, 4000.0, 1200)
    for index, tilt in enumerate(tilts):
        slope = -t - tilt * part.weight(t) / part.z
        bound = -0.5 * t * t - tilt * part.log_ratio(t)
        need = float(law.log_moment(np.array([tilt]))[0]) - (nats if index == 0 else 12.0)
        fine = np.flatnonzero((slope > 0.5) & (bound < need))
        if len(fine) == 0:
            raise Declined("the left tail is out of reach")
        end = min(end, float(t[fine[0]]))
    return end
