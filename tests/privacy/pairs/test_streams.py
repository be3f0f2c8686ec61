"""Matrix mechanisms by brute force: all patterns, all signs, and adversaries who look back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms.schemes import streams
from dpbounds.privacy.mechanisms.schemes.encoders import LowerTriangular
from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians

AR, RE, ZO = dp.Relation
ALPHAS = (0.6, 1.0, 1.5, 2.5)

# --- How far a record moves the stream --------------------------------------------------------------------------------


def dense(matrix: streams.Encoder) -> np.ndarray:
    if isinstance(matrix, LowerTriangular):
        rows = [list(row) + [0] * (matrix.steps - len(row)) for row in matrix.rows]
        return np.array(rows, dtype=float) / matrix.denominator
    if isinstance(matrix, dp.BinaryTree):
        n = matrix.steps
        blocks = [(s, s + 2**h) for h in range(n.bit_length()) for s in range(0, n - 2**h + 1, 2**h)]
        return np.array([[float(a <= step < b) for step in range(n)] for a, b in blocks])
    n, m = matrix.steps, matrix.coefficients
    return np.array([[float(m[i - j]) if 0 <= i - j < len(m) else 0.0 for j in range(n)] for i in range(n)])


def patterns(n: int, participation: str, separation: int | None, most: int | None) -> list[tuple[int, ...]]:
    """All sets of steps that are allowed, by looking at all sets of steps."""
    found = []
    for chosen in itertools.product((False, True), repeat=n):
        steps = tuple(step for step, taken in enumerate(chosen) if taken)
        gaps = [b - a for a, b in itertools.pairwise(steps)]
        if participation == "single":
            allowed = len(steps) <= 1
        else:
            assert separation is not None
            if participation == "fixed-order":
                allowed = all(gap % separation == 0 for gap in gaps)
            else:
                allowed = all(gap >= separation for gap in gaps) and len(steps) <= (most or n)
        if allowed:
            found.append(steps)
    return found


def furthest(matrix: np.ndarray, sets: Sequence[tuple[int, ...]], signed: bool) -> float:
    """The largest squared length over sets: of any vectors at most (absolute Gram matrix), or of scalars +-1."""
    best = 0.0
    for steps in sets:
        part = matrix[:, steps]
        if signed:
            for signs in itertools.product((-1.0, 1.0), repeat=len(steps)):
                best = max(best, float(np.sum((part @ np.array(signs)) ** 2)))
        else:
            best = max(best, float(np.abs(part.T @ part).sum()))
    return best


def random_matrices() -> list[tuple[streams.Encoder, str]]:
    rng = np.random.default_rng(7)
    made: list[tuple[streams.Encoder, str]] = []
    for n, bands, low in ((6, 6, 0), (7, 2, 0), (6, 6, -3), (7, 3, -3), (8, 2, -3)):
        rows = [
            [int(x) for x in rng.integers(low, 4, size=n) * np.array([0 <= i - j < bands for j in range(n)])]
            for i in range(n)
        ]
        for i, row in enumerate(rows):
            row[i] = 2
        made.append((LowerTriangular(rows), f"dense {n} {bands} {low}"))
    made += [
        (dp.Toeplitz("square-root", 8), "root"),
        (dp.Toeplitz("square-root", 8, 3), "banded root"),
        (dp.Toeplitz([1, 1, "1/4"], 8), "falling"),
        (dp.Toeplitz([1, 2, "1/4"], 7), "rising"),
        (dp.Toeplitz([2, -1, "1/4", "-1/8"], 7), "signed"),
        *((dp.BinaryTree(n), f"tree {n}") for n in (1, 5, 8, 9)),
    ]
    return made


WAYS = [
    ("single", None, None),
    *(("fixed-order", b, None) for b in (1, 2, 3, 20)),
    *(("minimum-separation", b, k) for b in (1, 2, 3) for k in (None, 1, 2)),
]


def furthest_at_right_angles(matrix: np.ndarray, sets: Sequence[tuple[int, ...]]) -> float:
    return max(float((matrix[:, steps] ** 2).sum()) for steps in sets)


@pytest.mark.seconds_cases("13")
@pytest.mark.parametrize("index", range(14))
def test_no_allowed_participation_moves_the_stream_further(index: int) -> None:
    """The upper end is not too low, the lower end is attained, and an exact case is exact."""
    matrix, name = random_matrices()[index]
    full = dense(matrix)
    signed, tree = bool((full < 0).any()), isinstance(matrix, dp.BinaryTree)
    for participation, separation, most in WAYS:
        where = f"{name} {participation} {separation} {most}"
        found = streams.reach(matrix, participation, separation, most)
        sets = patterns(full.shape[1], participation, separation, most)
        upper, scalar = furthest(full, sets, signed=False), furthest(full, sets, signed=True)
        assert upper - 1e-9 <= found.upper <= upper * 1.35 + 1e-9, where
        assert found.lower <= upper + 1e-9, where
        assert found.pattern in sets, where
        # what is attained by directions at right angles is attained without signs
        assert found.lower <= max(scalar, furthest_at_right_angles(full, sets)) + 1e-9, where
        if participation != "minimum-separation":
            assert abs(found.upper - upper) <= 1e-9, where
            assert signed or tree or found.upper == found.lower, where


@pytest.mark.parametrize(
    ("steps", "apart", "most", "truth", "proven"),
    [(16, 4, 4, 36, 36), (16, 5, 3, 23, 23), (13, 3, 4, 23, 25), (16, 16, 1, 5, 5), (12, 1, 3, 26, 26)],
)
def test_trees_as_worked_out_by_hand(steps: int, apart: int, most: int, truth: int, proven: int) -> None:
    found = streams.reach(dp.BinaryTree(steps), "minimum-separation", apart, most)
    assert (found.upper, found.lower) == (proven, truth)


def test_one_step_of_a_tree_is_in_as_many_nodes_as_was_said_before() -> None:
    for steps in (1, 2, 3, 100, 1024):
        m = dp.MatrixMechanism(3, dp.BinaryTree(steps), "single")
        assert dp.epsilon(m, "1e-6", RE).overlaps(dp.epsilon(dp.Gaussian(3) ** steps.bit_length(), "1e-6", RE))


@pytest.mark.seconds_cases("1000")
@pytest.mark.parametrize("n", [200, 1000])
def test_long_streams_agree_with_a_second_computation(n: int) -> None:
    matrix = dp.Toeplitz("square-root", n)
    full = dense(matrix)
    for b in (10, 50):
        found = streams.reach(matrix, "fixed-order", b, None)
        expected = max(float((full[:, j::b].sum(axis=1) ** 2).sum()) for j in range(b))
        assert float(found.upper) == pytest.approx(expected, rel=1e-9)
        assert found.lower == found.upper


# --- Adversaries who look back ----------------------------------------------------------------------------------------

GRID = np.linspace(-12, 12, 1601)
STEP = GRID[1] - GRID[0]


def normal(mean: float, z: float) -> np.ndarray:
    return np.exp(-((GRID - mean) ** 2) / (2 * z * z)) / (z * math.sqrt(2 * math.pi))


def best_of_two_steps(corner: float, z: float, alpha: float, twice: bool) -> float:
    """C = [[1, 0], [c, 1]]: a record in both steps, whose second vector answers the first row. Dimension one."""
    vectors = [(u, -u if twice else 0.0) for u in (-1.0, 1.0)]
    best = 0.0
    for u, v in vectors:
        p, q = normal(u, z), normal(v, z)
        # the second row depends on the first through densities only: H_a of two shifts, the best of two answers
        inner = np.zeros_like(p)
        for second, other in vectors:
            mu = abs(corner * u + second - corner * v - other) / z
            with np.errstate(divide="ignore"):
                loss = np.log(alpha) + np.log(q) - np.log(p)
            inner = np.maximum(inner, p * gaussian_profile(mu, loss))
        best = max(best, float(inner.sum() * STEP))
    return best


def gaussian_profile(mu: float, loss: np.ndarray) -> np.ndarray:
    """H_{e^loss} of N(mu, 1) against N(0, 1)."""
    from scipy.special import ndtr

    if mu == 0:
        return np.maximum(0.0, 1 - np.exp(np.minimum(loss, 700)))
    return ndtr(mu / 2 - loss / mu) - np.exp(np.minimum(loss, 700)) * ndtr(-mu / 2 - loss / mu)


def profile(mechanism: dp.Mechanism, relation: dp.Relation, alpha: float) -> float:
    """H_α of what dominates, the largest of the classes."""
    (each, *_), *_ = [tuple(neighbour_classes(mechanism, relation).every())]
    ((pair, count),) = each.product
    assert isinstance(pair, ShiftedGaussians)
    mu = math.sqrt(count * pair.squared_shift)
    return float(gaussian_profile(mu, np.array(math.log(alpha))))


def test_looking_back_gains_nothing_on_correlated_noise() -> None:
    """Two steps with an adversary who answers, against what is proven of the matrix."""
    for corner, z, alpha, (relation, twice) in itertools.product(
        ("1/2", "-1/2", "1", "-1"), (1.0, 2.0), ALPHAS, ((RE, True), (ZO, False))
    ):
        m = dp.MatrixMechanism(z, [[1], [corner, 1]], "fixed-order", separation=1)
        assert best_of_two_steps(float(Fraction(corner)), z, alpha, twice) <= profile(m, relation, alpha) + 1e-6
    m = dp.MatrixMechanism(1, [[1], ["1/2", 1]], "fixed-order", separation=1)  # and all of it is attained
    assert best_of_two_steps(0.5, 1.0, 1.5, True) == pytest.approx(profile(m, RE, 1.5), abs=1e-6)
    signed = dp.MatrixMechanism(1, [[1], ["-1/2", 1]], "fixed-order", separation=1)
    assert best_of_two_steps(-0.5, 1.0, 1.5, True) == pytest.approx(profile(signed, RE, 1.5), abs=1e-6)


# --- Cyclic Poisson samples -------------------------------------------------------------------------------------------


def sampled_twice(z: float, q: float, alpha: float, relation: dp.Relation, add: bool) -> float:
    """Coefficients 1, -1/2 and 4 steps, a record of group 0: two blocks, in each of which it may choose.

    In a block the record's scalar u moves both rows by u and -u/2, so that the block's best statistic has the shift
    u |C_l| / z. In the second block u may depend on the first statistic.
    """
    length = math.sqrt(1.25) / z
    choices = [(u, v) for u in (-1.0, 0.0, 1.0) for v in ((-1.0, 0.0, 1.0) if relation is RE else (0.0,))]

    def laws(u: float, v: float) -> tuple[np.ndarray, np.ndarray]:
        first = (1 - q) * normal(0, 1) + q * normal(u * length, 1)
        other = (1 - q) * normal(0, 1) + q * normal(v * length, 1)
        return (other, first) if add else (first, other)

    # H of the second block at every threshold, the best of the choices
    thresholds = np.exp(np.linspace(-9, 9, 721))
    second = np.max(
        [[np.maximum(p - a * q_, 0).sum() * STEP for a in thresholds] for p, q_ in (laws(u, v) for u, v in choices)],
        axis=0,
    )
    best = 0.0
    for u, v in choices:
        p, other = laws(u, v)
        inner = np.interp(alpha * other / p, thresholds, second, left=1.0, right=second[-1])
        best = max(best, float((p * inner).sum() * STEP))
    return best


@pytest.mark.seconds
def test_blocks_of_a_cyclic_sample_spend_no_more_than_their_pairs() -> None:
    q = 0.4
    for relation, groups in ((RE, "position"), (RE, "independent"), (ZO, "content"), (AR, "content")):
        m = dp.MatrixMechanism(
            1, dp.Toeplitz([1, "-1/2"], 4), "cyclic-poisson", separation=2, sample_rate="2/5", groups=groups
        )
        for alpha, add in itertools.product((1.0, 1.6), (False, True)):
            most = sampled_twice(1.0, q, alpha, relation, add)
            order = "add" if add else "remove"
            product = [
                each.product
                for each in neighbour_classes(m, relation).every()
                if relation is RE or any(str(key.order) in (order, "restore" if add else "zero") for key in each.keys)
            ]
            ((pair, count),) = product[0]
            assert isinstance(pair, SampledGaussians)
            assert most <= twice_profile(pair, count, alpha) + 1e-3, (relation, groups, alpha, order)


def twice_profile(pair: SampledGaussians, count: int, alpha: float) -> float:
    """H_α of the pair taken twice, by sums in two dimensions."""
    q, z = float(pair.sample_rate), math.sqrt(pair.variance)
    nothing, present, other = normal(0, z), normal(1, z), normal(-1, z)
    mixture = (1 - q) * nothing + q * present
    p, second = {
        Direction.REMOVE: (mixture, nothing),
        Direction.ADD: (nothing, mixture),
        Direction.REPLACE: (mixture, (1 - q) * nothing + q * other),
    }[pair.direction]
    assert count == 2
    coarse = slice(None, None, 4)
    p, second = p[coarse], second[coarse]
    joint = np.maximum(np.outer(p, p) - alpha * np.outer(second, second), 0)
    return float(joint.sum() * (4 * STEP) ** 2)


def test_one_block_of_one_band_is_a_poisson_sample() -> None:
    plain = dp.PoissonSampled(dp.Gaussian(2), "0.1") ** 6
    for relation, groups in ((AR, "content"), (RE, "position"), (ZO, "independent")):
        m = dp.MatrixMechanism(
            2, dp.Toeplitz([1], 12), "cyclic-poisson", separation=2, sample_rate="0.1", groups=groups
        )
        assert tuple(neighbour_classes(m, relation).every()) == tuple(neighbour_classes(plain, relation).every())


@pytest.mark.seconds
def test_longer_columns_cost_more_and_the_longest_group_counts() -> None:
    """Rows with different columns: group 0 has the columns 1 and 3, group 1 the columns 2 and 2."""
    rows = [[1], [0, 2], [0, 0, 3], [0, 0, 0, 2]]
    m = dp.MatrixMechanism(10, rows, "cyclic-poisson", separation=2, sample_rate="1/2", groups="content")
    (remove, _) = neighbour_classes(m, AR).every()
    assert not remove.tight
    assert {pair.variance: count for pair, count in remove.product} == {Fraction(100, 9): 1, Fraction(25): 1}
    assert len(remove.attacks) == 2
    found = dp.epsilon(m, "1e-5")
    for columns in ((3, 1), (2, 2)):
        alone = dp.Composed([(dp.PoissonSampled(dp.Gaussian(Fraction(10, c)), "1/2"), 1) for c in columns])
        assert found.exact_upper > dp.epsilon(alone, "1e-5").exact_upper
        assert found.exact_lower >= dp.epsilon(alone, "1e-5").exact_lower


def cycles(cycles: int, q: float, z: float, offset: int, b: int, p: int, draws: int) -> tuple[float, float, float]:
    """δ(1) of x in group 0 against x' in group ``offset``, and of the product that counts blocks; and the error bar.

    Flat columns of norm 1 and p bands; x moves up, x' down. Monte Carlo, the same draws for both.
    """
    rng = np.random.default_rng(5)
    flat = 1 / math.sqrt(p)
    y = rng.standard_normal((draws, b * cycles + offset + p)) * z
    rows = (b * np.arange(cycles)[:, None] + np.arange(p)).ravel()
    y[:, rows] += np.repeat(rng.random((draws, cycles)) < q, p, axis=1) * flat

    def seen(at: int) -> np.ndarray:
        return y[:, rows + at].reshape(draws, cycles, p).sum(axis=2) * flat

    def log_ratio(statistic: np.ndarray) -> np.ndarray:
        return np.log1p(q * np.expm1(statistic / z**2 - 0.5 / z**2)).sum(axis=1)

    attack, claim = (log_ratio(seen(0)) - log_ratio(-seen(at)) for at in (offset, 0))
    one, other = (np.maximum(-np.expm1(1.0 - loss), 0) for loss in (attack, claim))
    return float(one.mean()), float(other.mean()), float((one - other).std() / math.sqrt(draws))


@pytest.mark.seconds
def test_groups_by_content_can_spend_more_than_their_blocks_under_replace_one() -> None:
    attack, claim, error = cycles(50, 0.1, 1.0, offset=2, b=4, p=4, draws=10_000)
    assert attack - claim > 6 * error
    flat = dp.Toeplitz(["1/2"] * 4, 52)
    with pytest.raises(UnsupportedMechanism, match="separation of 7 or more"):
        dp.epsilon(_content(flat, 4), "1e-5", RE)
    for separation in (5, 6):
        with pytest.raises(UnsupportedMechanism, match="groups by content"):
            dp.epsilon(_content(flat, separation), "1e-5", RE)
    attack, claim, error = cycles(40, 0.1, 1.0, offset=2, b=7, p=4, draws=10_000)
    assert attack < claim - 6 * error  # where blocks meet in pairs
    ((pair, count),) = next(iter(neighbour_classes(_content(flat, 7), RE).every())).product
    assert (pair, count) == (SampledGaussians(Direction.REPLACE, Fraction(1, 10), Fraction(1)), 8)


def _content(matrix: dp.Toeplitz, separation: int) -> dp.MatrixMechanism:
    return dp.MatrixMechanism(1, matrix, "cyclic-poisson", separation=separation, sample_rate="0.1", groups="content")


# --- What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"matrix": [[1, 2], [3, 4]]}, "lower triangular"),
        ({"matrix": [[1], [3, 0]]}, "diagonal"),
        ({"matrix": [[1], [3, 4, 5]]}, "square"),
        ({"matrix": []}, "rows"),
        ({"matrix": [[1], [Fraction(1, 7**900), Fraction(1, 11**900)]]}, "common denominator"),
        ({"participation": "shuffled"}, "participation"),
        ({"participation": "fixed-order"}, "separation"),
        ({"participation": "single", "separation": 3}, "separation"),
        ({"participation": "fixed-order", "separation": 2, "at_most": 3}, "at_most"),
        ({"participation": "cyclic-poisson", "separation": 2}, "sample_rate"),
        ({"participation": "cyclic-poisson", "separation": 2, "sample_rate": 2}, "sample_rate"),
        ({"groups": "name"}, "groups"),
        ({"noise_multiplier": 0}, "noise"),
    ],
)
def test_what_is_no_matrix_mechanism(given: dict[str, object], told: str) -> None:
    whole = {"noise_multiplier": 1, "matrix": [[1], [1, 1]], "participation": "single"} | given
    with pytest.raises(InvalidValue, match=told):
        dp.MatrixMechanism(**whole)


@pytest.mark.parametrize("coefficients", [[], [0, 1], ["x"], "cube-root", 3, np.array([])])
def test_what_is_no_toeplitz_matrix(coefficients: object) -> None:
    with pytest.raises(InvalidValue):
        dp.Toeplitz(coefficients, 4)


def test_positions_need_a_relation_that_keeps_them() -> None:
    m = dp.MatrixMechanism(1, [[1]], "single")
    with pytest.raises(UnsupportedMechanism, match="zero-out-one"):
        dp.epsilon(m, "1e-5")
    assert dp.epsilon(m, "1e-5", ZO).overlaps(dp.epsilon(dp.Gaussian(1), "1e-5"))
    content = dp.MatrixMechanism(1, [[1]], "single", groups="content")
    assert dp.epsilon(content, "1e-5").overlaps(dp.epsilon(dp.Gaussian(1), "1e-5"))


@pytest.mark.parametrize("relation", dp.Relation)
@pytest.mark.parametrize(
    "sampled",
    [
        lambda m: dp.PoissonSampled(m, "0.5"),
        lambda m: dp.SampledWithoutReplacement(m, 2, 9),
        lambda m: dp.SampledWithReplacement(m, 2, 9),
        lambda m: dp.PoissonSampled(dp.Gaussian(1) @ m, "0.5"),
    ],
)
def test_samples_of_matrix_mechanisms_are_refused(
    sampled: Callable[[dp.Mechanism], dp.Mechanism], relation: dp.Relation
) -> None:
    m = dp.MatrixMechanism(1, [[1]], "single", groups="content")
    with pytest.raises(UnsupportedMechanism, match="a matrix mechanism inside"):
        dp.epsilon(sampled(m), "1e-5", relation)


def test_bands_that_overlap_are_refused() -> None:
    for matrix in (dp.Toeplitz([1, 1, 1], 6), dp.BinaryTree(6)):
        m = dp.MatrixMechanism(1, matrix, "cyclic-poisson", separation=2, sample_rate="1/2")
        with pytest.raises(UnsupportedMechanism, match="overlap"):
            dp.epsilon(m, "1e-5", RE)
        whole = dp.MatrixMechanism(1, matrix, "cyclic-poisson", separation=2, sample_rate=1)
        fixed = dp.MatrixMechanism(1, matrix, "fixed-order", separation=2)
        assert dp.epsilon(whole, "1e-5", RE) == dp.epsilon(fixed, "1e-5", RE)


def test_a_group_gets_no_lower_end_that_nobody_attains() -> None:
    m = dp.MatrixMechanism(3, dp.BinaryTree(13), "minimum-separation", separation=3, at_most=4)
    one, three = dp.epsilon(m, "1e-5", ZO), dp.group_account(m, 3, delta="1e-5", relation=ZO)
    assert one.exact_lower < one.exact_upper < three.exact_upper
    assert three.exact_lower <= dp.epsilon(dp.MatrixMechanism(3, [[23]], "single"), "1e-5", ZO).exact_upper


def test_noise_is_calibrated_from_both_sides() -> None:
    m = dp.MatrixMechanism(1, dp.Toeplitz("square-root", 60, 4), "fixed-order", separation=6)
    found = dp.calibrate(m.with_noise, 2, "1e-6", RE)
    assert found.fails_at is not None
    assert found.value > found.fails_at
    assert found.value / found.fails_at < 1 + Fraction(1, 10**9)
    assert dp.epsilon(m.with_noise(found.value), "1e-6", RE).at_most(2)
