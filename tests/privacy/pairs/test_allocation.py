"""Steps that are allocated in secret: the theorem against best responses, and which products stand for a mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.pairs.pairs import Allocated, AllocatedTo, Direction, Product, SampledGaussians, ShiftedGaussians

AR, RE, ZO = dp.Relation


def mean(products: Sequence[float], idle: int = 0) -> float:
    return (sum(products) + idle) / (len(products) + idle)


# --- Which products stand for a mechanism ---------------------------------------------------------------------------


def products_of(mechanism: dp.Mechanism, relation: dp.Relation = AR) -> list[Product]:
    return [each.product for each in neighbour_classes(mechanism, relation).every()]


UNIT = ShiftedGaussians(Fraction(1))


def test_fresh_bins_are_independent_epochs_and_kept_ones_are_not() -> None:
    fresh = dp.BallsInBins(dp.Gaussian(1), bins=100, epochs=10, redraw=True)
    kept = dp.BallsInBins(dp.Gaussian(1), bins=100, epochs=10, redraw=False)
    assert products_of(fresh) == products_of(dp.RandomlyAllocated(dp.Gaussian(1), 100) ** 10)
    assert products_of(fresh)[0] == ((Allocated(Direction.REMOVE, 100, ((UNIT, 100),)), 10),)
    assert products_of(kept)[0] == ((Allocated(Direction.REMOVE, 100, ((ShiftedGaussians(Fraction(10)), 100),)), 1),)
    assert products_of(kept**2) == products_of(kept @ kept)
    assert products_of(kept**2) != products_of(dp.BallsInBins(dp.Gaussian(1), 100, 20, redraw=False))
    assert products_of(fresh**2) == products_of(dp.BallsInBins(dp.Gaussian(1), 100, 20, redraw=True))


def test_an_epoch_that_is_cut_short() -> None:
    def shares(epochs: str, redraw: bool) -> list[tuple[Product, int]]:
        first, _ = products_of(dp.BallsInBins(dp.Gaussian(1), 10, epochs, redraw=redraw))
        return [(pair.shares, count) for pair, count in first if isinstance(pair, Allocated)]

    assert shares("2.5", True) == [(((UNIT, 10),), 2), (((UNIT, 5),), 1)]
    assert shares("2.5", False) == [(((ShiftedGaussians(Fraction(3)), 5), (ShiftedGaussians(Fraction(2)), 5)), 1)]
    assert shares("0.41", True) == shares("0.41", False) == [(((UNIT, 5),), 1)]  # a step that is begun counts


def test_where_there_is_nothing_to_hide() -> None:
    for mechanism, same in (
        (dp.RandomlyAllocated(dp.Gaussian(2), 1), dp.Gaussian(2)),
        (dp.RandomlyAllocated(dp.Laplace(2), 7, 7), dp.Laplace(2) ** 7),
        (dp.BallsInBins(dp.Laplace(2), 1, "2.5", redraw=True), dp.Laplace(2) ** 3),
        (dp.BallsInBins(dp.Laplace(2), 1, "2.5", redraw=False), dp.Laplace(2) ** 3),
    ):
        for relation in dp.Relation:
            assert products_of(mechanism, relation) == products_of(same, relation)


def test_several_participations_are_groups_of_steps() -> None:
    (first, second) = products_of(dp.RandomlyAllocated(dp.Gaussian(1), 8, 3))
    assert {(pair.bins, count) for pair, count in first if isinstance(pair, Allocated)} == {(3, 2), (2, 1)}
    assert len(second) == 2
    (each, _) = neighbour_classes(dp.RandomlyAllocated(dp.Gaussian(1), 8, 3), AR).every()
    assert each.attacks == (
        ((AllocatedTo(Direction.REMOVE, 8, 3, UNIT), 1),),
        ((ShiftedGaussians(Fraction(9, 8)), 1),),  # the sum of all steps
    )
    assert not each.tight
    (mostly, _) = products_of(dp.RandomlyAllocated(dp.Gaussian(1), 5, 4))  # three groups are a single step
    assert dict(mostly)[ShiftedGaussians(Fraction(3))] == 1


@pytest.mark.parametrize("relation", [AR, ZO])
@pytest.mark.parametrize(
    "inner",
    [dp.Gaussian(1), dp.Laplace(1), dp.UniformBall(4, 2), dp.Gaussian(1) @ dp.Laplace(2), dp.Laplace(1) ** 3],
    ids=["gaussian", "laplace", "ball", "both", "thrice"],
)
def test_one_participation_is_attained_where_a_step_is(inner: dp.Mechanism, relation: dp.Relation) -> None:
    for mechanism in (dp.RandomlyAllocated(inner, 9), dp.BallsInBins(inner, 9, "1.5", redraw=False)):
        assert neighbour_classes(mechanism, relation).tight


@pytest.mark.parametrize(
    "inner", [dp.Gaussian(2), dp.Gaussian(2) ** 3, dp.Gaussian(2) @ dp.Gaussian(3)], ids=["one", "thrice", "both"]
)
def test_gaussian_steps_under_replace_one(inner: dp.Mechanism) -> None:
    """Each record moves its step by its own bound: the shift of presence, attained by opposite vectors."""
    ((shift, _),) = products_of(inner)[0]
    assert isinstance(shift, ShiftedGaussians)
    for mechanism, shares in (
        (dp.RandomlyAllocated(inner, 9), ((shift, 9),)),
        (
            dp.BallsInBins(inner, 9, "1.5", redraw=False),
            ((ShiftedGaussians(2 * shift.squared_shift), 5), (shift, 4)),
        ),
    ):
        classes = neighbour_classes(mechanism, RE)
        assert [each.product for each in classes.every()] == [((Allocated(Direction.REPLACE, 9, shares), 1),)]
        assert classes.tight


# --- Several participations under replace-one: of three steps x and x' take two ---------------------------------------

_POINTS = np.linspace(-6, 6, 49)
_STEP = _POINTS[1] - _POINTS[0]
MOVES = ((1.0, -1.0), (1.0, 1.0), (1.0, 0.0), (0.4, -1.0))  # what x and x' may add to a step's answer


def _normal(mean: float) -> np.ndarray:
    return np.exp(-((_POINTS - mean) ** 2) / 2) * _STEP / math.sqrt(2 * math.pi)


def _outer(*factors: np.ndarray) -> np.ndarray:
    return np.einsum("i,j,k->ijk", *factors)


def replaced_response(alpha: float, moves: Sequence[tuple[float, float]]) -> float:
    """The largest H_α where x and x' are in two of three steps each, with moves that are chosen in view of the past."""
    none, total = _normal(0), -math.inf
    taken = ((1, 1, 0), (1, 0, 1), (0, 1, 1))
    for first in moves:
        seconds = []
        for second in moves:
            thirds = []
            for third in moves:
                sides = [
                    sum(
                        _outer(*(_normal(move[side]) if at else none for move, at in zip(each, steps, strict=True)))
                        for steps in taken
                    )
                    / 3
                    for side in (0, 1)
                    for each in [(first, second, third)]
                ]
                thirds.append(np.maximum(sides[0] - alpha * sides[1], 0).sum(axis=2))
            seconds.append(np.max(thirds, axis=0).sum(axis=1))
        total = max(total, float(np.max(seconds, axis=0).sum()))
    return total


def on_the_grid(product: Product, alpha: float) -> float:
    """H_α of a product of Gaussian pairs under replace-one, over three dimensions at most."""
    sides: list[np.ndarray] = [np.ones(1), np.ones(1)]
    for pair, count in product:
        for _ in range(count):
            if isinstance(pair, ShiftedGaussians):
                half = math.sqrt(pair.squared_shift) / 2
                laws = [_normal(half), _normal(-half)]
            else:
                assert isinstance(pair, Allocated)
                ((base, bins),) = pair.shares
                assert isinstance(base, ShiftedGaussians)
                assert (pair.bins, bins, pair.direction) == (2, 2, Direction.REPLACE)
                mu = math.sqrt(base.squared_shift)
                laws = [
                    (np.outer(_normal(m), _normal(0)) + np.outer(_normal(0), _normal(m))).ravel() / 2 for m in (mu, -mu)
                ]
            sides = [np.multiply.outer(side, law).ravel() for side, law in zip(sides, laws, strict=True)]
    return float(np.maximum(sides[0] - alpha * sides[1], 0).sum())


TWO_OF_THREE = dp.RandomlyAllocated(dp.Gaussian(1), 3, 2)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.5, 8.0])
def test_two_of_three_steps_under_replace_one(alpha: float) -> None:
    (each,) = neighbour_classes(TWO_OF_THREE, RE).every()
    opposite = replaced_response(alpha, MOVES[:1])
    assert replaced_response(alpha, MOVES if alpha == 2.5 else MOVES[:2]) == pytest.approx(opposite, abs=1e-9)
    assert opposite <= on_the_grid(each.product, alpha) + 1e-9
    (summed,) = (pair for ((pair, _),) in each.attacks if isinstance(pair, ShiftedGaussians))
    assert summed.squared_shift == Fraction(16, 3)
    assert on_the_grid(((summed, 1),), alpha) <= opposite + 1e-4  # the grid is coarse
    for mutant in (
        each.product[1:],  # a group is forgotten
        tuple(
            (ShiftedGaussians(p.squared_shift / 4) if isinstance(p, ShiftedGaussians) else p, n)
            for p, n in each.product
        ),
        ((ShiftedGaussians(Fraction(4)), 1), (ShiftedGaussians(Fraction(1, 4)), 1)),
    ):
        if alpha >= 1:
            assert on_the_grid(mutant, alpha) < opposite


def test_attacks_on_several_participations_under_replace_one() -> None:
    (few,) = neighbour_classes(dp.RandomlyAllocated(dp.Gaussian(2), 10, 3), RE).every()
    assert few.attacks[0] == ((AllocatedTo(Direction.REMOVE, 10, 3, ShiftedGaussians(Fraction(1, 4))), 1),)
    (many,) = neighbour_classes(dp.RandomlyAllocated(dp.Gaussian(2), 10, 8), RE).every()
    assert many.attacks[0] == ((SampledGaussians(Direction.REPLACE, Fraction(4, 5), Fraction(4)), 1),)
    assert not many.tight
    assert dict(many.product)[ShiftedGaussians(Fraction(6))] == 1  # six groups of one step


@pytest.mark.seconds
@pytest.mark.parametrize(("k", "z", "upper"), [(5, 4, 0.9280), (50, 4, 13.22)])
def test_several_of_a_hundred_steps_under_replace_one(k: int, z: int, upper: float) -> None:
    found = dp.epsilon(dp.RandomlyAllocated(dp.Gaussian(z), 100, k), "1e-5", RE, tolerance=1e-2)
    assert 0.98 * upper < found.exact_lower <= found.exact_upper < 1.005 * upper


def test_what_is_not_attained_at_a_step_is_not_attained_at_a_random_one() -> None:
    assert not neighbour_classes(dp.RandomlyAllocated(dp.ZCDP("0.5", relation=AR), 9), AR).tight


KEEP = dp.RandomlyAllocated(dp.Gaussian(1), 3)
REFUSED: list[tuple[dp.Mechanism, dp.Relation, str]] = [
    *(
        (whole, RE, r"Gaussian noise only.*--relation add-or-remove-one or --relation zero-out-one")
        for inner in (dp.Laplace(1), dp.Gaussian(1) @ dp.Laplace(1), dp.PoissonSampled(dp.Gaussian(1), "0.5"))
        for whole in (dp.RandomlyAllocated(inner, 3), dp.BallsInBins(inner, 3, 2, redraw=False))
    ),
    (dp.RandomlyAllocated(dp.Gaussian(noise_stddev=1, sensitivity=1), 3), RE, "sensitivity given.*noise_multiplier"),
    (
        dp.RandomlyAllocated(dp.SampledWithoutReplacement(dp.Gaussian(1), 1, 9), 3),
        AR,
        "SampledWithoutReplacement inside steps",
    ),
    (dp.RandomlyAllocated(dp.InParallel((dp.Gaussian(1),)), 3), AR, "blocks in parallel"),
    (dp.RandomlyAllocated(KEEP, 3), AR, "allocated in secret inside"),
    (dp.PoissonSampled(KEEP, "0.5"), AR, "allocated in secret inside a Poisson sample"),
    (dp.SampledWithoutReplacement(KEEP, 2, 5), ZO, "allocated in secret inside a fixed-size sample"),
    (dp.RandomlyAllocated(dp.PureDP(1, relation=AR), 3), ZO, "may tell whether the record is there"),
    (dp.RandomlyAllocated(dp.PureDP(1, relation=RE), 3), AR, "says nothing about adding or removing"),
]


@pytest.mark.parametrize(("mechanism", "relation", "told"), REFUSED, ids=str)
def test_what_has_no_proof_is_refused(mechanism: dp.Mechanism, relation: dp.Relation, told: str) -> None:
    with pytest.raises(dp.UnsupportedMechanism, match=told):
        neighbour_classes(mechanism, relation)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: dp.RandomlyAllocated(dp.Gaussian(1), 3, 4), "participations.*at most steps, 3"),
        (lambda: dp.RandomlyAllocated(dp.Gaussian(1), 0), "steps"),
        (lambda: dp.RandomlyAllocated("gaussian", 3), "mechanism"),  # type: ignore[arg-type]
        (lambda: dp.BallsInBins(dp.Gaussian(1), 3, 0, redraw=True), "epochs"),
        (lambda: dp.BallsInBins(dp.Gaussian(1), 3, 1, redraw="no"), "redraw"),  # type: ignore[arg-type]
    ],
)
def test_numbers_out_of_their_domain(make: Callable[[], dp.Mechanism], told: str) -> None:
    with pytest.raises(dp.InvalidValue, match=told):
        make()


def test_redraw_has_no_default() -> None:
    with pytest.raises(TypeError, match="redraw"):
        dp.BallsInBins(dp.Gaussian(1), 3, 1)  # type: ignore[call-arg]
