"""Noise on all records: what is read, and its profile, (15), (16) and (29)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.balls import log, normal_tail, number, only_whole
from dpbounds.privacy.publishing.checker.fields import has_fields, read_numbers
from dpbounds.privacy.publishing.checker.limits import LEAST_RATE
from dpbounds.privacy.publishing.checker.profiles import Profile, gaussian_profile, mirrored
from dpbounds.privacy.publishing.checker.reading import field, positive, quoted, rational
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered, OutOfReach, require
from dpbounds.privacy.publishing.checker.work import effort

NOISE = ("gaussian", "laplace", "discrete-laplace", "discrete-gaussian", "mixture-of-gaussians", "randomized-response")


def read_noise(noise: object, sampling: str) -> dict[str, Any]:
    """What is released of each batch."""
    kind = field(noise, "kind", str)
    if kind not in NOISE or (kind == "gaussian" and sampling in ("full-batch", "poisson")):
        raise Malformed(f"noise of kind {quoted(kind)} with records drawn by {sampling}")
    found = read_numbers(noise, has_fields(noise, f"noise {kind}"))
    if kind == "mixture-of-gaussians":
        norms = field(noise, "norms", list)
        if not 0 < len(norms) <= 100 or any(not isinstance(each, list) or len(each) != 2 for each in norms):
            raise Malformed("a mixture has 1 to 100 pairs of a norm and a probability")
        found["norms"] = read = [[rational(value, 0) for value in each] for each in norms]
        increasing = all(one[0] < other[0] for one, other in pairwise(read))
        if sum((p for _, p in read), Fraction(0)) != 1 or not increasing or not all(p for _, p in read):
            raise Malformed("a mixture has norms that increase and positive probabilities that sum to 1")
        if read[-1][0] == 0:
            raise Malformed("a mixture in which no record contributes")
    elif kind == "randomized-response" and found["options"] < 2:
        raise Malformed("randomised response has two options or more")
    elif kind == "discrete-gaussian":
        found["bound"] = bound = positive(noise, "bound")
        if bound is None or not 1 <= bound <= 10**6:
            raise Malformed(f"the bound of discrete Gaussian noise is {quoted(str(bound))}, and not from 1 to 1000000")
    needed = {"discrete-laplace": "noise_scale", "randomized-response": "epsilon"}.get(kind, "noise_stddev")
    if kind in ("gaussian", "laplace"):
        names = ("noise_multiplier", "noise_stddev" if kind == "gaussian" else "noise_scale", "sensitivity")
        if [found[name] is None for name in names] not in ([False, True, True], [True, False, False]):
            raise Malformed(f"noise is given by {names[0]}, or by {names[1]} with {names[2]}")
    elif found[needed] is None:
        raise Malformed(f"{kind} noise needs {needed}")
    return found


def laplace_profile(shift: Fraction) -> Profile:
    """(15) Laplace noise of scale 1, moved by ``shift``."""
    least = (-number(shift) / 2).exp()
    return Profile(lambda alpha: (1 - alpha.sqrt() * least).max(1 - alpha).max(arb(0)))


def response_profile(epsilon: Fraction, options: int) -> Profile:
    """(15) Randomised response: the truth with odds e^ε against each of the other options."""
    odds = number(epsilon).exp()
    atoms = [(odds, arb(1)), (arb(1), odds), (arb(options - 2), arb(options - 2))]
    return Profile(lambda alpha: sum(((p - alpha * q).max(arb(0)) for p, q in atoms), arb(0)) / (odds + options - 1))


def half_line_profile(
    tails: Callable[[int], tuple[arb, arb]], first: Callable[[arb], arb], least: int, most: int
) -> Profile:
    """(15) The largest of 0, 1 - α and p - αq, (p, q) = ``tails(t)`` the masses from t on, at the first t >= first(α).

    t is kept between ``least`` and ``most``.
    """

    def value(alpha: arb) -> arb:
        at = first(alpha)
        ends = (only_whole(end.ceil(), "the threshold of whole numbers") for end in (at.lower(), at.upper()))
        places = {max(least, min(most, t)) for t in ends}
        require(len(places) == 1 or max(places) - min(places) == 1, "the threshold of whole numbers is narrow")
        found = (1 - alpha).max(arb(0))
        for t in places:
            moved, still = tails(t)
            found = found.max(moved - alpha * still)
        return found

    return Profile(value)


def discrete_laplace_profile(scale: Fraction, distance: int) -> Profile:
    """P(x) ~ e^{-|x|/b}."""
    p, b = (-number(1 / scale)).exp(), number(scale)

    def tail(t: int) -> arb:
        return p**t / (1 + p) if t >= 0 else 1 - p ** (1 - t) / (1 + p)

    return half_line_profile(
        lambda t: (tail(t - distance), tail(t)), lambda alpha: (b * alpha.log() + distance) / 2, 0, distance
    )


def discrete_gaussian_profile(variance: Fraction, distance: int) -> Profile:
    """P(x) ~ e^{-x²/2σ²}; beyond the table neighbouring weights fall by a half at least."""
    reach = math.isqrt(2 * ctx.prec * math.ceil(variance)) + math.ceil(variance) + 2
    effort.spend(4 * reach, 4 * reach)
    weights = [(-number(Fraction(x * x) / (2 * variance))).exp() for x in range(reach + 2)]
    require(weights[-1] * 2 < weights[-2], "weights beyond the table fall by a half at least")
    rest = arb(0).union(2 * weights[-1])
    upper = list(accumulate(reversed(weights[1:-1]), initial=rest))  # sums over x >= reach + 1, ..., x >= 1
    total = 1 + 2 * upper[-1]
    upper = [each / total for each in upper[::-1]]  # [t - 1] for x >= t

    def tail(t: int) -> arb:
        if t > 0:
            return upper[min(t - 1, reach)] if t <= reach else arb(0).union(upper[reach].upper())
        return 1 - tail(1 - t)

    def first(alpha: arb) -> arb:
        return number(variance) * alpha.log() / distance + arb(distance) / 2

    far = reach + distance + 1
    return half_line_profile(lambda t: (tail(t - distance), tail(t)), first, -far, far)


def mixture_profile(norms: list[tuple[Fraction, Fraction]], stddev: Fraction, *, replaced: bool) -> Profile:
    """(16) Σ p_i N(c_i/σ) against N(0), or where a record is replaced against Σ p_i N(-c_i/σ)."""
    parts = [(number(c / stddev), number(p)) for c, p in norms]
    rough = [(float(c / stddev), log(p) - float(c / stddev) ** 2 / 2) for c, p in norms]
    at_rest = sum((p for c, p in norms if c == 0), Fraction(0))

    def log_sum(t: float) -> float:
        logs = [weight + c * t for c, weight in rough]
        return max(logs) + math.log(sum(math.exp(each - max(logs)) for each in logs))

    def sides(t: arb) -> tuple[arb, arb, arb, arb]:
        """dP/dN(0) and dQ/dN(0) at t, and their derivatives."""
        terms = [(c, p * (c * t - c * c / 2).exp()) for c, p in parts]
        up, rise = sum((each for _, each in terms), arb(0)), sum((c * each for c, each in terms), arb(0))
        if not replaced:
            return up, arb(1), rise, arb(0)
        terms = [(c, p * (-c * t - c * c / 2).exp()) for c, p in parts]
        return up, sum((each for _, each in terms), arb(0)), rise, -sum((c * each for c, each in terms), arb(0))

    def value(alpha: arb) -> arb:
        effort.spend(12 * len(parts))
        if not replaced and at_rest:
            if alpha <= number(at_rest):
                return 1 - alpha
            require(alpha > number(at_rest), "α is told from the share that contributes nothing")
        wanted, low, high = float(alpha.log().mid()), -1e6, 1e6
        for _ in range(70):
            middle = (low + high) / 2
            gap = log_sum(middle) - (log_sum(-middle) if replaced else 0.0)
            low, high = (middle, high) if gap < wanted else (low, middle)
        t = arb(high)
        for _ in range(4):  # Newton's method, at midpoints
            up, down, rise, fall = sides(t)
            t = (t - (up - alpha * down) / (rise - alpha * fall)).mid()
        width = arb(2) ** -(ctx.prec // 3)
        left, right = sides(t - width), sides(t + width)
        require(left[0] < alpha * left[1], "the threshold lies right of the left end")
        require(right[0] > alpha * right[1], "the threshold lies left of the right end")
        near = (t - width).union(t + width)
        up, down, _, _ = sides(near)
        off = ((-near * near / 2).exp() * abs(up - alpha * down)).upper() * 2 * width
        moved = sum((p * normal_tail(t - c) for c, p in parts), arb(0))
        still = sum((p * normal_tail(t + c) for c, p in parts), arb(0)) if replaced else normal_tail(t)
        return moved - alpha * still + arb(0).union(off)

    return Profile(value)


def concentrated_profile(rho: Fraction) -> Profile:
    """(29) Whatever has Rényi divergences of at most λρ of every order λ, either way."""
    if not LEAST_RATE < rho < 1 / LEAST_RATE:
        raise OutOfReach("noise beyond what doubles hold")

    def above(alpha: arb) -> arb:
        loss, rough, near = alpha.log(), float(rho), float(alpha.log().mid())

        def exponent(log_u: float) -> float:
            u = math.exp(log_u)
            return u * ((1 + u) * rough - near) - math.log1p(u) - u * math.log1p(1 / u)

        low, high = -20.0, 40.0
        for _ in range(90):  # it falls, then rises; any order will do
            third = (high - low) / 3
            low, high = (low, high - third) if exponent(low + third) < exponent(high - third) else (low + third, high)
        u = arb(math.exp(low))
        return (u * ((1 + u) * number(rho) - loss) - (1 + u).log() - u * (1 + 1 / u).log()).exp().min(arb(1))

    return mirrored(above, exact=False)


def noise_profile(noise: dict[str, Any], times: int) -> Profile:
    """(15), (16), (29) Noise on all records, of which one moves by so many times its bound: 2 where it is replaced."""
    kind = noise["kind"]
    if kind == "gaussian":
        return gaussian_profile(times**2 * per_bound(noise))
    if kind == "laplace":
        multiplier, scale, distance = (noise[name] for name in ("noise_multiplier", "noise_scale", "sensitivity"))
        return laplace_profile(times / multiplier if multiplier is not None else distance / scale)
    if kind == "discrete-laplace":
        return discrete_laplace_profile(noise["noise_scale"], times * noise["bound"])
    if kind == "discrete-gaussian":
        variance, squared = noise["noise_stddev"] ** 2, (times * noise["bound"]) ** 2
        if noise["dimension"] != 1 and squared >= 2:
            return concentrated_profile(squared / (2 * variance))
        return discrete_gaussian_profile(variance, times * math.floor(noise["bound"]))
    if kind == "randomized-response":
        if times != 2:
            raise Malformed("randomised response has a pair under replace-one only")
        return response_profile(noise["epsilon"], noise["options"])
    return mixture_profile(noise["norms"], noise["noise_stddev"], replaced=times == 2)


def per_bound(noise: dict[str, Any]) -> Fraction:
    """The squared shift of Gaussian noise per unit of the per-record bound."""
    if noise["kind"] != "gaussian" or noise["noise_multiplier"] is None:
        raise NotCovered("other than Gaussian noise, given by its noise_multiplier, with records drawn so")
    return 1 / Fraction(noise["noise_multiplier"]) ** 2


def vectors(release: dict[str, Any], relation: str) -> Fraction | None:
    """The squared distance of whole vectors, several coordinates of which may move; None for all else."""
    noise = release.get("mechanism", {"kind": None})
    if release["kind"] != "full-batch" or noise["kind"] != "discrete-gaussian" or noise["dimension"] == 1:
        return None
    squared: Fraction = ((2 if relation == "replace-one" else 1) * noise["bound"]) ** 2
    return squared if squared >= 2 else None
