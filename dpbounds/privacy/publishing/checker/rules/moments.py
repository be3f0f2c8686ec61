"""One sampled release: its moments, and bounds on them for all large frequencies, (3) to (7)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from flint import acb, acb_mat, arb, ctx

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.verdicts import require
from dpbounds.privacy.publishing.checker.work import effort


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
        effort.spend(1)
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
        effort.spend(2)
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
        if flat <= tolerance:  # too little mass: the panel is left out
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
    waving = (size + rows) * len(losses)
    effort.spend(waving + size * rows * len(losses) / 10, waving)

    def waves(k: int) -> list[acb]:
        return [acb(0, spacing * k * loss).exp() for loss in losses]

    small = acb_mat([[*row] for row in zip(*(waves(k) for k in range(size)), strict=True)])
    large = acb_mat([[m * u for m, u in zip(masses, waves(k * size), strict=True)] for k in range(rows)])
    product, off = large * small, error.upper().union(-error.upper())
    return [product[k // size, k % size] + acb(off, off) for k in range(frequencies + 1)]


def rectangles(law: Law, tilt: arb) -> list[tuple[arb, arb]]:
    """(5) Rectangles (height, length of the base) whose sum lies below the density F/|L'| of the loss L.

    L' = p/z (replace: (p(t) + p(-t))/z), p(t) = 1/(1 + (1-q)/q e^{1/2z² - t/z}); each cell of t takes the lower bound
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
    """Return a non-increasing upper bound on |sin y / y|, y >= x: max(sin x / x, 1/4) up to 3, then min(1/4, 1/x)."""
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


def at_zero(law: Law, bits: int) -> arb:
    """Return the P-mass that [a, b] and χ keep in one step, M(0)."""
    return moments(law, arb(0), arb(0), 0, bits)[0].real
