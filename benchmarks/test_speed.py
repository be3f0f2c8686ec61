"""Side by side in one run: with dp_accounting's accountants (proven here, unproven there), and with the plain way.

    pytest benchmarks -m minutes -n 0 -s

prints medians of CPU seconds and their ratio. Nothing is asserted about time; that both find the same number is.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import dp_accounting
import flint
import pytest
from dp_accounting import pld, rdp

import dpbounds as dp
from dpbounds.privacy.pairs import losses as laws
from dpbounds.privacy.pairs.gaussian_sums import sums_over_draws
from dpbounds.privacy.pairs.pairs import Direction, Draws, Sampled, ShiftedGaussians
from dpbounds.privacy.routes.contour import growing
from dpbounds.privacy.routes.lattice import bounds

RUNS, FEW_RUNS, MANY_RUNS = 7, 3, 51
Call = Callable[[], float]


def _median(call: Callable[[], float], runs: int = RUNS) -> tuple[float, float]:
    call()
    times = []
    value = 0.0
    for _ in range(runs):
        start = time.process_time()
        value = call()
        times.append(time.process_time() - start)
    return statistics.median(times), value


def _side_by_side(title: str, ours: Call, theirs: Call, runs: int = RUNS) -> tuple[float, float]:
    ours_seconds, ours_value = _median(ours, runs)
    theirs_seconds, theirs_value = _median(theirs, runs)
    print(
        f"\n{title}: dpbounds {1e3 * ours_seconds:.1f} ms (proven), dp_accounting {1e3 * theirs_seconds:.1f} ms, "
        f"ratio {ours_seconds / theirs_seconds:.3f}; values {ours_value:.10g}, {theirs_value:.10g}"
    )
    return ours_value, theirs_value


def _pld_epsilon(delta: float, *parts: tuple[float, dp_accounting.DpEvent, int]) -> float:
    """Of Poisson samples: a rate, what is released of them, and how often."""
    accountant = pld.PLDAccountant()
    for rate, released, count in parts:
        accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, released), count)
    return float(accountant.get_epsilon(delta))


@pytest.mark.minutes
@pytest.mark.parametrize(
    ("q", "z", "steps", "delta"), [(0.01, 1.0, 10_000, 1e-6), (0.1, 1.0, 10_000, 1e-5), (0.001, 0.7, 100_000, 1e-6)]
)
def test_epsilon(q: float, z: float, steps: int, delta: float) -> None:
    mechanism = dp.PoissonSampled(dp.Gaussian(z), q) ** steps
    ours, theirs = _side_by_side(
        f"epsilon, q={q}, z={z}, T={steps}, delta={delta}",
        lambda: dp.epsilon(mechanism, delta).upper,
        lambda: _pld_epsilon(delta, (q, dp_accounting.GaussianDpEvent(z), steps)),
    )
    assert abs(ours / theirs - 1) < 0.02


@pytest.mark.minutes
@pytest.mark.parametrize(("levels", "q"), [(10, 0.01), (30, 0.01), (100, 0.01), (100, 0.05)])
def test_a_schedule_of_noise(levels: int, q: float) -> None:
    """From 0.8 to 2, five steps each: Opacus' prv takes 5.7 s for 100; dp_accounting composes law after law."""
    noise = [0.8 + 1.2 * index / (levels - 1) for index in range(levels)]
    mechanism = dp.Composed(tuple((dp.PoissonSampled(dp.Gaussian(z), q), 5) for z in noise))
    value, other = _side_by_side(
        f"{levels} levels of noise, q={q}",
        _fresh(lambda: dp.epsilon(mechanism, 1e-5).upper),
        lambda: _pld_epsilon(1e-5, *((q, dp_accounting.GaussianDpEvent(z), 5) for z in noise)),
        FEW_RUNS,
    )
    assert abs(value / other - 1) < 0.01


@pytest.mark.minutes
def test_asked_after_each_epoch() -> None:
    """50 epochs of 100 steps, each with less noise than the one before; with and without what is kept in between."""

    def history(epochs: int) -> dp.Mechanism:
        steps = [(dp.PoissonSampled(dp.Gaussian(2 - 0.02 * epoch), "0.01"), 100) for epoch in range(epochs)]
        return dp.Composed(tuple(steps))

    def total(asked: Callable[[Callable[[], float]], Callable[[], float]]) -> tuple[float, list[float]]:
        growing.forget()
        start = time.process_time()
        found = [asked(lambda epochs=epochs: dp.epsilon(history(epochs), 1e-5).upper)() for epochs in range(1, 51)]
        return time.process_time() - start, found

    short, kept = total(lambda call: call)
    long, alone = total(_fresh)
    print(f"\nasked after each of 50 epochs: {short:.1f} s, each time afresh {long:.1f} s, ratio {short / long:.3f}")
    assert kept == alone


@pytest.mark.minutes
@pytest.mark.parametrize("z", [0.1, 1, 10, 100, 1000])
def test_composed_gaussians(z: float) -> None:
    mechanism = dp.Gaussian(z) ** 100
    ours, exact = _side_by_side(
        f"100 Gaussians on the full batch, z={z}",
        lambda: dp.epsilon(mechanism, 1e-5).upper,
        lambda: float(dp_accounting.gaussian_mechanism.get_epsilon_gaussian(z / 10, 1e-5)),
        MANY_RUNS,
    )
    assert ours == pytest.approx(exact, rel=1e-6)


@pytest.mark.minutes
def test_rare_jumps() -> None:
    mechanism = dp.PoissonSampled(dp.Gaussian("0.59"), "2e-5") ** 5562
    ours, theirs = _side_by_side(
        "rare jumps (there within the spacing of its grid)",
        lambda: dp.epsilon(mechanism, 1e-6).upper,
        lambda: _pld_epsilon(1e-6, (2e-5, dp_accounting.GaussianDpEvent(0.59), 5562)),
        FEW_RUNS,
    )
    found = dp.epsilon(mechanism, 1e-6)
    print(f"relative width {found.width / found.upper:.1e}")
    assert found.width < 1e-11 * found.upper
    assert abs(ours - theirs) < 1e-3


@pytest.mark.minutes
def test_sampled_laplace() -> None:
    mechanism = dp.PoissonSampled(dp.Laplace(1), "0.01") ** 1000
    ours, other = _side_by_side(
        "1000 sampled Laplace",
        _fresh(lambda: dp.epsilon(mechanism, 1e-5).upper),
        lambda: _pld_epsilon(1e-5, (0.01, dp_accounting.LaplaceDpEvent(1), 1000)),
    )
    assert abs(ours / other - 1) < 0.01


@pytest.mark.minutes
def test_calibration() -> None:
    def theirs() -> float:
        return float(
            dp_accounting.calibrate_dp_mechanism(
                pld.PLDAccountant,
                lambda z: dp_accounting.SelfComposedDpEvent(
                    dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(z)), 10_000
                ),
                1.0,
                1e-6,
            )
        )

    ours_value, theirs_value = _side_by_side(
        "noise for epsilon=1, delta=1e-6, q=0.01, T=10000",
        lambda: dp.get_noise_multiplier(target_epsilon=1, target_delta=1e-6, sample_rate=0.01, steps=10_000),
        theirs,
    )
    assert abs(ours_value / theirs_value - 1) < 0.01


# --- Batches of a fixed size: the lattice route ----------------------------------------------------------------------


def _fresh(call: Callable[[], float]) -> Callable[[], float]:
    """The call without what earlier ones left behind: a person asks once."""

    def asked() -> float:
        laws.law_at.cache_clear()
        bounds.choices._nodes_of_law.cache_clear()
        growing.forget()
        return call()

    return asked


@pytest.mark.minutes
@pytest.mark.parametrize("steps", [100, 1000])
def test_batches_without_replacement(steps: int) -> None:
    def theirs() -> float:
        accountant = rdp.RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
        event = dp_accounting.SampledWithoutReplacementDpEvent(
            1000, 100, dp_accounting.GaussianDpEvent(1.0)
        )  # per distance
        accountant.compose(event, steps)
        return float(accountant.get_epsilon(1e-5))

    mechanism = dp.SampledWithoutReplacement(dp.Gaussian(2), batch_size=100, dataset_size=1000) ** steps
    _side_by_side(
        f"epsilon of batches without replacement, T={steps} (another bound there)",
        _fresh(lambda: dp.epsilon(mechanism, "1e-5", "replace-one").upper),
        theirs,
    )


@pytest.mark.minutes
@pytest.mark.parametrize("steps", [100, 1000])
def test_batches_with_replacement_against_without(steps: int) -> None:
    """What several draws cost: nobody else proves an answer, so the yardstick is a batch without replacement."""

    def batches(sampled: Callable[..., dp.Mechanism]) -> Callable[[Fraction | int], dp.Mechanism]:
        return lambda noise: sampled(dp.Gaussian(noise), batch_size=100, dataset_size=1000) ** steps

    with_replacement, without = batches(dp.SampledWithReplacement), batches(dp.SampledWithoutReplacement)
    for asked, answer in (
        ("epsilon", lambda sampled: dp.epsilon(sampled(2), "1e-5", "replace-one").upper),
        ("noise for epsilon=1", lambda sampled: float(dp.calibrate(sampled, 1, "1e-5", "replace-one").value)),
    ):
        drawn, drawn_value = _median(_fresh(lambda answer=answer: answer(with_replacement)), FEW_RUNS)
        once, once_value = _median(_fresh(lambda answer=answer: answer(without)), FEW_RUNS)
        print(
            f"\n{asked}, T={steps}: with replacement {drawn:.2f} s, without {once:.2f} s, ratio {drawn / once:.2f}; "
            f"values {drawn_value:.10g}, {once_value:.10g}"
        )
        assert drawn_value > once_value  # drawn twice, a record is told apart more easily


@pytest.mark.minutes
def test_sums_over_draws_against_all_terms() -> None:
    draws, squared_shift = Draws(Fraction(1, 1000), 100), Fraction(1, 20)
    pair, losses = Sampled(Direction.REMOVE, draws, ShiftedGaussians(squared_shift)), range(-100, 400)
    with flint.ctx.workprec(192):
        places = [laws.ball(Fraction(loss, 250)) for loss in losses]
        weights, _ = laws.counts_of(draws)
        plain = laws.plain_sums(weights, [pair.base.enlarged(k + 1).distribution() for k in range(len(weights))])
        ours = sums_over_draws(weights, laws.ball(squared_shift).sqrt())
        short, _ = _median(lambda: float(sum(ours.tail(place)[0] for place in places)))
        long, _ = _median(lambda: float(sum(plain.tail(place)[0] for place in places)))
        assert all(
            one.overlaps(other)
            for place in places
            for one, other in zip(ours.tail(place), plain.tail(place), strict=True)
        )
    print(
        f"\ntails: {1e6 * short / len(places):.0f} us, all terms {1e6 * long / len(places):.0f} us, {short / long:.3f}"
    )
