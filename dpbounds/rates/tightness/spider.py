"""DP-SPIDER and DP-STORM on bowls: moments of gradient and estimate. The proofs are in instances.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

from dpbounds.errors import NotCertified
from dpbounds.expressions.backends import to_arb
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.rates.tightness.instances import Instance, Values
from dpbounds.rates.tightness.losses import bowl, huber
from dpbounds.rates.tightness.noise import capped
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.registry import theorem

if TYPE_CHECKING:
    from flint import arb

    from dpbounds.rates.tightness.noise import Capped

_CAP = 12  # noise is held to be at most √d + 12 standard deviations long


@dataclass(frozen=True, slots=True)
class _Moments:
    """Moments of g = ∇F(w) and the estimate v: means of |g|², <g, v>, |v|², and of their products."""

    gg: arb
    gv: arb
    vv: arb
    gg_gg: arb
    gg_gv: arb
    gv_gv: arb
    gg_vv: arb
    gv_vv: arb
    vv_vv: arb


def _anchored(gg: arb, gg_gg: arb, scale: arb, noise: Capped, dimension: int) -> _Moments:
    """V = g + ξ, ξ = scale times ζ."""
    second, fourth = scale**2 * noise.second, scale**4 * noise.fourth
    along = gg * second / dimension  # E<g, ξ>²
    return _Moments(
        gg,
        gg,
        gg + second,
        gg_gg,
        gg_gg,
        gg_gg + along,
        gg_gg + gg * second,
        gg_gg + gg * second + 2 * along,
        gg_gg + 2 * gg * second + 4 * along + fourth,
    )


def _stepped(at: _Moments, rate: arb) -> _Moments:
    """G becomes g - rate v."""
    a, b, c = at.gg_gg, at.gg_gv, at.gv_gv
    d, e, f = at.gg_vv, at.gv_vv, at.vv_vv
    r = rate
    return _Moments(
        at.gg - 2 * r * at.gv + r**2 * at.vv,
        at.gv - r * at.vv,
        at.vv,
        a - 4 * r * b + 4 * r**2 * c + 2 * r**2 * d - 4 * r**3 * e + r**4 * f,
        b - r * d - 2 * r * c + 3 * r**2 * e - r**3 * f,
        c - 2 * r * e + r**2 * f,
        d - 2 * r * e + r**2 * f,
        e - r * f,
        f,
    )


def _differenced(at: _Moments, rate: arb, scale: arb, noise: Capped, dimension: int) -> _Moments:
    """V becomes (1 - rate) v + scale |v| ζ: the gradient has moved by -rate v."""
    kept, second = 1 - rate, scale**2 * noise.second
    along = second / dimension
    return _Moments(
        at.gg,
        kept * at.gv,
        at.vv * (kept**2 + second),
        at.gg_gg,
        kept * at.gg_gv,
        kept**2 * at.gv_gv + along * at.gg_vv,
        at.gg_vv * (kept**2 + second),
        kept * at.gv_vv * (kept**2 + second + 2 * along),
        at.vv_vv * (kept**4 + 4 * kept**2 * along + scale**4 * noise.fourth + 2 * kept**2 * second),
    )


def _longest(gradient: arb, rate: arb, anchor: arb, scale: arb, steps: int, period: int) -> arb:
    """Return an upper bound on all |∇F(w_t)| while |ξ| <= anchor and scale |ζ| <= scale."""
    largest, error = gradient, anchor
    for step in range(1, steps):
        gradient, error = (
            (1 - rate) * gradient + rate * error,
            anchor if step % period == 0 else error + scale * (gradient + error),
        )
        largest = largest.max(gradient)
    return largest


def _mean_norm(at: Values, anchor_square: Fraction, difference_square: Fraction, period: int) -> arb:
    """E|∇F(w_R)|, R uniform on t < T, for a curvature of L.

    While all noise is short: E|g| <= √E|g|², and E|g| >= (E|g|²)^(3/2) / (E|g|⁴)^(1/2) by Hölder's inequality.
    """
    steps, dimension = int(at["steps"]), int(at["dimension"])
    rate, slope = to_arb(at["smoothness"] * at["step_size"]), to_arb(at["lipschitz"])
    anchor, scale = to_arb(anchor_square).sqrt(), to_arb(difference_square).sqrt() * to_arb(at["step_size"])
    cap = Fraction(isqrt(dimension) + 1 + _CAP)
    noise, start = capped(dimension, cap), to_arb(2 * at["smoothness"] * at["initial_gap"])
    longest = _longest(start.sqrt(), rate, anchor * to_arb(cap), scale * to_arb(cap), steps, period)
    if not longest <= slope:
        raise NotCertified("the instance may leave the set where its loss is quadratic")
    now = _anchored(start, start**2, anchor, noise, dimension)
    lower, upper = start.sqrt(), start
    for step in range(1, steps):
        now = _stepped(now, rate)
        lower += (now.gg**3 / now.gg_gg).sqrt()
        upper += now.gg
        if step % period == 0:
            now = _anchored(now.gg, now.gg_gg, anchor, noise, dimension)
        else:
            now = _differenced(now, rate, scale, noise, dimension)
    chance = noise.chance**steps
    return (chance * lower / steps).union(chance * (upper / steps).sqrt() + (1 - chance) * slope)


def any_parameters(at: Values) -> arb:
    """Return the value at given noise, and a given distance of anchors."""
    return _mean_norm(at, at["noise_stddev"] ** 2, at["difference_noise_stddev"] ** 2, int(at["anchor_period"]))


def prescribed(at: Values) -> arb:
    """Return the value at the parameters of lemma-3.1/explicit."""
    known = {name: at[name] for name in ("smoothness", "lipschitz", "dimension", "dataset_size", "rho")}
    known["initial_gap"] = at.get("initial_gap", at.get("excess_risk", Fraction(0)))
    record = theorem("lowy-ullman-wright-2024/lemma-3.1/explicit")
    steps, period = (_whole(evaluate(record, part, known).value) for part in ("steps", "anchor_period"))
    anchors = -(-steps // period)
    spent = at["dataset_size"] ** 2 * at["rho"]
    return _mean_norm(
        {**known, "steps": Fraction(steps), "step_size": 1 / (2 * at["smoothness"])},
        4 * at["lipschitz"] ** 2 * anchors / spent,
        4 * at["smoothness"] ** 2 * (steps - anchors) / spent,
        period,
    )


def _whole(value: Enclosure) -> int:
    if value.exact_lower != value.exact_upper or not isinstance(value.exact_lower, Fraction):
        raise NotCertified("a number of steps is not known exactly")
    return int(value.exact_lower)


def restarted(at: Values) -> Fraction:
    """E|∇F|² after all stages, where μ = L: a stage ends in a random one of its iterates, and begins with an anchor."""
    steps, stages, dimension = int(at["steps"]), int(at["stages"]), at["dimension"]
    spent = at["dataset_size"] ** 2 * at["rho"]
    anchor = dimension * 4 * at["lipschitz"] ** 2 * stages / spent
    difference = dimension * 4 * (steps - 1) * stages / spent / 4
    start = 2 * at["smoothness"] * at["initial_gap"]
    found: Fraction = _after_stages(start, [anchor] * stages, difference, steps)
    return found


def shared(at: Values) -> arb:
    """Return the same where early stages have less of the budget, and differences the most noise that is paid for."""
    steps, stages, dimension = int(at["steps"]), int(at["stages"]), at["dimension"]
    left = at["dataset_size"] ** 2 * at["rho"] - stages * dimension * (steps - 1) ** 2
    root = to_arb(Fraction(2)).sqrt()
    shares = [root**i for i in reversed(range(stages))]  # shares of σ_j², j = 0, 1, ...
    unit = 2 * to_arb(dimension * at["lipschitz"] ** 2 / left) * sum((1 / one for one in shares), to_arb(Fraction(0)))
    start = to_arb(2 * at["smoothness"] * at["initial_gap"])
    difference = to_arb(Fraction(1, 2) / (steps - 1))
    found: arb = _after_stages(start, [unit * one for one in shares], difference, steps)
    return found


def shared_excess(at: Values) -> arb:
    """F - inf F = |∇F|²/(2L)."""
    return shared(at) / to_arb(2 * at["smoothness"])


def _after_stages(start: Any, anchors: Sequence[Any], difference: Any, steps: int) -> Any:
    """E|∇F|² at Lη = 1/2, from the second moments of the anchors' noise and of that of differences, over |v|²."""
    rate = Fraction(1, 2) if isinstance(start, Fraction) else to_arb(Fraction(1, 2))
    for anchor in anchors:
        gg, gv, vv = start, start, start + anchor
        seen = [gg]
        for _ in range(1, steps):
            gg, gv = gg - 2 * rate * gv + rate**2 * vv, (1 - rate) * (gv - rate * vv)
            vv *= (1 - rate) ** 2 + difference
            seen.append(gg)
        start = sum(seen[1:], seen[0]) / steps
    return start


def restarted_excess(at: Values) -> Fraction:
    """F - inf F = |∇F|²/(2L)."""
    return restarted(at) / (2 * at["smoothness"])


def storm(at: Values) -> arb:
    """E|∇F(w_R)|² of DP-STORM.

    Moments grow with the noise, whose variance is (kG/L + (1-k)|Δw|)²σ₂² in each coordinate: at least what is left
    without the mixed term, at most what it is with √E|Δw|² for |Δw|.
    """
    return _storm(at, Fraction(0)).union(_storm(at, ONE))


def _storm(at: Values, mixed: Fraction) -> arb:
    kept, rate = 1 - at["momentum"], to_arb(at["smoothness"] * at["step_size"])
    scale = to_arb(at["dimension"] * at["difference_noise_stddev"] ** 2)
    always = to_arb(at["momentum"] * at["lipschitz"] / at["smoothness"])
    moved = to_arb(kept * at["step_size"])
    keep = to_arb(kept)
    gg = to_arb(2 * at["smoothness"] * at["initial_gap"])
    ge, ee = to_arb(Fraction(0)), to_arb(at["dimension"] * at["noise_stddev"] ** 2)
    total, steps = gg, int(at["steps"])
    for step in range(1, steps + 1):
        vv = gg + 2 * ge + ee
        gg, ge = gg - 2 * rate * (gg + ge) + rate**2 * vv, keep * (ge - rate * (ge + ee))
        noise = scale * (always**2 + moved**2 * vv + 2 * to_arb(mixed) * always * moved * vv.sqrt())
        ee = keep**2 * ee + noise
        total += gg * (1 if step < steps else 1 / rate)
    return total / (steps + 1 / rate)


ONE = Fraction(1)
_SPIDER = {
    "smoothness": ONE,
    "step_size": Fraction(1, 2),
    "initial_gap": Fraction(1, 2),
    "steps": Fraction(40),
    "dimension": Fraction(10_000),
    "noise_stddev": Fraction(1, 200),
    "difference_noise_stddev": Fraction(47, 10_000),
    "anchor_period": Fraction(10),
    "lipschitz": Fraction(10**6),
}
_PRESCRIBED = {
    "smoothness": ONE,
    "lipschitz": ONE,
    "dimension": Fraction(10_000),
    "dataset_size": Fraction(10**6),
    "rho": Fraction(1, 100_000),
}
_GAP = Fraction(1, 200)
_STAGES = {
    "smoothness": ONE,
    "pl_constant": ONE,
    "lipschitz": ONE,
    "steps": Fraction(4),
    "stages": Fraction(3),
    "dimension": Fraction(100),
    "dataset_size": Fraction(1000),
    "rho": Fraction(1, 100),
    "initial_gap": Fraction(1, 2),
}
_SHARED = _STAGES | {"rho": Fraction(1, 50)}
_STORM = {
    "smoothness": ONE,
    "lipschitz": ONE,
    "step_size": Fraction(1, 2),
    "steps": Fraction(40),
    "dimension": Fraction(100),
    "momentum": Fraction(1, 5),
    "noise_stddev": Fraction(1, 50),
    "difference_noise_stddev": Fraction(1, 50),
    "initial_gap": Fraction(1, 2),
}
_SLOPE, _FAR_START = Fraction(4), Fraction(324)
_FAR = {
    "smoothness": ONE,
    "lipschitz": ONE,
    "dimension": Fraction(10),
    "dataset_size": Fraction(10**6),
    "segments": Fraction(100),
    "levels": Fraction(5),
    "first_batch": Fraction(1000),
    "leaf_batch": Fraction(100),
    "move_length": Fraction(1, 10),
    "noise_stddev": Fraction(3, 2000),
    "difference_noise_stddev": Fraction(3, 200),
    "excess_risk": _SLOPE * _FAR_START - _SLOPE**2 / 2,
}


def along_a_slope(at: Values) -> Fraction:
    """|∇F(w_R)|: the slope, as no iterate is nearer to the minimiser than where the slope begins."""
    walked = at["segments"] * 2 ** int(at["levels"]) * at["move_length"]
    if _FAR_START - walked < _SLOPE / at["smoothness"]:
        raise NotCertified("the walk may leave the slope")
    return _SLOPE


INSTANCES = (
    Instance(
        "lowy-ullman-wright-2024/algorithm-1/explicit",
        "bound",
        _SPIDER,
        huber(ONE, Fraction(10**6)),
        "DP-SPIDER, 40 steps, an anchor every 10th",
        any_parameters,
        "the last point is not used",
        start=ONE,
    ),
    Instance(
        "lowy-ullman-wright-2024/lemma-3.1/explicit",
        "prescribed",
        _PRESCRIBED | {"initial_gap": _GAP},
        huber(ONE, ONE),
        "DP-SPIDER at the prescribed parameters",
        prescribed,
        "too few steps for the noise of the differences to be what the descent pays for",
        start=Fraction(1, 10),
    ),
    Instance(
        "lowy-ullman-wright-2024/theorem-3.2/explicit",
        "prescribed",
        _PRESCRIBED | {"excess_risk": _GAP},
        huber(ONE, ONE),
        "DP-SPIDER from a fixed point: the warm start ignores the data",
        prescribed,
        "as in Lemma 3.1",
        start=Fraction(1, 10),
    ),
    Instance(
        "dpbounds/polyak-lojasiewicz-restarted-spider",
        "bound",
        _STAGES,
        bowl(ONE),
        "3 stages of 4 steps, μ = L",
        restarted,
        "the gap is halved by each stage at least; half of the noise is allowed for later stages",
        squared=True,
        start=ONE,
    ),
    Instance(
        "dpbounds/polyak-lojasiewicz-restarted-spider",
        "excess_risk",
        _STAGES,
        bowl(ONE),
        "3 stages of 4 steps, μ = L",
        restarted_excess,
        "as in the bound on the gradient",
        start=ONE,
    ),
    Instance(
        "dpbounds/polyak-lojasiewicz-restarted-spider/stage-shares",
        "bound",
        _SHARED,
        bowl(ONE),
        "3 stages of 4 steps, μ = L",
        shared,
        "the gap is halved by each stage at least",
        squared=True,
        start=ONE,
    ),
    Instance(
        "dpbounds/polyak-lojasiewicz-restarted-spider/stage-shares",
        "excess_risk",
        _SHARED,
        bowl(ONE),
        "3 stages of 4 steps, μ = L",
        shared_excess,
        "as in the bound on the gradient",
        start=ONE,
    ),
    Instance(
        "dpbounds/storm",
        "bound",
        _STORM,
        bowl(ONE),
        "40 steps; the weighted iterate",
        storm,
        "a square of a sum is at most twice the sum of the squares; what is left of the estimate's error at the end",
        squared=True,
        start=ONE,
    ),
    Instance(
        "dpbounds/population-tree-spider/explicit",
        "bound",
        _FAR,
        huber(ONE, _SLOPE, "4G"),
        "100 segments of 32 steps, too short together to reach the minimiser's surroundings; all records are alike",
        along_a_slope,
        "the curvature, and what records and noise may do: on a slope neither matters",
        start=_FAR_START,
    ),
)
