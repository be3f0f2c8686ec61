"""The statements of pairs.md, sampling.md and losses.md that carry numbers, and the claims that are new there.

Two partitions (pairs.md) are in ``test_domination.py``; the obvious pair for draws with replacement (sampling.md) and
monotone queries under replace-one (losses.md) are traps of ``proofs/privacy/test_cells.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.privacy.pairs.pairs import (
    Direction,
    DrawnGaussians,
    Draws,
    Pair,
    Sampled,
    SampledGaussians,
    ShiftedGaussians,
)
from dpbounds.privacy.routes.lattice import delta_bounds
from tests.privacy.oracle.noise import Array
from tests.privacy.products import curve_of

ALPHAS = np.exp(np.linspace(-1.5, 1.5, 13))


def profile(pair: Pair, alphas: Array = ALPHAS) -> Array:
    return curve_of(pair, alphas)


def normal(mean: float, points: Array, stddev: float = 1.0) -> Array:
    return np.asarray(np.exp(-((points - mean) ** 2) / (2 * stddev**2)) / (stddev * math.sqrt(2 * math.pi)))


# --- The Gaussian comparison for adaptive steps ----------------------------------------------------------------------

Types = Sequence[float]  # where each type lies, in one release
_POINTS = np.arange(-9, 9, 0.02)
_COARSE = np.arange(-9, 9, 0.05)


def played(choices: Sequence[Types], weights: Sequence[float], constant: float, stddev: float) -> float:
    """The best of an adversary who places the types anew after the first of two releases, by quadrature.

    Max of E (Σ_a w_a S_a - c)_+ where S_a is the likelihood ratio of type a to "not drawn".
    """
    ratios = {
        m: np.exp(m * _POINTS / stddev - m * m / (2 * stddev**2)) for m in {m for types in choices for m in types}
    }
    base = normal(0, _POINTS) * 0.02

    def second(state: Array) -> Array:  # one row per first output
        best = np.full(len(state), -1.0)
        for types in choices:
            total = sum(w * state[:, [a]] * ratios[m] for a, (w, m) in enumerate(zip(weights, types, strict=True)))
            best = np.maximum(best, np.maximum(total - constant, 0) @ base)
        return best

    found = []
    for types in choices:
        first = np.exp(np.outer(_COARSE, types) / stddev - np.array(types) ** 2 / (2 * stddev**2))
        found.append(float(second(first) @ (normal(0, _COARSE) * 0.05)))
    return max(found)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.6])
def test_two_adaptive_releases_on_one_poisson_sample_under_replace_one(alpha: float) -> None:
    rate, stddev = 0.4, 1.5
    choices = [(g, h) for g in (-1.0, 0.0, 1.0) for h in (-1.0, -0.5, 1.0)]
    best = played(choices, (rate, -alpha * rate), (alpha - 1) * (1 - rate), stddev)
    merged = SampledGaussians(Direction.REPLACE, Fraction(2, 5), Fraction(9, 8))  # 1/z² = 2 · 4/9
    alone = SampledGaussians(Direction.REPLACE, Fraction(2, 5), Fraction(9, 4))
    claimed = profile(merged, np.array([alpha]))[0]
    assert best == pytest.approx(claimed, abs=3e-4)  # dominated, and attained
    assert best < claimed + 3e-5
    assert best > profile(alone, np.array([alpha]))[0] + 0.02


@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
@pytest.mark.parametrize("alpha", [0.8, 1.3])
def test_two_adaptive_releases_on_one_batch_with_replacement(direction: Direction, alpha: float) -> None:
    p, stddev = 1 / 3, 2.5  # three records, two slots: types "first slot", "second slot", "both"
    weights = np.array([p * (1 - p), p * (1 - p), p * p])
    absent = (1 - p) ** 2
    choices = [
        (g - one, g - other, 2 * g - one - other)
        for g, one, other in [(1.0, -1.0, -1.0), (-1.0, 1.0, 1.0), (1.0, 1.0, -1.0), (1.0, 0.0, -1.0), (0.5, 0.0, 0.5)]
    ]
    if direction is Direction.REMOVE:
        best = played(choices, weights.tolist(), alpha - absent, stddev)
    else:
        best = played(choices, (-alpha * weights).tolist(), alpha * absent - 1, stddev)
    claimed = profile(DrawnGaussians(direction, Draws(Fraction(1, 3), 2), 2 * 4 * Fraction(4, 25)), np.array([alpha]))[
        0
    ]
    assert best == pytest.approx(claimed, abs=3e-4)
    assert best < claimed + 3e-5


# --- Numbers that are stated -----------------------------------------------------------------------------------------


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_symmetrised_pair_inside_a_sample_is_not_attained() -> None:
    """One of two of four records is one of four."""
    inner = Sampled(Direction.REPLACE, Draws(Fraction(1, 2)), ShiftedGaussians(Fraction(4)))
    nested = ((Sampled(Direction.REMOVE, Draws(Fraction(1, 2)), inner), 2),)
    flat = ((SampledGaussians(Direction.REMOVE, Fraction(1, 4), Fraction(1, 4)), 2),)
    spent = [delta_bounds(product, Fraction(1, 5), tolerance=1e-3).enclosure for product in (nested, flat)]
    assert spent[0].lower > 0.2475
    assert spent[1].upper < 0.2411
