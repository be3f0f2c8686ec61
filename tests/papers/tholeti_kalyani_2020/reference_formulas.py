"""The formulas of Tholeti & Kalyani 2020, a second time."""

from mpmath import (
    acos,
    beta,
    betainc,
    erfc,
    exp,
    expm1,
    factorial,
    linspace,
    ln,
    log1p,
    mpf,
    pi,
    quad,
    rf,
    rgamma,
    root,
    sqrt,
)


def mass(half, d):
    """Of a ball's first coordinate in ±half, by integration (beyond ``end`` there is none that counts)."""
    if half >= 1:
        return mpf(1)
    end = min(half, sqrt(400 / d))
    inside = quad(lambda x: (1 - x**2) ** ((d - 1) / 2), linspace(0, end, 5))
    return 2 * inside / beta(mpf(1) / 2, (d + 1) / 2)


def algorithm_1_square(q):
    """E|n|² with P(|n| <= s) = (s/r)^d: the integral of s² d s^(d-1)/r^d."""
    return q.d * q.r_u ** (q.d + 2) / (q.d + 2) / q.r_u**q.d


def algorithm_1_explicit_noise_square(q):
    return q.r_u**2 * (1 - 2 / (q.d + 2))


def algorithm_1_explicit_second_moment(q):
    return q.G**2 + algorithm_1_explicit_noise_square(q)


def algorithm_1_explicit_steps(q):
    return log1p(-q.delta) / log1p(-mass(q.G / q.r_u, q.d) / q.n)


def equation_10_density(z, d):
    return mpf(0) if z >= 1 else (1 - z) ** ((d - 1) / 2) / beta(mpf(1) / 2, (d + 1) / 2)


def equation_5_ball(q):
    return pi ** (q.d / 2) * rgamma(1 + q.d / 2)


def equation_5_share(x, p):
    """I_x(p, 1/2): where it is tiny by substituting s = x exp(-u/p), where mpmath's own function gives up."""
    half = mpf(1) / 2
    if p * (1 - x) < 30:
        return 1 - betainc(half, p, 0, 1 - x, regularized=True)
    integral = quad(lambda u: exp(-u) / sqrt(1 - x * exp(-u / p)), [0, 5, 20, 60, 150, 400])
    return x**p / p * integral / beta(p, half)


def equation_5_cap(q):
    return equation_5_ball(q) * equation_5_share(1 - q.cap_distance**2, (q.d + 1) / 2) / 2


def equation_6_outside(q):
    """1 - I_(1 - (Δx/2)²)((d+1)/2, 1/2), the display before (6)."""
    a = q.Delta_g / (2 * q.r_u)
    if a >= 1:
        return mpf(1)
    return 1 - betainc((q.d + 1) / 2, mpf(1) / 2, 0, 1 - a**2, regularized=True)


def equation_7_run(q):
    z = min(mpf(1), (q.Delta / q.r_u / 2) ** 2)
    return q.T / q.n * betainc(mpf(1) / 2, (q.d + 1) / 2, 0, z, regularized=True)


def equation_8_left(q, m):
    return betainc(q.parameter, m, 0, q.argument, regularized=True)


def equation_8_kth(q, k):
    return q.argument**q.parameter * rf(q.parameter, k) * (1 - q.argument) ** k / factorial(k)


def equation_9_kth(q, k):
    a = min(mpf(1), q.Delta_g / (2 * q.r_u))
    return a * rf(mpf(1) / 2, k) * (1 - a**2) ** k / factorial(k)


def equation_9_sum(q, dimension):
    return sum(equation_9_kth(q, k) for k in range((dimension - 1) // 2 + 1))


def figure_2_in_the_plane(q):
    """Two circles: the area outside of the lens."""
    half = min(mpf(1), q.Delta_g / (2 * q.r_u))
    lens = 2 * acos(half) - 2 * half * sqrt(1 - half**2)
    return 1 - lens / pi


def theorem_1_printed(q):
    inside = min(mpf(1), q.Delta / (2 * q.r_u)) ** 2
    return q.T * betainc(mpf(1) / 2, (q.d + 1) / 2, 0, inside, regularized=True) / q.n


def theorem_1_explicit_step(q):
    return mass(q.Delta / (2 * q.r_u), q.d) / q.n


FORMULAS = {
    "algorithm-1": {
        "noise_variance": lambda q: algorithm_1_square(q) / q.d,  # isotropic
        "noise_square": algorithm_1_square,
    },
    "algorithm-1/explicit": {
        "bound": lambda q: sqrt(q.Delta_F / q.eta / q.T + q.L * q.eta / 2 * algorithm_1_explicit_second_moment(q)),
        "sampling-variance": lambda q: sqrt(
            2 * q.Delta_F / q.eta / q.T + q.L * q.eta * (q.sampling_stddev**2 + algorithm_1_explicit_noise_square(q))
        ),
        "tuned": lambda q: root(2 * q.L * q.Delta_F * algorithm_1_explicit_second_moment(q) / q.T, 4),
        "private": lambda q: root(
            4 * q.L * q.Delta_F * algorithm_1_explicit_second_moment(q) / algorithm_1_explicit_steps(q), 4
        ),
        "step_size": lambda q: sqrt(2 * q.Delta_F / q.L / q.T / algorithm_1_explicit_second_moment(q)),
        "steps": algorithm_1_explicit_steps,
    },
    "equation-10": {
        "in-the-square": lambda q: equation_10_density((q.Delta_g / 2 / q.r_u) ** 2, q.d) / (q.Delta_g / 2 / q.r_u),
        "in-the-distance": lambda q: equation_10_density((q.Delta_g / 2 / q.r_u) ** 2, q.d) / q.r_u,
        "at-zero": lambda q: 1 / (beta(mpf(1) / 2, (q.d + 1) / 2) * q.r_u),
    },
    "equation-5": {"ball": equation_5_ball, "cap": equation_5_cap, "overlap": lambda q: 2 * equation_5_cap(q)},
    "equation-6": {"bound": equation_6_outside},
    "equation-7": {"bound": equation_7_run},
    "equation-8": {
        "one-term": lambda q: equation_8_left(q, 1),
        "two-terms": lambda q: equation_8_left(q, 2),
        "three-terms": lambda q: equation_8_left(q, 3),
        "increment": lambda q: equation_8_kth(q, q.terms),
    },
    "equation-9": {
        "dimension-1": lambda q: equation_9_sum(q, 1),
        "dimension-3": lambda q: equation_9_sum(q, 3),
        "dimension-5": lambda q: equation_9_sum(q, 5),
        "increment": lambda q: equation_9_kth(q, (q.d + 1) / 2),
    },
    "figure-2": {
        "curve": lambda q: mass(q.Delta_g / (2 * q.r_u), q.d),
        "dimension-2": figure_2_in_the_plane,
        "many-dimensions": lambda q: 1 - erfc(q.Delta_g / q.r_u * sqrt(q.d / 8)),
    },
    "theorem-1": {"bound": theorem_1_printed},
    "theorem-1/explicit": {
        "bound": lambda q: (
            mpf(1) if theorem_1_explicit_step(q) == 1 else -expm1(q.T * log1p(-theorem_1_explicit_step(q)))
        ),
        "step": theorem_1_explicit_step,
        "elementary": lambda q: q.T / q.n * q.Delta / q.r_u * sqrt((q.d + 1) / pi) / sqrt(mpf(2)),
        "steps": lambda q: log1p(-q.delta) / log1p(-theorem_1_explicit_step(q)),
    },
    "theorem-2": {
        "rate": lambda q: sqrt(q.eta * ln(1 / q.zeta)),
        "step_size": lambda q: q.step_threshold / max(mpf(1), ln(1 / q.zeta)),
        "steps": lambda q: q.eta ** (-2) * ln(1 / q.zeta),
    },
}
