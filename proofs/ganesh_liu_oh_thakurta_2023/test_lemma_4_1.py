"""Lemma 4.1: the loss of Algorithm 2 in a dataset that satisfies every assumption.

Chances of returning the last of k points are double integrals over the two noisy thresholds, by the trapezoidal rule (a
grid of half the width changes no digit that matters). Noise is measured in threshold scales: 4G/(nε) and 4M/(nε).
.

With constants: its budget, and its accuracy in simulation.
"""

import math

import numpy as np
import pytest


def below(x):
    """Chance that a Laplace variable of scale 1 is below x."""
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


def chance_of_last(count, others, last, width=0.1):
    """Of returning point ``count``: how far gradient and curvature of the others and of the last exceed thresholds."""
    grid = np.arange(-40, 40 + width / 2, width)
    weight = np.exp(-np.abs(grid)) / 2 * width
    passes = [below((grid - one) / 2) for one in (*others, *last)]
    return float((passes[2] * weight) @ (1 - np.outer(passes[0], passes[1])) ** (count - 1) @ (passes[3] * weight))


def loss(count, gaps, shifts, epsilon=1.0):
    """Of the last of ``count`` points, in units of ε: the tests' values move by ``shifts`` there and back."""
    unit = epsilon / 4  # G/n in threshold scales
    moves = [unit * shift for shift in shifts]
    there = chance_of_last(count, [gaps[0] + m for m in moves], [gaps[1] - m for m in moves])
    back = chance_of_last(count, [gaps[0] - m for m in moves], [gaps[1] + m for m in moves])
    return math.log(there / back) / epsilon


XI = 0.01

N, EPSILON, OMEGA = 10**6, 1.0, 0.1

NU, RATE = 1e-3, 1 / math.sqrt(2 * XI - XI**2)  # G = M = 1


class Example:
    """n - 1 records with c sin(2νs)/(2ν) + (h/(4w²)) cos(2wt), and one with ±((1-ξ) sin(νs)/ν - (1 - cos wt)/w²).

    α and the others' slope c and curvature h are such that every point lies ``gap`` threshold scales beyond α and
    √(ρα) plus their offsets. d = 2; the points are (2πi/ν, 0) for i < k and, last, (π/ν, π/w).
    """

    def __init__(self, count, gap):
        self.count, self.rho = count, 7.09
        scale = 4 / (N * EPSILON)
        self.offset = 16 * math.log(2 * count / OMEGA) / (N * EPSILON)
        self.slope = 0.02
        self.alpha = self.slope * (N - 1) / N - self.offset - gap * scale
        self.curvature = (math.sqrt(self.rho * self.alpha) + self.offset + gap * scale) * N / (N - 1)
        self.scale = scale

    def derivatives(self, s, t, sign):
        """Gradient and Hessian (diagonal) of the mean risk."""
        c, h, w = self.slope, self.curvature, RATE
        record = ((1 - XI) * math.cos(NU * s), -math.sin(w * t) / w)
        bends = (-(1 - XI) * NU * math.sin(NU * s), -math.cos(w * t))
        others = (c * math.cos(2 * NU * s), -h / (2 * w) * math.sin(2 * w * t))
        their_bends = (-2 * NU * c * math.sin(2 * NU * s), -h * math.cos(2 * w * t))
        gradient = [((N - 1) * one + sign * other) / N for one, other in zip(others, record, strict=True)]
        hessian = [((N - 1) * one + sign * other) / N for one, other in zip(their_bends, bends, strict=True)]
        return math.hypot(*gradient), min(hessian)

    def excess(self, s, t, sign):
        norm, smallest = self.derivatives(s, t, sign)
        beyond = (norm - self.alpha - self.offset, -smallest - math.sqrt(self.rho * self.alpha) - self.offset)
        return [one / self.scale for one in beyond]

    def loss(self):
        points = [(2 * math.pi * i / NU, 0.0) for i in range(self.count - 1)]
        last = (math.pi / NU, math.pi / RATE)
        chances = []
        for sign in (1, -1):
            values = [self.excess(*point, sign) for point in points]
            assert np.allclose(values, values[0], atol=1e-4)
            chances.append(chance_of_last(self.count, values[0], self.excess(*last, sign)))
        return math.log(chances[0] / chances[1]) / EPSILON


def test_the_example_satisfies_the_assumptions():
    example = Example(20, 0)
    s, t = np.meshgrid(np.linspace(0, 2 * math.pi / NU, 801), np.linspace(0, 2 * math.pi / RATE, 801))
    slope = np.hypot((1 - XI) * np.cos(NU * s), np.sin(RATE * t) / RATE)
    assert slope.max() <= 1 + 1e-12
    assert max((1 - XI) * NU, 1) <= 1  # the Hessian is diagonal
    assert max((1 - XI) * NU**2, RATE) <= example.rho  # third derivatives: 7.089
    others = np.hypot(example.slope * np.cos(2 * NU * s), example.curvature / 2 / RATE * np.sin(2 * RATE * t))
    assert others.max() <= 1
    assert max(2 * NU * example.slope, example.curvature) <= 1
    assert max(4 * NU**2 * example.slope, 2 * RATE * example.curvature) <= example.rho
    assert 0 < math.sqrt(example.rho * example.alpha) <= 1  # M >= √(ρα)


@pytest.mark.parametrize(("count", "reached"), [(20, 1.47), (100, 1.74)])
def test_the_privacy_loss_exceeds_epsilon(count, reached):
    assert reached < Example(count, 0).loss() <= 2


def test_the_loss_grows_from_four_points_on_towards_two():
    # any differences between points, rather than those of the example
    assert loss(4, (-14, 16), (1, 1)) > 1.2
    assert loss(3, (-14, 16), (1, 1)) <= 1
    grown = [loss(count, (0, 12), (1, 1)) for count in (20, 100, 10_000, 1_000_000)]
    assert grown == sorted(grown)
    assert 1.9 < grown[-1] <= 2
    for count in (3, 100, 1_000_000):
        assert loss(count, (0, 12), (1, 1), epsilon=0.3) <= 2
        # a record that is added or removed moves everything by half as much, to one side
        assert loss(count, (0, 12), (0.5, 0.5)) <= 1


def test_one_test_alone_keeps_epsilon():
    for count in (20, 10_000):
        assert loss(count, (3, 12), (1, 0)) <= 1


def test_accuracy_in_simulation():
    generator = np.random.default_rng(8)
    points, omega, runs = 20, 0.2, 4000
    offset, allowed = 4 * math.log(2 * points / omega), 8 * math.log(2 * points / omega)  # in threshold scales
    values = np.full((runs, points, 2), 3.0 * allowed)
    values[:, -1] = 0  # an α-SOSP, the last
    values[:, ::3] = 1.001 * allowed  # bad ones, just
    tests = values + 2 * generator.laplace(size=values.shape) <= offset + generator.laplace(size=(runs, 1, 2))
    passes = tests.all(axis=2)
    assert (~passes.any(axis=1)).mean() <= omega
    assert (passes.any(axis=1) & (passes.argmax(axis=1) != points - 1)).mean() <= omega


def test_accuracy_in_simulation_with_constants():
    generator = np.random.default_rng(9)
    points, omega, runs = 20, 0.2, 20_000
    allowed = 6 * math.log((points + 1) / omega)  # in threshold scales 4/(nε)
    values = np.full((runs, points), 3.0 * allowed)
    values[:, ::2] = 1.001 * allowed
    values[:, -1] = 0
    passes = values + 2 * generator.laplace(size=values.shape) <= allowed / 2 + generator.laplace(size=(runs, 1))
    good = passes.any(axis=1) & (passes.argmax(axis=1) == points - 1)
    assert 1 - good.mean() <= omega
    assert good.mean() < 1  # it can fail
