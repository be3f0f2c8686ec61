"""A narrow conical well in a plain: a sampler must find it by volume; gradients outside do not show it."""

from __future__ import annotations

import mpmath
import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import checked_start, positive
from dpbounds.algorithms.problems.surfaces import Surface, lengths
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer

_DIGITS = 40


def narrow_well(dimension: int, width: ExactLike, slope: ExactLike = 1, centre: ArrayLike | None = None) -> Surface:
    """Return F(x) = G min(‖x - c‖, w) - G w: 0 on the plain, -G w at the bottom c of a cone of radius w.

    G-Lipschitz on R^p (attained in the well), not smooth: it has no gradient at c and on the rim, where 0 and the outer
    one are returned. The well has the part (w/R)^p of a ball's volume: an algorithm that starts outside sees gradient
    0, and a Gibbs sampler at inverse temperature β finds it for β G w well above p ln(R/w) only; see ``gibbs_risk``.

    w and G > 0 are taken exactly; c, shape (p,), is public, or None for 0.
    """
    p, w, G = positive_integer(dimension, "dimension"), positive(width, "width"), positive(slope, "slope")
    bottom = checked_start(np.zeros(p) if centre is None else centre, None, "centre")
    if bottom.size != p:
        raise InvalidValue("centre.shape", bottom.shape, f"({p},)")
    rim, steep = float(w), float(G)

    def value_and_gradient(X: Array) -> tuple[Array, Array]:
        away = X - bottom
        distance = lengths(away)
        inside = (distance > 0) & (distance < rim)
        gradient = np.where(inside, steep * away / np.where(inside, distance, 1.0), 0.0)
        return steep * (np.minimum(distance[:, 0], rim) - rim), gradient

    return Surface(
        name=f"conical well of radius {w}",
        dimension=p,
        value_and_gradient=value_and_gradient,
        hessian=None,
        largest_slope=lambda radius: sympy.Rational(G),
        largest_curvature=lambda radius: None,
        largest_third_derivative=lambda radius: None,
        minimum=-sympy.Rational(G * w),
        minimisers=bottom[None],
        saddles=np.zeros((0, p)),
    )


def gibbs_risk(
    inverse_temperature: float, dimension: int, width: float, radius: float | None = None, slope: float = 1.0
) -> float:
    """Return E F - min F under the density exp(-βF)/Z on the ball of radius R, for the well around its centre.

    By polar coordinates, with N(k) = ∫_0^w r^{k-1} e^{-βGr} dr = γ(k, βGw)/(βG)^k and the plain's weight
    V = e^{-βGw}(R^p - w^p)/p, it is G (N(p+1) + w V)/(N(p) + V).

    With R = w the well fills the ball, and the distribution of r is that on *any* cone with apex c and length w,
    however thin: a thin cone has diameter D = w, and its risk is γ(p+1, u)/(β γ(p, u)) with u = βGD. That is the case
    in which the factor after p/β of a general bound cannot be below 1 + ln(u/p) by much.

    For R >= w (None: R = w), computed to double precision in arithmetic of 40 digits.

    Source: compare Ganesh, Liu, Oh & Thakurta 2023, Lemma 5.3.

    >>> round(gibbs_risk(4, 2, 1) * 4 / 2, 4)
    0.8387
    """
    p = positive_integer(dimension, "dimension")
    beta, w, G = (
        positive(value, name)
        for value, name in ((inverse_temperature, "inverse_temperature"), (width, "width"), (slope, "slope"))
    )
    R = w if radius is None else positive(radius, "radius")
    if w > R:
        raise InvalidValue("radius", radius, f"at least the width {width}", "the well must lie in the ball")
    with mpmath.workdps(_DIGITS):
        b, rim, outer, steep = (mpmath.mpf(x.numerator) / x.denominator for x in (beta * G, w, R, G))
        inside = [mpmath.gammainc(k, 0, b * rim) / b**k for k in (p, p + 1)]
        plain = mpmath.exp(-b * rim) * (outer**p - rim**p) / p
        return float(steep * (inside[1] + rim * plain) / (inside[0] + plain))
