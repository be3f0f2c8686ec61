"""The formulas of Wang, Chen & Xu 2019, a second time."""

from mpmath import cbrt, exp, floor, ln, mpf, root, sqrt


def algorithm_1_step_size(q):
    return q.n**2 * q.epsilon**2 / q.c**2 / (q.G**2 * q.beta * q.T * ln(1 / q.delta))


def algorithm_4_explicit_bound(q):
    a = 1 - q.L * q.eta / 2
    return sqrt(q.Delta_F / (q.eta * q.T * a) + (1 - a) / a * q.d * q.sigma**2)


def algorithm_4_explicit_step_size(q):
    return sqrt(q.Delta_F * q.rho / q.L / q.d) * q.n / q.G / q.T


def algorithm_4_explicit_tuned(q):
    eta = algorithm_4_explicit_step_size(q)
    sigma = sqrt(2 * q.T / q.rho) * q.G / q.n
    return algorithm_4_explicit_bound(q.at(eta=eta, sigma=sigma))


def assumption_3_biweight(q):
    c = q.tuning_constant
    if abs(q.residual) >= c:
        return c**2 / 6
    x = (q.residual / c) ** 2
    return c**2 / 6 * x * (3 - 3 * x + x * x)


def theorem_1_explicit_rho(q):
    return (q.epsilon / (sqrt(ln(1 / q.delta) + q.epsilon) + sqrt(ln(1 / q.delta)))) ** 2


def theorem_2_mixing(q):
    large = exp(q.growth_rate * q.beta)
    return large * exp(-(q.n**2) * q.epsilon**2 / q.beta / ln(1 / q.delta) / large)


def theorem_2_discretisation(q):
    # β^(1/2) η^(1/4) t at t = n²ε²/(β ln(1/δ)), η = t/T
    time = q.n**2 * q.epsilon**2 / (q.beta * ln(1 / q.delta))
    return sqrt(q.beta) * root(time / q.T, 4) * time


def theorem_2_empirical(q):
    return theorem_2_mixing(q) + theorem_2_discretisation(q) + q.d / q.beta * ln(q.beta)


def theorem_2_population(q):
    third = exp(q.growth_rate * q.beta) / q.n
    return third + theorem_2_empirical(q)


def theorem_4_explicit_bound(q):
    radius, sensitivity = q.G / q.regularisation, 2 * q.G**2 / q.regularisation / q.n
    points = q.d * ln(1 + 2 * radius / q.r_n)
    tail = 2 * sensitivity / q.epsilon * (points + ln(1 / q.zeta))
    return (q.G + q.regularisation * radius) * q.r_n + tail


def theorem_4_explicit_net_radius(q):
    return 2 * q.d * q.G / q.regularisation / q.n / q.epsilon


def theorem_5_explicit_tuned(q):
    a, b = 2 * sqrt(2 * q.L * q.Delta_F), sqrt(2 / q.rho) * q.G * q.w_C / q.n
    sampling = 2 * 4 * (q.L + q.G) / sqrt(q.n)
    return q.link_constant / q.link_slope / 2 * (a / sqrt(a / b) + b * sqrt(a / b + 1) + sampling)


def theorem_5_explicit_inner(q):
    travel = q.Delta_F / (q.step_fraction * q.T)
    return travel + q.sigma * q.w_C + q.L * q.step_fraction * 2 + 8 * (q.G + q.L) / sqrt(q.n)


def theorem_6_explicit_inner(q):
    vertices = 2 * q.d
    sampling = 8 * (q.L_1 + q.G_1) * sqrt(2 * ln(vertices)) / sqrt(q.n)
    selection = 2 * (2 * q.G_1 / q.n) / q.epsilon_0 * ln(vertices)
    return q.Delta_F / q.step_fraction / q.T + 2 * q.L_1 * q.step_fraction + selection + sampling


def theorem_6_explicit_balance(q):
    a = sqrt(8 * q.L_1 * q.Delta_F)
    return (a, sqrt(2 / q.rho) * q.G_1 * ln(2 * q.d) / q.n)


def theorem_6_explicit_tuned(q):
    a, b = theorem_6_explicit_balance(q)
    sampling = 8 * (q.L_1 + q.G_1) * sqrt(2 * ln(2 * q.d) / q.n)
    return q.link_constant / (2 * q.link_slope) * (sqrt(a * b) + b * sqrt(a / b + 1) + sampling)


def theorem_6_explicit_best_steps(q):
    a, b = theorem_6_explicit_balance(q)
    return a / b


def theorem_7_sample_size(q):
    inside = q.L * q.B * ln(1 / q.delta) * q.d
    return sqrt(inside) * sqrt(ln(1 / q.zeta)) * q.G / (q.epsilon * q.alpha**2)


def theorem_8_common(q):
    return q.L * q.d * sqrt(q.L * q.B * ln(1 / q.delta) * ln(1 / q.zeta)) / q.epsilon


def theorem_8_sample_size(q):
    both = theorem_8_common(q)
    first = both / (q.L * sqrt(q.d)) * q.G / q.alpha**2
    return max(first, both / q.alpha / sqrt(q.alpha * q.rho_H))


def theorem_8_reached(q):
    both = theorem_8_common(q)
    first = sqrt(both / (q.L * sqrt(q.d)) * q.G / q.n)
    return max(first, cbrt((both / q.n) ** 2 / q.rho_H))


def theorem_8_printed(q):
    both = theorem_8_common(q)
    return both * q.G / q.rho_H / q.alpha**2


def theorem_8_explicit_gradient_noise(q):
    return sqrt(2 * q.N * (2 * q.G / q.n) ** 2 / (2 * (q.rho / 2))) / sqrt(2)


def theorem_8_explicit_hessian_noise(q):
    return theorem_8_explicit_gradient_noise(q.at(G=q.L * sqrt(q.d)))


def theorem_8_explicit_sample_size(q):
    # n at which e₁ = α/4, e₂ = (1 - 1/√2)/2 √(ρα)
    e1 = theorem_8_explicit_gradient_noise(q.at(n=1)) * (sqrt(q.d) + sqrt(2 * ln(2 * q.N / q.zeta)))
    e2 = sqrt(mpf(2)) * theorem_8_explicit_hessian_noise(q.at(n=1)) * (sqrt(q.d) + sqrt(ln(4 * q.N / q.zeta)))
    room = (1 - sqrt(mpf(1) / 2)) / 2 * sqrt(q.rho_H * q.alpha)
    return max(4 * e1 / q.alpha, e2 / room)


def theorem_9_sample_size(q):
    chance, leak = (ln(1 / q.zeta), ln(1 / q.delta))
    first = q.G * q.D**7 * sqrt(q.d * q.L * q.B * leak * chance)
    second = sqrt(leak * q.d * q.B * q.L) * q.G * q.D**4 * sqrt(chance)
    third = q.d * sqrt(q.B * q.L**3 * leak) * q.D**5 * chance
    quarter = root(q.rho_H, 4)
    return max(
        first * quarter / (q.epsilon * q.alpha**2),
        second * quarter / (q.epsilon * q.alpha**2),
        third / (quarter * q.alpha * sqrt(q.alpha) * q.epsilon),
    )


def theorem_9_explicit_slack(q):
    share = q.Phi * q.curvature_tolerance / (2 * q.rho_H * q.D**3)
    return share * q.Phi * q.curvature_tolerance / 48


def theorem_9_explicit_sample_size(q):
    tail = sqrt(q.d) + sqrt(2 * ln(2 * q.T / q.zeta))
    second_tail = sqrt(q.d) + sqrt(ln(4 * q.T / q.zeta))
    e1 = sqrt(4 * q.G**2 * q.T / q.rho) * tail
    e2 = sqrt(8 * q.L**2 * q.d * q.T / q.rho) * second_tail
    room = min(q.gap_tolerance / 8, theorem_9_explicit_slack(q))
    return max(q.D * e1 / room, 8 * q.D**2 * e2 / (q.Phi * q.curvature_tolerance))


def theorem_9_explicit_steps(q):
    first = q.gap_tolerance**2 / (16 * q.D**2 * q.L)
    second = (q.Phi * q.curvature_tolerance) ** 3 / (8 * q.rho_H * q.D**3) ** 2
    return floor(q.Delta_F / min(first, second)) + 1


FORMULAS = {
    "algorithm-1": {
        "step_size": algorithm_1_step_size,
        "noise_variance": lambda q: 2 / algorithm_1_step_size(q.at(beta=3)) / 3,
        "diffusion_time": lambda q: 5 * algorithm_1_step_size(q.at(T=5)),
    },
    "algorithm-3": {
        "step_epsilon": lambda q: q.epsilon / sqrt(8 * q.T) / sqrt(ln(1 / q.delta)),
        "score_sensitivity": lambda q: (q.G_1 - -q.G_1) * q.C_1 / q.n,
    },
    "algorithm-4/explicit": {
        "bound": algorithm_4_explicit_bound,
        "printed_step": lambda q: algorithm_4_explicit_bound(q.at(eta=1 / q.L)),
        "tuned": algorithm_4_explicit_tuned,
        "step_size": algorithm_4_explicit_step_size,
        "noise_stddev": lambda q: sqrt(2 * q.T / q.rho) / q.n * q.G,
    },
    "algorithm-5": {
        "noise_variance": lambda q: q.c * ln(1 / q.delta) * q.T * q.G**2 / q.n**2 / q.epsilon**2,
        "hessian_noise_variance": lambda q: q.c * ln(1 / q.delta) * q.L**2 * q.d * q.T / q.n**2 / q.epsilon**2,
    },
    "algorithm-6": {
        "first_order_test": lambda q: -q.alpha / 2,
        "second_order_test": lambda q: -q.Phi / 2 * sqrt(q.rho_H) * sqrt(q.alpha),
    },
    "assumption-1": {
        "smoothness": lambda q: q.regularisation + q.L,
        "dissipativity_slope": lambda q: q.regularisation / 2,
        "dissipativity_offset": lambda q: q.G * q.G / q.regularisation / 2,
        "radius": lambda q: q.G / q.regularisation,
    },
    "assumption-2": {
        "lipschitz": lambda q: 2 * q.link_constant + 2 * q.link_bound * q.link_constant,
        "smoothness": lambda q: 2 * q.link_constant * (q.link_constant + q.link_bound + 1),
        "domination": lambda q: q.link_constant / q.link_slope / 2,
    },
    "assumption-3": {
        "biweight": assumption_3_biweight,
        "largest_influence": lambda q: mpf(16) / 125 * sqrt(5) * q.tuning_constant,
    },
    "definition-10": {"curvature": lambda q: sqrt(q.rho_H) * sqrt(q.alpha)},
    "definition-6": {"noise_stddev": lambda q: sqrt(2 * ln(mpf("1.25") / q.delta)) / q.epsilon * q.Delta},
    "definition-7": {"inverse_temperature": lambda q: q.epsilon_0 / q.Delta_u / 2},
    "definition-9": {"curvature": lambda q: sqrt(q.rho_H) * sqrt(q.alpha)},
    "lemma-1": {"noise_multiplier": lambda q: q.q * q.c / q.epsilon * sqrt(q.T) * sqrt(ln(1 / q.delta))},
    "remark-1": {
        "rate": lambda q: q.d / ln(q.n) - ln(q.delta) / q.n / q.epsilon**2,
        "product": lambda q: -q.d * ln(q.delta) / (ln(q.n) * q.epsilon**2),
        "convex": lambda q: sqrt(-q.d * ln(q.delta)) / q.n / q.epsilon,
        "strongly-convex": lambda q: (sqrt(-q.d * ln(q.delta)) / (q.n * q.epsilon)) ** 2,
    },
    "remark-2": {"rate": lambda q: 1 / cbrt(q.n * q.epsilon) ** 2},
    "remark-3": {
        "sample_size": lambda q: q.d / q.epsilon / q.alpha**2,
        "sharper_sample_size": lambda q: sqrt(q.d) / q.epsilon * max(1 / q.alpha**2, sqrt(q.d / q.alpha**3)),
    },
    "theorem-1": {"noise_multiplier": lambda q: sqrt(2 / (q.epsilon**2 / (q.c**2 * q.T * ln(1 / q.delta))))},
    "theorem-1/explicit": {
        "step_size": lambda q: q.n**2 * theorem_1_explicit_rho(q) / q.beta / q.G**2 / q.T,
        "step_constant": lambda q: theorem_1_explicit_rho(q) * ln(1 / q.delta) / q.epsilon**2,
        "diffusion_time": lambda q: q.n**2 * theorem_1_explicit_rho(q) / q.beta / q.G**2,
    },
    "theorem-2": {
        "rate": theorem_2_population,
        "empirical": theorem_2_empirical,
        "many_steps": lambda q: (
            exp(q.growth_rate * q.beta) * (ln(1 / q.delta) / (q.n * q.epsilon) ** 2 + 1 / q.n)
            + q.d * ln(q.beta) / q.beta
        ),
        "steps": lambda q: (
            (q.L + q.regularisation) ** 2
            * q.n**2
            * q.epsilon**2
            / (q.regularisation * q.beta * ln(1 / q.delta) * q.G**2)
        ),
    },
    "theorem-3": {
        "rate": lambda q: (
            q.time_average_constant
            * (
                q.beta**2 * ln(1 / q.delta) / (q.n**2 * q.epsilon**2)
                + q.n**2 * q.epsilon**2 / (q.T * q.beta**2 * ln(1 / q.delta))
            )
            + q.d / q.beta * ln(q.beta)
        ),
        "polynomial": lambda q: (
            q.time_average_constant * ln(1 / q.delta) / (q.n**q.rate_exponent * q.epsilon**q.rate_exponent)
        ),
    },
    "theorem-4": {
        "rate": lambda q: q.d / q.n / q.epsilon,
        "cost": lambda q: q.n * (1 + 2 * q.G * q.n * q.epsilon / q.regularisation / q.d) ** int(q.d),
        "cost_of_a_net": lambda q: q.n * (1 + 2 * q.G / q.regularisation / q.r_n) ** int(q.d),
    },
    "theorem-4/explicit": {
        "bound": theorem_4_explicit_bound,
        "tuned": lambda q: theorem_4_explicit_bound(q.at(r_n=theorem_4_explicit_net_radius(q))),
        "net_radius": theorem_4_explicit_net_radius,
        "cost": lambda q: q.n * ((q.d + q.n * q.epsilon) / q.d) ** int(q.d),
    },
    "theorem-5": {
        "rate": lambda q: root(q.d * ln(1 / q.delta), 4) / sqrt(q.n * q.epsilon),
        "steps": lambda q: q.n * q.epsilon / sqrt(q.d) / sqrt(ln(1 / q.delta)),
        "step_fraction": lambda q: sqrt(sqrt(q.d * ln(1 / q.delta)) / (q.n * q.epsilon)),
        "noise_variance": lambda q: (
            q.c * q.link_constant**2 * (q.link_bound + 1) ** 2 * q.T * ln(1 / q.delta) / q.n**2 / q.epsilon**2
        ),
        "robust_noise_variance": lambda q: (
            q.c * q.influence_constant**2 * q.T * ln(1 / q.delta) / q.n**2 / q.epsilon**2
        ),
    },
    "theorem-5/explicit": {
        "bound": lambda q: q.link_constant / (2 * q.link_slope) * theorem_5_explicit_inner(q),
        "robust-regression": lambda q: q.influence_constant / (2 * q.restoring_slope) * theorem_5_explicit_inner(q),
        "tuned": theorem_5_explicit_tuned,
        "step_fraction": lambda q: min(mpf(1), sqrt(q.Delta_F / (2 * q.L * q.T))),
        "steps": lambda q: 2 * q.n / (q.G * q.w_C) * sqrt(q.rho * q.L * q.Delta_F),
        "noise_stddev": lambda q: sqrt(2 * q.T / q.rho) / q.n * q.G,
    },
    "theorem-6": {
        "rate": lambda q: root(ln(1 / q.delta), 4) * sqrt(ln(q.n * q.d / q.zeta) / (q.n * q.epsilon)),
        "steps": lambda q: q.n * q.epsilon / ln(q.d * q.n / q.zeta) / sqrt(ln(1 / q.delta)),
        "step_fraction": lambda q: sqrt(2) / sqrt(q.T),
        "score_sensitivity": lambda q: 2 * (2 * (q.link_bound + 1) * q.link_constant) / q.n,
        "robust_score_sensitivity": lambda q: 2 * q.influence_constant / q.n,
    },
    "theorem-6/explicit": {
        "bound": lambda q: q.link_constant / (2 * q.link_slope) * theorem_6_explicit_inner(q),
        "robust-regression": lambda q: q.influence_constant / (2 * q.restoring_slope) * theorem_6_explicit_inner(q),
        "tuned": theorem_6_explicit_tuned,
        "step_epsilon": lambda q: sqrt(8) * sqrt(q.rho / q.T),
        "step_fraction": lambda q: min(mpf(1), sqrt(q.Delta_F / (2 * q.L_1 * q.T))),
        "steps": theorem_6_explicit_best_steps,
    },
    "theorem-7": {
        "rate": lambda q: sqrt(theorem_7_sample_size(q.at(alpha=1)) / q.n),
        "sample_size": theorem_7_sample_size,
        "steps": lambda q: q.L / q.alpha**2 * q.B,
        "step_size": lambda q: 1 / q.L,
        "noise_variance": lambda q: q.c * q.G**2 * ln(1 / q.delta) * q.T / (q.n**2 * q.epsilon**2),
    },
    "theorem-8": {
        "rate": theorem_8_reached,
        "sample_size": theorem_8_sample_size,
        "printed_sample_size": theorem_8_printed,
    },
    "theorem-8/explicit": {
        "bound": theorem_8_explicit_sample_size,
        "gradient_threshold": lambda q: 3 * q.alpha / 4,
        "curvature_threshold": lambda q: -(sqrt(mpf(2)) + 1) / sqrt(mpf(8)) * sqrt(q.rho_H * q.alpha),
        "noise_stddev": theorem_8_explicit_gradient_noise,
        "hessian_noise_stddev": theorem_8_explicit_hessian_noise,
    },
    "theorem-9": {
        "sample_size": theorem_9_sample_size,
        "steps": lambda q: max(
            q.D**2 * q.L * q.B / q.alpha**2, q.B * sqrt(q.rho_H) * q.D**6 / (q.Phi * sqrt(q.alpha)) ** 3
        ),
        "combined_steps": lambda q: q.B * q.L * sqrt(q.rho_H) * (q.D**2 / q.Phi) ** 3 / q.alpha**2,
        "first_order_share": lambda q: q.alpha / 2 / q.D**2 / q.L,
        "second_order_share": lambda q: q.Phi * sqrt(q.rho_H * q.alpha) / (2 * q.rho_H * q.D**3),
        "slack": lambda q: q.Phi**2 * q.alpha / 72 / q.D**3,
    },
    "theorem-9/explicit": {
        "bound": theorem_9_explicit_sample_size,
        "steps": theorem_9_explicit_steps,
        "first_order_share": lambda q: q.gap_tolerance / q.D**2 / q.L / 2,
        "second_order_share": lambda q: q.Phi * q.curvature_tolerance / q.rho_H / q.D**3 / 2,
        "slack": theorem_9_explicit_slack,
        "noise_stddev": lambda q: sqrt(4 * q.G**2 * q.T / q.rho) / q.n,
        "hessian_noise_stddev": lambda q: sqrt(4 * q.L**2 * q.d * q.T / q.rho) / q.n,
    },
}
