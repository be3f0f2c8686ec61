"""One of m bins under replace-one on a signed geometric grid: against quadrature, enumeration and simulated runs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from unittest.mock import MagicMock

import numpy as np
import pytest
from flint import arb
from scipy.special import ndtr

import dpbounds as dp
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Allocated, Direction, ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation import low_noise, replace_one, signed_grid
from dpbounds.privacy.routes.allocation.one_bin import cells_of
from dpbounds.privacy.routes.allocation.signed_grid import Fineness, Frame, Laws
from tests.privacy.routes.test_replace_one import CASES, by_quadrature, exact_call, pair_of

F = Fraction
RE = dp.Relation.REPLACE_ONE
H = F(1, 4)
FRAME = Frame(H, (-5, -4), 9)  # of two thresholds: short, so that sums leave it on either side
TWO = (1.5, 4.0)


# --- Against quadrature ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "spacing"),
    [
        ("two", F(1, 2)),
        ("one step of many", F(1, 2)),
        *(pytest.param(name, h, marks=pytest.mark.seconds) for name in CASES for h in (F(3, 10), F(1, 16))),
    ],
)
def test_the_profile_is_enclosed(name: str, spacing: Fraction) -> None:
    pair, shifts, idle = CASES[name]
    found = list(itertools.islice(signed_grid.points(pair, Fineness(spacing, 2), 1e-6), 6))
    for each in found[::2]:
        truth = by_quadrature(shifts, idle, float(each.alpha))
        low = float(each.seen - each.alpha * each.mistaken)
        assert low <= truth * (1 + 1e-9) + 1e-16
        assert truth <= float(each.profile) * (1 + 1e-9) + 1e-16
        assert each.width < 12 * float(spacing) ** 2 or truth < 1e-4


def test_two_bins_are_one_gaussian_down_to_the_rarest() -> None:
    """N(μe_1) or N(μe_2) against their opposites is N(√2 μ) against N(0): u_1 + u_2 over w_1 + w_2 is u_1 u_2 e^μ²."""
    found = list(signed_grid.points(pair_of(2, ("4", 2)), Fineness(F(1, 10), 2), 1e-20))
    for each in found[::3]:
        with working(200):
            mu, loss = arb(8).sqrt(), ball(each.alpha).log()
            low, high = loss / mu - mu / 2, loss / mu + mu / 2
            exact = ((low / arb(2).sqrt()).erfc() - ball(each.alpha) * (high / arb(2).sqrt()).erfc()) / 2
            assert ball(each.profile) >= exact
            assert ball(each.seen - each.alpha * each.mistaken) <= exact
        assert each.width < 0.1
    assert found[-1].profile < 1e-19


@pytest.mark.seconds
def test_simulated_runs_agree() -> None:
    """P(no test does better) by a million draws from P: E (1 - α/R)_+, where noise is little."""
    mu, bins, rng = 10 / 3, 10, np.random.default_rng(7)
    y = rng.standard_normal((1_000_000, bins))
    y[:, 0] += mu
    inverse = np.exp(-mu * y).sum(axis=1) / np.exp(mu * y).sum(axis=1)
    pair = Allocated(Direction.REPLACE, bins, ((ShiftedGaussians(F(100, 9)), bins),))
    for each in list(signed_grid.points(pair, Fineness(F(1, 16), 4), 1e-5))[::4]:
        gains = np.maximum(1 - float(each.alpha) * inverse, 0)
        off = 5 * float(gains.std()) / 1000
        assert float(each.seen - each.alpha * each.mistaken) - off <= gains.mean() <= float(each.profile) + off
        assert each.width < 6e-3 or each.profile < F(1, 100)


# --- What floating point and the grid may do --------------------------------------------------------------------------


def law(seed: int) -> Laws:
    rng = np.random.default_rng(seed)

    def masses() -> np.ndarray:
        found: np.ndarray = rng.random((3, 2, FRAME.length)) ** 4
        return found / 30

    return Laws(masses(), masses(), rng.random((3, 2)) / 30, rng.random(2) / 100, 3)


def atoms(laws: Laws, index: int, row: int) -> list[tuple[arb, arb]]:
    """Values and masses, exact."""
    points = [((FRAME.firsts[row] + i) * ball(H)).exp() for i in range(FRAME.length)]
    found = [(arb(0), arb(float(laws.zero[index, row])))]
    for sign, part in ((1, laws.positive), (-1, laws.negative)):
        found += [(sign * x, arb(float(mass))) for x, mass in zip(points, part[index, row], strict=True)]
    return found


def call(law_: list[tuple[arb, arb]], threshold: float) -> arb:
    return sum((mass * (x - threshold) for x, mass in law_ if x > threshold), arb(0))


def pairs_of(one: Laws, other: Laws, index: int, also: int, row: int) -> list[tuple[arb, arb]]:
    return [(x + y, p * q) for x, p in atoms(one, index, row) for y, q in atoms(other, also, row)]


CUTS = (-3.0, 0.0, 2.0, 30.0)


def test_sums_are_not_lowered() -> None:
    """E (sum - a)_+ of what is rounded, and what it says was lost, is at least that of the exact sum of two."""
    with working(200):
        for one, other in ((law(1), law(2)), (same := law(3), same)):
            found = signed_grid.added(one, other, FRAME)
            for row, cut in itertools.product(range(2), CUTS):
                sizes = [sum((mass for _, mass in atoms(each, 0, row)), arb(0)) for each in (one, other)]
                exact = call(pairs_of(one, other, 0, 0, row), cut)
                allowed = (arb(1) + arb(2) ** -53) ** found.roundings
                given = arb(float(found.lost[row])) - arb(float(one.lost[row])) - arb(float(other.lost[row]))
                assert call(atoms(found, 0, row), cut) * allowed + given >= exact
                mass = sum((mass for _, mass in atoms(found, 0, row)), arb(0))
                assert abs(mass / (sizes[0] * sizes[1]) - 1) <= allowed - 1


def test_the_record_is_in_either() -> None:
    """The masses with the record are those of one or of the other holding it."""
    for one, other in ((law(1), law(2)), (same := law(3), same)):
        found = signed_grid.added(one, other, FRAME)
        for index in (1, 2):
            total = [
                float(np.sum(each.positive[k] + each.negative[k], axis=1)[0] + each.zero[k, 0])
                for each in (one, other, found)
                for k in (0, index)
            ]
            assert math.isclose(total[5], total[1] * total[2] + total[0] * total[3], rel_tol=1e-12)


def test_ends_of_sums_by_enumeration() -> None:
    """What is said of the sum of two is what enumeration says."""
    one, other = law(1), law(2)
    found, *seen = signed_grid.ends(one, other, FRAME)
    with working(200):
        for row in range(2):
            exact = call(pairs_of(one, other, 0, 0, row), 0.0) + arb(float(one.lost[row] + other.lost[row]))
            assert exact <= float(found[row]) <= exact * (1 + 1e-11)
            for index in (1, 2):
                either = pairs_of(one, other, index, 0, row) + pairs_of(one, other, 0, index, row)
                # differences of equal sizes are 0 exactly, which balls cannot tell: they are left out
                mass = sum((float(mass.mid()) for x, mass in either if float(x.mid()) > 1e-9), 0.0)
                assert math.isclose(mass, float(seen[index - 1][row]), rel_tol=1e-12)


def test_a_bin_is_not_lowered() -> None:
    for squared, alpha, first, length in ((F(1), 1.5, -20, 40), (F(4), 9.0, -12, 30), (F(1, 4), 1.0, -24, 28)):
        frame = Frame(H, (first,), length)
        found = signed_grid.one_bin(cells_of(squared, 24), [alpha], frame)
        with working(200):
            points = [((first + i) * ball(H)).exp() for i in range(length)]
            for cut in (-30.0, -3.0, -0.5, 0.1, 1.0, 4.0):
                total = arb(float(found.lost[0])) + max(0.0, -cut) * arb(float(found.zero[0, 0]))
                for sign, part in ((1, found.positive), (-1, found.negative)):
                    for x, mass in zip(points, part[0, 0].tolist(), strict=True):
                        total += mass * (sign * x - cut if sign * x > cut else arb(0))
                assert total * (1 + arb(2) ** -40) >= exact_call(squared, alpha, cut)


@pytest.mark.parametrize("spacing", [F(1, 2), F(1, 8), F(9, 10)], ids=str)
def test_weights_keep_the_mean(spacing: Fraction) -> None:
    """Those written down, and those that fall from point to point, against balls."""
    length = 60
    for sign, split in zip((1, -1), signed_grid.splits(spacing), strict=True):
        with working(200):
            h = ball(spacing)
            for d in range(0 if sign > 0 else 1, length):
                masses = np.zeros((1, length))
                masses[0, 0] = 1.0
                if d < split.settled:
                    place, near, far = split.places[d], split.near[d], split.far[d]
                else:
                    less, more = (float(each[0, d]) for each in signed_grid._smaller_ones(masses, split, spacing))
                    place, (near, far) = split.place, ((more, less) if sign > 0 else (less, more))
                exact = 1 + sign * (-h * d).exp()
                assert near + far == pytest.approx(1, rel=1e-12)
                assert abs(near * (h * place).exp() + far * (h * (place + 1)).exp() - exact) < 1e-13


def test_what_is_too_fine_or_too_long_is_refused() -> None:
    with pytest.raises(Declined, match="work limit"):
        next(signed_grid.points(pair_of(10, ("4", 10)), Fineness(F(1, 500), 4), 1e-6))
    with pytest.raises(Declined, match="so little noise"):
        next(signed_grid.points(pair_of(10, ("1000", 10)), Fineness(F(1, 8), 4), 1e-6))


# --- The step told from the others ------------------------------------------------------------------------------------


def simulated(mu: float, bins: int, epochs: int, epsilon: float, count: int = 200_000) -> tuple[float, float]:
    """E (1 - e^ε/R)_+ by draws from P, and its deviation."""
    rng, total = np.random.default_rng(3), np.zeros(count)
    for _ in range(epochs):
        y = rng.standard_normal((count, bins))
        y[:, 0] += mu
        total += np.logaddexp.reduce(mu * y, axis=1) - np.logaddexp.reduce(-mu * y, axis=1)
    gains = -np.expm1(np.minimum(0.0, epsilon - total))
    return float(gains.mean()), float(gains.std()) / math.sqrt(count)


@pytest.mark.minutes
@pytest.mark.parametrize(("z", "bins", "epochs"), [("0.1", 20, 2), ("0.08", 3, 1)])
def test_little_noise_against_simulated_runs(z: str, bins: int, epochs: int) -> None:
    mechanism = dp.RandomlyAllocated(dp.Gaussian(z), bins) ** epochs
    for delta in ("0.3", "0.01"):
        found = dp.epsilon(mechanism, delta, RE)
        assert found.width <= 1e-3 * found.upper
        mean, off = simulated(1 / float(z), bins, epochs, found.upper)
        assert mean == pytest.approx(float(delta), abs=6 * off + 0.02 * float(delta))
        back = dp.delta(mechanism, found.exact_upper, RE)
        assert back.exact_lower <= F(delta)
        assert back.width <= 1e-2 * back.upper


@pytest.mark.seconds
def test_two_steps_told_apart_are_one_gaussian() -> None:
    """The other step alone is as far on the other side: N(√2 μ), whatever is left out."""
    mechanism = dp.BallsInBins(dp.Gaussian("0.302"), 2, 40, redraw=False)
    mu = math.sqrt(80) / 0.302
    found = dp.epsilon(mechanism, "0.25", RE)
    for end, side in ((found.lower, -1), (found.upper, 1)):
        exact = ndtr(mu / 2 - end / mu) - math.exp(min(end, 700)) * ndtr(-mu / 2 - end / mu)
        assert side * (0.25 - exact) >= -1e-3
    assert found.width <= 1e-3 * found.upper


def test_the_pair_it_is_compared_with() -> None:
    product = ((Allocated(Direction.REPLACE, 5, ((ShiftedGaussians(F(400)), 5),)), 3), (ShiftedGaussians(F(9)), 1))
    found = low_noise.in_place(product, 1e-3)
    assert found is not None
    assert found.product == (
        (ShiftedGaussians(F(1209)), 1),
        (Allocated(Direction.ADD, 4, ((ShiftedGaussians(F(400)), 4),)), 3),
    )
    assert float(found.shift[0]) == pytest.approx(3 * math.log(4))
    assert 0 < found.less < found.more < 1e-3 * 1200
    assert 0 < found.rare < F(1, 10**30)
    short = Allocated(Direction.REPLACE, 5, ((ShiftedGaussians(F(400)), 4),))
    assert low_noise.in_place(((short, 1),), 1e-3) is None


def test_how_often_another_step_is_mistaken_for_the_records() -> None:
    """``rare`` is at least what draws of y_1 - y_j show, where noise is not little at all."""
    found = low_noise.in_place(((Allocated(Direction.REPLACE, 4, ((ShiftedGaussians(F(9)), 4),)), 1),), 1e-1)
    assert found is not None
    y = np.random.default_rng(1).standard_normal((100_000, 4))
    y[:, 0] += 3
    others = np.exp(3 * (y[:, 1:] - y[:, :1])).sum(axis=1)  # U' / u_1
    assert np.mean(others > math.expm1(float(found.more))) <= float(found.rare) + 0.005
    w = np.exp(-3 * y)
    assert np.mean(w[:, 0] > math.expm1(float(found.less)) * w[:, 1:].sum(axis=1)) <= float(found.rare) + 0.005


# --- What is spent ----------------------------------------------------------------------------------------------------


@pytest.mark.seconds
@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(dp.RandomlyAllocated(dp.Gaussian("0.5"), 10) ** 10, marks=pytest.mark.minutes),
        pytest.param(dp.RandomlyAllocated(dp.Gaussian("0.3"), 10) ** 10, marks=pytest.mark.minutes),
        dp.RandomlyAllocated(dp.Gaussian("0.328"), 2) ** 58,
        dp.BallsInBins(dp.Gaussian("0.302"), 36, 40, redraw=False),
        dp.BallsInBins(dp.Gaussian("2.06"), 5, 21, redraw=False),
    ],
    ids=str,
)
def test_little_noise_is_narrow_under_replace_one(mechanism: dp.Mechanism) -> None:
    found = dp.epsilon(mechanism, "1e-8", RE)
    assert found.width <= 1e-3 * found.upper


def _declined(*_: object) -> None:
    raise Declined("planted")


@pytest.mark.seconds
@pytest.mark.parametrize("z", ["1", "1/2"])  # asked of one spacing first, and of a signed grid first
def test_each_grid_serves_where_the_other_fails(z: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And both hold the same, with other releases beside them."""
    mechanism = dp.RandomlyAllocated(dp.Gaussian(z), 6) ** 3 @ dp.Gaussian(2)
    ways = []
    for one, other in ((signed_grid, replace_one), (replace_one, signed_grid)):
        asked = MagicMock(wraps=one.between)
        monkeypatch.setattr(one, "between", asked)
        monkeypatch.setattr(other, "between", _declined)
        ways.append(dp.epsilon(mechanism, "1e-5", RE, tolerance=2e-3))
        monkeypatch.undo()
        assert asked.called
    assert ways[0].overlaps(ways[1])
    assert all(way.width <= 6e-3 * way.upper for way in ways)
    assert ways[0] != ways[1]
