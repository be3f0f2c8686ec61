"""The formulas of Lowy, Ullman & Wright 2024, a second time."""

from mpmath import cbrt, ceil, e, expm1, floor, ln, log, mpf, power, root, sqrt


def algorithm_1_gaussian_cost(sensitivity, stddev):
    return (sensitivity / stddev) ** 2 / 2


def algorithm_1_rho(q):
    # the ratio of min(σ₂x, σ̂₂) to min(Lx, 2G) is smallest for x near 0 or x large
    anchored = ceil(q.T / q.q_a)
    near = algorithm_1_gaussian_cost(2 * q.L / q.n, q.sigma_2)
    far = algorithm_1_gaussian_cost(4 * q.G / q.n, q.noise_cap)
    return anchored * algorithm_1_gaussian_cost(2 * q.G / q.n, q.sigma) + (q.T - anchored) * max(near, far)


def level(q):
    """What privacy adds to a gradient, over G."""
    return sqrt(q.d * ln(1 / q.delta)) / (q.epsilon * q.n)


def corollary_4_3_combined(q):
    a = level(q)
    return a * root(q.d, 6) if a * sqrt(q.d) < 1 else a ** (mpf(2) / 3)  # they meet at A² d = 1


def corollary_4_3_explicit_warm(q):
    radius = q.D * q.d / (2 * sqrt(q.rho) * q.n)
    return 2 * q.G * radius * (1 + ln(1 + sqrt(mpf(2)) * q.D / radius))


def corollary_4_3_explicit_steps(q):
    a = sqrt(q.d / (q.rho / 2)) / q.n
    psi = corollary_4_3_explicit_warm(q)
    return max(mpf(1), ceil(cbrt(q.L * psi / (2 * q.G * a * a) ** 2)))


def corollary_4_3_explicit_bound(q):
    a = sqrt(q.d / (q.rho / 2)) / q.n
    psi = corollary_4_3_explicit_warm(q)
    best = cbrt(q.L * psi / (2 * q.G * a * a) ** 2)
    return sqrt(6 * q.L * psi / best) * (1 + 1 / best) + 2 * q.G * a


def corollary_4_4_pieces(q):
    a = level(q)
    gamma = q.G * a + cbrt(q.G**2 * q.L * q.D) * a * root(q.d, 6)
    constants = cbrt(q.G) * root(q.D, 6) * q.L * root(q.L, 6)
    return (gamma, constants * sqrt(a / q.rho_H) * root(q.d, 12) / q.n)


def corollary_4_4_rate(q):
    gamma, second = corollary_4_4_pieces(q)
    return gamma + second * sqrt(ln(1 / q.delta)) / q.epsilon


def corollary_5_3_explicit_ratio(q):
    return sqrt(2 * q.d) / (q.n * sqrt(q.rho))


def corollary_5_3_explicit_steps(q):
    a = corollary_5_3_explicit_ratio(q)
    return max(mpf(1), ceil(cbrt(q.L * q.D / (2 * q.q_c * q.G)) / a))


def corollary_5_3_explicit_bound(q):
    a = corollary_5_3_explicit_ratio(q)
    leading = sqrt(6) * cbrt(4 * q.L * q.G**2 * q.D / q.q_c) * a
    return leading + 2 * q.G * a * (1 + sqrt(6) * a)


def corollary_6_3_curve(q):
    return cbrt((q.gamma * sqrt(q.L)) ** q.k) / root(q.Delta_F ** (2 - q.k), 6)


def corollary_6_3_rate(q):
    a = level(q)
    shape = cbrt(a ** (q.k + 2) * q.G ** (q.k + 1) * q.L * q.gamma**q.k)
    return q.G * a + shape * (1 + corollary_6_3_curve(q))


def corollary_7_1_rate(q):
    z = q.d / (q.epsilon * q.n) + sqrt(q.d / q.n)
    return cbrt(z) / cbrt(q.n) + root((sqrt(q.d) / (q.epsilon * q.n) * z) ** 3, 7)


def corollary_8_2_rate(q):
    scale = q.epsilon * q.n
    return 1 / sqrt(q.n) + min(sqrt(q.r) / scale * root(q.r, 6), 1 / root(scale**3, 7))


def corollary_e_4_rate(q):
    n = q.n
    z = q.d / (q.epsilon * n) + sqrt(q.d / n)
    a = level(q)
    h = 1 / (n * q.epsilon) + 1 / sqrt(n)
    one = q.G**2 * q.L * q.D * z / n
    two = q.G * (q.G * q.L * q.D * z * a) ** 3
    third = q.L / sqrt(q.rho_H) * h * (root(one, 6) + root(two, 14))
    return cbrt(one) + root(two, 7) + third + q.G * h


def figure_1_factor(q):
    return min(mpf(1), q.d / (q.epsilon * q.n) + sqrt(q.d / q.n))


def figure_1_ratio(q):
    return sqrt(q.d) / (q.epsilon * q.n)


def lemma_3_1_rate_formula(q):
    a = level(q)
    return cbrt(q.Delta_F * q.G * q.L * a**2) + q.G * a


def lemma_3_1_explicit_tuned(q):
    a = sqrt(q.d / q.rho) / q.n
    best = cbrt(q.L * q.Delta_F / (4 * q.G**2)) / a / cbrt(a)
    steps = max(mpf(1), ceil(best))
    period = 1 + floor(q.n**2 * q.rho / (2 * q.d * steps))
    anchors = ceil(steps / period)
    return (a, best, steps, period, anchors)


def lemma_3_1_explicit_bound(q):
    a, best, *_ = lemma_3_1_explicit_tuned(q)
    leading = sqrt(6 * cbrt(4)) * cbrt(sqrt(q.L * q.Delta_F * q.G) * a) ** 2
    return leading * (1 + 1 / best) + 2 * q.G * a


def lemma_3_1_explicit_prescribed(q):
    a, _, steps, _, anchors = lemma_3_1_explicit_tuned(q)
    return sqrt(4 * q.L * q.Delta_F / steps + 4 * (q.G * a) ** 2 * anchors)


def lemma_3_1_explicit_noise(q):
    anchors = lemma_3_1_explicit_tuned(q)[4]
    return 2 * q.G / q.n * sqrt(anchors / q.rho)


def lemma_3_1_explicit_difference_noise(q):
    _, _, steps, _, anchors = lemma_3_1_explicit_tuned(q)
    return 2 * q.L / q.n * sqrt((steps - anchors) / q.rho)


def lemma_3_3_terms(q):
    a = level(q)
    return (cbrt(q.Delta_F * q.G * q.L * a * a), q.G * a)


def lemma_3_3_rate_formula(q):
    s, gradient = lemma_3_3_terms(q)
    return s + gradient + q.L * sqrt(s * ln(1 / q.delta) / q.rho_H) / q.epsilon / q.n


def lemma_3_3_printed_formula(q):
    s, gradient = lemma_3_3_terms(q)
    return s + gradient + q.L / (q.n * sqrt(q.rho_H)) * sqrt(s)


def lemma_6_2_rate(q):
    root = sqrt(1 + (1 / q.Delta_F) ** ((2 - q.k) / q.k) * q.gamma**2 * q.L)
    return (q.gamma * q.G * level(q) * root) ** q.k


def lemma_e_1_first(q):
    a = level(q)
    private = root(q.G * (q.L * q.Delta_F * a) ** 3, 7)
    return cbrt(q.G * q.L * q.Delta_F) / cbrt(q.n) + private


def lemma_e_1_second(q):
    s = lemma_e_1_first(q)
    h = 1 / (q.n * q.epsilon) + 1 / sqrt(q.n)
    return s + h * (q.L * sqrt(s / q.rho_H) + q.G)


def lemma_e_3_explicit_spread(q):
    return q.G * q.D * sqrt(2 * (ln(4) + ln(q.N) + ln(1 / q.zeta)) / q.n)


def proposition_5_2_rate(q):
    return q.G * q.D / q.q_c * level(q)


def proposition_5_2_explicit_one_run(q):
    variance = 2 * q.G**2 * q.T / (q.n**2 * q.rho)
    return q.D / q.q_c * sqrt((q.G**2 + q.d * variance) / q.T)


def section_1_generalised_linear(q):
    size = q.epsilon * q.n
    # the two branches meet at rank = size^{6/7}
    branch = q.r ** (mpf(2) / 3) / size if q.r**7 <= size**6 else root(size, 7) ** (-3)
    return q.n ** (-mpf(1) / 2) + branch


def theorem_3_2_rate(q):
    a = level(q)
    return q.G * a + cbrt(q.G) * cbrt(q.L) * cbrt(q.psi) * a ** (mpf(2) / 3)


def theorem_3_2_explicit_pieces(q):
    a2 = q.d / (q.n**2 * q.rho)
    steps = max(mpf(1), ceil(cbrt(q.L * q.psi / (4 * (q.G * a2) ** 2))))
    return (a2, steps)


def theorem_3_2_explicit_bound(q):
    a2, _ = theorem_3_2_explicit_pieces(q)
    warm = sqrt(6) * cbrt(2 * q.L * q.psi * q.G * a2)
    return warm + 2 * q.G * sqrt(a2) + 2 * sqrt(6) * q.G * a2


def theorem_3_2_explicit_prescribed(q):
    a2, steps = theorem_3_2_explicit_pieces(q)
    anchors = ceil(steps / (1 + floor(1 / (2 * steps * a2))))
    return 2 * sqrt(q.L * q.psi / steps + q.G**2 * a2 * anchors)


def theorem_3_4_printed(q):
    a = level(q)
    third = q.L ** (mpf(7) / 6) * q.G ** (mpf(1) / 6) * q.psi ** (mpf(1) / 6) * cbrt(a)
    return q.G * a + cbrt(q.G * q.L * q.psi) * cbrt(a * a) + third / (q.n * sqrt(q.rho_H))


def theorem_3_4_rate(q):
    a = level(q)
    s = cbrt(q.G * q.L * q.psi * a**2)
    return q.G * a + s + a * q.L / sqrt(q.d) * sqrt(s / q.rho_H)


def theorem_e_2_rate(q):
    a = level(q)
    h = 1 / (q.n * q.epsilon) + 1 / sqrt(q.n)
    one = cbrt(q.G * q.L * q.psi / q.n)
    two = root(q.G * (q.psi * q.L * a) ** 3, 7)
    sixth = root(q.G * q.L * q.psi / q.n, 6)
    fourteenth = root(q.G * (q.psi * q.L * a) ** 3, 14)
    return one + two + q.L / sqrt(q.rho_H) * h * (sixth + fourteenth) + q.G * h


FORMULAS = {
    "algorithm-1": {
        "rho": algorithm_1_rho,
        "anchors": lambda q: ceil(q.T / q.q_a),
        "differences": lambda q: q.T - ceil(q.T / q.q_a),
    },
    "algorithm-1/explicit": {"bound": lambda q: sqrt(mpf(2) * q.Delta_F / q.eta / q.T + q.sigma * q.sigma * q.d)},
    "algorithm-2": {"step_epsilon": lambda q: q.epsilon / 2, "step_delta": lambda q: q.delta / 2},
    "algorithm-3": {"noise_multiplier": lambda q: q.sigma / (q.G / q.b)},
    "algorithm-4": {"epsilon_of_each": lambda q: q.epsilon * 0.5, "delta_of_each": lambda q: q.delta * 0.5},
    "appendix-a": {
        "arora-empirical": lambda q: cbrt(level(q)) ** 2,
        "before-2022": lambda q: sqrt(level(q)),
        "lower-empirical": lambda q: sqrt(q.d) / q.epsilon / q.n,
        "zhou-population": lambda q: q.epsilon * sqrt(q.d) + root(q.d, 4) / sqrt(q.epsilon * q.n),
        "arora-population": lambda q: 1 / cbrt(q.n) + root(q.d, 4) / sqrt(q.epsilon * q.n),
        "lower-population": lambda q: q.n ** mpf("-0.5") + sqrt(q.d) / (q.epsilon * q.n),
        "arora-glm": lambda q: (
            q.n ** mpf("-0.5")
            + (
                cbrt(q.r) / cbrt(q.epsilon * q.n) ** 2
                if q.r**5 <= (q.epsilon * q.n) ** 4
                else root(q.epsilon * q.n, 5) ** (-2)
            )
        ),
    },
    "corollary-4.3": {
        "rate": lambda q: (q.G + cbrt(q.G) ** 2 * cbrt(q.L) * cbrt(q.D) * root(q.d, 6)) * level(q),
        "combined": corollary_4_3_combined,
    },
    "corollary-4.3/explicit": {
        "bound": corollary_4_3_explicit_bound,
        "excess_risk": corollary_4_3_explicit_warm,
        "epsilon": lambda q: sqrt(4 * q.rho),
        "steps": corollary_4_3_explicit_steps,
    },
    "corollary-4.4": {"rate": corollary_4_4_rate, "printed": lambda q: sum(corollary_4_4_pieces(q))},
    "corollary-5.3": {
        "rate": lambda q: q.G * level(q) + cbrt(q.G) ** 2 * cbrt(q.L) * cbrt(q.D) * level(q) / q.q_c,
        "sharper": lambda q: level(q) * (q.G + cbrt(q.G) ** 2 * cbrt(q.L * q.D) / cbrt(q.q_c)),
    },
    "corollary-5.3/explicit": {
        "bound": corollary_5_3_explicit_bound,
        "excess_risk": lambda q: 2 * q.G * q.D / q.q_c * corollary_5_3_explicit_ratio(q),
        "descent_steps": lambda q: ceil(q.n**2 * (q.rho / 2) / (2 * q.d)),
        "steps": corollary_5_3_explicit_steps,
    },
    "corollary-6.3": {
        "rate": corollary_6_3_rate,
        "curvature": corollary_6_3_curve,
        "conditioning": lambda q: (
            root(q.L * q.gamma**q.k * q.G ** (q.k - 2), q.k - 1)
            if q.k == 2
            else (q.L * q.gamma**q.k * q.G ** (q.k - 2)) ** (1 / (q.k - 1))
        ),
    },
    "corollary-7.1": {"rate": corollary_7_1_rate},
    "corollary-8.2": {
        "rate": corollary_8_2_rate,
        "projected_dimension": lambda q: min(mpf(q.r), root((q.epsilon * q.n) ** 6, 7)),
    },
    "corollary-e.4": {"rate": corollary_e_4_rate},
    "corollary-f.1": {
        "rate": lambda q: (
            sqrt(1 / q.n) + min(sqrt(q.r) * root(q.r, 6) / (q.epsilon * q.n), root(q.epsilon * q.n, 7) ** (-3))
        )
    },
    "definition-2.4": {"curvature": lambda q: -sqrt(q.rho_H) * sqrt(q.alpha)},
    "definition-4.1": {
        "inverse_temperature": lambda q: q.epsilon * q.n / 4 / (q.G * q.D),
        "net_radius": lambda q: q.d / (q.epsilon * q.n) * q.D,
        "excess_risk": lambda q: q.G * q.D * (q.d / (q.epsilon * q.n)),
    },
    "definition-6.1": {"kl_constant": lambda q: sqrt(1 / (2 * q.mu))},
    "equation-2": {
        "bound": lambda q: 20 * (q.d / (q.epsilon * q.n)) * q.G * q.D * (ln(q.epsilon * q.n) - ln(q.d) / 2),
        "failure_probability": lambda q: sqrt(4 * q.d) / (q.epsilon * q.n),
        "tail_exponent": lambda q: log(q.epsilon * q.n / sqrt(4 * q.d)),
    },
    "figure-1": {
        "factor": figure_1_factor,
        "liu-empirical": lambda q: cbrt(q.d / (q.epsilon * q.n) ** 2),
        "new-empirical": lambda q: cbrt(q.d) ** 2 / (q.epsilon * q.n),
        "lower-empirical": figure_1_ratio,
        "liu-population": lambda q: 1 / cbrt(q.n) + root(figure_1_ratio(q), 7) ** 3,
        "new-population": lambda q: (
            cbrt(figure_1_factor(q)) / cbrt(q.n) + root(figure_1_factor(q) * figure_1_ratio(q), 7) ** 3
        ),
        "lower-population": lambda q: 1 / sqrt(q.n) + figure_1_ratio(q),
    },
    "lemma-2.6": {
        "epsilon": lambda q: q.first_epsilon + q.second_epsilon,
        "delta": lambda q: q.first_delta + q.second_delta,
    },
    "lemma-3.1": {"rate": lemma_3_1_rate_formula},
    "lemma-3.1/explicit": {
        "bound": lemma_3_1_explicit_bound,
        "prescribed": lemma_3_1_explicit_prescribed,
        "steps": lambda q: lemma_3_1_explicit_tuned(q)[2],
        "anchor_period": lambda q: lemma_3_1_explicit_tuned(q)[3],
        "step_size": lambda q: mpf(1) / 2 / q.L,
        "noise_stddev": lemma_3_1_explicit_noise,
        "difference_noise_stddev": lemma_3_1_explicit_difference_noise,
    },
    "lemma-3.3": {"rate": lemma_3_3_rate_formula, "printed": lemma_3_3_printed_formula},
    "lemma-4.2": {
        "bound": lambda q: (
            4 * q.G * q.D / (q.epsilon * q.n) * q.tail_exponent
            + q.d * q.G * q.D / (q.epsilon * q.n) * (4 * ln(2 * q.epsilon * q.n / q.d) + 2)
        ),
        "candidates": lambda q: e ** (q.d * log(2 * q.epsilon * q.n / q.d)),
    },
    "lemma-4.2/explicit": {
        "bound": lambda q: q.G * (q.r_n + 2 * q.D * ln(q.N) / (q.epsilon * q.n)),
        "tail": lambda q: q.G * (q.r_n + 2 * q.D * ln(q.N / q.zeta) / (q.epsilon * q.n)),
        "tuned": lambda q: (
            q.G * q.D * q.d / (q.epsilon * q.n)
            + 2 * q.G * q.D * q.d / (q.epsilon * q.n) * ln(1 + sqrt(mpf(2)) * q.epsilon * q.n / q.d)
        ),
        "inverse_temperature": lambda q: mpf(1) / 2 * q.n * q.epsilon / q.D / q.G,
        "candidates": lambda q: power(1 + q.D * sqrt(mpf(2)) / q.r_n, q.d),
    },
    "lemma-6.2": {
        "rate": lemma_6_2_rate,
        "diameter": lambda q: q.Delta_F ** (1 / q.k) / (q.gamma * q.L) + q.Delta_F ** (1 - 1 / q.k) * q.gamma,
    },
    "lemma-6.5": {
        "rate": lambda q: q.G if q.d >= (q.epsilon * q.n) ** 2 else q.G * sqrt(q.d) / q.epsilon / q.n,
        "survives": lambda q: q.G * min(mpf(1), sqrt(q.d) / (q.epsilon * q.n)) ** q.k,
    },
    "lemma-8.1": {"rate": lambda q: q.projected_rate + q.G * (1 / sqrt(mpf(q.n)))},
    "lemma-b.1": {
        "epsilon": lambda q: q.epsilon_0 * (sqrt(-2 * q.T * ln(q.slack)) + q.T * expm1(q.epsilon_0)),
        "delta": lambda q: q.slack + q.delta * q.T,
    },
    "lemma-e.1": {"rate": lemma_e_1_second, "first_order": lemma_e_1_first},
    "lemma-e.3": {
        "rate": lambda q: q.G * q.D * q.d / (q.epsilon * q.n) + q.G * q.D * sqrt(q.d) / sqrt(q.n),
        "equation-3": lambda q: q.d / (q.epsilon * q.n) * q.G * q.D,
        "equation-4": lambda q: 2 * q.N / e ** (q.n / 2 * (q.deviation / (q.G * q.D)) ** 2),
        "deviation": lambda q: q.G * q.D / sqrt(q.n) * sqrt(2 * (log(8) + log(q.N) - log(q.zeta))),
    },
    "lemma-e.3/explicit": {
        "bound": lambda q: (
            q.psi
            + q.G * q.r_n
            + (log(2) + log(q.N) - log(q.zeta)) / (q.epsilon * q.n / (4 * q.G * q.D))
            + 2 * lemma_e_3_explicit_spread(q)
        ),
        "deviation": lemma_e_3_explicit_spread,
    },
    "proposition-5.2": {
        "rate": proposition_5_2_rate,
        "with_high_probability": proposition_5_2_rate,
        "noise_variance": lambda q: 1000 * q.T * ln(1 / q.delta) * (q.G / (q.epsilon * q.n)) ** 2,
        "steps": lambda q: (q.epsilon * q.n) ** 2 / q.d / ln(1 / q.delta),
        "step_size": lambda q: q.D / sqrt(q.T) / sqrt(q.G**2 + q.d * q.sigma**2),
        "batch_size": lambda q: sqrt(q.d) * sqrt(ln(1 / q.delta)) / sqrt(q.epsilon),
    },
    "proposition-5.2/explicit": {
        "bound": proposition_5_2_explicit_one_run,
        "selected": lambda q: (
            2 * proposition_5_2_explicit_one_run(q.at(rho=q.rho / q.N))
            + 4 * q.G * q.D / (q.epsilon_0 * q.n) * (ln(q.N) + ln(2 / q.zeta))
        ),
        "noise_stddev": lambda q: sqrt(2 * q.G**2 * q.T / q.rho) / q.n,
        "step_size": lambda q: q.D / sqrt(q.T * (q.G**2 + q.d * 2 * q.G**2 * q.T / (q.n**2 * q.rho))),
    },
    "proposition-d.1": {
        "bound": lambda q: q.D / q.q_c * sqrt((q.G**2 + q.d * q.sigma**2) / q.T),
        "telescoped": lambda q: (q.D**2 / (q.eta * q.T) + q.eta * (q.G**2 + q.d * q.sigma**2)) / (2 * q.q_c),
    },
    "proposition-d.1/explicit": {
        "any-noise": lambda q: q.D / q.q_c * sqrt((q.G**2 + q.d * q.sigma**2) / q.T),
        "tuned": lambda q: 2 / q.q_c * q.G * q.D / q.n * sqrt(q.d / q.rho),
        "bound": lambda q: q.G * q.D / q.q_c * sqrt(1001 * q.d * ln(1 / q.delta)) / (q.epsilon * q.n),
        "step_size": lambda q: q.D / sqrt(q.T) / sqrt(q.G**2 + q.d * q.sigma**2),
        "steps": lambda q: ceil(q.epsilon**2 / -ln(q.delta) * q.n**2 / q.d),
        "enough_steps": lambda q: ceil(q.n**2 * q.rho / q.d / 2),
    },
    "section-1": {
        "non-convex": lambda q: root(q.d, 6) * level(q),
        "structured": level,
        "generalised-linear": section_1_generalised_linear,
    },
    "theorem-3.2": {"rate": theorem_3_2_rate},
    "theorem-3.2/explicit": {
        "bound": theorem_3_2_explicit_bound,
        "prescribed": theorem_3_2_explicit_prescribed,
        "steps": lambda q: theorem_3_2_explicit_pieces(q)[1],
    },
    "theorem-3.4": {"rate": theorem_3_4_rate, "printed": theorem_3_4_printed},
    "theorem-e.2": {"rate": theorem_e_2_rate},
}
