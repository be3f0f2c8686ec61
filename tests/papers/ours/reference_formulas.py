"""The formulas of statements of our own, a second time."""

from mpmath import beta, cbrt, ceil, e, erf, exp, expm1, floor, ln, log, log1p, mpf, ncdf, pi, root, sqrt

from tests.papers.tholeti_kalyani_2020.reference_formulas import mass


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
    e2 = q.L * sqrt(8 * q.d * q.searches / q.rho) * (sqrt(q.d) + sqrt(ln(4 * q.searches / q.zeta)))
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


def stage_shares(q):
    # zCDP that is left for the first gradients, and the sum of the stages' shares; 2^-500 counts for nothing
    left = q.rho - q.stages * (q.T - 1) * 2 / q.n**2 * (q.d * (q.T - 1) / 2)  # (L/σ₂)² = d(T-1)/2
    return left, sum(sqrt(mpf(2) ** -i) for i in range(min(int(q.stages), 1000)))


def stage_excess(q):
    left, total = stage_shares(q)
    stages = int(q.stages)
    gap = q.Delta_F / mpf(2) ** max(stages - 1000, 0)
    for j in range(max(stages - 1000, 0), stages):
        variance = 2 * q.G**2 / q.n**2 / left * total * sqrt(mpf(2) ** (stages - 1 - j))
        gap = gap / 2 + q.d * variance / 2 / q.mu
    return gap


def tree_square(q):
    # a bit of the step's number is set in every other step; the blocks' lengths are 1, 2, 4, ...
    blocks = (q.L * q.move_length) ** 2 * (mpf(2) ** int(q.levels) - 1) / q.leaf_batch / 2
    noise = q.d * q.sigma**2 + q.levels * q.d * (q.sigma_2 * q.move_length) ** 2 / 2
    return q.G**2 / q.first_batch + blocks + noise


def tree_bound(q):
    walked = q.segments * 2**q.levels * q.move_length
    return q.psi / walked + q.L * q.move_length / 2 + sqrt(4 * tree_square(q))


def tree_level(q):
    depth = log(q.n, 4)
    noise = sqrt(q.d * depth**3 / q.rho) / q.n * 5 / 2
    steps = q.L * q.psi  # times A^-2
    return cbrt(steps * 4 * depth * q.G / q.n) + q.G * sqrt(4 * depth / q.n) + sqrt(steps * noise) + q.G * noise


def path_noise_radius(q, failures):
    """a at a probability ζ/failures of failing."""
    tail = ln(2 * failures * (1 + floor(q.path_length * q.L / q.G / q.window)) / q.zeta)
    return exp(q.window) * sqrt((sqrt(q.d) + sqrt(tail)) ** 2 + tail)


def path_noise_gradients(q, failures=2):
    # first release and moves, in zCDP times n², at the noise V
    V = (q.gradient_error * q.alpha / path_noise_radius(q, failures)) ** 2
    return 2 * q.G**2 / V + 4 * q.G * q.L * q.path_length / V


def path_noise_hessian_stddev(q):
    wanted = (1 - q.curvature_kept) * sqrt(q.rho_H * q.alpha) / 2
    return wanted / (sqrt(2 * q.d) + sqrt(2 * ln(4 * q.searches / q.zeta)))


def path_noise_hessians(q):
    return q.searches * (2 * q.L) ** 2 * q.d / (2 * path_noise_hessian_stddev(q) ** 2)


def path_noise_drop(q):
    return q.curvature_length * (q.curvature_kept / 2 - q.curvature_length / 6) - q.gradient_error


def path_noise_lambda(q):
    return sqrt(q.rho_H * q.alpha) / q.L


def path_noise_miss(q):
    gaussian_tail = 2 * ncdf(-q.power_noise)  # erfc(ν/√2)
    first = q.power_noise * sqrt(pi / 2) * exp(q.power_noise**2 / 2) * gaussian_tail
    return q.overgrowth + q.small_ball * sqrt(2 / pi) + first + q.power_noise**2 / q.d / 2


def path_noise_room(q):
    """(1 - φ)(1 + λ), and β: the part of it that the noise takes."""
    room = (1 - q.curvature_kept - q.selection_error - 2 * q.check_error) * (1 + path_noise_lambda(q))
    return room, room * q.power_noise**2 / (1 + q.power_noise**2)


def path_noise_power_steps(q):
    room, beta = path_noise_room(q)
    top = 1 + path_noise_lambda(q)
    others = (top**2 - path_noise_lambda(q) * (room - beta)) / top**2
    return ceil(ln(q.small_ball**2 * q.overgrowth / q.d) / ln(others))


def path_noise_restarts(q):
    R, b = int(q.restarts_of_a_search), q.restart_ratio
    # a - 1 and f(b) - 1 at the maximum of f(b) = a + (a - 1)(b + ... + b^(R-1)) - b^R, both close to 0 at times
    above = R * b ** (R - 1) * (1 - b) ** 2 / (1 - R * b ** (R - 1) + (R - 1) * b**R)
    largest = above * (1 - b**R) / (1 - b) - b**R
    enough = R + ((q.searches - 1) * log1p(largest) + ln(4 / q.zeta)) / log1p(above)
    return ceil(min(q.searches * R, enough))


def path_noise_check(q):
    return q.check_error * path_noise_lambda(q) / sqrt(2 * ln(8 * q.restarts / q.zeta))


def path_noise_scale(q):
    return ln(8 * q.restarts * q.power_steps / q.zeta) / q.selection_error / path_noise_lambda(q)


def path_noise_step(q):
    return sqrt(path_noise_room(q)[1] * path_noise_lambda(q) / q.d)


def path_noise_searches(q):
    # 2/n is the sensitivity of power steps and checks; a selection's losses lie in an interval of length 4η/n
    steps = (q.power_steps - 1) * 2**2 / (2 * path_noise_room(q)[1] * path_noise_lambda(q) / q.d)
    check = 2**2 / (2 * path_noise_check(q) ** 2)
    alike = q.restarts * (1 + (3 + ln(q.restarts)) / q.restarts)
    return q.restarts * (steps + check) + alike * (4 * path_noise_scale(q)) ** 2 / 8


def halved(q):
    """Half of the failures and of the budget are the path's, from a point whose gap is another's."""
    return q.at(zeta=lambda q: q.zeta / 2, rho=lambda q: q.rho / 2, Delta_F=lambda q: q.start_gap)


def drawn_gap(q):
    # two radii of the net times G, then the logarithm of its size and of what is missed, over the temperature
    epsilon = sqrt(8 * q.rho / 2)
    radius, temperature = q.D * q.d / (epsilon * q.n), epsilon * q.n / (2 * q.G * q.D)
    return 2 * q.G * radius + (q.d * ln(1 + q.D * sqrt(2) / radius) - ln(q.zeta / 2)) / temperature


def gradient_deviation(q):
    """Of gradients, uniformly: a net of radius G/(2L√n), missed by ζ/4."""
    points = (1 + 2 * (q.D + q.path_length) / (q.G / (2 * q.L * sqrt(q.n)))) ** q.d
    return 2 * q.G / sqrt(q.n) + q.G * sqrt(2 * ln(4 * points / q.zeta) / q.n)


def hessian_deviation(q):
    """Of Hessians, uniformly: a net of radius L/(2ρ_H√n), missed by ζ/4."""
    pairs = ((1 + 2 * (q.D + q.path_length) / (q.L / (2 * q.rho_H * sqrt(q.n)))) * 41) ** q.d
    return q.L / sqrt(q.n) + q.L * sqrt(2 * ln(2 * pairs / (q.zeta / 4)) / q.n) / (1 - mpf(2) / 20)


def population_point(q):
    curvature = (sqrt(q.rho_H * q.alpha) + hessian_deviation(q)) ** 2 / q.rho_H
    return max(q.alpha + gradient_deviation(q), curvature)


def population_order(q):
    """What samples differ by, and the least α at which the path, its searches, a gradient and one search are paid."""
    n_rho = q.epsilon * q.n / sqrt(ln(1 / q.delta))
    gap = q.G * q.D * q.d / n_rho
    private = (
        cbrt(q.d * q.G * q.L * gap / n_rho**2)
        + root((q.d * q.L**2 * gap / n_rho**2) ** 2 / q.rho_H, 5)
        + q.G * sqrt(q.d) / n_rho
        + q.d * q.L**2 / q.rho_H / n_rho**2
    )
    return private + q.G / sqrt(q.n / q.d) + (q.L * sqrt(q.d / q.n)) ** 2 / q.rho_H


def longest_walk(q):
    """Without searches F falls by l(α(1-w)/2 - wα), at least, on a move of length l."""
    return 2 * q.Delta_F / (q.alpha * (1 - q.gradient_error) - 2 * q.alpha * q.gradient_error)


def off_everywhere(q, reach):
    """Of gradients, uniformly in a ball: a net of radius G/(2L√n), missed by ζ/2."""
    log_points = q.d * ln(1 + 2 * reach / (q.G / (2 * q.L * sqrt(q.n))))
    return q.G / sqrt(q.n) * (2 + sqrt(2) * sqrt(log_points - ln(q.zeta / 2)))


WALK = {
    "steps": lambda q: q.path_length / (q.alpha - q.gradient_error * q.alpha) * q.L,
    "gradients": lambda q: q.n + q.n * WALK["steps"](q),
}


def storm_bound(q):
    # the recursion of the proof: errors, then what the descent leaves of them, over the weights
    forget = 1 - (1 - q.momentum) ** 2
    later = q.sigma_2 * q.momentum * q.G / q.L
    error = (q.d * q.sigma**2 + (q.T - 1) * 2 * q.d * later**2) / forget
    return sqrt((q.Delta_F / (q.eta / 2) + error) * q.L * q.eta / (1 + q.T * q.L * q.eta))


def falling_noise(q, before_last):
    """σ_t² of the step that so many others follow."""
    kappa = sqrt(1 - q.mu * q.eta * (2 - q.L * q.eta))
    weights = (1 - kappa ** int(q.T)) / (1 - kappa)
    return 2 * (q.G / q.n) ** 2 / q.rho * weights / kappa**before_last


def falling_noise_risk(q):
    # what the noise of each step leaves of itself: of σ² the part κ² per later step
    T, keep = int(q.T), 1 - 2 * q.mu * (q.eta - q.L * q.eta**2 / 2)
    last, ratio = falling_noise(q, 0), sqrt(keep)  # σ_t² keep^later = σ_last² ratio^later
    return keep**T * q.Delta_F + q.L * q.eta**2 * q.d / 2 * last * (1 - ratio**T) / (1 - ratio)


def falling_noise_simple(q):
    keep = 1 - 2 * q.mu * (q.eta - q.L * q.eta**2 / 2)
    return keep ** int(q.T) * q.Delta_F + q.d * q.L / q.rho * (q.G / q.n / (q.mu - q.mu * q.L * q.eta / 2)) ** 2


def exact_descent(q, second_moment):
    """On F = (L/2)w² itself, where gap and squared gradient are 2L apart: the gap tends to a fixed point."""
    T, keep, added = int(q.T), (1 - q.L * q.eta) ** 2, q.L * q.eta**2 * second_moment / 2
    weight, fixed = q.eta - q.L * q.eta**2 / 2, added / (1 - keep)
    gaps = T * fixed + (q.Delta_F - fixed) * (1 - keep**T) / (1 - keep)  # of w_0, ..., w_{T-1} together
    last = fixed + (q.Delta_F - fixed) * keep**T
    return sqrt((weight * 2 * q.L * gaps + last) / (T * weight + 1 / q.L / 2))


def sampled_moment(q):
    """Of a sampled sum's error over C, of what is drawn apart from it, and of the noise, over the expected size."""
    size = q.sample_rate * q.n
    return (q.n * q.sample_rate * (1 - q.sample_rate) + q.d * q.noise_multiplier**2) / size**2


def sampled_storm(q):
    first = q.d * (q.first_ratio * q.noise_multiplier * q.G / q.n) ** 2
    error = (first + (q.T - 1) * 2 * (q.momentum * q.G) ** 2 * sampled_moment(q)) / (1 - (1 - q.momentum) ** 2)
    return sqrt((q.Delta_F / (q.eta / 2) + error) * q.L * q.eta / (1 + q.T * q.L * q.eta))


def local_distance(q):
    tail, T = -2 * ln(q.zeta / 3), q.T
    squares = (q.eta * q.sigma) ** 2 * (sqrt(q.d * T) + sqrt(tail)) ** 2  # of η times the noise, all together
    return sqrt(T * (2 * q.eta * q.Delta_F + squares)) + q.eta * q.sigma * (sqrt(q.d) + sqrt(tail + 2 * ln(2))) * sqrt(
        T
    )


def local_gap(q):
    rate = q.eta * q.mu
    noise = q.sigma * sqrt(q.d / (2 * q.mu)) + q.sigma * sqrt(-q.eta * ln(q.zeta / 3))
    return q.Delta_F * (1 - rate) ** int(q.T) + noise**2


def per_record(q):
    return sqrt(-log(q.delta)) / (q.epsilon * q.n)


def path_noise_unit(q):
    """ν²."""
    return -q.d * ln(q.delta) / (q.n * q.epsilon) ** 2


def overlap(q):
    """What two outputs share, at least, where a group has e^ε' = 3e^ε and a δ' of 1/2."""
    return 2 * mpf("0.5") / (1 + 3 * exp(q.epsilon))


def packed(q, points, records):
    """min(1, λ/records) for so many points, of which a quarter is enough, as is a δ of 1/4."""
    return min(1, max(0, min(ln(points / 4), ln(expm1(q.epsilon)) - ln(4 * q.delta))) / records)


def traced(q, crowd, per_record, records):
    """min(1, √(dτ)/(c·records)): the crowd is d/τ at least."""
    tau = min(q.d / crowd, ln(expm1(q.epsilon) / 3) - ln(q.delta) - ln(q.d) / 2)
    return min(1, sqrt(q.d) * sqrt(tau) / per_record / records)


def in_data(q):
    return q.epsilon * q.n


def in_draws(q):
    return q.n * expm1(q.epsilon)


def huber_slope(q):
    return min(q.G, sqrt(8 * q.L * q.Delta_F)) / 2


def smooth_slope(q):
    return min(q.G / 2, sqrt(q.L) * sqrt(q.Delta_F), cbrt(q.rho_H) * cbrt(q.Delta_F) ** 2)


def risk_scale(q):
    slope = min(q.G, q.D * q.mu) / 2
    return slope**2 / q.mu / 2


PATH_NOISE = {
    "bound": lambda q: sqrt(path_noise_gradients(q) + path_noise_hessians(q)) / sqrt(q.rho),
    "gradient_account": path_noise_gradients,
    "hessian_account": path_noise_hessians,
    "steps": lambda q: q.searches + q.path_length / ((1 - q.gradient_error) * q.alpha / q.L),
    "gradients": lambda q: q.n + q.n * PATH_NOISE["steps"](q) + q.n * q.searches * q.d,
    "path_length": lambda q: q.Delta_F / path_noise_drop(q) / q.alpha,
    "searches": lambda q: (
        1 + floor(q.Delta_F / (q.alpha * path_noise_drop(q) * q.curvature_length * sqrt(q.alpha / q.rho_H)))
    ),
    "noise_stddev": lambda q: q.gradient_error * q.alpha / path_noise_radius(q, 2),
    "hessian_noise_stddev": path_noise_hessian_stddev,
    "gradient_threshold": lambda q: q.alpha - q.gradient_error * q.alpha,
    "curvature_threshold": lambda q: -sqrt(q.rho_H * q.alpha) * (q.curvature_kept + 1) / 2,
    "curvature_move": lambda q: q.curvature_length * sqrt(q.alpha) / sqrt(q.rho_H),
}
ITERATIVE = {
    "bound": lambda q: sqrt((path_noise_gradients(q, 4) + path_noise_searches(q)) / q.rho),
    "gradient_account": lambda q: path_noise_gradients(q, 4),
    "search_account": path_noise_searches,
    "miss": path_noise_miss,
    "power_steps": path_noise_power_steps,
    "steps": lambda q: PATH_NOISE["steps"](q),
    "gradients": lambda q: q.n * (PATH_NOISE["steps"](q) + 1 + q.restarts * q.power_steps + q.restarts),
    "memory": lambda q: q.d * q.power_steps + 8 * q.d,
    "path_length": lambda q: PATH_NOISE["path_length"](q),
    "searches": lambda q: PATH_NOISE["searches"](q),
    "restarts_of_a_search": lambda q: max(2, ceil(ln(q.zeta / (4 * q.searches)) / ln(path_noise_miss(q)))),
    "restarts": path_noise_restarts,
    "noise_stddev": lambda q: q.gradient_error * q.alpha / path_noise_radius(q, 4),
    "step_noise_stddev": path_noise_step,
    "selection_scale": path_noise_scale,
    "check_noise_stddev": path_noise_check,
    "check_threshold": lambda q: q.curvature_kept * path_noise_lambda(q) + q.check_error * path_noise_lambda(q),
}


# what a walk with such searches is planned with, and what else is said of the empirical risk
SEARCHED = ("gradients", "memory", "path_length", "searches", "power_steps", "restarts_of_a_search", "restarts")
EMPIRICAL = ("bound", "steps", "gradient_account", "search_account")


def behind_a_draw(part):
    """A part of the statement without a warm start, where half of the budget and of the failures are left."""
    return lambda q: ITERATIVE[part](halved(q))


def doubly_sure(part):
    """The same where the draw and the walk may fail half as often once more."""
    return lambda q: ITERATIVE[part](halved(q.at(zeta=lambda q: q.zeta / 2)))


FORMULAS = {
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
        "searches": lambda q: 1 + floor(6 * q.Delta_F * root(q.rho_H**2 / q.alpha**6, 4)),
        "hessian_noise_stddev": lambda q: sqrt(4 * q.L**2 * q.d * q.searches / q.rho) / q.n,
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
    "polyak-lojasiewicz-restarted-spider/stage-shares": {
        "bound": lambda q: sqrt(2 * q.mu * stage_excess(q)),
        "excess_risk": stage_excess,
        "steps": lambda q: ceil(q.L / (q.mu / 4)),
        "gradients": lambda q: q.stages * (q.n + 2 * q.n * (q.T - 1)),
        "noise_stddev": lambda q: sqrt(2 * stage_shares(q)[1] / stage_shares(q)[0]) * q.G / q.n,
        "difference_noise_stddev": lambda q: q.L * sqrt(2 / q.d / (q.T - 1)),
        "step_size": lambda q: 1 / q.L / 2,
    },
    "population-tree-spider/explicit": {
        "bound": tree_bound,
        "error": lambda q: sqrt(tree_square(q)),
        "tuned": lambda q: tree_level(q) * 11 / 2,
        "tree_accuracy": tree_level,
        "move_length": lambda q: q.tree_accuracy / q.L,
        "levels": lambda q: max(1, ceil(log(q.G / q.tree_accuracy, 2))),
        "first_batch": lambda q: ceil(q.G / q.tree_accuracy * max(q.G / q.tree_accuracy, sqrt(2 * q.d / q.rho))),
        "leaf_batch": lambda q: ceil(max(2 ** (q.levels - 1), sqrt(q.levels * q.d / q.rho))),
        "segments": lambda q: max(1, ceil(q.psi * q.L / 2**q.levels / q.tree_accuracy**2)),
        "noise_stddev": lambda q: sqrt(2 * q.G**2 / q.rho) / q.first_batch,
        "difference_noise_stddev": lambda q: sqrt(2 * q.L**2 / q.rho) / q.leaf_batch,
    },
    "storm": {
        "bound": storm_bound,
        "noise_stddev": lambda q: sqrt(2 * q.G**2 / (q.first_share * q.rho)) / q.n,
        "difference_noise_stddev": lambda q: sqrt(2 * (q.T - 1) * q.L**2 / (q.rho - q.first_share * q.rho)) / q.n,
        "last_weight": lambda q: 1 / (q.L * q.eta) / (q.T + 1 / (q.L * q.eta)),
    },
    "storm/batches": {
        "bound": sampled_storm,
        "gradients": lambda q: 2 * q.n + 2 * q.n * q.sample_rate * (q.T - 1),
        "noise_multiplier": lambda q: sqrt(2 / q.rho) * sqrt((q.T - 1) + 1 / q.first_ratio**2),
        "last_weight": lambda q: 1 / (q.L * q.eta) / (q.T + 1 / (q.L * q.eta)),
    },
    "geometric-noise-under-pl": {
        "bound": falling_noise_risk,
        "simple": falling_noise_simple,
        "noise_stddev": lambda q: sqrt(falling_noise(q, 0)),
        "first_noise_stddev": lambda q: sqrt(falling_noise(q, int(q.T) - 1)),
    },
    "noisy-descent-local-pl": {
        "bound": local_gap,
        "distance": local_distance,
        "noise_stddev": lambda q: sqrt(2 * q.T * q.G**2 / q.rho) / q.n,
    },
    "noisy-descent-exact": {
        "bound": lambda q: exact_descent(q, q.d * q.sigma**2),
        "private": lambda q: exact_descent(q, 2 * q.d * q.T * (q.G / q.n) ** 2 / q.rho),
        "noise_stddev": lambda q: sqrt(2 * q.T * q.G**2 / q.rho) / q.n,
        "last_weight": lambda q: 1 / (1 + 2 * q.L * q.T * (q.eta - q.L * q.eta**2 / 2)),
    },
    "noisy-descent-batches": {
        "bound": lambda q: exact_descent(q, q.G**2 * sampled_moment(q)),
        "gradients": lambda q: q.n * q.sample_rate * q.T,
        "noise_multiplier": lambda q: sqrt(q.T) / sqrt(q.rho / 2),
        "last_weight": lambda q: 1 / (1 + 2 * q.L * q.T * (q.eta - q.L * q.eta**2 / 2)),
    },
    "population-path-noise": {
        **WALK,
        "gradient_account": path_noise_gradients,  # half of ζ is what the gradients may fail, with or without searches
        "bound": lambda q: q.alpha + off_everywhere(q, q.path_length),
        "gradient_deviation": lambda q: off_everywhere(q, q.path_length),
        "rate": lambda q: (
            q.G * sqrt(q.d) / sqrt(q.n)
            + cbrt(path_noise_unit(q) * q.G * q.L * q.Delta_F)
            + q.G * sqrt(path_noise_unit(q))
        ),
        "path_length": longest_walk,
        "noise_stddev": lambda q: q.gradient_error * q.alpha / path_noise_radius(q, 2),
        "gradient_threshold": lambda q: q.alpha - q.gradient_error * q.alpha,
    },
    "population-path-noise/warm-start": {
        **WALK,
        "gradient_account": lambda q: path_noise_gradients(halved(q)),
        "bound": lambda q: q.alpha + off_everywhere(q, q.D + q.path_length),
        "gradient_deviation": lambda q: off_everywhere(q, q.D + q.path_length),
        "rate": lambda q: (
            sqrt(q.G**2 * q.d / q.n)
            + cbrt(q.G**2 * q.L * q.D * q.d**2) * per_record(q)
            + q.G * sqrt(q.d) * per_record(q)
        ),
        "start_gap": lambda q: drawn_gap(q.at(zeta=lambda q: q.zeta / 2)),
        "path_length": lambda q: longest_walk(halved(q)),
        "epsilon": lambda q: sqrt(8 * q.rho / 2),
    },
    "second-order-path-noise": PATH_NOISE,
    "second-order-path-noise/warm-start": {
        "bound": lambda q: PATH_NOISE["bound"](halved(q)),
        "gradient_account": lambda q: path_noise_gradients(halved(q)),
        "hessian_account": lambda q: path_noise_hessians(halved(q)),
        "steps": lambda q: PATH_NOISE["steps"](q),
        "gradients": lambda q: PATH_NOISE["gradients"](q),
        "start_gap": drawn_gap,
        "path_length": lambda q: PATH_NOISE["path_length"](halved(q)),
        "searches": lambda q: PATH_NOISE["searches"](halved(q)),
        "epsilon": lambda q: sqrt(8 * q.rho / 2),
    },
    "second-order-path-noise/population": {
        "bound": population_point,
        "gradient_deviation": gradient_deviation,
        "hessian_deviation": hessian_deviation,
        "gradients": lambda q: PATH_NOISE["gradients"](q),
        "start_gap": lambda q: drawn_gap(q.at(zeta=lambda q: q.zeta / 2)),
        "path_length": lambda q: PATH_NOISE["path_length"](halved(q)),
        "searches": lambda q: PATH_NOISE["searches"](halved(q)),
        "epsilon": lambda q: sqrt(8 * q.rho / 2),
    },
    "second-order-path-noise/iterative": ITERATIVE,
    "second-order-path-noise/warm-start/iterative": {
        **{part: behind_a_draw(part) for part in (*SEARCHED, *EMPIRICAL)},
        "start_gap": drawn_gap,
        "epsilon": lambda q: sqrt(8 * q.rho / 2),
    },
    "second-order-path-noise/population/iterative": {
        **{part: doubly_sure(part) for part in SEARCHED},
        "bound": population_point,
        "gradient_deviation": gradient_deviation,
        "hessian_deviation": hessian_deviation,
        "rate": population_order,
        "start_gap": lambda q: drawn_gap(q.at(zeta=lambda q: q.zeta / 2)),
        "epsilon": lambda q: sqrt(8 * q.rho / 2),
    },
    "second-order-path-noise/rate": {
        "rate": lambda q: (
            cbrt(path_noise_unit(q) * q.G * q.L * q.Delta_F)
            + root(path_noise_unit(q) ** 2 * q.L**4 * q.Delta_F**2 / q.rho_H, 5)
            + sqrt(path_noise_unit(q)) * q.G
            + path_noise_unit(q) * q.L**2 / q.rho_H
        )
    },
    "second-order-path-noise/warm-start/rate": {
        "rate": lambda q: (
            # n√ρ times each is d^(2/3), √d, d^(4/5)/(n√ρ)^(1/5) and d/(n√ρ), at constants 1
            cbrt(q.d * q.d * q.G**2 * q.L * q.D) * per_record(q)
            + sqrt(q.d) * q.G * per_record(q)
            + root(q.d**4 * q.L**4 * (q.G * q.D) ** 2 / q.rho_H, 5) * root(per_record(q), 5) ** 6
            + q.d * (q.L * per_record(q)) ** 2 / q.rho_H
        )
    },
    "lower-bound/gradient-norm": {
        "bound": lambda q: huber_slope(q) / 12 * traced(q, 128, 16, in_data(q)),
        "packing": lambda q: huber_slope(q) / 8 / 2 * packed(q, mpf(2) ** q.d, in_data(q)),
        "two_points": lambda q: huber_slope(q) * overlap(q) * min(1, 1 / in_data(q)),
    },
    "lower-bound/sosp": {
        "bound": lambda q: smooth_slope(q) / 24 * traced(q, 128, 16, in_data(q)),
        "packing": lambda q: smooth_slope(q) / 4 / 2 * packed(q, mpf(2) ** q.d, in_data(q)),
        "two_points": lambda q: smooth_slope(q) * min(1, 1 / in_data(q)),
    },
    "lower-bound/population-gradient-norm": {
        "bound": lambda q: huber_slope(q) / 12 * traced(q, 128, 12, in_draws(q)),
        "packing": lambda q: huber_slope(q) / 8 * packed(q, mpf(2) ** q.d, in_draws(q)),
        "sampling": lambda q: huber_slope(q) * mpf("0.2") / sqrt(q.n),
    },
    "lower-bound/population-sosp": {
        "bound": lambda q: smooth_slope(q) / 24 * traced(q, 128, 12, in_draws(q)),
        "packing": lambda q: smooth_slope(q) / 4 * packed(q, mpf(2) ** q.d, in_draws(q)),
        "sampling": lambda q: smooth_slope(q) / sqrt(4 * q.n),
    },
    "lower-bound/convex": {
        "bound": lambda q: q.G * q.D / 24 * traced(q, 1152, 48, in_data(q)),
        "packing": lambda q: q.G * q.D / 60 * packed(q, e ** (q.d / 8), in_data(q)),
        "two_points": lambda q: q.G * q.D / 2 * overlap(q) * min(1, 1 / in_data(q)),
    },
    "lower-bound/strongly-convex": {
        "bound": lambda q: risk_scale(q) / 48 * traced(q, 128, 16, in_data(q)) ** 2,
        "packing": lambda q: risk_scale(q) / 32 * (packed(q, mpf(2) ** q.d, in_data(q)) / 2) ** 2,
        "two_points": lambda q: risk_scale(q) * overlap(q) * min(1, 1 / in_data(q)) ** 2,
    },
    "lower-bound/population-convex": {
        "bound": lambda q: q.G * q.D / 24 * traced(q, 1152, 34, in_draws(q)),
        "packing": lambda q: q.G * q.D / 30 * packed(q, e ** (q.d / 8), in_draws(q)),
        "sampling": lambda q: q.G * q.D / sqrt(100 * q.n),
    },
}
