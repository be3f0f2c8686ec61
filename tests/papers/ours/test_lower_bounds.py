"""The lower bounds: no mechanism is below what they say."""

from math import ceil, comb, exp, expm1, floor, log, sqrt

import numpy as np
import pytest
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


# --- 2. Two datasets -------------------------------------------------------------------------------------------------


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


# --- 4. Fingerprints --------------------------------------------------------------------------------------------------


def chosen(n, d, epsilon, delta, crowd, spare):
    """κ, m and t as section 4 chooses them for a dataset."""
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


@pytest.mark.seconds
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
