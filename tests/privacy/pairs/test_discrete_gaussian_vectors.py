"""Vectors of discrete Gaussian noise: the bound of rounded continuous noise, against sums over all outcomes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

import dpbounds as dp
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.pairs import DiscreteGaussianVectors, RenyiProfile, ShiftedGaussians, closeness
from dpbounds.privacy.pairs.gaussian import together
from dpbounds.privacy.pairs.losses import law_at
from dpbounds.privacy.publishing.checker.profiles import vectors_profile

ADD, REPLACE = "add-or-remove-one", "replace-one"


def summed_delta(variance: float, moves: tuple[int, ...], epsilon: float) -> float:
    """δ(ε) of independent discrete Gaussians that move, as a sum over all outcomes."""
    reach = math.ceil(13 * math.sqrt(variance)) + max(moves)
    x = np.arange(-reach, reach + 1)
    p, q = np.ones(1), np.ones(1)
    for move in moves:
        f, g = (np.exp(-((x - at) ** 2) / (2 * variance)) for at in (move, 0))
        p, q = np.outer(p, f / f.sum()).ravel(), np.outer(q, g / g.sum()).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def vectors_of(squared: int, coordinates: int) -> set[tuple[int, ...]]:
    """All vectors of whole numbers of at most such a squared norm, up to order and signs."""
    whole = range(math.isqrt(squared) + 1)
    return {
        tuple(sorted(w)) for w in itertools.product(whole, repeat=coordinates) if 0 < sum(v * v for v in w) <= squared
    }


@pytest.mark.parametrize(("variance", "squared", "moved"), [("4", 9, 2), ("0.81", 5, 2), ("60", 9, 1), ("2.25", 3, 3)])
def test_no_vector_spends_more(variance: str, squared: int, moved: int) -> None:
    """For every vector of the norm, in both orders; for much noise the bound is within a fifth of the worst of them."""
    pair = DiscreteGaussianVectors(Fraction(variance), Fraction(squared), moved)
    with working(128):
        law = law_at(pair, 128)
        for epsilon in ("0", "0.1", "0.7", "1.5", "3"):
            worst = max(summed_delta(float(variance), w, float(epsilon)) for w in vectors_of(squared, moved))
            formula, envelope = pair.closed_delta(Fraction(epsilon)), law.delta(arb(epsilon))
            assert worst * (1 - 1e-9) < float(formula)
            assert worst * (1 - 1e-9) < float(envelope)
            below = 1 - math.exp(-float(epsilon)) + math.exp(-float(epsilon)) * worst  # H at α = e^-ε, other order
            assert below * (1 - 1e-9) < float(law.delta(arb(f"-{epsilon}")))
            if float(variance) > 10 and worst > 1e-5:
                assert float(formula) < 1.2 * worst


@pytest.mark.parametrize(("variance", "scale"), [("4", "0.5"), ("9", "1"), ("1", "0.25"), ("100", "4")])
def test_rounded_noise_fails_as_seldom_as_claimed(variance: str, scale: str) -> None:
    """Against the theta functions: 1 - θ₄(s)/θ₃(σ²) for a coordinate, and not much more."""
    pair = DiscreteGaussianVectors(Fraction(variance), Fraction(12), 7, Fraction(1, 10**9))
    with working(200), mpmath.workdps(60):
        claimed = mpmath.mpf(pair._failure(Fraction(scale)).mid().str(50, radius=False))
        q, own = (mpmath.exp(-2 * mpmath.pi**2 * mpmath.mpf(each)) for each in (scale, variance))
        ratio = mpmath.jtheta(4, 0, q) / mpmath.jtheta(3, 0, own) * mpmath.exp(-(mpmath.mpf(10) ** -9))
        assert 1 - ratio**7 <= claimed
        assert claimed < mpmath.mpf("1.01") * 7 * (1 - ratio)


@pytest.mark.seconds
def test_discrete_noise_exceeds_rounded_continuous_noise_at_every_number() -> None:
    """Section 1 of the proof, by quadrature: with so small an s that rounding matters."""
    variance, s, move = mpmath.mpf(1), mpmath.mpf("0.1"), 2
    pair = DiscreteGaussianVectors(Fraction(1), Fraction(4), 1)
    with mpmath.workdps(20), working(100):
        claimed = 1 - float(pair._failure(Fraction("0.1")))
        total = mpmath.nsum(lambda x: mpmath.exp(-(x**2) / (2 * variance)), [-20, 20])

        def weights(y: mpmath.mpf) -> mpmath.mpf:
            near = int(mpmath.nint(y))
            return mpmath.fsum(mpmath.exp(-((x - y) ** 2) / (2 * s)) for x in range(near - 6, near + 7))

        for x in (0, 2, 5):

            def density(y: mpmath.mpf, x: int = x) -> mpmath.mpf:
                kept = variance - s
                normal = mpmath.exp(-((y - move) ** 2) / (2 * kept)) / mpmath.sqrt(2 * mpmath.pi * kept)
                return normal * mpmath.exp(-((x - y) ** 2) / (2 * s)) / weights(y)

            rounded = mpmath.quad(density, [k / mpmath.mpf(2) for k in range(-10, 21)])
            discrete = mpmath.exp(-((x - move) ** 2) / (2 * variance)) / total
            assert claimed * float(rounded) <= float(discrete) * (1 + 1e-9)


@pytest.mark.seconds
def test_much_noise_spends_what_continuous_noise_does() -> None:
    """Two bounds of a coordinate, and of samples, within some 10^-4; the divergences alone are a fifth above."""
    vectors, line = dp.DiscreteGaussian(100, 100), dp.Gaussian(1)
    for count, most in ((1, 2e-4), (10, 5e-4)):
        found, continuous = (account(m**count, delta="1e-5", relation=ADD).enclosure for m in (vectors, line))
        assert found.lower > 0
        assert continuous.upper * (1 - 1e-4) < found.upper < continuous.upper * (1 + most)
    by_divergences = account(dp.ZCDP(Fraction(1, 2), relation=ADD), delta="1e-5", relation=ADD).enclosure
    assert account(vectors, delta="1e-5", relation=ADD).enclosure.upper < 0.96 * by_divergences.upper


@pytest.mark.seconds
def test_samples_of_vectors_gain_as_much_as_with_continuous_noise() -> None:
    sampled = [dp.PoissonSampled(m, "0.01") ** 100 for m in (dp.DiscreteGaussian(100, 100), dp.Gaussian(1))]
    found, continuous = (account(m, delta="1e-5", relation=ADD).enclosure for m in sampled)
    assert found.lower <= continuous.upper * (1 + 1e-3)
    assert continuous.lower < found.upper < continuous.upper * (1 + 1e-3)


def test_equal_noise_is_merged_and_unequal_noise_is_not() -> None:
    one, other = (DiscreteGaussianVectors(Fraction(9), Fraction(squared), 3) for squared in (5, 8))
    further = DiscreteGaussianVectors(Fraction(10), Fraction(5), 3)
    shared = DiscreteGaussianVectors(Fraction(9), Fraction(5), 3, Fraction(1, 100))
    half, half_again = ShiftedGaussians(Fraction(1, 2)), ShiftedGaussians(Fraction(1, 2))
    found = together([(one, 2), (half, 3), (other, 1), (further, 1), (shared, 1), (half_again, 1)])
    assert dict(found) == {
        DiscreteGaussianVectors(Fraction(9), Fraction(18), 9): 1,
        ShiftedGaussians(Fraction(2)): 1,
        further: 1,
        shared: 1,
    }


def test_several_records_move_further_in_more_coordinates() -> None:
    pair = DiscreteGaussianVectors(Fraction(9), Fraction(5), 3)
    assert pair.enlarged(3) == DiscreteGaussianVectors(Fraction(9), Fraction(45), 9)
    with pytest.raises(dp.UnsupportedMechanism):
        DiscreteGaussianVectors(Fraction(9), Fraction(5), 3, Fraction(1, 100)).enlarged(2)


@pytest.mark.seconds
def test_sums_of_shares_pay_for_their_closeness() -> None:
    near = closeness(Fraction(1), 3)
    pair, sums = (DiscreteGaussianVectors(Fraction(3), Fraction(9), 4, each) for each in (Fraction(0), near))
    assert sums.divergences == RenyiProfile((), Fraction(3, 2), 4 * near)
    with working(128):
        apart = sums._failure(Fraction(1)) - pair._failure(Fraction(1))
        assert apart.overlaps(arb(4 * near.numerator) / near.denominator)
    mechanism = dp.NoiseInShares("discrete-gaussian", 100, 100, 50)
    found = account(mechanism, delta="1e-5", relation="zero-out-one").enclosure
    continuous = account(dp.Gaussian(2), delta="1e-5", relation="zero-out-one").enclosure
    assert continuous.upper < found.upper < continuous.upper * (1 + 1e-3)


@pytest.mark.parametrize("alpha", ["0.2", "1", "1.3", "4", "40"])
def test_the_checker_derives_the_same_bound(alpha: str) -> None:
    pair = DiscreteGaussianVectors(Fraction(30), Fraction(25), 9)
    with working(128):
        found = vectors_profile({pair.variance: (pair.squared, pair.moved)})(arb(alpha))
        other = law_at(pair, 128).delta(arb(alpha).log())
        beyond = max(0.0, 1 - float(alpha))  # of any pair
        assert float(found) - beyond == pytest.approx(float(other) - beyond, rel=5e-3, abs=1e-9)


@pytest.mark.parametrize("stddev", [Fraction(10**200), Fraction(1, 10**100)], ids=["wide", "narrow"])
def test_noise_beyond_the_range_of_doubles_has_an_answer(stddev: Fraction) -> None:
    found = account(dp.DiscreteGaussian(stddev, 2), delta="1e-5", relation=ADD).enclosure
    assert found.exact_lower <= found.exact_upper
    assert (found.exact_upper < Fraction(1, 10**100)) == (stddev > 1)
