"""The formulas of Ganesh, Liu, Oh & Thakurta 2023, a second time."""

from mpmath import e, exp, expm1, lambertw, ln, log, mpf, pi, root, sqrt, tanh


def algorithm_1_log(q, unit):
    return log(q.d * q.L * q.B / q.rho_H / unit / q.zeta)


def algorithm_1_gradient_accuracy(q):
    return 2 * sqrt(
        q.universal_constant
        * (q.kappa * q.second_oracle_noise**2 + (2 * q.first_oracle_noise) ** 2)
        * algorithm_1_log(q, 1)
    )


def lemma_3_3_square(q, path):
    spread = q.second_oracle_noise**2 * path + 4 * q.first_oracle_noise**2
    return spread * q.universal_constant * ln(q.T * q.d / q.zeta)


def lemma_3_6_gradient_accuracy(q):
    return sqrt(
        (4 * q.first_oracle_noise**2 + q.kappa * q.second_oracle_noise**2) * (log(q.T) + log(q.d) - log(q.zeta))
    )


def lemma_4_1_gradient(q):
    return q.alpha + 32 * ln(2 * q.N / q.zeta) * q.G / (q.n * q.epsilon)


def lemma_4_1_curvature(q):
    more = 32 * ln(2 * q.N / q.zeta) * q.L / (q.n * q.epsilon)
    return sqrt(q.rho_H * q.alpha) + more


def lemma_4_1_selected(q):
    first = lemma_4_1_gradient(q)
    more = 32 * ln(2 * q.N / q.zeta) * q.L / (q.n * q.epsilon)
    return max(first, (sqrt(q.alpha) + more / sqrt(q.rho_H)) ** 2)


def lemma_4_1_explicit_slack(q):
    return 24 * (log(q.N + 1) - log(q.zeta)) / q.n / q.epsilon


def lemma_4_1_explicit_selected(q):
    slack = lemma_4_1_explicit_slack(q)
    return max(q.alpha + slack * q.G, (sqrt(q.rho_H * q.alpha) + slack * q.L) ** 2 / q.rho_H)


def lemma_5_3_explicit_bound(q):
    slope = q.G + q.regularisation * q.D
    warmth = q.beta * slope * q.D / q.d
    return slope * q.D * (1 if warmth <= 1 else (1 + ln(warmth)) / warmth)


def table_1_both(q):
    return q.d / q.n / q.epsilon + sqrt(q.d) / sqrt(q.n)


def table_2_quarter(q):
    return root(q.d, 4) / sqrt(q.n)


def table_2_two_thirds(q):
    return root(sqrt(q.d) / q.n, 3) ** 2


def theorem_4_2_the_rate(q):
    return root(sqrt(q.d * q.B * q.G * q.L) / (q.n * sqrt(q.rho)), 3) ** 2


def theorem_4_2_with_logs(q):
    inner = q.n * q.B * q.L * q.d / q.rho_H / q.zeta
    return theorem_4_2_the_rate(q) * log(inner) ** 6


def theorem_4_2_selected(q):
    gradient = q.G * log(q.n / q.G / q.zeta) / (q.n * sqrt(q.rho))
    inner = q.d * q.B * q.G * q.L / (q.rho_H * q.zeta)
    curvature = q.L * log(inner) / (q.n * sqrt(q.rho) * sqrt(q.rho_H)) * sqrt(q.alpha)
    return q.alpha + gradient + curvature


def theorem_4_2_first_noise(q):
    queries = q.B / q.L / q.kappa
    logs = log(q.d * q.L * q.B / q.zeta) ** 2
    return q.G * sqrt(queries) * logs / (q.n * sqrt(q.rho))


def theorem_4_2_second_noise(q):
    logs = log(q.d * q.L * q.B / q.zeta) ** 5
    return q.L * sqrt(q.B * q.L) / q.alpha * logs / (q.n * sqrt(q.rho))


def theorem_4_2_explicit_error(q):
    tail = sqrt(2 * log(2 * q.fresh_estimates / q.zeta))
    return sqrt(q.sigma**2 + q.kappa * q.sigma_2**2) * (sqrt(q.d) + tail)


def theorem_4_2_explicit_bound(q):
    error = theorem_4_2_explicit_error(q)
    return sqrt(error**2 + 2 * q.B * q.L / q.T)


def theorem_4_2_explicit_level(q):
    whole = q.G * q.B * q.L / q.rho / q.n**2
    first = root(70 * q.d * whole, 3)
    tail = 2 * log((4 + 16 * q.B * q.L / (q.G * first)) / q.zeta)
    return root(70 * whole * (q.d + 2 * sqrt(q.d * tail) + tail), 3)


def theorem_4_6_private(q):
    x = sqrt(q.d) / (q.n * sqrt(q.rho))
    return root(q.G, 7) * root(q.B, 7) ** 3 * root(q.L, 7) ** 3 * root(x, 7) ** 3


def theorem_4_6_with_logs(q):
    sampling = root(q.B * q.G * q.L * log(q.d), 3) / root(q.n, 3)
    inner = q.n * q.B * q.L * q.d / (q.rho_H * q.zeta)
    whole = sampling + theorem_4_6_private(q)
    return whole * log(inner) ** 3


def theorem_4_6_selected(q):
    inner = q.n * q.d * q.B * q.G * q.L / (q.rho_H * q.zeta)
    middle = q.L * log(inner) / sqrt(q.rho_H) * sqrt(q.alpha)
    middle /= min(q.n * sqrt(q.rho), sqrt(q.n))
    last = log(q.n / (q.G * q.zeta)) / (q.n * sqrt(q.rho))
    return q.alpha + middle + q.G * (last + log(q.d / q.zeta) / sqrt(q.n))


def theorem_4_6_threshold(q):
    first = root(q.G**4 * q.B * log(q.d), 3) / root(q.L**5, 3) / root(q.n, 3)
    base = q.G * root(q.B, 3) ** 2 / root(q.L, 3) ** 5
    x = sqrt(q.d) / (q.n * sqrt(q.rho))
    return max(first, base ** (mpf(6) / 7) * x ** (mpf(4) / 7))


def theorem_4_6_explicit_bound(q):
    tail = log(4 * q.fresh_estimates / q.zeta)
    sampling = sqrt(8 * tail * (q.G**2 / q.first_batch + q.kappa * q.L**2 / q.second_batch))
    noise = sqrt(q.sigma**2 + q.kappa * q.sigma_2**2) * (sqrt(q.d) + sqrt(2 * tail))
    return sqrt(2 * q.L * q.B / q.T + (sampling + noise) ** 2)


def theorem_4_6_explicit_error(q):
    tail = sqrt(2 * log(4 * q.fresh_estimates / q.zeta))
    sampling = 2 * tail * sqrt(q.G**2 / q.first_batch + q.kappa * q.L**2 / q.second_batch)
    return sampling + sqrt(q.sigma**2 + q.kappa * q.sigma_2**2) * (sqrt(q.d) + tail)


def theorem_4_6_explicit_scales(q):
    square = 8 * log(2 * q.n / q.zeta)
    return (square, (sqrt(q.d) + sqrt(square) / 2) / (q.n * sqrt(q.rho)))


def theorem_4_6_explicit_level(q):
    square, x = theorem_4_6_explicit_scales(q)
    whole = q.B * q.L
    return max(
        root(514 * square * q.G * whole / q.n, 3),
        root(2250000 * q.G * whole**3 * x**3, 7),
        root(6350000 * square * q.G**2 * whole**3 * x**2 / q.n, 8),
        root(94000 * square * q.G * whole**2 * x / q.n, 5),
    )


def theorem_4_6_explicit_threshold(q):
    square, x = theorem_4_6_explicit_scales(q)
    first = 1376 * square * (q.G / q.accuracy) ** 2 / q.n
    return max(first, 487 * q.G * x / q.accuracy) * q.B / q.L


def theorem_5_11_explicit_sampling(q):
    return q.G * q.D / 8 * min(mpf(1) / 8, sqrt(3 * q.d * ln(2) / q.n) / 16)


def theorem_5_11_explicit_privacy(q):
    level = min((q.d - 2) * ln(2), ln(expm1(q.epsilon)) - ln(4) - ln(q.delta))
    share = min(mpf(1), level / (q.n * expm1(q.epsilon)))
    return q.G * q.D / 16 * share if level > 0 else mpf(0)


def theorem_5_1_explicit_epsilon(q):
    s = 2 * q.G * q.beta / q.n * sqrt(q.C_LS)
    return s * s / 2 + s * sqrt(-2 * ln(q.delta))


def theorem_5_6_explicit_empirical(q):
    share = q.beta * q.G * q.D / q.d
    return q.G * q.D / share * (mpf(3) / 2 + ln(1 + share))


def theorem_5_6_explicit_population(q):
    span = q.G * q.D
    return theorem_5_6_explicit_empirical(q) + span * tanh(q.beta * span / (2 * q.n))


def theorem_5_6_explicit_tuned_temperature(q):
    other = sqrt(q.d * q.n * (mpf(3) / 2 + ln(1 + sqrt(q.n / q.d))))
    return min(q.epsilon * q.n / 2, other) / q.G / q.D


def theorem_5_6_explicit_tuned(q):
    beta = theorem_5_6_explicit_tuned_temperature(q)
    return theorem_5_6_explicit_population(q.at(beta=beta))


def theorem_5_6_explicit_printed_temperature(q):
    beta = q.temperature_constant * q.epsilon * ln(q.n * q.d) / sqrt(-ln(q.delta)) / (q.G * q.D)
    return theorem_5_6_explicit_population(q.at(beta=beta))


def theorem_5_8_explicit_log_size(q):
    return (ln(q.r_n + 2 * q.R) - ln(q.r_n)) * q.d


def theorem_5_8_explicit_empirical(q):
    temperature = q.epsilon * q.n / (2 * q.G * q.D)
    return theorem_5_8_explicit_log_size(q) / temperature + q.G * q.r_n


def theorem_5_8_explicit_population(q):
    maximum = sqrt(2 * theorem_5_8_explicit_log_size(q) / q.n)
    return theorem_5_8_explicit_empirical(q) + maximum * q.G * q.R


FORMULAS = {
    "algorithm-1": {
        "gradient_accuracy": algorithm_1_gradient_accuracy,
        "escape_steps": lambda q: (
            algorithm_1_log(q, q.gradient_accuracy) * q.L / sqrt(q.rho_H) / sqrt(q.gradient_accuracy)
        ),
        "steps": lambda q: q.B * q.L * (algorithm_1_log(q, q.gradient_accuracy) ** 2 / q.gradient_accuracy) ** 2,
        "small-estimate": lambda q: q.gradient_accuracy * algorithm_1_log(q, 1) ** 3,
        "step_size": lambda q: 1 / q.L,
    },
    "algorithm-2": {
        "gradient-threshold-noise": lambda q: 4 * q.G / (q.n * q.epsilon),
        "curvature-threshold-noise": lambda q: 4 * q.L / (q.n * q.epsilon),
        "gradient-noise": lambda q: 8 * q.G / (q.n * q.epsilon),
        "curvature-noise": lambda q: 8 * q.L / (q.n * q.epsilon),
        "gradient-offset": lambda q: 16 * ln(2 * q.N / q.zeta) * q.G / (q.n * q.epsilon),
        "curvature-offset": lambda q: 16 * ln(2 * q.N / q.zeta) * q.L / (q.n * q.epsilon),
    },
    "claim-4.4": {
        "first": lambda q: q.G * sqrt(ln(q.d)) / sqrt(q.first_batch) + sqrt(q.d) * q.sigma,
        "second": lambda q: q.L * sqrt(ln(q.d)) / sqrt(q.second_batch) + sqrt(q.d) * q.sigma_2,
    },
    "definition-1.2": {"curvature": lambda q: sqrt(q.rho_H) * sqrt(q.alpha)},
    "definition-2.2": {"tail": lambda q: 2 / e ** (q.standardised * q.standardised / 2)},
    "definition-3.2": {"second-kind": lambda q: q.travelled * q.second_oracle_noise * q.second_oracle_noise},
    "definition-a.1": {"density": lambda q: 1 / (2 * q.laplace_scale) * e ** (-abs(q.laplace_point) / q.laplace_scale)},
    "definition-a.2": {"divergence": lambda q: q.renyi_order * q.rho},
    "definition-f.1": {"curvature": lambda q: sqrt(q.rho_H) * sqrt(q.alpha)},
    "equation-2": {
        "fresh-cost": lambda q: (2 * q.G / q.n) ** 2 / (2 * q.sigma**2),
        "difference-cost": lambda q: (2 * q.L / q.n) ** 2 / (2 * q.sigma_2**2),
    },
    "equation-3": {
        "fresh-cost": lambda q: (2 * q.G / q.first_batch) ** 2 / (2 * q.sigma**2),
        "difference-cost": lambda q: (2 * q.L / q.second_batch) ** 2 / (2 * q.sigma_2**2),
    },
    "fact-2.3": {"bound": lambda q: q.sigma * sqrt(q.d)},
    "lemma-2.4": {
        "bound": lambda q: q.universal_constant * sqrt(q.squared_errors) * sqrt(ln(2) + ln(q.d) - ln(q.zeta))
    },
    "lemma-3.3": {
        "bound": lambda q: lemma_3_3_square(q, q.kappa),
        "equation-1": lambda q: lemma_3_3_square(q, q.travelled),
        "gamma_square": lambda q: 16 * lemma_3_3_square(q, q.kappa),
    },
    "lemma-3.3/explicit": {
        "bound": lambda q: (
            (sqrt(q.d) + sqrt(2 * (log(2) + log(q.fresh_estimates) - log(q.zeta))))
            * sqrt(q.sigma * q.sigma + q.kappa * q.sigma_2 * q.sigma_2)
        )
    },
    "lemma-3.4": {
        "rate": lambda q: q.gradient_accuracy * sqrt(q.gradient_accuracy / q.rho_H),
        "with-logs": lambda q: sqrt(q.gradient_accuracy**3 / q.rho_H) * algorithm_1_log(q, q.gradient_accuracy) ** (-3),
        "escape_steps": lambda q: q.L * algorithm_1_log(q, q.gradient_accuracy) / sqrt(q.rho_H * q.gradient_accuracy),
        "counterexample": lambda q: (
            sqrt(q.rho_H * q.alpha) * (q.gradient_accuracy / q.L / sqrt(q.d * log(q.d / q.zeta))) ** 2 / 2
        ),
    },
    "lemma-3.5": {
        "bound": lambda q: q.estimate_norm * q.estimation_error / q.L - q.estimate_norm**2 / (2 * q.L),
        "by-estimate": lambda q: -(q.estimate_norm**2) / q.L / 6,
        "by-accuracy": lambda q: -q.gradient_accuracy * q.gradient_accuracy / q.L / 6,
    },
    "lemma-3.5/explicit": {
        "bound": lambda q: (q.estimation_error - q.gradient_norm) * (q.estimation_error + q.gradient_norm) / q.L / 2,
        "by-estimate": lambda q: 3 * q.estimation_error**2 / (4 * q.L) - q.estimate_norm**2 / (6 * q.L),
    },
    "lemma-3.6": {
        "rate": lambda q: sqrt(4 * q.first_oracle_noise**2 + q.kappa * q.second_oracle_noise**2),
        "gradient_accuracy": lemma_3_6_gradient_accuracy,
        "with-logs": lambda q: (
            q.gradient_accuracy * log(q.B * q.L * q.d / (q.rho_H * q.zeta * q.gradient_accuracy)) ** 3
        ),
    },
    "lemma-3.7": {
        "rate": lambda q: q.B / q.L / q.kappa,
        "with-steps": lambda q: (q.B / q.L + q.T * (q.gradient_accuracy / q.L) ** 2) / q.kappa,
    },
    "lemma-3.7/explicit": {
        "bound": lambda q: 1 + (12 * q.B * q.L + 9 * q.T * q.estimation_error**2) / (2 * q.L**2 * q.kappa),
        "by-sum": lambda q: 1 + (12 * q.B * q.L + 9 * q.squared_errors) / (2 * q.L**2 * q.kappa),
    },
    "lemma-4.1": {"bound": lemma_4_1_selected, "gradient": lemma_4_1_gradient, "curvature": lemma_4_1_curvature},
    "lemma-4.1/explicit": {
        "bound": lemma_4_1_explicit_selected,
        "gradient": lambda q: q.alpha + lemma_4_1_explicit_slack(q) * q.G,
        "curvature": lambda q: sqrt(q.rho_H * q.alpha) + lemma_4_1_explicit_slack(q) * q.L,
        "offset": lambda q: 12 * log((q.N + 1) / q.zeta) / (q.n * q.epsilon),
    },
    "lemma-4.5": {
        "gradient": lambda q: q.G * (ln(q.d) - ln(q.zeta)) / sqrt(q.n),
        "hessian": lambda q: q.L * (ln(q.d) - ln(q.zeta)) / sqrt(q.n),
    },
    "lemma-4.5/explicit": {
        "gradient": lambda q: (q.G + q.G * sqrt(2 * (log(2) - log(q.zeta)))) / sqrt(q.n),
        "hessian": lambda q: q.L * sqrt(2 * log(4 * q.d / q.zeta) / q.n) + 4 * q.L * log(4 * q.d / q.zeta) / (3 * q.n),
    },
    "lemma-5.2": {
        "perturbed": lambda q: q.ratio_upper * q.C_LS / q.ratio_lower,
        "regularised": lambda q: e ** (q.beta * q.G * q.D) / q.beta / q.regularisation,
    },
    "lemma-5.3": {"printed": lambda q: (ln(q.beta) + ln(q.G) + ln(q.D) - ln(q.d)) * q.d / q.beta},
    "lemma-5.3/explicit": {"bound": lemma_5_3_explicit_bound},
    "lemma-5.5": {"rate": lambda q: q.G * q.G / q.n * e ** (q.beta * q.G * q.D) / q.regularisation},
    "lemma-5.5/explicit": {
        "total_variation": lambda q: tanh(q.beta * q.G * q.D / (2 * q.n)),
        "bound": lambda q: q.G * q.D * tanh(q.beta * q.G * q.D / q.n / 2),
        "transport": lambda q: 2 * q.G**2 / q.n * e ** (q.beta * q.G * q.D) / q.regularisation,
    },
    "lemma-a.4": {
        "epsilon": lambda q: 2 * sqrt(-ln(q.delta) * q.rho) + q.rho,
        "rho": lambda q: q.epsilon * q.epsilon / 2,
    },
    "lemma-b.1": {
        "bound": lambda q: 8 * q.escape_steps * q.decrease / q.L + 50 * q.escape_steps * q.squared_errors / q.L / q.L,
        "sharper": lambda q: 4 * q.escape_steps * (q.decrease * q.L + q.squared_errors) / q.L**2,
    },
    "lemma-b.2": {
        "bound": lambda q: q.zeta * q.gradient_accuracy / (q.L * -ln(q.zeta)) * sqrt(2 * pi) / sqrt(q.d),
        "counterexample": lambda q: min(2 * q.alpha / q.L, 2 * q.gradient_accuracy / sqrt(q.rho_H * q.alpha)),
    },
    "lemma-d.2": {"proximal_step": lambda q: -1 / ln(q.inner_failure) / q.beta**2 / q.G**2},
    "section-5.1": {"log_sobolev": lambda q: 1 / q.beta / q.regularisation},
    "section-5.2": {
        "rate": lambda q: q.D * q.G * (q.d / (q.n * q.epsilon)),
        "printed_temperature": lambda q: q.epsilon * q.n / q.G / q.D,
        "inverse_temperature": lambda q: q.epsilon * (q.n / 2) / q.G / q.D,
    },
    "table-1": {
        "empirical-sosp-before": lambda q: min(
            root(q.d, 4) / (sqrt(q.n) * sqrt(q.epsilon)), (q.d / q.n / q.epsilon) ** (mpf(4) / 7)
        ),
        "empirical-sosp": lambda q: root(q.d, 3) / (q.n * q.epsilon) ** (mpf(2) / 3),
        "empirical-lower": lambda q: sqrt(q.d) / q.n / q.epsilon,
        "population-sosp": lambda q: 1 / root(q.n, 3) + root(sqrt(q.d) / (q.n * q.epsilon), 7) ** 3,
        "population-lower": lambda q: 1 / sqrt(q.n) + sqrt(q.d) / q.n / q.epsilon,
        "polynomial-before": lambda q: q.d / q.epsilon / q.epsilon / ln(q.n),
        "polynomial": lambda q: q.d * ln(ln(q.n)) / q.epsilon / ln(q.n),
        "exponential": table_1_both,
        "excess-lower": table_1_both,
    },
    "table-2": {
        "wang-ye-xu-2017": table_2_quarter,
        "wang-xu-2019": table_2_quarter,
        "wang-xu-2019-population": lambda q: sqrt(q.d / q.n),
        "wang-et-al-2019": table_2_two_thirds,
        "zhou-et-al-2020": table_2_quarter,
        "zhou-et-al-2020-population": table_2_quarter,
        "tran-cutkosky-2022": lambda q: 1 / sqrt(q.n) + table_2_two_thirds(q),
        "arora-et-al-2023": table_2_two_thirds,
        "arora-et-al-2023-population": lambda q: 1 / root(q.n, 3) + table_2_quarter(q),
    },
    "table-3": {
        "wang-chen-xu-2019": lambda q: root(q.d, 4) / sqrt(q.n),
        "wang-xu-2020": lambda q: (q.d / q.n) ** (mpf(4) / 7),
        "gao-wright-2023": lambda q: sqrt(sqrt(q.d)) / sqrt(q.n),
        "empirical": lambda q: root(q.d, 3) / q.n ** (mpf(2) / 3),
        "population": lambda q: 1 / root(q.n, 3) + root(q.d, 14) ** 3 / q.n ** (mpf(3) / 7),
    },
    "theorem-4.2": {
        "rate": theorem_4_2_the_rate,
        "with-logs": theorem_4_2_with_logs,
        "selected": theorem_4_2_selected,
        "drift_threshold": lambda q: root(q.G**4 * q.B / q.L**5, 3) * root(q.d / (q.n**2 * q.rho), 3),
        "noise_stddev": theorem_4_2_first_noise,
        "difference_noise_stddev": theorem_4_2_second_noise,
        "noise_stddev-of-proof": lambda q: 2 * q.G * sqrt(q.fresh_estimates) / (q.n * sqrt(q.rho)),
        "difference_noise_stddev-of-proof": lambda q: 2 * q.L * sqrt(q.T) / (q.n * sqrt(q.rho)),
    },
    "theorem-4.2/explicit": {
        "bound": theorem_4_2_explicit_bound,
        "tuned": lambda q: sqrt(2) * theorem_4_2_explicit_level(q),
        "accuracy": theorem_4_2_explicit_level,
        "steps": lambda q: 2 * q.L * q.B / q.accuracy / q.accuracy,
        "drift_threshold": lambda q: sqrt(30) / 2 * q.G * q.accuracy / q.L**2,
        "fresh_estimates": lambda q: 1 + 6 * q.B / q.L / q.kappa + 9 * q.T * (q.accuracy / q.L) ** 2 / q.kappa / 2,
        "noise_stddev": lambda q: 2 * q.G * sqrt(q.fresh_estimates) / (q.n * sqrt(q.rho)),
        "difference_noise_stddev": lambda q: 2 * q.L * sqrt(q.T) / (q.n * sqrt(q.rho)),
    },
    "theorem-4.6": {
        "rate": lambda q: root(q.B * q.G * q.L / q.n, 3) + theorem_4_6_private(q),
        "with-logs": theorem_4_6_with_logs,
        "selected": theorem_4_6_selected,
        "drift_threshold": theorem_4_6_threshold,
        "first_batch": lambda q: q.n * q.kappa / (q.B * (1 / q.L)),
        "second_batch": lambda q: q.n * q.alpha**2 / q.B / q.L,
        "noise_stddev": lambda q: q.G / q.first_batch / sqrt(q.rho),
        "difference_noise_stddev": lambda q: q.L / q.second_batch / sqrt(q.rho),
    },
    "theorem-4.6/explicit": {
        "bound": theorem_4_6_explicit_bound,
        "error": theorem_4_6_explicit_error,
        "tuned": lambda q: sqrt(2) * theorem_4_6_explicit_level(q),
        "accuracy": theorem_4_6_explicit_level,
        "steps": lambda q: 2 * q.L * q.B / q.accuracy / q.accuracy,
        "drift_threshold": theorem_4_6_explicit_threshold,
        "fresh_estimates": lambda q: 1 + (12 * q.B * q.L + 9 * q.T * q.accuracy**2) / (2 * q.L**2 * q.kappa),
        "first_batch": lambda q: q.n / q.fresh_estimates / 2,
        "second_batch": lambda q: q.n / q.T / 2,
        "noise_stddev": lambda q: sqrt(2) * q.G / (q.first_batch * sqrt(q.rho)),
        "difference_noise_stddev": lambda q: sqrt(2) * q.L / (q.second_batch * sqrt(q.rho)),
    },
    "theorem-5.1": {
        "epsilon": lambda q: 2 * (q.G * q.beta / q.n) * sqrt(q.C_LS * (1 - 2 * ln(q.delta))),
        "inverse_temperature": lambda q: q.n / q.G * q.epsilon / 2 / sqrt(q.C_LS) / sqrt(1 - 2 * ln(q.delta)),
    },
    "theorem-5.10/explicit": {
        "bound": lambda q: q.G * (q.D / 2) * (q.selection_risk / 4),
        "candidates": lambda q: e ** (q.d * ln(2)),
    },
    "theorem-5.11": {
        "printed": lambda q: max(-q.d * ln(q.delta) / q.epsilon / q.n, sqrt(q.d) / sqrt(q.n)),
        "sampling": lambda q: sqrt(q.d) / sqrt(q.n),
    },
    "theorem-5.11/explicit": {
        "sampling": theorem_5_11_explicit_sampling,
        "privacy": theorem_5_11_explicit_privacy,
        "pure_privacy": lambda q: q.G * q.D / 16 * min(mpf(1), (q.d - 1) * ln(2) / q.n / expm1(q.epsilon)),
        "bound": lambda q: max(theorem_5_11_explicit_sampling(q), theorem_5_11_explicit_privacy(q)),
    },
    "theorem-5.1/explicit": {
        "epsilon": theorem_5_1_explicit_epsilon,
        "rho": lambda q: (2 * q.G * q.beta / q.n) ** 2 * q.C_LS / 2,
        "inverse_temperature": lambda q: sqrt(2 * q.rho / q.C_LS) * q.n / (2 * q.G),
    },
    "theorem-5.6": {
        "rate": lambda q: q.G * q.D * (q.d * ln(ln(q.n)) * sqrt(-ln(q.delta))) / (q.epsilon * (ln(q.n) + ln(q.d))),
        "inverse_temperature": lambda q: (
            q.temperature_constant * q.epsilon * (ln(q.n) + ln(q.d)) / (q.G * q.D * sqrt(-ln(q.delta)))
        ),
        "regularisation": lambda q: q.d / q.D**2 / q.beta,
    },
    "theorem-5.6/explicit": {
        "empirical": theorem_5_6_explicit_empirical,
        "bound": theorem_5_6_explicit_population,
        "tuned": theorem_5_6_explicit_tuned,
        "simple": lambda q: (
            theorem_5_6_explicit_empirical(q.at(beta=q.epsilon * q.n / (2 * q.G * q.D)))
            + q.G * q.D * mpf("1.7") * sqrt((mpf(3) / 2 + ln(1 + sqrt(q.n / q.d))) * q.d / q.n)
        ),
        "inverse_temperature": theorem_5_6_explicit_tuned_temperature,
        "printed_temperature": theorem_5_6_explicit_printed_temperature,
        "log_sobolev_temperature": lambda q: (
            2 * lambertw(q.epsilon * q.n * sqrt(q.d) / sqrt(1 - 2 * ln(q.delta)) / 4).real / (q.G * q.D)
        ),
    },
    "theorem-5.7": {
        "rate": lambda q: q.G * q.D * (q.d * ln(ln(q.n)) * sqrt(-ln(q.delta))) / (q.epsilon * (ln(q.n) + ln(q.d))),
        "queries": lambda q: q.n * (q.epsilon * (ln(q.n) + ln(q.d))) ** 2 * -ln(q.delta),
        "proximal_step": lambda q: 1 / q.beta**2 / q.G**2 / (ln(2) + ln(q.T) - ln(q.delta)),
        "steps": lambda q: q.n * q.D**2 * ln(1 + q.beta * q.G * q.D / (q.delta**2 / 8)) / q.proximal_step,
        "inner_failure": lambda q: q.delta / q.T / 2,
        "delta": lambda q: (exp(q.epsilon) + 1) * q.delta * 3 / 4,
    },
    "theorem-5.8": {
        "rate": lambda q: (
            q.G
            * q.D
            * (q.d * ln(q.epsilon * q.n / q.d) / (q.epsilon * q.n) + sqrt(q.d / q.n * ln(q.epsilon * q.n / q.d)))
        ),
        "net_radius": lambda q: q.D * q.d / q.n / q.epsilon,
    },
    "theorem-5.8/explicit": {
        "bound": theorem_5_8_explicit_population,
        "empirical": theorem_5_8_explicit_empirical,
        "tuned": lambda q: theorem_5_8_explicit_population(q.at(r_n=q.D * q.d / (q.epsilon * q.n), R=q.D)),
        "log_net_size": theorem_5_8_explicit_log_size,
        "inverse_temperature": lambda q: q.epsilon * q.n / q.G / q.D / 2,
    },
    "theorem-5.9": {"rate": lambda q: sqrt(ln(q.N)) / sqrt(q.n)},
    "theorem-5.9/explicit": {"bound": lambda q: min(mpf(1) / 4, sqrt(3 * ln(q.N) / q.n / 64)) / 2},
    "theorem-a.3": {"total": lambda q: q.rho * q.T},
    "theorem-a.5": {"rho": lambda q: (q.Delta / q.sigma) ** 2 / 2},
    "theorem-a.6": {
        "tail": lambda q: 2 * q.d / exp(q.deviation**2 / 2 / (q.matrix_variance + q.matrix_norm * q.deviation / 3))
    },
    "theorem-d.1": {
        "divergence": lambda q: q.start_divergence * exp(-2 * q.T / q.renyi_order * log(1 + q.proximal_step / q.C_LS))
    },
}
