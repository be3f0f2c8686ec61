"""Check a dpbounds privacy certificate without trusting dpbounds: one file, Python and python-flint, nothing else.

Usage: ``python standalone_checker.py certificate.json``. Exit status: 0 every claim is confirmed; 1 a claim is refuted
or could not be confirmed; 2 the file is not a well-formed certificate; 3 the method used is not covered here.

What it proves. The privacy curve is δ(ε) = max over the orders of the neighbours of E_P[(1 - e^{ε - L})_+] with
L = log dP/dQ and the pairs (P, Q) of ``products_of``. That these dominate all neighbouring data sets is a theorem
(Balle & Wang 2018; Zhu, Dong & Wang 2022; ``pairs.md``), and the only thing taken on trust beside Python and Arb.
δ(·) does not increase, so that "ε(δ) lies in [lo, hi]" follows from δ(hi) <= δ and δ(lo) > δ.

How. In ball arithmetic: an ``arb`` is an interval, and ``x < y`` is True only where it holds for all points of both.
Everything in the certificate but the claim and the mechanism is a hint: a bad one makes this checker say that it could
not confirm, never confirm wrongly. The inequalities (1) to (10) are proven in ``standalone_checker.md``.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from flint import acb, acb_mat, arb, ctx, fmpq, fmpz_poly

CONFIRMED, WRONG, MALFORMED, NOT_COVERED = 0, 1, 2, 3
FORMAT, VERSION = "dpbounds privacy certificate", 1
Curve = Callable[[Fraction], tuple[arb, arb]]  # ε -> balls whose lower and upper ends enclose δ(ε)
Sampled = Counter[tuple[Fraction, Fraction]]  # (q, z²): count
Point = tuple[Fraction, Fraction]  # (ε, δ)
Answer = bool | None  # None: not decided
_NUMBER = re.compile(r"(-?\d{1,2000})(?:/(\d{1,2000}))?(?:\*2\*\*(-?\d{1,6}))?(?:\*5\*\*(-?\d{1,6}))?")


class Malformed(Exception):
    """The document is not a certificate of the known format."""


class Unproven(Exception):
    """A condition of the proof could not be shown with these hints."""


class NotCovered(Exception):
    """The certificate rests on a method that is not re-done here."""


def require(condition: object, what: str) -> None:
    """Go on only where the condition is proven."""
    if condition is not True:
        raise Unproven(what)


# --- the document --------------------------------------------------------------------------------------------------


def rational(text: object, least: int | None = None) -> Fraction:
    """An exact number, written p, p/q or p/q*2**a*5**b; refused below ``least``."""
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None or (match[2] is not None and int(match[2]) == 0):
        raise Malformed(f"{str(text)[:60]!r} is not an exact number such as 1/3 or 7*2**-60")
    value = Fraction(int(match[1]), int(match[2] or 1)) * Fraction(2) ** int(match[3] or 0)
    value *= Fraction(5) ** int(match[4] or 0)
    if least is not None and value < least:
        raise Malformed(f"{text} is below {least}")
    return value


def field(record: object, name: str, kind: type | tuple[type, ...]) -> Any:
    """The value of a field that must be there, of that type."""
    if not isinstance(record, dict) or name not in record:
        raise Malformed(f"the field {name!r} is missing")
    if not isinstance(record[name], kind) or isinstance(record[name], bool):
        raise Malformed(f"the field {name!r} is {str(record[name])[:60]!r}")
    return record[name]


def positive(record: object, name: str) -> Fraction | None:
    """A positive exact number, or None where the field is null."""
    text = field(record, name, (str, type(None)))
    value = None if text is None else rational(text)
    if value is not None and value <= 0:
        raise Malformed(f"{name} = {text} is not positive")
    return value


def number(value: Fraction) -> arb:
    """The ball around a rational number."""
    return arb(fmpq(value.numerator, value.denominator))


def products_of(mechanism: list[Any], relation: str) -> list[tuple[str, Fraction, Sampled]]:
    """For each order of the neighbours: its name, μ² of all full-batch releases, and {(q, z²): count} of sampled ones.

    The pairs, with z in units of the per-record bound C and N(m) = N(m, z²):
      full batch           N(Δ/z, 1) against N(0, 1); Δ = 1 (add or remove) or 2 (replace), or the final distance given
      sampled, remove      (1-q) N(0) + q N(1)   against   N(0)
      sampled, add         N(0)                  against   (1-q) N(0) + q N(1)
      sampled, replace     (1-q) N(0) + q N(1)   against   (1-q) N(0) + q N(-1)
    """
    if relation not in ("add-or-remove-one", "replace-one"):
        raise Malformed(f"relation {relation!r}")
    squared_shift, sampled = Fraction(0), Sampled()
    for release in mechanism:
        if field(release, "kind", str) != "gaussian":
            raise NotCovered(f"a release of kind {release['kind']!r}")
        z, stddev, distance = (positive(release, name) for name in ("noise_multiplier", "noise_stddev", "sensitivity"))
        q, count = positive(release, "sample_rate"), field(release, "count", int)
        if count < 1 or (q is not None and q > 1):
            raise Malformed(f"count {count}, sample rate {q}")
        if z is not None and stddev is None and distance is None:
            multiplier, farthest = z, 2 if relation == "replace-one" else 1
        elif z is None and stddev is not None and distance is not None:
            multiplier, farthest = stddev / distance, 1  # the distance given is the final one
        else:
            raise Malformed("a release gives either noise_multiplier, or noise_stddev with sensitivity")
        if q is None or q == 1:
            squared_shift += count * (farthest / multiplier) ** 2
        elif z is None and relation == "replace-one":
            raise Malformed("a sampled release under replace-one needs noise_multiplier")
        else:
            sampled[q, multiplier**2] += count
    if not mechanism:
        raise Malformed("the mechanism has no release")
    orders = ["both"] if not sampled else ["replace"] if relation == "replace-one" else ["remove", "add"]
    return [(order, squared_shift, sampled) for order in orders]


# --- closed forms: one pair ----------------------------------------------------------------------------------------


def closed_form(order: str, squared_shift: Fraction, sampled: Sampled) -> Curve:
    """δ(ε) = P(S) - e^ε Q(S) with S = {L > ε}, a half-line: L is monotone in the observation t (in units of z)."""

    def tail(t: arb) -> arb:
        return (t / arb(2).sqrt()).erfc() / 2

    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        e = number(epsilon)
        if not sampled:  # L = μt - μ²/2 under N(0), so S = {t > ε/μ + μ/2}
            mu = number(squared_shift).sqrt()
            value = tail(e / mu - mu / 2) - e.exp() * tail(e / mu + mu / 2)
            return value, value
        ((q_exact, variance),) = sampled
        q, z = number(q_exact), number(variance).sqrt()
        grown = e.expm1() + q  # (e^ε - (1-q)), accurate for small ε
        if order == "remove":
            if grown <= 0:
                return -e.expm1(), -e.expm1()  # no loss is below log(1-q)
            start = z * (grown / q).log() + 1 / (2 * z)  # A(t) > e^ε
            value = q * tail(start - 1 / z) - grown * tail(start)
        elif order == "add":
            room = (-e).expm1() + q  # e^{-ε} - (1-q)
            if room <= 0:
                return arb(0), arb(0)  # no loss exceeds -log(1-q)
            stop = z * (room / q).log() + 1 / (2 * z)  # A(t) < e^{-ε}
            value = (1 - e.exp() * (1 - q)) * tail(-stop) - e.exp() * q * tail(1 / z - stop)
        else:  # with y = e^{t/z}, b = q e^{-1/2z²}: 1-q + b y > e^ε (1-q + b/y)
            b, c = q * (-1 / (2 * z * z)).exp(), (1 - q) * e.expm1()
            start = z * ((c + (c * c + 4 * b * b * e.exp()).sqrt()) / (2 * b)).log()
            value = q * (tail(start - 1 / z) - e.exp() * tail(start + 1 / z)) - c * tail(start)
        return value, value

    return curve


# --- one sampled release: its moments ------------------------------------------------------------------------------


class Law:
    """One sampled release, its P-mass kept on t in [a, b] only and there damped by χ: F(t; s) dt, F = φ χ e^{B + sL}.

    With A(t) = 1-q + q e^{t/z - 1/2z²}:  remove  B = log A, L = log A;  add  B = 0, L = -log A;
    replace  B = log A, L = log A(t) - log A(-t).  χ(t) = erfc((t - edge)/softness)/2 or 1; ψ, the bulk's share, too.
    """

    def __init__(self, order: str, q: Fraction, variance: Fraction, count: int, span: tuple[float, float]) -> None:
        self.order, self.count = order, count
        self.q, self.z = number(q), number(variance).sqrt()
        self.a, self.b = span
        self.cut: tuple[arb, arb] | None = None  # (edge, softness) of χ
        self.bulk: tuple[arb, arb] | None = None  # (edge, softness) of ψ
        self.turn: arb | None = None  # distance from the real line of the line used by (7); None: (6) is used

    def exponents(self, t: Any) -> tuple[Any, Any]:
        """B and L at a real or complex t. For |Im t| < πz, A stays off (-inf, 0] and both are analytic."""
        kappa = 1 / (2 * self.z * self.z)
        log_a = (1 - self.q + self.q * (t / self.z - kappa).exp()).log()
        if self.order == "add":
            return 0 * log_a, -log_a
        if self.order == "remove":
            return log_a, log_a
        return log_a, log_a - (1 - self.q + self.q * (-t / self.z - kappa).exp()).log()

    def soft_edges(self, left: arb, right: arb, of: str) -> list[tuple[arb, arb]]:
        """(distance, softness) of each erfc in the integrand; the distance taken where that erfc is largest."""
        edges = [] if self.cut is None else [(left - self.cut[0], self.cut[1])]
        if self.bulk is not None and of == "bulk":
            edges.append((left - self.bulk[0], self.bulk[1]))
        if self.bulk is not None and of == "jumps":
            edges.append((self.bulk[0] - right, self.bulk[1]))
        return edges

    def density(self, t: arb, tilt: arb, of: str = "all") -> arb:
        """F(t; tilt) (or ψF) at real t."""
        bias, loss = self.exponents(t)
        value: arb = (-t * t / 2 + bias + tilt * loss).exp() / (2 * arb.pi()).sqrt()
        for distance, softness in self.soft_edges(t, t, of):
            value = value * (distance / softness).erfc() / 2
        return value

    def on_rectangle(self, left: arb, right: arb, height: arb, tilt: arb, of: str) -> tuple[arb, arb]:
        """(3) Upper bound on |F(t; tilt)| (of ψF for "bulk", (1-ψ)F for "jumps"), and a ball around Im L.

        Over Re t in [left, right] and Im t in the ball ``height`` >= 0 (below the real line for the order add, so that
        Im L >= 0 in all three). Not finite where the ball around A touches 0.
        """
        t = acb(left.union(right), -height if self.order == "add" else height)
        bias, loss = self.exponents(t)
        value = (-t * t / 2 + bias + tilt * loss).real.exp() / (2 * arb.pi()).sqrt()
        for distance, softness in self.soft_edges(left, right, of):  # |erfc(x + iy)| <= e^{y²} erfc(x)
            value = value * (distance / softness).erfc() / 2 * ((height.abs_upper() / softness) ** 2).exp()
        return value.upper(), loss.imag


@lru_cache(maxsize=4)
def gauss_legendre(n: int, precision: int) -> list[tuple[arb, arb]]:
    """Nodes and weights of the n-point rule on [-1, 1]."""
    return [arb.legendre_p_root(n, k, weight=True) for k in range(n)]


def moments(law: Law, tilt: arb, spacing: arb, frequencies: int, bits: int, of: str = "all") -> list[acb]:
    """Balls around M(s) = ∫ F(t; s) dt (of the bulk: ∫ ψF) at s = tilt + i·spacing·k, k = 0..frequencies.

    (4) Gauss-Legendre on panels: an n-point rule on a panel of half-width h errs by at most
    (64/15) h m / ((1 - ρ^-2) ρ^2n), m the maximum of |F| in the ellipse with foci at the panel's ends and half-axes
    h(ρ ± 1/ρ)/2. There |e^{iwL}| <= e^{|w Im L|}, so one bound serves all frequencies. ``bits`` is the accuracy wanted.
    """
    n = (
        16 + bits // 6
    )  # at ρ = 9 the bound falls by 2n log2(9) > bits: without that, ever smaller panels would not help
    a, b = arb(law.a), arb(law.b)
    sizes = [law.density(a + (b - a) * i / 100, tilt, of).mid() for i in range(101)]
    tolerance = max(sizes) * arb(2) ** -bits
    points: list[tuple[arb, arb]] = []
    error, panels, count = arb(0), [(a, b)], 0
    while panels:
        left, right = panels.pop()
        count += 1
        require(count < 5_000, "the integrand can be enclosed with a moderate number of panels")
        middle, half = (left + right) / 2, (right - left) / 2
        flat = law.on_rectangle(left, right, arb(0), tilt, of)[0] * 2 * half
        if flat <= tolerance:  # so little mass that the panel is left out
            error = error + flat
            continue
        for rho in map(arb, (2, 3, 4, 6, 9)):
            high, wide = half * (rho - 1 / rho) / 2, half * (rho + 1 / rho) / 2
            if not high < law.z * 3:  # 3 < π: beyond, log A need not be analytic
                continue
            largest, angle = law.on_rectangle(middle - wide, middle + wide, arb(0).union(high), tilt, of)
            largest = largest * (spacing * frequencies * angle.abs_upper()).exp()
            bound = largest * half * 64 / (15 * (1 - 1 / rho**2) * rho ** (2 * n))
            if bound <= tolerance:
                error = error + bound
                points += [(middle + half * x, half * w) for x, w in gauss_legendre(n, ctx.prec)]
                break
        else:
            panels += [(left, middle), (middle, right)]
    masses = [weight * law.density(t, tilt, of) for t, weight in points]
    losses = [law.exponents(t)[1] for t, _ in points]
    # Σ_j mass_j e^{i k D L_j} for all k at once: k = k1 + size·k2, one matrix product
    size = math.isqrt(frequencies) + 1
    rows = frequencies // size + 1

    def waves(k: int) -> list[acb]:
        return [acb(0, spacing * k * loss).exp() for loss in losses]

    small = acb_mat([[*row] for row in zip(*(waves(k) for k in range(size)), strict=True)])
    large = acb_mat([[m * u for m, u in zip(masses, waves(k * size), strict=True)] for k in range(rows)])
    product, off = large * small, error.upper().union(-error.upper())
    return [product[k // size, k % size] + acb(off, off) for k in range(frequencies + 1)]


# --- one sampled release: bounds on |M(tilt + iw)| for every w >= W ------------------------------------------------


def rectangles(law: Law, tilt: arb) -> list[tuple[arb, arb]]:
    """(5) Rectangles (height, length of the base) whose sum lies below the density F/|L'| of the loss L.

    L' = p/z (replace: (p(t) + p(-t))/z), p(t) = 1/(1 + (1-q)/q e^{1/2z² - t/z}); each cell of t takes the lower end
    over the whole cell. Adjacent cells are joined into horizontal layers: the longer the base, the better in (6).
    """

    def slope(t: arb) -> arb:
        odds = (1 - law.q) / law.q
        p = 1 / (1 + odds * (1 / (2 * law.z * law.z) - t / law.z).exp())
        if law.order == "replace":
            p = p + 1 / (1 + odds * (1 / (2 * law.z * law.z) + t / law.z).exp())
        return p / law.z

    coarse = [law.a + (law.b - law.a) * i / 200 for i in range(201)]
    logs = [float(law.density(arb(t), tilt).log().mid()) for t in coarse]
    heavy = [i for i, value in enumerate(logs) if value > max(logs) - 16]
    first, last = coarse[max(heavy[0] - 1, 0)], coarse[min(heavy[-1] + 1, 200)]
    corners = [arb(first + (last - first) * i / 1000) for i in range(1001)]
    losses = [law.exponents(t)[1] for t in corners]
    heights = []
    for left, right in pairwise(corners):
        cell = left.union(right)
        heights.append(max(arb(0), (law.density(cell, tilt).lower() / slope(cell).upper()).lower()))
    found, stack = [], list[tuple[arb, int]]()  # the stack's heights increase; each with its first cell
    for i, height in enumerate([*heights, arb(0)]):
        start = i
        while stack and stack[-1][0] >= height:
            top, start = stack.pop()
            below = max(height, stack[-1][0]) if stack else height
            if top > below:
                found.append(((top - below).lower(), (losses[i] - losses[start]).abs_lower()))
        if height > 0:
            stack.append((height, start))
    return found


def sinc_bound(x: arb) -> arb:
    """A non-increasing upper bound on |sin y / y|, y >= x: max(sin x / x, 1/4) up to 3, then min(1/4, 1/x)."""
    if x <= 3:
        return (x.sin() / x).max(arb(1) / 4)
    return (1 / x).min(arb(1) / 4) if x > 3 else arb(1)


def turned_line(law: Law, tilt: arb, turn: arb) -> list[tuple[arb, arb]]:
    """(7) Cells (bound on ∫ |F(·; tilt)|, least Im L >= 0) of a path from a to b that runs at distance ``turn``.

    By Cauchy's theorem |M(tilt + iw)| <= Σ bound e^{-w Im L}; of the jumps' part alone where there is a bulk.
    """
    require(turn > 0, "the line is turned away from the real one")
    require(turn < law.z * arb.pi(), "and not as far as the branch points of log A")
    of = "jumps" if law.bulk is not None else "all"
    a, b = arb(law.a), arb(law.b)
    cells = []
    for i in range(32):  # the two vertical parts
        end, height = (a if i < 16 else b), (turn * (i % 16) / 16).union(turn * (i % 16 + 1) / 16)
        cells.append(((law.on_rectangle(end, end, height, tilt, of)[0] * turn / 16).upper(), arb(0)))
    for i in range(2000):
        left, right = a + (b - a) * i / 2000, a + (b - a) * (i + 1) / 2000
        size, angle = law.on_rectangle(left, right, turn, tilt, of)
        cells.append(((size * (right - left)).upper(), angle.abs_lower()))
    require(all(size.is_finite() for size, _ in cells), "the integrand is enclosed on the turned line")
    return cells


# --- many releases: the contour integral ---------------------------------------------------------------------------


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
    require(all((law.bulk is not None) == peeled for law in laws), "all laws are split, or none")
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


def at_zero(law: Law, bits: int) -> arb:
    """The P-mass that [a, b] and χ keep in one step, M(0)."""
    return moments(law, arb(0), arb(0), 0, bits)[0].real


def peak(s: arb) -> arb:
    """The maximum over t of (1 - e^{-t}) e^{-st} = s^s / (1+s)^{1+s}."""
    return (s * s.log() - (1 + s) * (1 + s).log()).exp()


def chernoff(laws: list[Law], squared_shift: arb, near: float, bits: int, at: tuple[Fraction, Fraction]) -> bool:
    """(8) again: whether δ(ε) <= c e^{-sε} G(s) + Σ T_i (1 - M_i(0)) <= δ for one of many s."""
    e, delta = number(at[0]), number(at[1])
    left_out = sum((law.count * (1 - at_zero(law, bits)) for law in laws), arb(0))
    for step in sorted(range(-24, 25), key=abs):
        s = arb(near) * arb(2) ** (arb(step) / 4)
        bound = peak(s) * (s * (s + 1) * squared_shift / 2 - s * e).exp()
        for law in laws:
            bound = bound * moments(law, s, arb(0), 0, 96)[0].real ** law.count
        if bound + left_out <= delta:
            return True
    return False


# --- many releases: the lattice, upper bounds only ------------------------------------------------------------------

Atoms = tuple[fmpz_poly, int, int]  # masses in units of 2^-bits, the index of the first one, the mass at infinity


def step_atoms(curve: Curve, spacing: Fraction, enough: arb, bits: int) -> Atoms:
    """(10) Connect the dots: δ, as a function of α = e^ε, made linear between the points e^{jh} and constant beyond.

    It grows by that, for δ is convex in α. It is then the curve of a law with P-mass α_j (slope after - slope before)
    at the loss jh and the last value of δ at infinity; rounded up. Stops where the last value is below ``enough``.
    """
    last, limit = 1, 60_000
    while not curve(last * spacing)[1] <= enough:
        last *= 2
        if last > limit:
            raise NotCovered("a lattice with more than 60000 points in one step")
    first = -last
    alphas = [number(j * spacing).exp() for j in range(first, last + 1)]
    values = [curve(j * spacing)[1] for j in range(first, last + 1)]
    slopes = [(values[0] - 1) / alphas[0]]
    slopes += [(v - u) / (b - a) for (u, v), (a, b) in zip(pairwise(values), pairwise(alphas), strict=True)] + [arb(0)]
    masses = [alpha * (after - before) for alpha, (before, after) in zip(alphas, pairwise(slopes), strict=True)]
    return fmpz_poly([rounded_up(mass, bits) for mass in masses]), first, rounded_up(values[-1], bits)


def rounded_up(mass: arb, bits: int) -> int:
    """A mass in units of 2^-bits, at least 0."""
    whole = (mass * arb(2) ** bits).upper().ceil().unique_fmpz()
    if whole is None:
        raise NotCovered("a lattice whose masses could not be enclosed")
    return max(0, int(whole))


def product(first: Atoms, second: Atoms, drop: int, bits: int) -> Atoms:
    """The law of a sum, masses rounded up; up to ``drop`` units at either end go to infinity (and raise δ)."""
    (p, start, lost), (r, begin, gone) = first, second
    coefficients = [int(c) for c in (p * r).coeffs()]
    lost = lost * (int(sum(r.coeffs())) + gone) + gone * int(sum(p.coeffs()))
    low, high, left, right = 0, len(coefficients), 0, 0
    while low < high and left + coefficients[low] <= drop << bits:
        left, low = left + coefficients[low], low + 1
    while low < high and right + coefficients[high - 1] <= drop << bits:
        right, high = right + coefficients[high - 1], high - 1
    kept = fmpz_poly([-(-c >> bits) for c in coefficients[low:high]])
    return kept, start + begin + low, -(-(lost + left + right) >> bits)


def lattice_at_most(
    order: str, squared_shift: Fraction, sampled: Sampled, spacing: Fraction, at: tuple[Fraction, Fraction]
) -> bool:
    """Whether δ(ε) <= δ is shown by composing lattice laws as exact integers."""
    epsilon, delta = at
    releases = sum(sampled.values()) + 1
    bits = math.ceil((math.log(releases) - log(delta)) / math.log(2)) + 60
    drop, total = rounded_up(number(delta), bits) >> 30, None
    with ctx.workprec(2 * bits + 64 + 3 * spacing.denominator.bit_length()):
        parts = [(closed_form(order, Fraction(0), Counter({pair: 1})), count) for pair, count in sampled.items()]
        parts += [(closed_form("both", squared_shift, Counter()), 1)] if squared_shift else []
        for curve, count in parts:
            power = step_atoms(curve, spacing, number(delta) / releases / 2**30, bits)
            while count:
                if count & 1:
                    total = power if total is None else product(total, power, drop, bits)
                count >>= 1
                power = product(power, power, drop, bits) if count else power
        assert total is not None
        atoms, start, lost = total
        bound = arb(lost)
        for j, mass in enumerate(atoms.coeffs(), start):
            if j * spacing > epsilon:
                bound = bound - mass * number(epsilon - j * spacing).expm1()
        return (bound * arb(2) ** -bits <= number(delta)) is True


# --- the claims ----------------------------------------------------------------------------------------------------


def finite(record: object, name: str) -> float:
    """A hint: a number of moderate size."""
    value = field(record, name, (int, float))
    if not abs(value) < 1e9:
        raise Malformed(f"the field {name!r} is {value}")
    return float(value)


def log(value: Fraction) -> float:
    """The logarithm of a positive rational number, roughly."""
    return math.log(value.numerator) - math.log(value.denominator)


def shown(value: Fraction, rounding: str = ROUND_CEILING) -> str:
    """A number for a line of the report, rounded to 15 digits."""
    return f"{Context(15, rounding).divide(Decimal(value.numerator), Decimal(value.denominator)):.15g}"


def laws_of(order: str, sampled: Sampled, hints: list[Any], log_delta: float, slack: float, shift: float) -> list[Law]:
    """The laws, on an interval that leaves out about e^-slack δ of the P-mass; χ, ψ and the turn are hints."""
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


def decide(curve: Curve, high: Point, low: Point | None) -> tuple[Answer, Answer]:
    """For one order: is δ(ε) <= δ at ``high``? Is δ(ε) > δ at ``low`` (False where nobody asks)?"""

    def compare(point: Point) -> tuple[bool, bool]:
        lower, upper = curve(point[0])
        return (upper <= number(point[1])) is True, (lower > number(point[1])) is True

    below, above = compare(high)
    under, over = (True, False) if low is None else compare(low)
    return (True if below else False if above else None), (True if over else False if under else None)


def check_order(
    order: str, squared_shift: Fraction, sampled: Sampled, proofs: dict[str, Any], high: Point, low: Point | None
) -> tuple[Answer, Answer, str]:
    """Answer ``decide`` for one order: by a closed form, the contour integral, or a Chernoff bound (high end only)."""
    releases = sum(sampled.values()) + (1 if squared_shift else 0)
    reference = min(high[1], Fraction(1, 2)) or Fraction(1, 2)
    if order == "add" and not squared_shift:
        with ctx.workprec(256):
            largest = sum((-count * (-number(q)).log1p() for (q, _), count in sampled.items()), arb(0))
            if largest <= number(high[0]) and (low is None or largest <= number(low[0])):
                return True, False, "no total loss exceeds epsilon"
    below = above = None
    if releases == 1:
        for precision in (128, 512, 2048, 8192, 32768):
            with ctx.workprec(precision):
                first, second = decide(closed_form(order, squared_shift, sampled), high, low)
            below, above = (first if below is None else below), (second if above is None else above)
            if below is not None and above is not None:
                break
        return below, above, "closed form"
    proof = proofs.get(order, {"route": "none", "parameters": {}})
    hints, route = field(proof, "parameters", dict), field(proof, "route", str)
    if route == "lattice":
        spacing = Fraction(finite(hints, "lattice step")) * Fraction(1, 2)
        if not 0 < spacing < 1 or not high[1] > 0:
            raise NotCovered("a lattice step outside (0, 1), or a claim that delta is 0")
        shown_above = lattice_at_most(order, squared_shift, sampled, spacing, high)
        return (True if shown_above else None), None, "exact integers on a lattice"
    bits = math.ceil((math.log(releases) - log(reference)) / math.log(2)) + 70
    if route != "contour":
        tilts = [finite(p["parameters"], "tilt") for p in proofs.values() if "tilt" in field(p, "parameters", dict)]
        with ctx.workprec(bits + 64):
            laws = laws_of(order, sampled, [], log(reference), 24, 0.0)
            done = chernoff(laws, number(squared_shift), tilts[0] if tilts else 1.0, bits, high)
        return (True if done else None), None, "Chernoff bound"
    bits = max(bits, min(int(finite(hints, "precision")), 20_000))
    how = "contour integral"
    for shift, finer in ((0.25, 0.85), (0.1, 0.9), (0.0, 0.95)):  # a little narrower than what was recorded
        with ctx.workprec(bits + 64):
            try:
                laws = laws_of(order, sampled, field(hints, "parts", list), log(reference), 46, shift)
                curve = contour(laws, number(squared_shift), hints, finer, bits, (high[0], reference))
                first, second = decide(curve, high, low)
            except Unproven as reason:
                how = f"contour integral; not shown: {reason}"
                continue
        below, above = (first if below is None else below), (second if above is None else above)
        if below is not None and above is not None:
            break
    return below, above, how


def read_claim(account: object) -> dict[str, Any]:
    """The claim "ε(δ) (or δ(ε)) of this mechanism lies in [lower, upper]" with exact numbers."""
    claim = field(account, "claim", dict)
    given, relation = field(claim, "given", str), field(claim, "relation", str)
    target, lower, upper = (rational(claim.get(name), 0) for name in ("target", "lower", "upper"))
    if given not in ("delta", "epsilon") or lower > upper or (given == "delta" and not 0 < target < 1):
        raise Malformed("a claim needs given = delta or epsilon, its target in range, and lower <= upper")
    return {"relation": relation, "given": given, "target": target, "lower": lower, "upper": upper}


def check_account(account: object) -> tuple[int, list[str], dict[str, Any]]:
    """Check one claim."""
    claim = read_claim(account)
    relation, given, target, lower, upper = claim.values()
    proofs = {field(proof, "order", str).split(" ")[0]: proof for proof in field(account, "proofs", list)}
    high, low = ((upper, target), (lower, target)) if given == "delta" else ((target, upper), (target, lower))
    asked = low if lower > 0 else None  # 0 is always a lower end
    answers, lines = [], []
    words = {True: "yes", False: "NO", None: "not decided"}
    for order, squared_shift, sampled in products_of(field(account, "mechanism", list), relation):
        below, above, how = check_order(order, squared_shift, sampled, proofs, high, asked)
        answers.append((below, above))
        lines.append(f"order {order}: delta({shown(high[0])}) <= {shown(high[1])}? {words[below]} ({how})")
        if lower > 0:
            word = words[above] if above is not False else "not in this order (one of them is enough)"
            lines.append(f"order {order}: delta({shown(low[0])}) > {shown(low[1])}? {word}")
    confirmed = all(below for below, _ in answers) and (lower == 0 or any(above for _, above in answers))
    refuted = any(below is False for below, _ in answers) or (lower > 0 and all(above is False for _, above in answers))
    verdict = "confirmed" if confirmed else "REFUTED" if refuted else "NOT confirmed"
    half = not refuted and not confirmed and all(below for below, _ in answers) and "lattice" in lines[0]
    if half:  # what a person relies on, though not all that is claimed
        verdict = "the upper end is confirmed; the lower end of a lattice certificate is not covered"
    other = "epsilon" if given == "delta" else "delta"
    lines.append(
        f"{verdict}: {other} in [{shown(lower, ROUND_FLOOR)}, {shown(upper)}] at {given} = {shown(target)} ({relation})"
    )
    return (CONFIRMED if confirmed else NOT_COVERED if half else WRONG), lines, claim


def substituted(before: list[Any], after: list[Any], names: tuple[str, ...], value: Fraction, other: Fraction) -> bool:
    """Whether the second mechanism is the first with ``other`` in place of ``value`` in these fields."""
    exact_fields = ("noise_multiplier", "noise_stddev", "sensitivity", "sample_rate")

    def plain(release: dict[str, Any]) -> dict[str, object]:
        exact = {name: positive(release, name) for name in exact_fields}
        return {**exact, "count": release.get("count"), "kind": release.get("kind")}

    found = False
    for one, two in zip(map(plain, before), map(plain, after), strict=False):
        for name in one:
            replaced = name in names and one[name] == value and two[name] == other
            found = found or replaced
            if not replaced and one[name] != two[name]:
                return False
    return found and len(before) == len(after)


def check_calibration(calibration: dict[str, Any], accounts: list[Any], claims: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the claim "value keeps the budget, fails_at does not", given the accounts of both."""
    solve = field(calibration, "solve", str)
    fields = {"noise": ("noise_multiplier", "noise_stddev"), "steps": ("count",), "sample-rate": ("sample_rate",)}
    budget, delta = (rational(calibration.get(name), 0) for name in ("target_epsilon", "target_delta"))
    value, fails_at = positive(calibration, "value"), positive(calibration, "fails_at")
    if solve not in fields or value is None or len(claims) != (1 if fails_at is None else 2):
        raise Malformed("a calibration needs solve, value, fails_at, and an account of each of the two values")
    wrong = []
    if any(claim["given"] != "delta" or claim["target"] != delta for claim in claims):
        wrong.append("an account is not about the target delta")
    if claims[0]["upper"] > budget:
        wrong.append("the value spends more than the target epsilon")
    second = claims[-1]
    if fails_at is None and not (solve == "sample-rate" and value == 1):
        wrong.append("there is no value that fails, and the value is not the largest sample rate")
    if fails_at is not None and (second["lower"] <= budget or second["relation"] != claims[0]["relation"]):
        wrong.append("the value said to fail is not shown to spend more than the target epsilon")
    if not substituted(accounts[0]["mechanism"], accounts[-1]["mechanism"], fields[solve], value, fails_at or value):
        wrong.append("the two mechanisms do not differ by the value and the one that fails alone")
    return wrong


def check(document: object) -> tuple[int, list[str]]:
    """Check a certificate; returns an exit status, and what to say line by line."""
    try:
        if field(document, "format", str) != FORMAT or field(document, "version", int) != VERSION:
            raise Malformed(f"this checker reads {FORMAT!r}, version {VERSION}")
        accounts, calibration = field(document, "accounts", list), field(document, "calibration", (dict, type(None)))
        results = [check_account(account) for account in accounts]
        if len(results) != 1 and calibration is None:
            raise Malformed("a certificate without a calibration holds one account")
        wrong = (
            [] if calibration is None else check_calibration(calibration, accounts, [claim for *_, claim in results])
        )
    except Malformed as reason:
        return MALFORMED, [f"malformed: {reason}"]
    except NotCovered as reason:
        return NOT_COVERED, [f"not covered by this checker: {reason}"]
    lines = [line for _, account_lines, _ in results for line in account_lines] + [f"REFUTED: {text}" for text in wrong]
    statuses = [status for status, *_ in results]
    return (WRONG if wrong or WRONG in statuses else max(statuses)), lines


def main(arguments: list[str]) -> int:
    """Check the file named on the command line."""
    if len(arguments) != 1:
        print("usage: standalone_checker.py CERTIFICATE.json", file=sys.stderr)
        return MALFORMED
    try:
        document = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        print(f"{arguments[0]} cannot be read as JSON: {reason}", file=sys.stderr)
        return MALFORMED
    status, lines = check(document)
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
