"""The formulas of statements of our own, a second time."""

from mpmath import beta, cbrt, ceil, erf, exp, floor, ln, log, mpf, ncdf, pi, root, sqrt

from tests.papers.tholeti_kalyani_2020.twins import mass


def mu(q):
    return q.Delta_g / (q.r_u / sqrt(q.d + 2))


def gaussian_at_epsilon(q):
    m = mu(q)
    return ncdf(m / 2 - q.epsilon / m) - exp(q.epsilon) * ncdf(-m / 2 - q.epsilon / m)


def ball_noise_at_fixed_delta_factor(q):
    a = q.G / q.r_u
    return (1 + q.b / a**2 * (1 - 2 / (q.d + 2))) * mass(a / q.b, q.d)


def langevin_under_pl_bound(q):
    a = 1 - q.L * q.eta / 2
    decay = 1 - 2 * q.mu * q.eta * a
    return q.Delta_F * decay ** int(q.T) + q.L * q.eta * q.d / q.beta / (1 - decay)


def langevin_under_pl_tuned(q):
    logarithm = ln(q.n)
    a = 1 - q.L * logarithm / q.mu / q.T / 2
    temperature = q.mu * q.n**2 * q.rho / q.G**2 / logarithm
    return q.Delta_F * exp(-2 * a * logarithm) + q.L * q.d / (2 * q.mu * temperature * a)


def negative_curvature_descent_sample_size(q):
    # n at which e₁ = α/24 and e₂ = √(ρα)/8
    e1 = 2 * q.G * sqrt(q.T / q.rho) * (sqrt(q.d) + sqrt(2 * ln(2 * q.T / q.zeta)))
    e2 = 4 * q.L * sqrt(q.d * q.T / q.rho) * (sqrt(q.d) + sqrt(ln(4 * q.T / q.zeta)))
    return max(24 * e1 / q.alpha, 8 * e2 / sqrt(q.rho_H * q.alpha))


def restarted_spider_first_noise(q):
    return sqrt((2 * q.G / q.n) ** 2 * q.stages / q.rho)  # (2G/n)²/(2σ²) = ρ/(2J)


def restarted_spider_excess(q):
    # the recursion Δ <- Δ/2 + dσ₁²/(2μ), stopped at its limit for the noise
    limit = 2 * q.d * restarted_spider_first_noise(q) ** 2 / (2 * q.mu)
    return q.Delta_F * 2 ** (-q.stages) + limit


def population_tree_spider_second(q):
    psi = q.G * q.D * sqrt(q.d / q.n) * (1 + sqrt(q.d / q.n) / q.epsilon)
    noise = sqrt(q.d) / q.n / q.epsilon
    return cbrt(q.L * q.G * psi) / cbrt(q.n) + sqrt(psi * noise * q.L) + q.G * (noise + 1 / sqrt(q.n))


TWINS = {
    "ball-noise-and-gaussian-noise": {
        "ball": lambda q: mass(q.Delta_g / (2 * q.r_u), q.d),
        "gaussian": lambda q: erf(mu(q) / sqrt(mpf(8))),
        "gaussian-at-epsilon": gaussian_at_epsilon,
        "ball-run": lambda q: 1 - (1 - mass(q.Delta_g / (2 * q.r_u), q.d)) ** q.T,
        "gaussian-run": lambda q: erf(mu(q) * sqrt(q.T) / sqrt(mpf(8))),
        # the two densities at 0, one divided by the other
        "ratio-at-zero": lambda q: 1 / beta(mpf(1) / 2, (q.d + 1) / 2) / (sqrt(q.d + 2) / sqrt(2 * pi)),
        "noise_stddev": lambda q: sqrt(q.r_u**2 / (q.d + 2)),
    },
    "ball-noise-at-fixed-delta": {
        "bound": lambda q: (
            2 * root(q.L * q.Delta_F * q.G**2 * ball_noise_at_fixed_delta_factor(q) / (q.n * q.delta), 4)
        ),
        "single-factor": lambda q: ball_noise_at_fixed_delta_factor(q.at(b=mpf(1))),
        "batch-factor": ball_noise_at_fixed_delta_factor,
        "least-single-factor": lambda q: sqrt(4 * q.d / (q.d + 2)),
        "elementary": lambda q: sqrt(8 * q.d / (pi * q.b)),
        "radius": lambda q: q.G / sqrt(q.b * (1 - 2 / (q.d + 2))),
        "steps": lambda q: q.n * q.delta / q.b / mass(q.G / (q.b * q.r_u), q.d),
    },
    "langevin-under-pl": {
        "bound": langevin_under_pl_bound,
        "tuned": langevin_under_pl_tuned,
        "inverse_temperature": lambda q: q.mu * q.rho * (q.n / q.G) ** 2 / ln(q.n),
        "step_size": lambda q: q.rho * (q.n / q.G) ** 2 / q.beta / q.T,
    },
    "negative-curvature-descent": {
        "bound": negative_curvature_descent_sample_size,
        "steps": lambda q: (
            floor(max(4 * q.L * q.Delta_F / q.alpha**2, 6 * q.Delta_F * sqrt(q.rho_H / q.alpha) / q.alpha)) + 1
        ),
        "gradient_threshold": lambda q: 3 * q.alpha / 4,
        "curvature_threshold": lambda q: -7 * sqrt(q.rho_H * q.alpha) / 8,
        "curvature_move": lambda q: sqrt(q.alpha) / sqrt(q.rho_H),
        "noise_stddev": lambda q: sqrt(4 * q.G**2 * q.T / q.rho) / q.n,
        "hessian_noise_stddev": lambda q: sqrt(4 * q.L**2 * q.d * q.T / q.rho) / q.n,
    },
    "polyak-lojasiewicz-restarted-spider": {
        "bound": lambda q: sqrt(2 * q.mu * restarted_spider_excess(q)),
        "excess_risk": restarted_spider_excess,
        "steps": lambda q: ceil(4 * q.L / q.mu),
        "stages": lambda q: log(q.mu * q.Delta_F * q.rho / q.d * (q.n / q.G) ** 2) / ln(2),
        "noise_stddev": restarted_spider_first_noise,
        "difference_noise_stddev": lambda q: 2 * sqrt(q.stages * (q.T - 1)) * q.L / (q.n * sqrt(q.rho)),
        "step_size": lambda q: 1 / q.L / 2,
    },
    "population-tree-spider": {"rate": population_tree_spider_second},
}
