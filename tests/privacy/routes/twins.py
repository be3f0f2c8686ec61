"""What the routes compute, from the definitions and without the package: one step in mpmath, several by FFT.

``composed_delta`` puts Gauss-Legendre points of one step's law on a grid of losses so that moments up to the fifth are
kept, multiplies out by FFT, and takes one last step in closed form.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
from scipy.special import ndtr

from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians

DIRECTIONS = tuple(Direction)
THREE = ((0.01, 1, 5000), (0.02, 1.5, 3000), (0.005, 0.8, 2000))

# ε of an earlier, independent implementation, correct to the last digit given: parts, δ, direction, ε
REFERENCES = [
    (((0.01, 1, 10_000),), "1e-6", "remove", "6.907384495045"),
    (((0.01, 1, 10_000),), "1e-6", "add", "6.20748437879"),
    (((0.01, 1, 10_000),), "1e-6", "replace", "11.9568577197"),
    (((0.01, 1, 10_000),), "1e-300", "remove", "101.1866546534"),
    (((0.01, 1, 10_000),), "1e-300", "replace", "113.199065836777"),
    (((0.001, 0.3, 10_000),), "1e-8", "remove", "57.951206268210"),
    (((0.001, 50, 10_000),), "1e-8", "remove", "0.00816594754186"),
    (((0.1, 1, 10_000),), "1e-5", "add", "107.386414005"),
    (((1e-05, 1, 10_000_000),), "1e-8", "remove", "0.1964184167251"),
    (THREE, "1e-6", "remove", "6.88023780128"),
    (THREE, "1e-6", "add", "6.27594040636"),
    (THREE, "1e-6", "replace", "12.4620101287"),
]


def product(direction, *parts, squared_shift=None):
    """Sampled parts (q, z, T), and a Gaussian part in two halves."""
    sampled = tuple(
        (SampledGaussians(Direction(direction), Fraction(str(q)), Fraction(str(z)) ** 2), count)
        for q, z, count in parts
    )
    return sampled if squared_shift is None else ((ShiftedGaussians(Fraction(squared_shift) / 2), 2), *sampled)


# --- in mpmath, to the working precision -----------------------------------------------------------------------------


def real(number):
    """A fraction (or a float) as an mpf."""
    number = Fraction(number)
    return mpmath.mpf(number.numerator) / number.denominator


def gaussian_profile(mu, epsilon):
    """H of shifted Gaussians at any real ε."""
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def one_step_delta(direction, q, z, epsilon):
    """δ(ε) of one step: the set {L > ε} is a half-line, found by bisection. (x is turned so that L rises with it.)"""
    q, z, epsilon = mpmath.mpf(q), mpmath.mpf(z), mpmath.mpf(epsilon)

    def log_ratio(x):
        return mpmath.log(1 - q + q * mpmath.exp((2 * x - 1) / (2 * z**2)))

    mixed, plain, other = [(1 - q, 0), (q, 1)], [(1, 0)], [(1 - q, 0), (q, -1)]
    first, second, loss = {
        "remove": (mixed, plain, log_ratio),
        "add": (plain, other, lambda x: -log_ratio(-x)),
        "replace": (mixed, other, lambda x: log_ratio(x) - log_ratio(-x)),
    }[direction]
    low, high = -60 * z - 60, 60 * z + 60
    if loss(low) > epsilon:
        return 1 - mpmath.exp(epsilon)
    if loss(high) <= epsilon:
        return mpmath.mpf(0)
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (low, middle) if loss(middle) > epsilon else (middle, high)
    beyond = [sum(weight * mpmath.ncdf((mean - high) / z) for weight, mean in mixture) for mixture in (first, second)]
    return beyond[0] - mpmath.exp(epsilon) * beyond[1]


# --- in doubles ------------------------------------------------------------------------------------------------------


def _law(direction, q, z):
    """Losses and P-masses of one step at Gauss-Legendre points of the observation."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-11.0, 11.0 + 1 / z, 801)
    half = np.diff(edges) / 2
    t = ((edges[:-1] + half)[:, None] + half[:, None] * nodes).ravel()
    mass = (half[:, None] * weights).ravel() / math.sqrt(2 * math.pi)
    here, there = (np.exp(-0.5 * (t - shift) ** 2) for shift in (0.0, 1 / z))

    def log_ratio(sign):
        x = sign * t / z - 0.5 / z**2
        return x if q == 1 else np.log1p(q * np.expm1(x))

    if direction == "add":
        return -log_ratio(1), mass * here
    return log_ratio(1) - (log_ratio(-1) if direction == "replace" else 0), mass * ((1 - q) * here + q * there)


def _deposited(loss, mass, spacing, size):
    """The masses on the grid spacing·j (j modulo size), by sixth-order Lagrange weights."""
    place = loss / spacing
    first = np.floor(place).astype(np.int64) - 2
    offset = place - first
    grid = np.zeros(size)
    for k in range(6):
        weight = np.prod([(offset - j) / (k - j) for j in range(6) if j != k], axis=0)
        grid += np.bincount((first + k) % size, weights=mass * weight, minlength=size)
    return grid


def one_step(direction, q, z, epsilon):
    """E_P (1 - e^{ε-L})_+ of one step for any real ε."""
    if direction == "replace":
        b, c = q * math.exp(-0.5 / z**2), (1 - q) * np.expm1(epsilon)
        # the positive root of b y² - c y - b e^ε, without cancellation for c < 0
        surd = np.sqrt(c * c + 4 * b * b * np.exp(epsilon))
        root = np.where(c > 0, (c + surd) / (2 * b), 2 * b * np.exp(epsilon) / (surd - np.minimum(c, 0)))
        threshold = z * np.log(root)
        up, down, stay = ndtr(1 / z - threshold), ndtr(-1 / z - threshold), ndtr(-threshold)
        return q * (up - np.exp(epsilon) * down) - (1 - q) * np.expm1(epsilon) * stay
    room = np.expm1(-epsilon if direction == "add" else epsilon) + q
    with np.errstate(invalid="ignore", divide="ignore"):
        threshold = z * np.log(np.maximum(room, 0) / q) + 0.5 / z  # P: t below (add) or above (remove)
    if direction == "add":
        jumps = q * (ndtr(threshold - 1 / z) - ndtr(threshold))
        return np.where(room <= 0, 0.0, ndtr(threshold) * -np.expm1(epsilon) - np.exp(epsilon) * jumps)
    return np.where(room <= 0, -np.expm1(epsilon), q * ndtr(1 / z - threshold) - room * ndtr(-threshold))


def gaussian_step(mu, epsilon):
    """The same of shifted Gaussians."""
    return ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def composed_delta(direction, parts, epsilon, mu=0.0):
    """δ(ε) to about 1e-9 relative (for moderate δ); the last step is the Gaussian one, or the first part's."""
    size, spacing = 1 << 17, 2.0**-10
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for index, (q, z, count) in enumerate(parts):
        law = _deposited(*_law(direction, q, z), spacing, size)
        transform *= np.fft.rfft(law) ** (count - (1 if index == 0 and mu == 0 else 0))
    masses = np.fft.irfft(transform, size)
    place = np.arange(size)
    loss = spacing * np.where(place < size // 2, place, place - size)
    near = loss > -40  # sums below lie far under every ε here
    rest = epsilon - loss[near]
    return float(masses[near] @ (gaussian_step(mu, rest) if mu > 0 else one_step(direction, *parts[0][:2], rest)))
