"""The rate that Opacus' sampler draws at: by exact numbers, and by enumeration of all that PyTorch can draw."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.publishing.interoperability import drawn_rate
from dpbounds.privacy.publishing.interoperability.opacus_sampler import GRID, demand_known_sampler, demand_threshold

RATES = [1 / 24, 0.01, 1 / 93, 1e-6, 1e-9, 0.3, 1 / 3, 0.7, 2.0**-24, 1.5 * 2**-24, 1 - 2**-26, 1.0, 1e-45]


@pytest.fixture(scope="module")
def grid() -> np.ndarray:
    """All numbers that PyTorch can draw, in increasing order."""
    return np.arange(GRID, dtype=np.float32) / np.float32(GRID)


@pytest.mark.parametrize("rate", RATES)
def test_all_numbers_on_the_grid_below_the_rate_in_single_precision(rate: float, grid: np.ndarray) -> None:
    assert drawn_rate(rate) == Fraction(int(np.searchsorted(grid, np.float32(rate))), GRID)


@given(st.floats(2.0**-40, 1))
def test_the_rate_is_near_the_one_asked_for(rate: float) -> None:
    assert -Fraction(1, 2**25) <= drawn_rate(rate) - Fraction(rate) < Fraction(3, 2**25)


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, 1e-46, "nan"])
def test_rates_that_draw_nothing_or_make_no_sense_are_refused(rate: Any) -> None:
    with pytest.raises(InvalidValue, match="sample_rate"):
        drawn_rate(rate)


class TestWithOpacus:
    """Skipped where Opacus is not installed."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("opacus")

    @pytest.mark.seconds_cases("0.041666666666666664")
    @pytest.mark.one_in(4)
    @pytest.mark.parametrize("rate", RATES)
    def test_the_installed_comparison_enumerated(self, rate: float, grid: np.ndarray) -> None:
        import torch

        assert drawn_rate(rate) == Fraction(int((torch.from_numpy(grid) < rate).sum()), GRID)
        demand_known_sampler(rate)

    def test_the_grid_is_what_pytorch_draws(self) -> None:
        import torch

        drawn = torch.rand(100_000, generator=torch.Generator().manual_seed(5)).double() * GRID
        words = torch.randint(0, GRID, (100_000,), generator=torch.Generator().manual_seed(5))
        assert torch.equal(drawn, words.double())

    def test_samplers_that_draw_otherwise_are_noticed(self) -> None:
        import torch
        from opacus.utils.uniform_sampler import UniformWithReplacementSampler as Sampler

        class Closed(Sampler):  # type: ignore[misc]
            def __iter__(self) -> Any:
                for _ in range(self.steps):
                    yield (
                        (torch.rand(self.num_samples, generator=self.generator) <= self.sample_rate)
                        .nonzero()
                        .reshape(-1)
                        .tolist()
                    )

        class Double(Sampler):  # type: ignore[misc]
            def __iter__(self) -> Any:
                for _ in range(self.steps):
                    mask = torch.rand(self.num_samples, generator=self.generator, dtype=torch.float64)
                    yield (mask < self.sample_rate).nonzero().reshape(-1).tolist()

        class Compared(Sampler):  # type: ignore[misc]
            def __iter__(self) -> Any:
                for _ in range(self.steps):
                    mask = torch.rand(self.num_samples, generator=self.generator).double() < self.sample_rate
                    yield mask.nonzero().reshape(-1).tolist()

        class Stale(Sampler):  # type: ignore[misc]
            def __iter__(self) -> Any:
                once = (torch.rand(self.num_samples, generator=self.generator) < self.sample_rate).nonzero()
                for _ in range(self.steps):
                    yield once.reshape(-1).tolist()

        class Shuffled(Sampler):  # type: ignore[misc]
            def __iter__(self) -> Any:
                for _ in range(self.steps):
                    yield torch.randperm(self.num_samples)[:2].tolist()

        class NoEmpty(Sampler):  # type: ignore[misc]
            def __iter__(self) -> Any:
                for _ in range(self.steps - 1):
                    yield (
                        (torch.rand(self.num_samples, generator=self.generator) < self.sample_rate)
                        .nonzero()
                        .reshape(-1)
                        .tolist()
                    )

        demand_threshold(Sampler, 0.7)
        for other, rate in (
            (Closed, 0.5),
            (Double, 0.5),
            (Compared, 0.7),
            (Stale, 0.5),
            (Shuffled, 0.5),
            (NoEmpty, 0.5),
        ):
            with pytest.raises(UnsupportedMechanism, match="not supported"):
                demand_threshold(other, rate)

    def test_another_pytorch_is_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import torch

        real = torch.rand
        monkeypatch.setattr(torch, "rand", lambda *a, **k: 1 - real(*a, **k))  # (0, 1], as on a GPU
        with pytest.raises(UnsupportedMechanism, match="lowest 24 bits"):
            demand_known_sampler(0.5)
