"""The lower bounds: each step of their derivation by itself."""

from fractions import Fraction
from itertools import product
from math import comb, exp, expm1, inf, log, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog


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


def test_the_logarithm_has_to_be_capped():
    """√(d ln(1/δ))/(εn) for every δ is refuted by the same noise: with one coordinate, or with few for their δ."""
    for d, digits in ((1, 10**7), (200, 10**9)):
        uncapped = sqrt(d * digits * log(10)) / 192
        assert uncapped > 2 * d  # in units of 1/(εn)
