"""Many releases: the contour integral (1), (2), (8) and (9), and a Chernoff bound."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import acb, arb

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.limits import MOST_SEARCH
from dpbounds.privacy.publishing.checker.profiles import Curve
from dpbounds.privacy.publishing.checker.reading import field, finite, positive
from dpbounds.privacy.publishing.checker.rules.moments import Law, at_zero, moments, rectangles, sinc_bound, turned_line
from dpbounds.privacy.publishing.checker.spent import Sampled
from dpbounds.privacy.publishing.checker.verdicts import NotCovered, require
from dpbounds.privacy.publishing.checker.work import TOO_MUCH, effort


def contour(
    laws: list[Law], squared_shift: arb, hints: dict[str, Any], finer: float, bits: int, at: tuple[Fraction, Fraction]
) -> Curve:
    """δ(ε) of the composition, near ``at`` = (ε, δ), which only decides how many frequencies are taken.

    With s_k = λ + ikD, G(s) = e^{s(s+1)μ²/2} Π M_i(s)^{T_i} and V(ε) = (D/2π) Σ_k G(s_k) e^{-s_k ε}/(s_k(s_k+1)):
    (1) δ~ <= δ <= δ~ + Σ T_i (1 - M_i(0)),  δ~ the curve of what [a, b] and χ keep;
    (2) V - Σ_{j=1,2} G(σ_j) e^{-σ_j ε} r_j/(1-r_j) <= δ~ <= V,  r_j = e^{-|σ_j - λ| 2π/D},  σ_1 > λ > σ_2 >= 0.
    (8) With a bulk, V is formed with G - G_bulk, and δ~ gains at most c e^{-σε} G_bulk(σ), c = σ^σ/(1+σ)^{1+σ}.
    """
    tilt, spacing = arb(finite(hints, "tilt")), arb(finite(hints, "spacing") * finer)
    sigmas = [arb(finite({"aliases": sigma}, "aliases")) for sigma in field(hints, "aliases", list)]
    require(len(sigmas) == 2, "there are two aliases")
    require(tilt > 0, "the tilt is positive")
    require(spacing > 0, "the spacing is positive")

    def gaussian(s: acb) -> acb:
        return (s * (s + 1) * squared_shift / 2).exp()

    def at_real(s: arb, of: str = "all") -> arb:
        """Upper bound on G(s) or G_bulk(s)."""
        product = gaussian(acb(s)).real
        for law in laws:
            product = product * moments(law, s, arb(0), 0, bits, of)[0].real ** law.count
        return product.upper()

    left_out = sum((law.count * (1 - at_zero(law, bits)) for law in laws), arb(0)).upper()
    aliases = []
    right, left = sigmas
    require(right > tilt, "the first alias lies right of the tilt")
    require(left < tilt, "the second alias lies left of the tilt")
    require(left >= 0, "the second alias is not negative")
    for sigma in (right, left):
        ratio = (-abs(sigma - tilt) * 2 * arb.pi() / spacing).exp()
        require(ratio < 1, "the aliases decay")
        aliases.append((sigma, at_real(sigma) * ratio / (1 - ratio)))
    only_bulk, bulk_tilt = arb(0), arb(0)
    peeled = hints.get("bulk_tilt") is not None
    require(all((law.bulk is not None) == peeled for law in laws), "all distributions are split, or none")
    require(all(law.turn is not None for law in laws) or not peeled, "the jumps are bounded on a turned line")
    if peeled:
        bulk_tilt = arb(finite(hints, "bulk_tilt"))
        require(bulk_tilt > 0, "the bulk's tilt is positive")
        only_bulk = at_real(bulk_tilt, "bulk") * peak(bulk_tilt)

    mass = [moments(law, tilt, arb(0), 0, bits)[0].real.upper() for law in laws]
    lines = [None if law.turn is None else turned_line(law, tilt, law.turn) for law in laws]
    bases = [rectangles(law, tilt) if line is None else [] for law, line in zip(laws, lines, strict=True)]

    def factor(i: int, w: arb) -> arb:
        """Upper bound on |M_i(λ + iw')| for all w' >= w (of the jumps' part where there is a bulk)."""
        line = lines[i]
        effort.spend(len(line or bases[i]))
        if line is not None:
            return sum((size * (-w * angle).exp() for size, angle in line), arb(0)).upper()
        # (6) |∫ e^{iwl} over a base of length J| <= J |sin(wJ/2)/(wJ/2)|: what the rectangles hold is lost
        lost = sum((height * base * (1 - sinc_bound(w * base / 2)) for height, base in bases[i]), arb(0))
        return max((mass[i] - lost).upper(), arb(0))

    def beyond(w: arb) -> arb:
        """Upper bound on |G(λ + iw')| (on |G - G_bulk| with a bulk) for all w' >= w."""
        product = gaussian(acb(tilt)).real * (-w * w * squared_shift / 2).exp()
        for i, law in enumerate(laws):
            product = product * (mass[i] if peeled else factor(i, w)) ** law.count
        if peeled:  # at least one of the factors of each term of G - G_bulk is a jump's
            product = product * sum((law.count * factor(i, w) / mass[i] for i, law in enumerate(laws)), arb(0))
        return product.upper()

    def tail(frequencies: int) -> arb:
        """(9) Upper bound on e^{λε} |the terms beyond|, from |s(s+1)| >= w² and Σ_{k > K} 1/k² <= 1/K."""
        return (beyond(spacing * (frequencies + 1)) / (arb.pi() * spacing * frequencies)).upper()

    near, small = (-tilt * number(at[0])).exp(), number(at[1]) * arb(2) ** -54
    frequencies = most = max(int(finite(hints, "frequencies")), 1)
    require(most < 100_000, "a moderate number of frequencies suffices")
    rest = tail(frequencies)
    while not rest * near < small and 2 * frequencies < 3 * most + 80:
        frequencies += 1 + frequencies // 10
        rest = tail(frequencies)

    columns = [moments(law, tilt, spacing, frequencies, bits) for law in laws]
    bulks = [moments(law, tilt, spacing, frequencies, bits, "bulk") for law in laws] if peeled else []
    terms = []
    effort.spend(frequencies * len(laws))
    for k in range(frequencies + 1):
        s = acb(tilt, spacing * k)
        term = math.prod((column[k] ** law.count for law, column in zip(laws, columns, strict=True)), start=acb(1))
        if peeled:
            term -= math.prod((column[k] ** law.count for law, column in zip(laws, bulks, strict=True)), start=acb(1))
        terms.append(gaussian(s) * term / (s * (s + 1)) / (1 if k else 2))

    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        e = number(epsilon)
        shrink = (-tilt * e).exp()
        waves = ((spacing * (k * e)).sin_cos() for k in range(len(terms)))
        total = sum((c.real * wave[1] + c.imag * wave[0] for c, wave in zip(terms, waves, strict=True)), arb(0))
        value = spacing / arb.pi() * shrink * total
        lower = value - rest * shrink - sum((bound * (-sigma * e).exp() for sigma, bound in aliases), arb(0))
        return lower, value + rest * shrink + left_out + only_bulk * (-bulk_tilt * e).exp()

    return curve


def peak(s: arb) -> arb:
    """Return the maximum over t of (1 - e^{-t}) e^{-st} = s^s / (1+s)^{1+s}."""
    return (s * s.log() - (1 + s) * (1 + s).log()).exp()


def chernoff(laws: list[Law], squared_shift: arb, near: float | None, bits: int, at: tuple[Fraction, Fraction]) -> bool:
    """(8) again: whether δ(ε) <= c e^{-sε} G(s) + Σ T_i (1 - M_i(0)) <= δ for one of many s."""
    e, delta = number(at[0]), number(at[1])
    before, steps = effort.done, sorted(range(-24, 25), key=abs)
    left_out = arb(0)
    for law in laws:
        left_out += law.count * (1 - at_zero(law, bits))
        if near is None and (effort.done - before) * len(steps) > MOST_SEARCH:
            raise NotCovered(TOO_MUCH)
    for step in steps:
        s = arb(1.0 if near is None else near) * arb(2) ** (arb(step) / 4)
        bound = peak(s) * (s * (s + 1) * squared_shift / 2 - s * e).exp()
        for law in laws:
            bound = bound * moments(law, s, arb(0), 0, 96)[0].real ** law.count
        if bound + left_out <= delta:
            return True
    return False


def laws_of(order: str, sampled: Sampled, hints: list[Any], log_delta: float, slack: float, shift: float) -> list[Law]:
    """The distributions, on an interval that leaves out about e^-slack δ of the P-mass; χ, ψ and the turn are hints."""
    reach = math.sqrt(2 * (slack + math.log(sum(sampled.values())) - log_delta))
    by_pair = {(positive(hint, "sample_rate"), positive(hint, "variance")): hint for hint in hints}
    laws = []
    for (q, variance), count in sampled.items():
        low, high = -reach, reach + (0 if order == "add" else 1 / math.sqrt(variance))
        hint = by_pair.get((q, variance))
        if hint is None:
            laws.append(Law(order, q, variance, count, (low, high)))
            continue
        step = finite(hint, "step")  # the recorded nodes show where the tilted mass lies
        low, high = min(low, step * finite(hint, "first") - 1), max(high, step * finite(hint, "last") + 2)
        law = Law(order, q, variance, count, (low, high))
        if order != "add" and hint.get("edge") is not None:
            law.cut = (arb(finite(hint, "edge") + shift), arb(finite(hint, "softness")))
        if hint.get("bulk") is not None:
            law.bulk = (arb(finite(hint["bulk"], "edge")), arb(finite(hint["bulk"], "softness")))
        if hint.get("turn") is not None:
            law.turn = arb(finite(hint, "turn"))
        require(all(soft is None or soft[1] > 0 for soft in (law.cut, law.bulk)), "soft edges have a positive width")
        laws.append(law)
    return laws
