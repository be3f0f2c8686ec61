"""Groups of records on samples (``groups.md``): every small dataset, by enumeration; attained; and what breaks."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import dp_accounting as dpa
import numpy as np
import pytest
from flint import arb

import dpbounds as dp
from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants import groups
from dpbounds.privacy.accountants.groups import group_products, is_attained
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.pairs import gaussian_mixtures, losses
from dpbounds.privacy.pairs.pairs import (
    Direction,
    DrawnGaussians,
    Draws,
    MixedGaussians,
)
from dpbounds.privacy.relations import Relation
from tests.privacy.oracle import samplings
from tests.privacy.oracle.noise import Array
from tests.privacy.products import curve_of

AR, RE, ZO = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE, Relation.ZERO_OUT_ONE
Z = 2.0
ALPHAS = np.exp(np.linspace(-1.2, 1.2, 7))
POINTS = np.arange(-12, 12, 0.01)
VECTORS = (-1.0, 0.0, 1.0)
Data = tuple[float, ...]


def density(records: Data, sampling: samplings.Sampling) -> Array:
    """Of the noisy sum of a batch, from the definition of the sampling."""
    sums: Counter[float] = Counter()
    for counts, chance in sampling.counts(len(records)).items():
        sums[sum(n * vector for n, vector in zip(counts, records, strict=True))] += chance  # type: ignore[assignment]
    return np.asarray(
        sum(chance * np.exp(-((POINTS - s) ** 2) / (2 * Z * Z)) for s, chance in sums.items())
        / (Z * np.sqrt(2 * np.pi))
    )


def divergences(first: Data, second: Data, sampling: samplings.Sampling) -> Array:
    p, q = density(first, sampling), density(second, sampling)
    return np.array([np.maximum(p - alpha * q, 0).sum() * 0.01 for alpha in ALPHAS])


def worst(cases: Iterable[tuple[Data, Data]], sampling: samplings.Sampling) -> Array:
    return np.max([divergences(first, second, sampling) for first, second in cases], axis=0)


def leaving(group: int, others: int) -> list[tuple[Data, Data]]:
    found = itertools.combinations_with_replacement(VECTORS, group)
    return [(own + rest, rest) for own in found for rest in itertools.combinations_with_replacement(VECTORS, others)]


def replaced(group: int, others: int) -> list[tuple[Data, Data]]:
    rests = list(itertools.combinations_with_replacement(VECTORS, others))
    groups = list(itertools.combinations_with_replacement(VECTORS, group))
    return [(one + rest, other + rest) for one in groups for other in groups for rest in rests]


def turned(cases: list[tuple[Data, Data]]) -> list[tuple[Data, Data]]:
    return [(second, first) for first, second in cases]


def claimed(mechanism: dp.Mechanism, relation: Relation, k: int, which: int = 0) -> Array:
    ((pair, count),) = group_products(mechanism, relation, k)[0][which]
    assert count == 1
    return curve_of(pair, ALPHAS)


NOISE = dp.Gaussian(Z)
SHARP = [  # mechanism, relation, k, which product, sampling, cases
    (dp.PoissonSampled(NOISE, "0.4"), AR, 2, 0, samplings.Poisson(0.4), leaving(2, 1)),
    (dp.PoissonSampled(NOISE, "0.4"), AR, 3, 1, samplings.Poisson(0.4), turned(leaving(3, 0))),
    (dp.PoissonSampled(NOISE, "0.4"), RE, 2, 0, samplings.Poisson(0.4), replaced(2, 1)),
    (dp.PoissonSampled(NOISE, "0.4"), RE, 3, 0, samplings.Poisson(0.4), replaced(3, 0)),
    (dp.SampledWithoutReplacement(NOISE, 2, 4), AR, 2, 0, samplings.WithoutReplacement(2), leaving(2, 2)),
    (dp.SampledWithoutReplacement(NOISE, 2, 4), AR, 2, 1, samplings.WithoutReplacement(2), turned(leaving(2, 2))),
    (dp.SampledWithoutReplacement(NOISE, 1, 3), AR, 2, 0, samplings.WithoutReplacement(1), leaving(2, 1)),
    (dp.SampledWithoutReplacement(NOISE, 2, 5), AR, 3, 0, samplings.WithoutReplacement(2), leaving(3, 2)),
    (dp.SampledWithReplacement(NOISE, 2, 3), AR, 2, 0, samplings.WithReplacement(2), leaving(2, 1)),
    (dp.SampledWithReplacement(NOISE, 2, 4), AR, 2, 1, samplings.WithReplacement(2), turned(leaving(2, 2))),
    (dp.SampledWithReplacement(NOISE, 1, 4), AR, 3, 0, samplings.WithReplacement(1), leaving(3, 1)),
]


@pytest.mark.parametrize(("mechanism", "relation", "k", "which", "sampling", "cases"), SHARP)
def test_no_small_data_sets_spend_more_and_some_spend_it_all(
    mechanism: dp.Mechanism,
    relation: Relation,
    k: int,
    which: int,
    sampling: samplings.Sampling,
    cases: list[tuple[Data, Data]],
) -> None:
    assert claimed(mechanism, relation, k, which) == pytest.approx(worst(cases, sampling), abs=1e-6)
    assert is_attained(mechanism, relation, k)


@pytest.mark.seconds
def test_a_group_replaced_in_draws_with_replacement() -> None:
    """An upper bound, above every small dataset; the group's own attack is the lower end."""
    mechanism = dp.SampledWithReplacement(NOISE, 2, 4)
    found = claimed(mechanism, RE, 2)
    most = worst(replaced(2, 2), samplings.WithReplacement(2))
    assert (found >= most - 1e-6).all()
    assert (found <= most + 2e-3).all()
    assert not is_attained(mechanism, RE, 2)
    both = dp.group_account(mechanism, 2, epsilon=0, relation=RE)
    attack = DrawnGaussians(Direction.REMOVE, Draws(Fraction(1, 2), 2), Fraction(1))
    assert both.lower == pytest.approx(curve_of(attack, np.ones(1))[0], rel=1e-2)
    assert both.lower > dp.delta(mechanism, 0, RE).upper


@pytest.mark.parametrize(("batch", "size", "k"), [(2, 4, 2), (1, 4, 2), (2, 5, 2), (2, 5, 3)])
def test_a_group_replaced_in_batches_of_a_fixed_size(batch: int, size: int, k: int) -> None:
    """An upper bound, above every small dataset; the group's own attack is the lower end."""
    mechanism = dp.SampledWithoutReplacement(NOISE, batch, size)
    found = claimed(mechanism, RE, k)
    most = worst(replaced(k, size - k), samplings.WithoutReplacement(batch))
    assert (found >= most - 1e-6).all()
    assert (found <= most + 4e-3).all()
    if batch == 1:  # one release: attained at each threshold by one of two attacks
        assert found == pytest.approx(most, abs=1e-6)
    assert not is_attained(mechanism, RE, k)
    with pytest.raises(UnsupportedMechanism):
        group_products(dp.SampledWithoutReplacement(NOISE, 3, size), RE, size - 2)


@pytest.mark.minutes
def test_a_group_replaced_in_many_batches_beside_another_accountant() -> None:
    """Whose mixture is the lower end; the upper one lies 3 % above, and a chain of neighbours says 2.9."""
    from scipy.stats import hypergeom

    found = dp.group_account(dp.SampledWithoutReplacement(dp.Gaussian(4), 10, 100) ** 10, 3, delta="1e-5", relation=RE)
    chances = [float(chance) for chance in hypergeom.pmf(range(4), 100, 3, 10)]
    event = dpa.dp_event.MixtureOfGaussiansDpEvent(4, [2 * j for j in range(4)], chances)
    attack = dpa.pld.PLDAccountant().compose(event, 10).get_epsilon(1e-5)
    assert found.lower == pytest.approx(attack, rel=1e-2)
    assert attack < found.upper < 1.03 * attack < 2.9


@pytest.mark.seconds
def test_two_adaptive_steps_are_the_product() -> None:
    """A group of two, replaced on two Poisson samples: whoever reacts to the first output gains nothing."""
    z, q, alpha = 2.0, 0.4, 1.2
    x = np.arange(-11, 11, 0.1)
    weights = np.array([(1 - q) ** 2, 2 * q * (1 - q), q * q])

    def law(sign: float, first: float, second: float) -> Array:
        means = (0.0, first, second, first + second)
        chances = (weights[0], weights[1] / 2, weights[1] / 2, weights[2])
        found = sum(w * np.exp(-((x - sign * m) ** 2) / (2 * z * z)) for w, m in zip(chances, means, strict=True))
        return np.asarray(found) * 0.1 / (z * np.sqrt(2 * np.pi))

    sides = [law(1, a, b) for a, b in [(1, 1), (-1, -1), (1, -1)]]
    choices = [(p, q_) for p in sides for q_ in sides]
    best = max(
        float(
            np.max([np.maximum(np.outer(p, r) - alpha * np.outer(q_, s), 0).sum(axis=1) for r, s in choices], 0).sum()
        )
        for p, q_ in choices
    )
    mechanism = dp.PoissonSampled(dp.Gaussian(2), "0.4") ** 2
    found = dp.group_account(mechanism, 2, epsilon=repr(float(np.log(alpha))), relation=RE)
    assert best == pytest.approx(found.upper, abs=2e-5)
    assert found.exact_upper - found.exact_lower < Fraction(1, 1000) * found.exact_upper


@pytest.mark.seconds
def test_many_batches_beside_another_accountant() -> None:
    """Its mixtures of Gaussians, with the hypergeometric law from SciPy."""
    from scipy.stats import hypergeom

    k = 3
    chances = [float(chance) for chance in hypergeom.pmf(range(k + 1), 10_000, k, 100)]
    event = dpa.dp_event.MixtureOfGaussiansDpEvent(4, [2 * j for j in range(k + 1)], chances)
    theirs = dpa.pld.PLDAccountant().compose(event, 20).get_epsilon(1e-5)
    ours = dp.group_account(dp.SampledWithoutReplacement(dp.Gaussian(4), 100, 10_000) ** 20, k, delta="1e-5")
    assert theirs == pytest.approx(ours.upper, rel=1e-3)
    assert ours.exact_upper - ours.exact_lower < ours.exact_upper / 1000


@pytest.mark.seconds
def test_a_chain_spends_more_and_a_group_that_is_zeroed_less() -> None:
    steps = dp.PoissonSampled(dp.Gaussian(4), "0.1") ** 10
    three = dp.group_account(steps, 3, delta="1e-5", relation=RE)
    assert three.upper < 1.8861 < 1.898  # the second: what a chain of three neighbours proves
    assert dp.group_account(steps, 3, delta="1e-5", relation=ZO).upper < three.lower
    one = dp.group_account(steps, 1, delta="1e-5", relation=RE)
    assert one.upper < three.lower < dp.group_account(dp.Gaussian(4) ** 10, 3, delta="1e-5", relation=RE).lower


def test_where_presence_is_not_covered_nothing_is_mixed() -> None:
    """An absolute distance, under replace-one, says nothing of records that come and go."""
    with pytest.raises(UnsupportedMechanism):
        group_products(dp.PoissonSampled(dp.Gaussian(noise_stddev=2, sensitivity=1), "0.1"), RE, 2)


@pytest.mark.seconds
def test_a_chain_of_removals_ends_in_a_smaller_data_set() -> None:
    """Its last link draws from k - 1 records fewer than the first: all are accounted so."""
    sampled = dp.SampledWithoutReplacement(dp.Laplace(4), 2, 8)
    found = dp.group_account(sampled, 3, epsilon="0.1")
    one = dp.delta(dp.SampledWithoutReplacement(dp.Laplace(4), 2, 6), Fraction(1, 10))
    assert found.lower < one.lower < found.upper
    last = neighbour_classes(dp.SampledWithoutReplacement(dp.Laplace(4), 2, 6), AR)
    assert found.exact_upper == max(chain.delta(Fraction(1, 10)) for chain in groups._chains(last, AR, 3))
    for mechanism in (sampled, dp.SampledWithoutReplacement(dp.Gaussian(4), 2, 8)):
        with pytest.raises(UnsupportedMechanism, match="without a group of 7, 1 of dataset_size 8 records are left"):
            dp.group_account(mechanism, 7, epsilon=1)
    with pytest.raises(UnsupportedMechanism, match="no batch of 2"):
        dp.group_account(dp.SampledWithReplacement(dp.Gaussian(4), 2, 8), 8, epsilon=1)


@pytest.mark.parametrize("loss", ["1e-6", "0.3", "-5", "40"])
def test_opposite_mixtures_of_rare_records_are_inverted_in_few_steps(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newton's method from 0, which rounding never stopped, took 400 steps."""
    chances = (Fraction(9999, 10000), Fraction(99, 10**6), Fraction(1, 10**6))
    pair = MixedGaussians(Direction.REPLACE, tuple((Fraction(j**2, 4), chance) for j, chance in enumerate(chances)))
    evaluate, done = gaussian_mixtures._LogRatio._log_and_slope, []

    def counted(self: gaussian_mixtures._LogRatio, x: arb) -> tuple[arb, arb]:
        done.append(x)
        return evaluate(self, x)

    monkeypatch.setattr(gaussian_mixtures._LogRatio, "_log_and_slope", counted)
    with working(200):
        p, q = losses.law_of(pair).tail(arb(loss))
        assert p.rad() < p.mid() * arb("1e-40")
        assert len(done) < 30
        other, back = losses.law_of(pair).head(-arb(loss))  # mirrored
        assert p.overlaps(back)
        assert q.overlaps(other)
