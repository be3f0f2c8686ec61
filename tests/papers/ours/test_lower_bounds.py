"""The seven lower bounds: each step of their derivation by itself, and no mechanism below what they say."""

from fractions import Fraction
from itertools import product
from math import ceil, comb, exp, expm1, floor, inf, log, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog

from dpbounds.errors import InvalidValue
from tests.papers.reference_formulas import evaluated

NAMES = (
    "gradient-norm",
    "sosp",
    "population-gradient-norm",
    "population-sosp",
    "convex",
    "strongly-convex",
    "population-convex",
)
BOUND = {name: evaluated(f"dpbounds/lower-bound/{name}") for name in NAMES}
UNIT = {"G": 2, "L": 1, "Delta_F": 8, "rho_H": 8, "mu": 1, "zeta": "1/24"}  # slopes of 1; so are GD/2, and μD/2
WANTED = {
    "gradient-norm": "G L Delta_F",
    "sosp": "G L Delta_F rho_H zeta",
    "population-gradient-norm": "G L Delta_F",
    "population-sosp": "G L Delta_F rho_H zeta",
    "convex": "G",
    "strongly-convex": "G mu",
    "population-convex": "G",
}


def value(name, part, **point):
    """A part at slopes of 1, or 0 outside its conditions."""
    if part == "sampling":
        point = {"n": point["n"]}
    elif part == "two_points":
        point.pop("d")
    if name.endswith("convex"):
        point["D"] = 2 if "strongly" in name else 1
    try:
        found = BOUND[name](part, **{one: UNIT[one] for one in WANTED[name].split()} | point)
    except InvalidValue as error:  # outside its conditions a formula need not have a value
        if "applies" not in str(error):
            raise
        return 0.0
    return found.value.lower if found.applies else 0.0


def parts(name):
    return ("bound", "packing", "sampling" if name.startswith("population") else "two_points")


# --- 1. A mean in every problem ---------------------------------------------------------------------------------------


def huber(w, L, s):
    length = np.linalg.norm(w)
    return (L / 2 * length**2, L * w) if length <= s / L else (s * length - s**2 / (2 * L), s * w / length)


def rounded(w, a, s):
    root = sqrt(1 + (np.linalg.norm(w) / a) ** 2)
    return s * a * (root - 1), s * (w / a) / root


@pytest.mark.parametrize("seed", range(5))
def test_the_losses_are_in_the_class_and_their_gradients_are_errors_of_estimates(seed):
    rng = np.random.default_rng(seed)
    G, L, gap, third = rng.uniform(0.1, 4, 4)
    s = min(G / 2, sqrt(2 * L * gap))
    t = min(G / 2, sqrt(L * gap), (gap**2 * third) ** (1 / 3))
    a = max(t / L, sqrt(t / third))
    for slope, loss in ((s, lambda w: huber(w, L, s)), (t, lambda w: rounded(w, a, t))):
        points = rng.standard_normal((40, 3)) * rng.uniform(0, 5, (40, 1))
        mean = rng.standard_normal(3)
        mean /= max(1, np.linalg.norm(mean))
        for one, other in zip(points[:20], points[20:], strict=True):
            (high, at_one), (low, at_other) = loss(one), loss(other)
            assert np.linalg.norm(at_one) + slope <= G * (1 + 1e-9)
            assert np.linalg.norm(at_one - at_other) <= L * np.linalg.norm(one - other) * (1 + 1e-9)
            assert high >= low + at_other @ (one - other) - 1e-9  # convex
            assert high + slope * mean @ one >= -gap * (1 + 1e-9)  # from 0, where it is 0
            error = np.linalg.norm(mean - -at_one / slope)
            assert np.linalg.norm(at_one + slope * mean) == pytest.approx(slope * error)


def test_the_third_derivative_of_the_rounded_norm():
    # along v at a point of length r and inner product c: by differences, and by the formula, over a fine grid
    largest = 0.0
    for r, share in product(np.linspace(0.01, 3, 120), np.linspace(0, 1, 60)):
        c, g = share * r, sqrt(1 + r**2)
        largest = max(largest, 3 * c * (1 - (c / g) ** 2) / g**3)

        def along(x, r=r, c=c):
            return sqrt(1 + r**2 + 2 * c * x + x**2)

        if share in (0, 1):
            h = 1e-2
            third = (along(2 * h) - 2 * along(h) + 2 * along(-h) - along(-2 * h)) / (2 * h**3)
            assert abs(third) == pytest.approx(3 * c * (1 - (c / g) ** 2) / g**3, abs=1e-3)
    assert 0.858 < largest <= 48 / (25 * sqrt(5)) < 0.86


def test_the_losses_satisfy_a_kurdyka_lojasiewicz_inequality_on_the_ball():
    rng, G, L = np.random.default_rng(1), 2.0, 3.0
    for _ in range(50):
        mean, w = rng.uniform(-1, 1, 2) / 2, rng.uniform(-1, 1, 2)
        w *= min(1, G / 2 / L / np.linalg.norm(w))
        excess = L / 2 * np.linalg.norm(w + G / 2 * mean / L) ** 2
        gradient = np.linalg.norm(L * w + G / 2 * mean)
        for k in (1, 1.3, 2):
            assert excess <= G ** (2 - k) / (2 * L) * gradient**k * (1 + 1e-9)


# --- 2. Two data sets -------------------------------------------------------------------------------------------------


def least_delta(first, second, epsilon):
    return max(np.maximum(a - exp(epsilon) * b, 0).sum() for a, b in ((first, second), (second, first)))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.5])
def test_outputs_that_are_close_overlap(epsilon):
    rng = np.random.default_rng(2)
    for _ in range(200):
        first, second = rng.dirichlet(np.full(4, 0.4)), rng.dirichlet(np.full(4, 0.4))
        delta = least_delta(first, second, epsilon)
        assert np.minimum(first, second).sum() >= 2 * (1 - delta) / (1 + exp(epsilon)) - 1e-12
    truth = exp(epsilon) / (1 + exp(epsilon))  # randomised response attains it
    assert 2 * (1 - truth) == pytest.approx(2 / (1 + exp(epsilon)))


def best_mechanism(n, epsilon, delta, cost, grid):
    """The least worst-case mean cost of all (ε, δ)-DP mechanisms on n records of {-1, 0, 1} with outputs in a grid."""
    data = [(ups, downs) for ups in range(n + 1) for downs in range(n + 1 - ups)]
    outputs = np.linspace(-1, 1, grid)
    places = {one: index for index, one in enumerate(data)}
    counts = [(ups, downs, n - ups - downs) for ups, downs in data]
    pairs = [
        (places[one], places[other])
        for one, first in zip(data, counts, strict=True)
        for other, second in zip(data, counts, strict=True)
        if sum(abs(a - b) for a, b in zip(first, second, strict=True)) == 2
    ]
    size, slack = len(data) * grid, len(pairs) * grid
    rows, limits = [], []

    def row():
        rows.append(np.zeros(size + slack + 1))
        return rows[-1]

    for index, (ups, downs) in enumerate(data):
        worst = row()
        worst[index * grid : (index + 1) * grid] = cost((ups - downs) / n, outputs)
        worst[-1] = -1
        limits.append(0.0)
    for number, (one, other) in enumerate(pairs):
        for j in range(grid):
            excess = row()  # P(j) - e^ε Q(j) <= its slack
            excess[one * grid + j], excess[other * grid + j] = 1, -exp(epsilon)
            excess[size + number * grid + j] = -1
            limits.append(0.0)
        row()[size + number * grid : size + (number + 1) * grid] = 1
        limits.append(delta)
    sums = np.zeros((len(data), size + slack + 1))
    for index in range(len(data)):
        sums[index, index * grid : (index + 1) * grid] = 1
    target = np.zeros(size + slack + 1)
    target[-1] = 1
    found = linprog(target, A_ub=np.array(rows), b_ub=limits, A_eq=sums, b_eq=np.ones(len(data)), bounds=(0, None))
    assert found.status == 0
    return found.fun


COSTS = {
    "gradient-norm": lambda mean, u: np.abs(mean - u),
    "convex": lambda mean, u: np.abs(mean) - mean * u,
    "strongly-convex": lambda mean, u: (mean - u) ** 2 / 2,
}


@pytest.mark.parametrize(("n", "epsilon", "delta"), [(1, 0.7, 0.01), (2, 0.5, 1e-3), (2, 2.0, 0.0), (3, 0.4, 0.01)])
@pytest.mark.parametrize("name", COSTS)
def test_no_private_mechanism_on_few_records_is_below(name, n, epsilon, delta):
    best = best_mechanism(n, epsilon, delta, COSTS[name], 9)
    least = value(name, "two_points", n=n, d=1, epsilon=str(epsilon), delta=str(delta or "1e-30"))
    assert 0 < least <= best + 1e-9
    k = min(n, ceil(1 / epsilon))  # before rounding: κo, at the group's own ε and δ
    spread = delta * expm1(k * epsilon) / expm1(epsilon)
    overlap = 2 * (1 - min(1, spread)) / (1 + exp(k * epsilon))
    sharp = overlap * (k / n) ** (2 if name == "strongly-convex" else 1) / (2 if name == "strongly-convex" else 1)
    assert least <= sharp <= best + 1e-9
    assert best < 12 * sharp  # the search is no formality


@pytest.mark.parametrize("n", [1, 2, 5, 40, 400])
def test_draws_alone_overlap(n):
    gamma = 1 / (2 * sqrt(n))
    chances = [
        [comb(n, k) * ((1 + sign * gamma) / 2) ** k * ((1 - sign * gamma) / 2) ** (n - k) for k in range(n + 1)]
        for sign in (1, -1)
    ]
    overlap = sum(map(min, *chances))
    assert overlap >= 1 - 1 / sqrt(3)
    assert gamma * overlap >= value("population-gradient-norm", "sampling", n=n)
    assert gamma * overlap >= value("population-convex", "sampling", n=n)
    assert gamma >= value("population-sosp", "sampling", n=n)
    assert overlap > 2 / 24


# --- 3. Packing -------------------------------------------------------------------------------------------------------


def test_a_group_spends_no_more():
    for epsilon, delta, k, chance in product((0.1, 1.0), (1e-9, 1e-3), (1, 3, 12), (0.0, 1e-6, 0.01)):
        reached = chance
        for _ in range(k):
            reached = min(1.0, exp(epsilon) * reached + delta)
        assert reached <= exp(k * epsilon) * (chance + delta / expm1(epsilon))


def test_sign_vectors_that_are_far_apart():
    for d in (1, 2, 3, 8, 30, 200):
        alike = sum(comb(d, j) for j in range(d + 1) if 2 * (2 * j - d) >= d)  # 2j - d is the inner product
        assert Fraction(alike, 2**d) <= Fraction(exp(-d / 8) * (1 + 1e-12))
    for d in (4, 8, 12):
        code: list[int] = []
        for word in range(2**d):
            if all(2 * (d - 2 * (word ^ other).bit_count()) < d for other in code):
                code.append(word)
        assert len(code) >= exp(d / 8)


@pytest.mark.parametrize("seed", range(3))
def test_no_output_is_good_for_two_of_them(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        first, second, u = rng.standard_normal((3, 3))
        first, second, u = (one / np.linalg.norm(one) for one in (first, second, u))
        if first @ second < 0.5:
            assert min(first @ u, second @ u) <= sqrt(3) / 2
    assert (1 - sqrt(3) / 2) / 2 > 1 / 15


# --- 4. Fingerprints --------------------------------------------------------------------------------------------------


def moment(power):
    """E pʲ for p uniform on [-1, 1]."""
    return Fraction(1, power + 1) if power % 2 == 0 else Fraction(0)


def mean_over_p(ups, downs, extra):
    """E of p^extra ((1+p)/2)^ups ((1-p)/2)^downs, exactly."""
    total = Fraction(0)
    for i, j in product(range(ups + 1), range(downs + 1)):
        total += comb(ups, i) * comb(downs, j) * (-1) ** j * moment(i + j + extra)
    return total / 2 ** (ups + downs)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_what_an_accurate_answer_knows(m):
    rng = np.random.default_rng(m)
    for _ in range(10):
        answers = {y: Fraction(int(rng.integers(-5, 6)), 5) for y in product((1, -1), repeat=m)}
        fingerprints = slope = estimated = Fraction(0)
        for y, answer in answers.items():
            ups, downs = y.count(1), y.count(-1)
            plain, tilted = mean_over_p(ups, downs, 0), mean_over_p(ups, downs, 1)
            fingerprints += answer * (sum(y) * plain - m * tilted)
            slope += 2 * answer * tilted
            estimated += (answer - Fraction(sum(y), m)) * tilted
        assert fingerprints == slope == Fraction(2, 3) + 2 * estimated


@pytest.mark.parametrize(("d", "t"), [(1, 0.5), (5, 0.5), (5, 3.0), (300, 1.0), (300, 20.0)])
def test_what_a_private_answer_knows(d, t):
    split = sqrt(2 * d * t)
    found = split + quad(lambda x: exp(t - x * x / (2 * d)), split, inf)[0]
    assert found <= sqrt(2 * d * t) + sqrt(d / (2 * t)) <= 2 * sqrt(2 * d * t) * (1 + 1e-12)


@pytest.mark.parametrize(("d", "t", "delta"), [(1, 0.5, 0.0), (2, 0.5, 0.05), (2, 2.0, 0.0), (3, 1.0, 0.02)])
def test_no_private_answer_knows_more(d, t, delta):
    # one group: E p given y is y/3, so E Z = (2/3) E<f, y>, largest over all (t, δ)-DP answers in {-1, 1}^d
    words = list(product((1, -1), repeat=d))
    size = len(words)
    pairs = [(a, b) for a in range(size) for b in range(size) if a != b]
    total = size * size + len(pairs) * size
    rows, limits = [], []
    for number, (a, b) in enumerate(pairs):
        for v in range(size):
            row = np.zeros(total)
            row[a * size + v], row[b * size + v], row[size * size + number * size + v] = 1, -exp(t), -1
            rows.append(row)
            limits.append(0.0)
        row = np.zeros(total)
        row[size * size + number * size : size * size + (number + 1) * size] = 1
        rows.append(row)
        limits.append(delta)
    sums = np.zeros((size, total))
    gain = np.zeros(total)
    for a in range(size):
        sums[a, a * size : (a + 1) * size] = 1
        gain[a * size : (a + 1) * size] = [-np.dot(words[a], v) / size for v in words]
    found = linprog(gain, A_ub=np.array(rows), b_ub=limits, A_eq=sums, b_eq=np.ones(size), bounds=(0, None))
    assert found.status == 0
    knows = -found.fun * 2 / 3
    assert 0 < knows <= sqrt(2 * d * t) + sqrt(d / (2 * t)) + 2 * d * delta


def chosen(n, d, epsilon, delta, crowd, spare):
    """κ, m and t as section 4 chooses them for a data set."""
    tau = min(log(expm1(epsilon) / (3 * delta * sqrt(d))), d / crowd)
    k = min(n, floor(tau / epsilon))
    t = k * epsilon
    y = sqrt(d / (2 * t)) / 8 - spare
    m = max(1, floor(min(y, n / k)))
    return m * k / n, m, t, y


def drawn(n, d, epsilon, delta, crowd, spare):
    """The same for draws."""
    tau = min(log(expm1(epsilon) / (3 * delta * sqrt(d))), d / crowd)
    t = min(tau, n * expm1(epsilon))
    y = sqrt(d / (2 * t)) / 8 - spare
    m = max(1, floor(min(y, n * expm1(epsilon) / t)))
    return m * t / (n * expm1(epsilon)), m, t, y


ROUNDED = {  # name: choice, coordinates of a crowd, groups less, what of κ, and its power
    "gradient-norm": (chosen, 128, 0, 1 / 6, 1),
    "sosp": (chosen, 128, 0, 1 / 12, 1),
    "strongly-convex": (chosen, 128, 0, 1 / 24, 2),
    "convex": (chosen, 1152, 2, 1 / 6, 1),
    "population-gradient-norm": (drawn, 128, 0, 1 / 6, 1),
    "population-sosp": (drawn, 128, 0, 1 / 12, 1),
    "population-convex": (drawn, 1152, 2, 1 / 6, 1),
}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recorded_is_below_what_was_derived(name):
    choose, crowd, spare, factor, power = ROUNDED[name]
    rng = np.random.default_rng(3)
    seen, largest = 0, 0.0
    for _ in range(400):
        n, d = round(10 ** rng.uniform(0, 6)), round(10 ** rng.uniform(2.2, 7))
        epsilon, delta = round(10 ** rng.uniform(-3, 0.7), 5), 10.0 ** -rng.integers(2, 60)
        found = value(name, "bound", n=n, d=d, epsilon=str(epsilon), delta=str(delta)) if seen < 60 else 0
        if not found:
            continue
        seen += 1
        share, m, t, y = choose(n, d, epsilon, delta, crowd, spare)
        spread = delta * exp(t) / expm1(epsilon)
        assert t >= 0.5 - 1e-9
        assert 1 <= m <= y * (1 + 1e-9)
        assert share <= 1 + 1e-9
        assert (m + spare) * (sqrt(2 * t / d) + spread) <= 1 / 6 + 1e-9
        assert found <= factor * share**power * (1 + 1e-9)
        largest = max(largest, found / (factor * share**power))
    assert seen >= 40
    assert largest > 0.2  # and not by much


# --- No mechanism is below --------------------------------------------------------------------------------------------


def noise(n, d, epsilon, delta, tail=0.0):
    """Lengths of the noise on a mean in the unit ball that are enough: Gaussian, or Gamma times a direction.

    Mean and root mean square, and what is exceeded with probability e^-tail.
    """
    logarithm = log(1 / delta)
    rho = (epsilon / (sqrt(logarithm + epsilon) + sqrt(logarithm))) ** 2
    sigma = 2 / n / sqrt(2 * rho)
    gamma = 2 / (n * epsilon)
    return (
        min(sigma * sqrt(d), gamma * d),
        min(sigma * sqrt(d), gamma * sqrt(d * (d + 1))),
        min(sigma * (sqrt(d) + sqrt(2 * tail)), gamma * (d + sqrt(2 * d * tail) + tail)),
    )


def reached(name, n, d, epsilon, delta):
    """What releasing a noisy mean reaches, or no data at all; of draws, at an error of at most 1/√n more."""
    mean, root, seldom = noise(n, d, epsilon, delta, log(48))
    more = 1 / sqrt(n) if name.startswith("population") else 0.0
    if name.endswith("sosp"):
        return min(1, seldom + more * sqrt(48))
    if name.endswith("strongly-convex"):
        return min(1, root**2) / 2
    if name.endswith("convex"):
        return min(1, 2 * (mean + more))
    return min(1, mean + more)


@pytest.mark.parametrize("name", NAMES)
def test_noise_on_the_mean_is_never_below(name):
    rng = np.random.default_rng(4)
    ratios = dict.fromkeys(parts(name), 0.0)
    for number in range(150):
        n, d = round(10 ** rng.uniform(0, 7)), round(10 ** rng.uniform(0, 6 if number % 2 else 2.5))
        epsilon, delta = round(10 ** rng.uniform(-3, 1), 4), 10.0 ** -rng.integers(1, 250)
        best = reached(name, n, d, epsilon, delta)
        for part in ratios:
            ratios[part] = max(
                ratios[part], value(name, part, n=n, d=d, epsilon=str(epsilon), delta=f"{delta:.0e}") / best
            )
    assert all(0 < one <= 1 for one in ratios.values()), ratios


def test_the_logarithm_has_to_be_capped():
    """√(d ln(1/δ))/(εn) for every δ is refuted by the same noise: with one coordinate, or with few for their δ."""
    for d, digits in ((1, 10**7), (200, 10**9)):
        uncapped = sqrt(d * digits * log(10)) / 192
        assert uncapped > 2 * d  # in units of 1/(εn)


@pytest.mark.parametrize(("d", "alpha", "records"), [(100, 0.1, 9.45e4), (1000, 0.01, 5.18e6)])
def test_what_noise_along_the_path_reaches_is_not_below(d, alpha, records):
    # so many records n√ρ are enough for an α-second-order point (its test); ρ-zCDP is (ρ + 2√(ρ ln 1/δ), δ)-DP
    rho, logarithm = 0.01, 9 * log(10)
    values = {"G": 1, "L": 1, "Delta_F": 1, "rho_H": 1, "zeta": "0.01"}
    point = {"n": round(records / sqrt(rho)), "epsilon": f"{rho + 2 * sqrt(rho * logarithm):.6f}", "delta": "1e-9"}
    packing = BOUND["sosp"]("packing", **values, **point, d=d)
    pair = BOUND["sosp"]("two_points", **values, **point)
    assert packing.applies is pair.applies is True
    assert 0 < max(packing.value.lower, pair.value.lower) < alpha
