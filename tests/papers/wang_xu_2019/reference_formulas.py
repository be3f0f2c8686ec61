"""The formulas of Wang & Xu 2019, a second time."""

from operator import truediv

import mpmath
from mpmath import exp, ln, log, mpf, root, sqrt


def table_1_low(q):
    return root(q.d * ln(1 / q.delta), 4) / sqrt(q.n * q.epsilon)


def table_1_width(q):
    return root((q.R_C**2 + q.w_C**2) * ln(1 / q.delta), 4) / sqrt(q.n * q.epsilon)


def theorem_1_explicit_rho(q):
    return (sqrt(ln(1 / q.delta) + q.epsilon) - sqrt(ln(1 / q.delta))) ** 2


def theorem_2_explicit_noisy(q):
    a = 1 - q.L * q.eta / 2
    return sqrt((q.Delta_F / (q.eta * q.T) + q.d * q.sigma**2) / a)


def theorem_4_explicit_terms(q):
    """a and b of a/√T + b√T, which is smallest at a/b."""
    return q.D * sqrt(2 * q.L * q.Delta_F), sqrt(2) * q.G * q.w_C / (q.n * sqrt(q.rho))


def theorem_4_explicit_tuned(q):
    a, b = theorem_4_explicit_terms(q)
    return a / sqrt(a / b) + b * sqrt(a / b + 1)


def theorem_5_explicit_noisy(q):
    a = 1 - q.tildeL * q.mirror_step / 2
    return sqrt((q.Delta_F / (q.mirror_step * q.T) + q.sigma**2 * q.dual_second_moment) / a)


def theorem_6_explicit_balance(q):
    a = q.D_1 * sqrt(2 * q.L_1 * q.Delta_F)
    b = sqrt(2) * q.G_1 * q.C_1 * log(q.N) / (q.n * sqrt(q.rho))
    return (a, b)


def theorem_6_explicit_tuned(q):
    a, b = theorem_6_explicit_balance(q)
    return sqrt(a * b) + b * sqrt(a / b + 1)


def theorem_6_explicit_bound(q):
    selection = 2 * (2 * q.G_1 * q.C_1 / q.n) / q.epsilon_0 * log(q.N)
    return q.Delta_F / (q.step_fraction * q.T) + q.L_1 * q.step_fraction * q.D_1**2 / 2 + selection


FORMULAS = {
    "algorithm-1": {
        # the root of x + 2 √(x log(1/δ)) = ε, by the quadratic formula in √x
        "rho": lambda q: (-sqrt(log(1 / q.delta)) + sqrt(log(1 / q.delta) + q.epsilon)) ** 2,
        "noise_variance": lambda q: 2 * (q.G / q.n) ** 2 * q.T / q.rho,
    },
    "algorithm-4": {
        "step_epsilon": lambda q: q.epsilon / sqrt(8 * q.T * ln(1 / q.delta)),
        "score_sensitivity": lambda q: q.G_1 * 2 * q.C_1 / q.n,
    },
    "corollary-1": {"rate": lambda q: root(ln(1 / q.delta), 4) * sqrt(ln(q.n * q.d)) / sqrt(q.n * q.epsilon)},
    "definition-5": {"noise_stddev": lambda q: sqrt(2 * log(mpf(125) / 100 / q.delta)) * q.Delta / q.epsilon},
    "definition-6": {"inverse_temperature": lambda q: q.epsilon_0 / q.Delta_u / 2},
    "definition-8": {
        "l2-ball": lambda q: q.R * mpmath.exp(mpmath.loggamma((q.d + 1) / 2) - mpmath.loggamma(q.d / 2)) * sqrt(2),
        "l1-ball": lambda q: q.R * sqrt(2 * log(2 * q.d)),
        "simplex": lambda q: q.R * sqrt(2 * log(q.d)),
    },
    "figure-1": {"loss": lambda q: 1 / (1 + exp(-q.margin))},
    "figure-2": {"mean_square": lambda q: 8 * q.L * q.Delta_F / (3 * q.T) + 4 * q.d * (q.z * q.G / q.n) ** 2 * q.T / 3},
    "lemma-1": {"step_epsilon": lambda q: q.epsilon / sqrt(8 * q.T * ln(1 / q.delta))},
    "lemma-2": {"noise_multiplier": lambda q: q.c * q.q * sqrt(q.T * ln(1 / q.delta)) / q.epsilon},
    "lemma-3": {"bound": lambda q: 2 * q.Delta_u / q.epsilon_0 * (ln(q.N) + ln(1 / q.zeta))},
    "lemma-4": {"bound": lambda q: q.w_C * q.w_C + q.R_C * q.R_C},
    "table-1": {
        "zhang-et-al-2017": lambda q: root(q.d * ln(1 / q.delta) * ln(2 / q.epsilon), 4) / sqrt(q.n * q.epsilon),
        "wang-ye-xu-2017": table_1_low,
        "algorithm-1": table_1_low,
        "algorithm-2": table_1_width,
        "algorithm-3": table_1_width,
        "algorithm-4": lambda q: root(ln(1 / q.delta), 4) * sqrt(ln(q.n * q.d)) / sqrt(q.n * q.epsilon),
    },
    "theorem-1": {"noise_variance": lambda q: q.c * q.G**2 * q.T * ln(1 / q.delta) / (q.n * q.epsilon) ** 2},
    "theorem-1/explicit": {
        "noise_variance": lambda q: q.T * (2 * q.G / q.n) ** 2 / (2 * theorem_1_explicit_rho(q)),
        "noise_constant": lambda q: 2 * q.epsilon**2 / (theorem_1_explicit_rho(q) * ln(1 / q.delta)),
        "rho": theorem_1_explicit_rho,
    },
    "theorem-2": {
        "rate": lambda q: root(q.d * ln(1 / q.delta), 4) / sqrt(q.n * q.epsilon),
        "steps": lambda q: q.n * q.epsilon / sqrt(q.d * ln(1 / q.delta)),
        "step_size": lambda q: 1 / q.L / 2,
    },
    "theorem-2/explicit": {
        "bound": lambda q: theorem_2_explicit_noisy(q) + q.sigma * sqrt(q.d),
        "noisy": theorem_2_explicit_noisy,
        "tuned": lambda q: sqrt(
            16 * q.G / (3 * q.n) * sqrt(q.L * q.Delta_F * q.d / q.rho) + 8 * q.d / (3 * q.rho) * (q.G / q.n) ** 2
        ),
        "steps": lambda q: sqrt(q.rho * q.L * q.Delta_F / q.d) * q.n / q.G,
        "noise_stddev": lambda q: sqrt(2 * q.T * (q.G / q.n) ** 2 / q.rho),
    },
    "theorem-3": {
        "rate": lambda q: (
            sqrt(q.tau**2 * q.d * log(q.tau / q.zeta) * log(q.n) / q.n)
            + root(q.d * log(1 / q.delta), 4) / sqrt(q.n * q.epsilon)
        ),
        "combined": lambda q: (
            q.tau * sqrt(q.d * log(q.tau / q.zeta) * log(q.n) * sqrt(log(1 / q.delta)) / (q.n * q.epsilon))
        ),
    },
    "theorem-4": {
        "rate": lambda q: q.R_C * root((q.R_C**2 + q.w_C**2) * ln(1 / q.delta), 4) / sqrt(q.n * q.epsilon),
        "steps": lambda q: q.n * q.epsilon / sqrt((q.R_C**2 + q.w_C**2) * ln(1 / q.delta)),
        "step_fraction": lambda q: root((q.R_C**2 + q.w_C**2) * ln(1 / q.delta), 4) / (q.R_C * sqrt(q.n * q.epsilon)),
    },
    "theorem-4/explicit": {
        "bound": lambda q: q.Delta_F / q.step_fraction / q.T + q.sigma * q.w_C + q.L * q.step_fraction * q.D**2 / 2,
        "tuned": theorem_4_explicit_tuned,
        "step_fraction": lambda q: min(mpf(1), sqrt(2 * q.Delta_F / (q.L * q.D**2 * q.T))),
        "steps": lambda q: truediv(*theorem_4_explicit_terms(q)),
        "noise_stddev": lambda q: q.G * sqrt(2 * q.T / q.rho) / q.n,
    },
    "theorem-5": {
        "rate": lambda q: (
            q.R_C * sqrt(q.R_C) * root((q.R_C**2 + q.w_C**2) * ln(1 / q.delta), 4) / sqrt(q.n * q.epsilon)
        ),
        "steps": lambda q: q.n * q.epsilon * q.R_C / sqrt((q.R_C**2 + q.w_C**2) * ln(1 / q.delta)),
        "step_size": lambda q: 1 / (2 * q.L * q.R_C**2),
    },
    "theorem-5/explicit": {
        "bound": lambda q: theorem_5_explicit_noisy(q) + q.sigma * sqrt(q.dual_second_moment),
        "noisy": theorem_5_explicit_noisy,
        "tuned": lambda q: sqrt(
            16 * q.G / (3 * q.n) * sqrt(q.tildeL * q.Delta_F * q.dual_second_moment / q.rho)
            + 8 * q.dual_second_moment / (3 * q.rho) * (q.G / q.n) ** 2
        ),
        "steps": lambda q: sqrt(q.rho * q.tildeL * q.Delta_F / q.dual_second_moment) * q.n / q.G,
    },
    "theorem-6": {
        "rate": lambda q: q.C_1 * root(ln(1 / q.delta), 4) * sqrt(ln(q.n * q.N / q.zeta)) / sqrt(q.n * q.epsilon),
        "steps": lambda q: q.n * q.epsilon / (sqrt(ln(1 / q.delta)) * ln(q.N * q.n / q.zeta)),
        "step_fraction": lambda q: sqrt(2 / (q.T * q.R_C**2)),
    },
    "theorem-6/explicit": {
        "bound": theorem_6_explicit_bound,
        "tuned": theorem_6_explicit_tuned,
        "step_epsilon": lambda q: sqrt(8 * q.rho / q.T),
        "step_fraction": lambda q: min(mpf(1), sqrt(2 * q.Delta_F / (q.L_1 * q.D_1**2 * q.T))),
        "steps": lambda q: truediv(*theorem_6_explicit_balance(q)),
    },
}
