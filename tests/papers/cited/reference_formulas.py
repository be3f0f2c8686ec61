"""The formulas of cited papers, a second time."""

from mpmath import cbrt, exp, exp as exponential, expm1, ln, log, log1p, loggamma, mp, mpf, power, root, sqrt


def kairouz_oh_viswanath_2015_theorem_3_3_pure_delta(q):
    """The printed sum, outwards from its largest term until nothing changes."""
    k, i = (int(q.T), int(q.flips))

    def term(number):
        choose = exp(loggamma(k + 1) - loggamma(number + 1) - loggamma(k - number + 1))
        weights = exp((k - number) * q.epsilon_0) - exp((k - 2 * i + number) * q.epsilon_0)
        return choose * weights / (1 + exp(q.epsilon_0)) ** k

    middle = min(i - 1, k // (1 + int(exp(min(q.epsilon_0, mpf(50))))))
    total = mpf(0)
    for numbers in (range(middle, -1, -1), range(middle + 1, i)):
        for number in numbers:
            one = term(number)
            total += one
            if one < total * mpf(10) ** (-mp.dps):
                break
    return total


def arora_tree_batch(q):
    return max(cbrt(q.n) ** 2, sqrt(q.n / q.epsilon) * root(q.d, 4))


def arora_tree_depth(q):
    """The solution of D 2^(D+1) = b, by bisection."""
    low, high = mpf(0), mpf(10) ** 3
    for _ in range(5 * mp.dps):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * 2 ** (middle + 1) < arora_tree_batch(q) else (low, middle)
    return low


def arora_tree_bound(q):
    depth = arora_tree_depth(q)
    trees = q.n / arora_tree_batch(q) / (1 + depth / 2)
    chances = ln(2 * trees * 2 ** (depth + 1)) - ln(q.zeta)
    start = 4 * q.L * q.Delta_F * sqrt(depth * (2 + depth)) / q.G**2
    rate = sqrt(max(1 / cbrt(q.n) ** 2, sqrt(q.d) / (q.n * q.epsilon)))
    return sqrt(18) * q.G * rate * (256 * (ln(mpf("1.25")) - ln(q.delta)) * chances + start)


FORMULAS = {
    "abadi-et-al-2016/theorem-1": {
        "noise_multiplier": lambda q: q.c * sqrt(-q.T * log1p(q.delta - 1) * q.q**2 / q.epsilon**2)
    },
    "arora-et-al-2023/population-rate": {
        "rate": lambda q: 1 / cbrt(q.n) + power(q.d, mpf(1) / 4) / sqrt(q.n * q.epsilon),
        "convex": lambda q: (sqrt(q.n) * q.epsilon + sqrt(q.d)) / q.n / q.epsilon,
    },
    "arora-et-al-2023/theorem-4.2": {
        "rate": lambda q: (
            cbrt(-q.Delta_F * q.L * q.G * q.d * ln(q.delta) / (q.n * q.epsilon) ** 2)
            + q.G * sqrt(-q.d * ln(q.delta)) / (q.n * q.epsilon)
        )
    },
    "arora-et-al-2023/theorem-4.3": {
        "rate": lambda q: q.G * sqrt(min(mpf(1), -q.d * ln(q.delta) / (q.n * q.epsilon) ** 2))
    },
    "arora-et-al-2023/theorem-3.2": {
        "bound": arora_tree_bound,
        "tree-batch": arora_tree_batch,
        "tree-depth": arora_tree_depth,
    },
    "kornowski-2026/main-result": {
        "rate": lambda q: root(q.d, 4) / sqrt(q.n * q.epsilon) + root(q.lower_dimension, 6) / cbrt(q.n * q.epsilon)
    },
    "tao-et-al-2025/main-result": {"rate": lambda q: 1 / cbrt(q.n) + root(q.d, 5) / root(q.n * q.epsilon, 5) ** 2},
    "zhang-et-al-2024/main-result": {
        "rate": lambda q: (q.d / q.alpha + q.d * sqrt(q.d) / sqrt(2 * q.rho)) / (q.goldstein_radius * q.alpha**2)
    },
    "arora-et-al-2023/theorem-6.1": {
        "rate": lambda q: 1 / sqrt(q.n) + min(root(q.r / (q.n * q.epsilon) ** 2, 3), 1 / root(q.n * q.epsilon, 5) ** 2),
        "projection-dimension": lambda q: root(q.n * q.epsilon, 5) ** 4,
    },
    "avdiukhin-et-al-2024/main-result": {"rate": lambda q: root(q.d, 4) / (sqrt(q.n) * sqrt(q.epsilon))},
    "bassily-smith-thakurta-2014/main-result": {
        "approximate": lambda q: sqrt(-q.d * ln(q.delta) / (q.n * q.epsilon) ** 2),
        "pure": lambda q: q.d / q.n / q.epsilon,
        "approximate-lower": lambda q: min(1, sqrt(q.d) / q.n / q.epsilon),
        "pure-lower": lambda q: min(1, q.d / q.n / q.epsilon),
    },
    "bun-steinke-2016/proposition-1.3": {"epsilon": lambda q: (sqrt(q.rho) + sqrt(-ln(q.delta))) ** 2 + ln(q.delta)},
    "bun-steinke-2016/proposition-1.4": {"rho": lambda q: q.epsilon / 2 * q.epsilon},
    "bun-steinke-2016/proposition-1.6": {"rho": lambda q: (q.Delta / q.sigma) ** 2 / 2},
    "dwork-roth-2014/theorem-3.10": {
        "score-weight": lambda q: q.epsilon / q.Delta_u / 2,
        "rho": lambda q: (q.epsilon / 2) ** 2 / 2,
    },
    "dwork-roth-2014/theorem-3.11": {
        "bound": lambda q: (ln(q.N) - ln(q.best_candidates) - ln(q.zeta)) * q.Delta_u / (q.epsilon_0 / 2)
    },
    "dwork-roth-2014/theorem-3.16": {
        "epsilon": lambda q: q.epsilon_0 * q.T,
        "delta": lambda q: q.T * q.step_delta if q.T * q.step_delta < 1 else mpf(1),
    },
    "dwork-roth-2014/theorem-3.20": {
        "epsilon": lambda q: q.epsilon_0 * (sqrt(-2 * q.T * ln(q.delta)) + q.T * expm1(q.epsilon_0)),
        "delta": lambda q: min(mpf(1), q.delta + q.T * q.step_delta),
    },
    "dwork-roth-2014/theorem-3.23": {
        "threshold-scale": lambda q: 1 / (q.epsilon / 2),
        "query-scale": lambda q: 1 / (q.epsilon / 4),
        "epsilon": lambda q: (q.query_scale + 2 * q.threshold_scale) / (q.threshold_scale * q.query_scale),
    },
    "dwork-roth-2014/theorem-a.1": {"noise_multiplier": lambda q: sqrt(ln(25 / (16 * q.delta**2))) / q.epsilon},
    "ganesh-et-al-2022/main-result": {
        "rate": lambda q: q.d / (q.n * q.epsilon) * q.D * q.G,
        "lower": lambda q: q.D * q.G * min(1, q.d / (q.n * q.epsilon)),
    },
    "gao-wright-2023/main-result": {"rate": lambda q: power(q.d, mpf(1) / 4) * power(q.n, -mpf(1) / 2)},
    "ge-et-al-2015/theorem-6": {
        "distance": lambda q: sqrt(q.eta) * sqrt(-ln(q.zeta)),
        "steps": lambda q: -ln(q.zeta) * (1 / q.eta) ** 2,
    },
    "jin-et-al-2019/hoeffding": {"rate": lambda q: sqrt(q.b * (ln(2 * q.d) - ln(q.zeta))) * q.norm_sub_gaussian},
    "kairouz-oh-viswanath-2015/theorem-3.3": {
        "epsilon": lambda q: q.T * q.epsilon_0 - 2 * q.flips * q.epsilon_0,
        "pure-delta": kairouz_oh_viswanath_2015_theorem_3_3_pure_delta,
        "delta": lambda q: (
            1
            - (1 - q.step_delta) ** q.T
            + (1 - q.step_delta) ** q.T * kairouz_oh_viswanath_2015_theorem_3_3_pure_delta(q)
        ),
    },
    "kornowski-et-al-2024/main-result": {
        "single-pass": lambda q: (sqrt(q.d) / q.alpha + q.d / q.epsilon) / q.goldstein_radius / q.alpha**2,
        "multiple-passes": lambda q: (
            q.d / q.alpha**2 + power(q.d * sqrt(q.d) / (q.goldstein_radius * q.alpha**3), mpf(1) / 2) / q.epsilon
        ),
    },
    "liu-talwar-2024/main-result": {"rate": lambda q: 1 / cbrt(q.n) + sqrt(sqrt(q.d)) / (sqrt(q.n) * sqrt(q.epsilon))},
    "mei-bai-montanari-2016/theorem-1": {"rate": lambda q: sqrt(q.tau**2 * ln(q.n) * q.d / q.n)},
    "menart-et-al-2023/theorem-1": {
        "rate": lambda q: exp(
            q.k * ln(q.gamma * q.G / (q.n * q.epsilon))
            + q.k / 2 * ln(-q.d * ln(q.delta))
            + q.k / 2 * ln(1 + q.L * q.gamma**2 / q.Delta_F ** (2 / q.k - 1))
        ),
        "concentrated": lambda q: (q.d / (q.n**2 * q.rho)) ** (q.k / 2),
        "adaptive": lambda q: (q.d / (q.n**2 * q.rho)) ** (q.k / (4 - q.k)),
    },
    "raginsky-et-al-2017/proposition-8": {"rate": lambda q: power(q.beta, mpf(1) / 2) * power(q.eta, mpf(5) / 4) * q.T},
    "talwar-thakurta-zhang-2014/width-moment": {"bound": lambda q: abs(q.w_C + 1j * q.R_C) ** 2},
    "talwar-thakurta-zhang-2015/main-result": {
        "rate": lambda q: 1 / cbrt(q.n) ** 2,
        "lower": lambda q: 1 / cbrt(q.n**2),
    },
    "tran-cutkosky-2022/main-result": {
        "rate": lambda q: cbrt(q.d / (q.n * q.epsilon) ** 2),
        "gradient-evaluations": lambda q: q.n * root((q.n * q.epsilon) ** 2 / q.d, 3) ** 2,
    },
    "wang-xu-2020/main-result": {"rate": lambda q: exponential(mpf(4) / 7 * (log(q.d) - log(q.n * q.epsilon)))},
    "wang-ye-xu-2017/main-result": {"rate": lambda q: root(q.d * ln(1 / q.delta) / (q.n * q.epsilon) ** 2, 4)},
    "xu-et-al-2026/main-result": {"rate": lambda q: cbrt(q.d) * cbrt(1 / (q.n * q.epsilon)) ** 2},
    "xu-et-al-2026/population": {"rate": lambda q: 1 / cbrt(q.n) + power(q.d / (q.n * q.epsilon) ** 2, 0.25)},
    "zhang-et-al-2017/main-result": {
        "rate": lambda q: sqrt(sqrt(q.d * ln(q.delta) * ln(q.epsilon / 2))) / root(q.n * q.epsilon, 2)
    },
    "zhou-et-al-2020/main-result": {
        "abstract": lambda q: power(q.d / q.n**2, mpf(1) / 4),
        "rate": lambda q: sqrt(q.d) * q.epsilon + power(q.d, mpf(1) / 4) / sqrt(q.n * q.epsilon),
    },
}
