"""The attack that chooses as it goes: against best responses by enumeration, and against strategies played by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

import dpbounds.privacy.mechanisms as dp
from dpbounds.privacy.accountants.certified import account, delta_curve, prove_delta
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.pairs import Repeated
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.routes import adaptive
from dpbounds.privacy.routes.adaptive import Remembered, attained_ends, proven_end
from dpbounds.privacy.values import Target
from tests.privacy.oracle.games import Grid, game, losses

AR, RE, ZO = Relation
Laws = tuple[tuple[float, float], ...]  # the probabilities of each outcome, with and without

# One of two records is drawn, and an answer with ε = 1 says whether it is the one: the others act like x', or like x.
_ODDS = math.e / (1 + math.e)
REMOVED: Laws = tuple(((p + r) / 2, r) for p, r in ((_ODDS, 1 - _ODDS), (1 - _ODDS, _ODDS)))
ADDED: Laws = tuple((r, p) for p, r in REMOVED)


def repeated(mechanism: Mechanism, relation: Relation) -> Repeated:
    (found,) = {each for one in neighbour_classes(mechanism, relation).every() for each in one.adaptive}
    return found


def best_response(options: Sequence[Laws], steps: int, alpha: float) -> float:
    """Every choice after every output, by its definition."""
    if steps == 0:
        return max(0.0, 1 - alpha)
    return max(sum(p * best_response(options, steps - 1, alpha * q / p) for p, q in option) for option in options)


@pytest.mark.parametrize("steps", [2, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_discrete_steps_attain_the_best_response(steps: int, epsilon: Fraction) -> None:
    mechanism = dp.SampledWithoutReplacement(dp.PureDP(1, relation=RE), 1, 2) ** steps
    target = Target("epsilon", epsilon)
    (proof,) = attained_ends(repeated(mechanism, RE), [target], [Fraction(1, 10**6)])
    assert proof is not None
    best = best_response((REMOVED, ADDED), steps, math.exp(epsilon))
    (found,) = neighbour_classes(mechanism, RE).every()
    assert best - 1e-9 <= float(proof.enclosure.exact_lower) <= best
    assert best <= prove_delta(found.product, epsilon, 1e-6).enclosure.upper + 1e-15


def test_it_beats_all_fixed_attacks_where_switching_helps() -> None:
    mechanism = dp.SampledWithoutReplacement(dp.PureDP(1, relation=RE), 1, 2) ** 3
    (found,) = neighbour_classes(mechanism, RE).every()
    fixed = max(prove_delta(attack, Fraction(1, 10), 1e-6).enclosure.upper for attack in found.attacks)
    assert account(mechanism, epsilon="0.1", relation=RE).enclosure.lower > 1.01 * fixed


def gaussian_losses(shift: float, rate: float, grid: Grid) -> np.ndarray:
    """Both orders of (1-q) N(0) + q N(s) against N(0), from densities: cells of 1/200 of the noise."""
    from scipy.stats import norm

    edges = np.concatenate(([-np.inf], np.arange(-9, 9 + shift, 0.005), [np.inf]))
    without, shifted = (np.diff(norm.cdf(edges - at)) for at in (0, shift))
    with_it = (1 - rate) * without + rate * shifted
    return losses([(with_it, without), (without, with_it)], grid)


@pytest.mark.seconds
@pytest.mark.parametrize(("steps", "epsilon"), [(2, 0.1), (2, 1), (3, 0.5)])
def test_gaussian_steps_come_close_to_the_best_response(steps: int, epsilon: float) -> None:
    # z = 1, one of two records: the others act like x' or like x; what sampling.md prints for two steps
    mechanism = dp.SampledWithoutReplacement(dp.Gaussian(1), 1, 2) ** steps
    grid = Grid(0.005, 2000, 4000)
    values = game([gaussian_losses(2.0, 0.5, grid)] * steps, grid)
    best = float(np.interp(epsilon, np.log(grid.alphas), values))
    found = account(mechanism, epsilon=str(epsilon), relation=RE).enclosure
    assert best - 1e-3 < found.lower < best + 1e-5  # the grid of the game raises by so much
    assert best < found.upper


def by_hand(options: Sequence[Remembered], thresholds: Sequence[int]) -> dict[int, np.ndarray]:
    """The cells' masses by every sequence of outcomes; option 1 where the memory is at least the threshold."""
    found: dict[int, np.ndarray] = {}
    sizes = max(option.masses.shape[1] for option in options)
    for outcomes in itertools.product(range(sizes), repeat=len(thresholds)):
        memory, masses = 0, np.ones(2)
        for outcome, threshold in zip(outcomes, thresholds, strict=True):
            option = options[int(memory >= threshold)]
            if outcome >= option.masses.shape[1]:
                break
            memory, masses = memory + option.first + outcome, masses * option.masses[:, outcome]
        else:
            found[memory] = found.get(memory, np.zeros(2)) + masses
    return found


def test_what_is_played_is_what_the_strategy_attains() -> None:
    options = (
        Remembered(-1, np.array([[0.2, 0.3, 0.5], [0.4, 0.35, 0.25]]), 0),
        Remembered(0, np.array([[0.6, 0.4], [0.9, 0.1]]), 0),
    )
    thresholds = (1, 0, 1)
    state = adaptive.at_start()
    for threshold in thresholds:
        state = adaptive.played(state, options, lambda cells, at=threshold: (cells >= at).astype(np.int64))  # type: ignore[misc]
    expected = by_hand(options, thresholds)
    for cell, masses in zip(state.cells, state.masses.T, strict=True):
        np.testing.assert_allclose(masses, expected.get(int(cell), np.zeros(2)), rtol=1e-14, atol=1e-17)
    value = sum(max(0.0, p - math.exp(0.3) * q) for p, q in expected.values())
    assert float(proven_end(state, Target("epsilon", Fraction(3, 10)))) == pytest.approx(value, rel=1e-12)


def test_a_strategy_that_knows_the_secret_is_caught() -> None:
    # the planted bug: the records' roles depend on which data set it is, and not on outputs alone
    options = tuple(Remembered(0, np.array(laws).T, 0) for laws in (REMOVED[::-1], ADDED))
    honest = [
        adaptive.played(adaptive.played(adaptive.at_start(), options, rule), options, rule)
        for rule in (lambda cells: np.zeros_like(cells), lambda cells: np.ones_like(cells))
    ]
    peeking = Remembered(0, np.array([honest[1].masses[0], honest[0].masses[1]]), 10)
    target = Target("epsilon", Fraction(1, 10))
    best = best_response((REMOVED, ADDED), 2, math.exp(0.1))
    assert all(proven_end(each, target) <= best for each in honest)
    assert proven_end(peeking, target) > 1.1 * best


@pytest.mark.parametrize("order", [Order.REPLACE, Order.ZERO])
@pytest.mark.parametrize("inner", [dp.Gaussian(1), dp.Laplace(noise_multiplier=1)], ids=["gaussian", "laplace"])
def test_cells_hold_at_most_what_they_should(inner: Mechanism, order: Order) -> None:
    relation = RE if order is Order.REPLACE else ZO
    for each in neighbour_classes(dp.SampledWithoutReplacement(inner, 1, 100) ** 5, relation).along(order):
        for option in {option for one in each.adaptive for option in one.options}:
            p, q = adaptive._one_run(option)
            assert 1 - 1e-9 < math.fsum(p) <= 1
            assert math.fsum(q) >= 1 - 1e-9
            for alpha in (0.9, 1.0, 1.1, 2.0):
                seen = sum(max(0.0, first - alpha * second) for first, second in zip(p, q, strict=True))
                exact = prove_delta(((option, 1),), Fraction(math.log(alpha)), 1e-6) if alpha >= 1 else None
                assert exact is None or seen <= exact.enclosure.upper


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("mechanism", "relation", "given"),
    [
        (dp.SampledWithoutReplacement(dp.Gaussian(4), 1, 100) ** 4, RE, "delta"),
        (dp.SampledWithoutReplacement(dp.Gaussian(2), 1, 2) ** 5 @ dp.Gaussian(5), RE, "epsilon"),
        (dp.ExponentialMechanism("1/10", relation=AR) ** 20, AR, "delta"),
    ],
    ids=["fixed size", "beside a Gaussian", "selections"],
)
def test_it_lies_between_fixed_attacks_and_what_dominates(mechanism: Mechanism, relation: Relation, given: str) -> None:
    found = account(mechanism, **{given: "1e-5" if given == "delta" else "0.2"}, relation=relation)
    chosen = [proof for _, proof in found.attacks if proof.route == adaptive.ROUTE]
    fixed = [proof for _, proof in found.attacks if proof.route != adaptive.ROUTE]
    assert chosen
    best = max(proof.enclosure.exact_lower for proof in chosen)
    assert best > max(proof.enclosure.exact_lower for proof in fixed)
    assert best < max(proof.enclosure.exact_lower for _, proof in found.proofs)  # strictly: nothing was cut down to it
    assert found.enclosure.exact_lower == best


def test_the_order_of_other_steps_does_not_matter() -> None:
    step, other = dp.SampledWithoutReplacement(dp.PureDP(1, relation=RE), 1, 10), dp.PureDP("0.1", relation=RE)
    ends = {
        account(mechanism, delta="1e-5", relation=RE).enclosure.exact_lower
        for mechanism in (step**3 @ other @ step**3, other @ step**6, step**6 @ other)
    }
    assert len(ends) == 1


def test_a_curve_has_it_at_every_point() -> None:
    mechanism = dp.SampledWithoutReplacement(dp.PureDP(1, relation=RE), 1, 2) ** 3
    for epsilon, ends in zip((0.1, 0.5, 1), delta_curve(mechanism, ["0.1", "0.5", 1], RE), strict=True):
        best = best_response((REMOVED, ADDED), 3, math.exp(epsilon))
        assert best - 1e-6 < ends.lower <= best
