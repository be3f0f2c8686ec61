"""The oracle of small datasets (tests/privacy/oracle) against closed forms, quadrature and counting."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import integrate, stats

from proofs.privacy.boxes import (
    Scatter,
    above_threshold,
    approximate,
    bounded_range,
    concentrated,
    joined,
    pure,
    random_box,
    randomised_response,
    replaced,
)
from tests.privacy.oracle.noise import BallNoise, LaplaceNoise, Sum, divergence, quadrant
from tests.privacy.oracle.samplings import (
    Full,
    OneRandom,
    Order,
    Poisson,
    Sampling,
    WithoutReplacement,
    WithReplacement,
    batches,
    multisets,
    neighbours,
)

ALPHAS = np.concatenate(([0.0], np.exp(0.05 * np.sinh(np.linspace(-5, 5, 41)))))  # ε from -3.7 to 3.7, dense around 0
ONE = np.array([1.0])
DRAWN: list[tuple[Sampling, int]] = [
    (Full(), 2),
    (Poisson(0.3), 3),
    (WithoutReplacement(2), 4),
    (WithoutReplacement(3), 5),
    (WithReplacement(2), 3),
    (WithReplacement(3), 4),
    (OneRandom(), 3),
]


# --- Drawing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sampling", "size"), DRAWN, ids=str)
def test_counts_are_laws_that_treat_records_alike(sampling: Sampling, size: int) -> None:
    law = sampling.counts(size)
    assert sum(law.values()) == pytest.approx(1, abs=1e-15)
    for counts, probability in law.items():
        for turned in itertools.permutations(counts):
            assert law[turned] == pytest.approx(probability, abs=1e-15)


def test_expected_numbers_of_draws() -> None:
    expected: list[tuple[Sampling, float]] = [
        (Full(), 1),
        (Poisson(0.3), 0.3),
        (WithoutReplacement(2), 2 / 4),
        (WithReplacement(3), 3 / 4),
        (OneRandom(), 1 / 4),
    ]
    for sampling, mean in expected:
        found = sum(counts[0] * probability for counts, probability in sampling.counts(4).items())
        assert found == pytest.approx(mean, abs=1e-15)


def test_counts_with_replacement_are_multinomial() -> None:
    for counts, probability in WithReplacement(4).counts(3).items():
        assert probability == pytest.approx(stats.multinomial(4, [1 / 3] * 3).pmf(counts), abs=1e-15)


def test_fixed_sizes_are_fixed_and_one_is_one() -> None:
    assert set(WithoutReplacement(2).counts(4)) == {c for c in itertools.product((0, 1), repeat=4) if sum(c) == 2}
    for sampling in (WithoutReplacement(1), WithReplacement(1)):
        assert sampling.counts(3) == OneRandom().counts(3)
    with pytest.raises(ValueError, match="2 of 1"):
        WithoutReplacement(2).counts(1)


def test_batches_are_multisets() -> None:
    assert batches((3, 1, 3), WithoutReplacement(2)) == pytest.approx({(1, 3): 2 / 3, (3, 3): 1 / 3})
    assert batches((1, 2), WithReplacement(2)) == pytest.approx({(1, 1): 0.25, (1, 2): 0.5, (2, 2): 0.25})
    assert batches((5,), Poisson(0.25)) == pytest.approx({(): 0.75, (5,): 0.25})


def test_neighbours() -> None:
    assert list(neighbours(Order.REMOVE, [(7,)], [1, 2])) == [((7, 1), (7,)), ((7, 2), (7,))]
    assert list(neighbours(Order.ADD, [(7,)], [1])) == [((7,), (7, 1))]
    assert list(neighbours(Order.REPLACE, [()], [1, 2])) == [((1,), (2,)), ((2,), (1,))]


# --- Outcomes -------------------------------------------------------------------------------------


def test_divergence_is_the_sum_of_positive_parts() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.dirichlet(np.ones(7), 2)
    first[0], second[1] = 0.0, 0.0
    direct = [np.maximum(first - alpha * second, 0).sum() for alpha in ALPHAS]
    assert divergence((first, second), ALPHAS) == pytest.approx(direct, abs=1e-15)


def test_laplace_cells_hold_what_quadrature_finds() -> None:
    law, other = Sum(np.array([0.6, 0.4]), np.array([[-1.0], [0.5]])), Sum(ONE, np.array([[0.3]]))

    def density(of: Sum, x: float) -> float:
        return float(of.weights @ np.exp(-np.abs(x - of.values[:, 0]) / 0.7) / 1.4)

    table = LaplaceNoise(0.7).table(law, other, 0.01)
    assert [masses.sum() for masses in table] == pytest.approx([1, 1], abs=1e-14)
    for alpha in (0.5, 1.0, 1.5):
        exact = sum(
            integrate.quad(lambda x, a=alpha: max(density(law, x) - a * density(other, x), 0.0), low, high, limit=400)[
                0
            ]
            for low, high in itertools.pairwise((-25, -1, 0.3, 0.5, 25))
        )
        assert -1e-5 < divergence(table, np.array([alpha]))[0] - exact < 1e-8


def test_laplace_in_the_plane_along_one_axis_is_the_line() -> None:
    line = LaplaceNoise(1.5).table(Sum(ONE, np.array([[1.0]])), Sum(ONE, np.array([[0.0]])), 0.01)
    plane = LaplaceNoise(1.5).table(Sum(ONE, np.array([[0.2, 1.0]])), Sum(ONE, np.array([[0.2, 0.0]])), 0.01)
    assert divergence(plane, ALPHAS) == pytest.approx(divergence(line, ALPHAS), abs=1e-14)


def test_quadrants_of_the_disc() -> None:
    generator = np.random.default_rng(2)
    for x, y in [*generator.uniform(-1.2, 1.2, (20, 2)).tolist(), (0.0, 0.0), (2.0, 0.0), (1.0, 1.0), (0.3, -2.0)]:

        def strip(s: float, y: float = y) -> float:
            half = math.sqrt(1 - s * s)
            return max(min(y, half) + half, 0.0)

        knots = [math.sqrt(1 - y * y), -math.sqrt(1 - y * y)] if abs(y) < 1 else None
        direct = integrate.quad(strip, -1, max(min(x, 1.0), -1.0), points=knots, limit=400)[0] if x > -1 else 0.0
        assert float(quadrant(np.array(x), np.array(y))) == pytest.approx(direct, abs=1e-6)


def test_discs_overlap_in_a_lens() -> None:
    radius, distance = 1.3, 0.9
    noise, here = BallNoise(radius), Sum(ONE, np.array([[0.1, 0.0]]))
    table = noise.table(here, Sum(ONE, np.array([[0.1 + distance * 0.6, distance * 0.8]])), 0.005)
    lens = 2 * radius**2 * math.acos(distance / (2 * radius)) - distance / 2 * math.sqrt(4 * radius**2 - distance**2)
    exact = 1 - lens / (math.pi * radius**2)
    assert [masses.sum() for masses in table] == pytest.approx([1, 1], abs=1e-12)
    assert -2e-4 < divergence(table, ONE)[0] - exact < 1e-12


@pytest.mark.seconds
def test_above_threshold_by_another_integration() -> None:
    answers, b1, b2 = [0.7, -1.0, 2.0], 1.5, 0.9

    def above(x: float) -> float:
        return float(stats.laplace(scale=b2).sf(-x))

    def integral(below: Sequence[float], last: float | None) -> float:
        def integrand(t: float) -> float:
            value = math.exp(-abs(t) / b1) / (2 * b1)
            for x in below:
                value *= 1 - above(x - t)
            return value if last is None else value * above(last - t)

        cuts = (-60.0, -8.0, -1.0, 0.0, 0.7, 2.0, 8.0, 60.0)
        pieces = (integrate.quad(integrand, low, high, epsabs=1e-13)[0] for low, high in itertools.pairwise(cuts))
        return float(sum(pieces))

    found = above_threshold(np.array(answers), b1, b2)
    assert found.sum() == pytest.approx(1, abs=1e-14)
    expected = [integral(answers[:j], answers[j]) for j in range(3)] + [integral(answers, None)]
    assert found == pytest.approx(expected, abs=1e-11)


def test_guarantees_measured_on_randomised_response() -> None:
    epsilon = 1.2
    table = randomised_response(0, 2, epsilon), randomised_response(1, 2, epsilon)
    assert pure([table]) == pytest.approx(epsilon)
    assert bounded_range([table]) == pytest.approx(2 * epsilon)
    assert approximate([table], 0.0) == pytest.approx(math.tanh(epsilon / 2))
    assert approximate([table], epsilon) == pytest.approx(0, abs=1e-15)
    assert concentrated([table]) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=2e-4)
    one_sided = np.array([0.7, 0.2, 0.1]), np.array([0.5, 0.3, 0.2])
    assert bounded_range([one_sided]) == pytest.approx(math.log(0.7 / 0.5 / (0.1 / 0.2)))


def test_random_boxes_vary_as_asked() -> None:
    """Sizes and contents vary independently: neither guarantee says anything about the other."""
    generator = np.random.default_rng(3)
    by_size = random_box(generator, multisets((0, 1), range(3)), Scatter(size=2.0, content=0.01))
    assert pure(joined(by_size)) > 10 * pure(replaced(by_size))
    assert [len(joined(by_size)), len(replaced(by_size))] == [2 + 4, 2 + 4]  # (1,1) to (0,0) differs in two records
    assert len(replaced(by_size, 2)) == 2 + 6
