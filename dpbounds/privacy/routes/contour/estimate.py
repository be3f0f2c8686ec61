"""The contour integral in floating point: about ten digits in a millisecond, for searches. Nothing here is proven."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from dpbounds.privacy.pairs.pairs import GaussianProduct
from dpbounds.privacy.proofs import Declined, planned_in_doubles
from dpbounds.privacy.routes.closed_forms import losses_stay_below
from dpbounds.privacy.routes.contour.choices import ContourChoices, Nodes
from dpbounds.privacy.routes.contour.landscape import Complexes, Numbers, log_erfc, refined, survey
from dpbounds.privacy.routes.contour.plan import SOFTNESSES, Draft, TooDearError, make_draft, plain_draft
from dpbounds.privacy.routes.contour.power_sums import UNDIVIDED

MOST_TERMS = 200_000_000  # node-frequency products held at once
_ROWS = 32  # rows of a product of matrices, so that it starts no threads (``UNDIVIDED``)
_ROUNDS = 60
_NOISE = 1e-15  # share of the terms' size below which a sum is not trusted
_QUICK = 2_000_000  # products that an estimate may take
_HOPELESS = 1_000_000_000  # products above which only the loosest accuracy is tried
_DEAR = 60_000_000  # products above which a looser accuracy is tried first


FloatMoments = Callable[[Nodes, float, float, int], tuple[float, Complexes, Complexes | None]]


class _LostError(Declined):
    """The tilt suits another ε, so that the result at this ε is lost in double precision."""


@dataclass(frozen=True)
class FloatCurve:
    """log δ(ε) near the ε that a plan was made for."""

    plan: ContourChoices
    scale: float  # log G(λ)
    terms: Complexes  # c_k / G(λ)

    @cached_property
    def size(self) -> float:
        """Σ |terms|; a share of about 1e-15 is rounding noise."""
        return float(np.abs(self.terms).sum())

    def log_delta(self, epsilon: float) -> float:
        """Log δ(ε) of the cut distribution, or -inf where rounding has eaten it."""
        k = np.arange(len(self.terms))
        total = float((self.terms * np.exp(-1j * self.plan.spacing * epsilon * k)).real.sum())
        if not total > _NOISE * self.size:
            return -math.inf
        return math.log(self.plan.spacing / math.pi * total) + self.scale - self.plan.tilt * epsilon

    def solve(self, log_delta: float) -> float:
        """Return the ε >= 0 near the plan's guess at which the curve crosses log δ (0 if it starts below)."""
        guess = self.plan.guess
        window = 8 * max(self.plan.spread, 1 / self.plan.tilt)
        low, high = max(0.0, guess - window), guess + window
        at_low, at_high = self.log_delta(low), self.log_delta(high)
        if at_low <= log_delta:
            if low == 0.0 and math.isfinite(at_low):
                return 0.0
            raise _LostError("the floating-point curve is lost in rounding")
        if at_high > log_delta:
            raise _LostError("the floating-point curve does not fall to the target nearby")
        point = min(max(guess, low), high)
        for _ in range(_ROUNDS):
            excess = self.log_delta(point) - log_delta
            low, high = (point, high) if excess > 0 else (low, point)
            step = excess / self.plan.tilt  # log δ falls at a rate close to the tilt
            if abs(step) <= 1e-14 * point or high - low <= 1e-14 * high:
                break
            point = point + step if low < point + step < high else (low + high) / 2
        return point


def float_curve(plan: ContourChoices, moments: FloatMoments | None = None) -> FloatCurve:
    """Sum the plan's integral in double precision; ``moments`` may be a cache of :func:`float_moments`."""
    frequencies = np.arange(plan.frequencies + 1) * plan.spacing
    s = plan.tilt + 1j * frequencies
    shift = float(plan.squared_shift)
    log_whole = (s * (s + 1) - plan.tilt * (plan.tilt + 1)) * shift / 2
    log_bulk = log_whole.copy()
    scale = plan.tilt * (plan.tilt + 1) * shift / 2
    for nodes in plan.nodes:
        if (nodes.last - nodes.first) * len(s) > MOST_TERMS:
            raise Declined("too many terms for a quick estimate")
        log_moment, whole, bulk = (moments or float_moments)(nodes, plan.tilt, plan.spacing, plan.frequencies)
        count = nodes.part.count
        scale += count * log_moment
        with np.errstate(divide="ignore", invalid="ignore"):  # a power of 0 is put right below
            log_whole += count * np.log(whole)
            if bulk is not None:
                log_bulk += count * np.log(bulk)
    difference = np.nan_to_num(np.exp(log_whole))
    if plan.bulk_tilt is not None:
        difference = difference - np.nan_to_num(np.exp(log_bulk))
    terms: Complexes = np.asarray(difference / (s * (s + 1)), dtype=np.complex128)
    terms[0] /= 2
    return FloatCurve(plan, scale, terms)


def float_moments(
    nodes: Nodes, tilt: float, spacing: float, frequencies: int
) -> tuple[float, Complexes, Complexes | None]:
    """Log M(λ), M(λ + iw)/M(λ) at w = spacing·k, and the bulk's part of the latter."""
    part = nodes.part
    t: Numbers = nodes.step * np.arange(nodes.first, nodes.last + 1)
    if nodes.lifted:
        t = t + 1j * (nodes.strip if part.cut else -nodes.strip)
    loss = part.loss(t)
    exponent = part.log_density(t) + math.log(nodes.step) + tilt * loss
    if part.cut:
        exponent = exponent + log_erfc((t - nodes.edge) / nodes.softness)
    top = float(exponent.real.max())
    log_moment = top + float(np.log(np.exp(exponent - top).sum()).real)
    weight = np.exp(exponent - log_moment)
    keep = np.abs(weight) > 1e-22
    share = (
        np.exp(log_erfc((t[keep] - nodes.bulk.edge) / nodes.bulk.softness)) if nodes.bulk is not None else 0 * t[keep]
    )
    both = np.stack([weight[keep], weight[keep] * share], axis=1)
    whole, bulk = _sums(both, spacing * loss[keep], frequencies)
    return log_moment, whole, bulk if nodes.bulk is not None else None


def _sums(weights: Numbers, angles: Numbers, frequencies: int) -> Complexes:
    """Return Σ_j w_j e^{ikθ_j}, k = 0..frequencies, for each column of weights; powers are shared (``power_sums``)."""
    size = math.isqrt(frequencies) + 1
    small = np.exp(1j * np.multiply.outer(angles, np.arange(size)))
    large = np.exp(1j * np.multiply.outer(size * np.arange(frequencies // size + 1), angles))
    found = np.zeros((weights.shape[1], len(large), size), dtype=np.complex128)
    chunk = max(1, UNDIVIDED // 4 // (_ROWS * size))
    for start in range(0, len(angles), chunk):
        here = slice(start, start + chunk)
        for top in range(0, len(large), _ROWS):
            rows = slice(top, top + _ROWS)
            for column, own in enumerate(weights.T):
                found[column, rows] += (large[rows, here] * own[here]) @ small[here]
    return found.reshape(len(found), -1)[:, : frequencies + 1]


@planned_in_doubles
def quick_log_delta(product: GaussianProduct, epsilon: float, precise: bool) -> float:
    """Estimate log δ(ε): by a saddle point to a few per cent, or (``precise``) by the integral to about ten digits."""
    if losses_stay_below(product, Fraction(epsilon)):
        return -math.inf
    if not precise:
        return survey(product, 1.0, math.log(1e-3), None, epsilon)[1].log_delta
    for softness in (1.0, 0.25):
        landscape, saddle = survey(product, softness, math.log(1e-12), None, epsilon)
        try:
            plan = plain_draft(product, landscape, saddle, 1e-12).plan
        except Declined:
            continue
        if plan.cost <= _QUICK:
            return float_curve(plan).log_delta(epsilon)
    return refined(landscape, saddle, keep_delta=False).log_delta


def settled_plan(
    product: GaussianProduct,
    *,
    log_delta: float | None = None,
    epsilon: float | None = None,
    accuracy: float,
    softnesses: tuple[float, ...] = SOFTNESSES,
) -> ContourChoices:
    """Return a plan whose tilt serves the ε that solves the problem, at the best accuracy of δ that is fast enough."""
    dear: Draft | None = None
    reason: Declined | None = None
    ladder = [1e7, 1e4, 1e2, 1.0]
    while ladder:
        loosened = ladder.pop()
        try:
            draft = _settled(product, log_delta, epsilon, accuracy * loosened, softnesses)
        except Declined as failure:
            reason = failure
            if not isinstance(failure, TooDearError) or failure.cost > _HOPELESS:
                ladder = ladder[:1]  # a little less accuracy seldom helps here
            continue
        if draft.plan.cost <= _DEAR:
            return draft.finished()
        dear = dear or draft
    if dear is None:
        assert reason is not None
        raise reason
    return dear.finished()


def quick_draft(product: GaussianProduct, log_delta: float, accuracy: float) -> Draft:
    """Return the draft that :func:`settled_plan` tries first."""
    draft = _settled(product, log_delta, None, accuracy, SOFTNESSES)
    if draft.plan.cost > _DEAR:
        raise TooDearError(draft.plan.cost)
    return draft


def _settled(
    product: GaussianProduct,
    log_delta: float | None,
    epsilon: float | None,
    accuracy: float,
    softnesses: tuple[float, ...],
) -> Draft:
    """Return a draft that its own floating-point curve confirms, leaving out softer cut-offs that mislead it."""
    drafted = partial(make_draft, product, accuracy=accuracy)
    while True:
        draft = drafted(log_delta=log_delta, epsilon=epsilon, softnesses=softnesses)
        try:
            return _confirmed(drafted, draft, log_delta, epsilon)
        except _LostError as reason:
            softnesses = tuple(softness for softness in softnesses if softness < draft.plan.softness)
            if not softnesses:
                raise Declined(str(reason)) from reason


def _confirmed(drafted: Callable[..., Draft], draft: Draft, log_delta: float | None, epsilon: float | None) -> Draft:
    softnesses = (draft.plan.softness,) if draft.plan.softness else SOFTNESSES
    for _ in range(4):
        plan = draft.plan
        if plan.products > MOST_TERMS:
            return draft  # a search aid only: the certified curve decides
        if log_delta is not None:
            target = log_delta
            epsilon = float_curve(plan).solve(log_delta)
            if abs(epsilon - plan.guess) <= plan.reach:
                return draft
        else:
            assert epsilon is not None
            target = float_curve(plan).log_delta(epsilon)
            if not math.isfinite(target):
                raise _LostError("the floating-point curve is lost in rounding")
            if abs(target - plan.log_delta) <= 0.5:
                return draft
        draft = drafted(log_delta=target, epsilon=epsilon, softnesses=softnesses)
    return draft
