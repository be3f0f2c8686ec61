"""The oracles: what they answer, what they write, and how far a record can really move an answer."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy import stats

import dpbounds as dp
from dpbounds.algorithms import noise, problems
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    Gradients,
    HessianOracle,
    Poisson,
    as_vectors,
    at_least,
    batches,
    in_batches,
    rational,
)
from dpbounds.algorithms.oracles.batches import draw_rows
from dpbounds.algorithms.oracles.differences import distances
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.privacy.mechanisms import (
    Gaussian,
    PoissonSampled,
    SampledWithoutReplacement,
    SampledWithReplacement,
    UniformBall,
)

N, P = 60, 4


class Bowl:
    """f(x, z) = √(1 + <z, x>²) with ‖z‖ <= 1: G = L = 1, and L is attained at 0 along a unit z."""

    lipschitz = smoothness = sympy.Integer(1)

    def __init__(self, records=N, dimension=P, seed=0):
        rows = np.random.default_rng(seed).standard_normal((records, dimension))
        self.z = rows / np.maximum(1, np.linalg.norm(rows, axis=1))[:, None]
        self.records, self.dimension = records, dimension

    def each(self, x):
        m = self.z @ x
        return (m / np.sqrt(1 + m * m))[:, None] * self.z

    def objective_and_gradient(self, X):
        return np.array([np.sqrt(1 + (self.z @ x) ** 2).mean() for x in X]), np.stack([self.each(x).mean(0) for x in X])

    def batch_gradient(self, X, rows):
        return np.stack([self.each(x)[r].mean(axis=0) for x, r in zip(X, rows, strict=True)])

    def hessian(self, X):
        return np.stack([(self.z.T * (1 + (self.z @ x) ** 2) ** -1.5) @ self.z / self.records for x in X])


PROBLEM = Bowl()
X5 = np.random.default_rng(1).standard_normal((5, P))
Y5 = X5 + 0.1 * np.random.default_rng(2).standard_normal((5, P))
SAMPLINGS = {
    "without": Batch(7, N, replacement=False),
    "with": Batch(7, N, replacement=True),
    "poisson": Poisson("1/8"),
    "one": Batch(1, N, replacement=False),
}


def oracle(kind, pen, repetitions=5, multiplier=Fraction(3), problem=PROBLEM, **options):
    """An oracle of a kind; one of differences is asked at two points."""
    what, _, scheme = kind.partition(" ")
    common = multiplier, noise.streams(9, repetitions), pen
    if what == "difference":
        return GradientDifferenceOracle(problem, *common, sampling=SAMPLINGS.get(scheme), **options)
    if what in SAMPLINGS:
        return BatchGradientOracle(problem, SAMPLINGS[what], *common, **options)
    return {"full": GradientOracle, "hessian": HessianOracle}[what](problem, *common, **options)


def asked(kind, repetitions=5, ledger=None, **options):
    """One answer of an oracle of a kind, and its ledger."""
    pen = OpenLedger() if ledger is None else ledger
    points = (X5, Y5) if kind.startswith("difference") else (X5,)
    return oracle(kind, pen, repetitions, **options)(*(each[:repetitions] for each in points)), pen


KINDS = ("full", "hessian", "difference", *SAMPLINGS, *(f"difference {name}" for name in SAMPLINGS))


@pytest.mark.parametrize("kind", KINDS)
def test_a_repetition_does_not_depend_on_the_others(kind):
    many, few = asked(kind)[0], asked(kind, 2)[0]
    assert (many.noisy[:2] == few.noisy).all()
    assert (opened(many.exact)[:2] == opened(few.exact)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_ledger_gets_the_mechanism_that_ran(kind):
    inner = Gaussian(3)
    scheme = kind.removeprefix("difference ")
    expected = {
        "without": SampledWithoutReplacement(inner, 7, N),
        "with": SampledWithReplacement(inner, 7, N),
        "poisson": PoissonSampled(inner, "1/8"),
        "one": SampledWithoutReplacement(inner, 1, N),
    }.get(scheme, inner)
    ledger = asked(kind)[1].close()
    (release,) = ledger.releases
    assert release.count == 1
    if "difference" in kind:
        assert release.mechanism() == expected
    else:  # the standard deviation is rounded up to a double: the noise multiplier that is written is the real one
        ledger.check_plan(expected)
        assert type(release.mechanism()) is type(expected)
        assert Fraction(3) <= release.noise_multiplier < 3 * (1 + Fraction(1, 2**50))
    assert type(ledger).from_json(ledger.to_json()) == ledger


@pytest.mark.parametrize("kind", KINDS)
def test_found_one_per_cent_of_noise_missing_in_the_plan_of_any_oracle(kind):
    ledger = asked(kind, multiplier=Fraction("2.97"))[1].close()
    planned = asked(kind)[1].close().mechanism()
    with pytest.raises(BudgetExceeded):
        ledger.check_plan(planned)


@pytest.mark.parametrize("kind", ["full", "hessian", "difference", "without", "difference one"])
def test_found_ten_per_cent_of_noise_missing_in_what_was_added(kind, monkeypatch):
    # 4000 numbers: missed with probability below 1e-9; the honest run is refused with probability 1e-12
    points = (np.zeros((1000, P)), np.ones((1000, P)))[: 2 if kind.startswith("difference") else 1]
    name, honest, short = "per_unit" if len(points) == 2 else "gaussian", OpenLedger(), OpenLedger()
    oracle(kind, honest, 1000)(*points)
    assert len(honest.close().releases) == 1
    real = getattr(noise, name)
    monkeypatch.setattr(noise, name, lambda *args, **rest: 0.9 * real(*args, **rest))
    oracle(kind, short, 1000)(*points)
    with pytest.raises(BudgetExceeded, match="less noise was added"):
        short.close()


def test_a_repetition_is_always_asked_about_in_the_same_question_and_few_points_cost_few():
    """By shapes, as which bits a product of matrices has may depend on nothing else: on any machine."""

    def places(repetitions):
        X = np.arange(1.0, repetitions + 1)[:, None]
        parts = list(batches(X))
        assert np.concatenate([np.arange(repetitions)[rows] for rows, _ in parts]).tolist() == list(range(repetitions))
        assert all((points[: rows.stop - rows.start] == X[rows]).all() for rows, points in parts)
        asked = sum(len(points) for _, points in parts)
        return {
            row: (len(points), row - rows.start) for rows, points in parts for row in range(*rows.indices(99))
        }, asked

    all_of_them, _ = places(80)
    for repetitions in range(1, 80):
        few, asked = places(repetitions)
        assert few == {row: all_of_them[row] for row in range(repetitions)}
        assert repetitions <= asked <= max(1, 8 * repetitions)
        assert asked < repetitions + 32
    assert places(1)[1] == 1  # what most people ask for
    assert {places(count)[1] for count in range(2, 9)} == {8}


def test_answers_in_batches_are_those_of_one_row_at_a_time():
    X = np.random.default_rng(3).standard_normal((45, P))
    objective, gradient = in_batches(PROBLEM, X)
    assert objective == pytest.approx([PROBLEM.objective_and_gradient(x[None])[0][0] for x in X], rel=1e-14)
    assert gradient == pytest.approx(np.stack([PROBLEM.each(x).mean(axis=0) for x in X]), rel=1e-13)


def test_full_batch_is_the_mean_and_remembers():
    answer, _ = asked("full")
    assert opened(answer.exact) == pytest.approx(np.stack([PROBLEM.each(x).mean(axis=0) for x in X5]), abs=1e-14)
    shared, calls = Gradients(PROBLEM), []
    first = shared.known(X5)[1]
    PROBLEM.objective_and_gradient, real = lambda X: calls.append(1) or real(X), PROBLEM.objective_and_gradient
    try:
        assert shared.known(X5.copy())[1] is first
        assert opened(shared.at(X5)[1]) is first
        assert not calls
        shared.known(Y5)
        assert calls
    finally:
        del PROBLEM.objective_and_gradient


@pytest.mark.parametrize("kind", list(SAMPLINGS))
def test_a_batch_is_summed_and_divided_by_a_public_number(kind):
    answer, _ = asked(kind)
    divisor = {"without": 7, "with": 7, "one": 1, "poisson": N / 8}[kind]
    for x, rows, mean in zip(X5, *map(opened, (answer.rows, answer.exact)), strict=True):
        assert mean == pytest.approx(PROBLEM.each(x)[rows].sum(axis=0) / divisor, abs=1e-14)


def test_batches_are_drawn_as_the_ledger_says():
    (generator,) = noise.streams(4, 1)
    draws = 4000
    rows = [draw_rows(SAMPLINGS["without"], N, generator) for _ in range(draws)]
    assert all(len(set(each)) == 7 for each in rows)
    counts = np.bincount(np.concatenate(rows), minlength=N)
    # inclusion is Bernoulli(7/60) per draw; the variance of a sum over records is below that of independent ones
    assert (
        stats.chi2.sf(((counts - draws * 7 / N) ** 2 / (draws * 7 / N * (1 - 7 / N))).sum() * (N - 1) / N, N - 1) > 1e-6
    )
    rows = [draw_rows(SAMPLINGS["with"], N, generator) for _ in range(draws)]
    assert any(len(set(each)) < 7 for each in rows)
    assert stats.chisquare(np.bincount(np.concatenate(rows), minlength=N)).pvalue > 1e-6
    sizes = [len(draw_rows(SAMPLINGS["poisson"], N, generator)) for _ in range(draws)]
    observed = np.bincount(np.clip(sizes, 2, 13), minlength=14)[2:]
    law = stats.binom(N, 1 / 8)
    expected = np.array([law.cdf(2), *law.pmf(range(3, 13)), law.sf(12)]) * draws
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 1e-6


@pytest.mark.parametrize("constant", [sympy.sqrt(2), sympy.sqrt(3) / 18, sympy.exp(-1)], ids=str)
def test_an_irrational_constant_is_rounded_up(constant):
    above = (sympy.Rational(at_least(constant, "lipschitz")) / constant - 1).evalf(30)
    assert 0 < above < 2**-50
    with pytest.raises(InvalidValue, match="rational"):
        rational(constant, "lipschitz")


def test_a_rate_is_one_that_a_generator_can_draw():
    assert Poisson("1/3").sample_rate == Fraction(math.floor(Fraction(2**53, 3)), 2**53)
    for wrong in (0, "1.1", Fraction(1, 2**54)):
        with pytest.raises(InvalidValue, match="sample_rate"):
            Poisson(wrong)


# --- how far one record moves an answer ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "divisor"), [("full", N), ("without", 7), ("with", 7), ("one", 1), ("poisson", N / 8)]
)
def test_the_bound_on_a_gradient_is_that_of_the_longest_record_far_out(kind, divisor):
    longest = np.linalg.norm(PROBLEM.each(1e9 * PROBLEM.z.sum(axis=0)), axis=1).max() / divisor
    assert float(oracle(kind, OpenLedger()).per_record_bound) == pytest.approx(longest, rel=1e-9)


@pytest.mark.parametrize("far", [1e-3, 1.0, 1e3])
def test_no_record_moves_a_difference_by_more_than_its_bound(far):
    oracle = GradientDifferenceOracle(PROBLEM, Fraction(1), noise.streams(0, 5), OpenLedger())
    Y = X5 + far * (Y5 - X5)
    bounds = oracle.per_record_bounds(X5, Y) * N
    for x, y, bound in zip(X5, Y, bounds, strict=True):
        assert np.linalg.norm(PROBLEM.each(x) - PROBLEM.each(y), axis=1).max() <= bound
        assert bound == pytest.approx(min(np.linalg.norm(x - y), 2.0), rel=1e-6)  # and the floor


def test_the_bound_on_a_difference_is_attained():
    line = Bowl(records=1, dimension=1)
    line.z[:] = 1.0
    x, y = np.array([[1e-6]]), np.array([[0.0]])
    for pair in ((x, y), (np.array([[1e6]]), np.array([[-1e6]]))):
        oracle = GradientDifferenceOracle(line, Fraction(1), noise.streams(0, 1), OpenLedger())
        moved = abs(line.each(pair[0][0]) - line.each(pair[1][0])).item()
        assert moved <= oracle.per_record_bounds(*pair)[0]
        assert moved == pytest.approx(oracle.per_record_bounds(*pair)[0], rel=1e-6)


def test_rounding_does_not_tell_the_data_where_points_nearly_coincide():
    """Computed differences of neighbours' gradients stay below the bound however close the points are."""
    rng = np.random.default_rng(1)
    features = rng.standard_normal((500, 4))
    features /= 1.001 * np.linalg.norm(features, axis=1, keepdims=True)
    labels = np.sign(rng.standard_normal(500))
    neighbour = features.copy()
    neighbour[0] *= -1
    first, second = (problems.sigmoid_loss(rows, labels) for rows in (features, neighbour))
    for far in (1e-3, 1e-8, 1e-12, 1e-15, 1e-17):
        X = rng.standard_normal((32, 4))
        Y = X + far * rng.standard_normal((32, 4))
        oracle = GradientDifferenceOracle(first, Fraction(1), noise.streams(0, 32), OpenLedger())
        bounds = oracle.per_record_bounds(X, Y)
        seen = [problem.gradient(X) - problem.gradient(Y) for problem in (first, second)]
        moved = np.linalg.norm(seen[0] - seen[1], axis=1)
        still = (X == Y).all(axis=1)
        assert (moved[~still] <= 2 * bounds[~still]).all()  # 2: a record was replaced
        assert (moved[still] == 0).all()
        if far == 1e-15:  # without the floor, rounding alone would exceed what the distance allows for
            assert (moved > 2 * np.linalg.norm(X - Y, axis=1) * float(first.smoothness) / 500).any()


def test_distances_are_rounded_up():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((200, 7)) * 10.0 ** rng.integers(-140, 140, (200, 1)), np.zeros((200, 7))
    for x, found in zip(X, distances(X, Y), strict=True):
        squared = sum(Fraction(v) ** 2 for v in x)
        assert squared <= Fraction(found) ** 2 <= squared * (1 + Fraction(1, 10**13))
    assert distances(X, X).max() == 0
    assert distances(np.array([[5e-324]]), np.array([[0.0]]))[0] > 0


@pytest.mark.parametrize("kind", ["difference", "difference one"])
def test_points_that_did_not_move_get_exactly_zero_whatever_rounding_does(kind):
    class Jittery(Bowl):
        calls = 0

        def batch_gradient(self, X, rows):
            self.calls += 1
            return super().batch_gradient(X, rows) + 1e-12 * self.calls

    pen, previous = OpenLedger(), X5.copy()
    previous[3:] += 1
    answer = oracle(kind, pen, problem=Jittery())(X5, previous)
    assert (answer.noisy[:3] == 0).all()
    assert (answer.noisy[3:] != 0).all()
    assert len(pen.close().releases) == 1


@pytest.mark.parametrize("multiplier", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(7)])
def test_noise_per_unit_is_rounded_up(multiplier, monkeypatch):
    monkeypatch.setattr(noise, "standard_gaussian", lambda generators, dimension: np.ones((1, 1)))
    drawn = noise.per_unit(
        "gaussian", (), 1, noise_multiplier=multiplier, described=Gaussian(multiplier), ledger=OpenLedger()
    )  # fmt: skip
    assert multiplier <= Fraction(drawn.item()) <= multiplier * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("kind", list(SAMPLINGS))
def test_the_two_points_of_a_difference_see_the_same_batch(kind):
    answer = oracle(f"difference {kind}", OpenLedger())(X5, X5 + 1e-6 / math.sqrt(P))
    # at most N/7.5 gradients, each changed by 1e-6 at most; two different batches would differ by some tenths
    assert np.linalg.norm(opened(answer.exact), axis=1).max() <= 1e-6 * 8


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_without_a_stream_is_refused_before_anything_is_written(kind):
    pen = OpenLedger()
    for points in (np.zeros((5, P)), np.zeros(P)):
        with pytest.raises(InvalidValue, match=r"X\.shape"):
            oracle(kind, pen, 4)(*[points] * (2 if kind.startswith("difference") else 1))
    assert pen.close().releases == ()


@pytest.mark.seconds
def test_noise_of_a_difference_is_per_distance():
    pen, generators = OpenLedger(), noise.streams(0, 2)
    oracle = GradientDifferenceOracle(PROBLEM, Fraction(3), generators, pen)
    X, Y = np.zeros((2, P)), np.zeros((2, P))
    X[0, 0], X[1, 0] = 1e-3, 1e3  # the second beyond the cap 2G
    added = np.stack([(lambda a: a.noisy - opened(a.exact))(oracle(X, Y)) for _ in range(500)])
    for r, stddev in enumerate((3e-3 / N, 6 / N)):
        assert oracle(X, Y).noise_stddev[r] == pytest.approx(stddev)
        assert stats.kstest(added[:, r].ravel() / stddev, "norm").pvalue > 1e-6


@pytest.mark.parametrize("rank", [None, 1, 3, 9])
def test_the_bound_on_a_hessian_is_attained(rank):
    oracle = HessianOracle(PROBLEM, Fraction(1), (), OpenLedger(), rank=rank)
    bound, rng = float(oracle.per_record_bound) * N, np.random.default_rng(0)
    r = min(P, rank or P)
    for _ in range(300):
        basis = np.linalg.qr(rng.standard_normal((P, P)))[0]
        H = (basis[:, :r] * rng.choice([-1, 1], r)) @ basis[:, :r].T
        assert np.linalg.norm(as_vectors(H[None])) == pytest.approx(bound, rel=1e-9)
    assert oracle.per_record_bound**2 * N**2 >= r


def test_hessian_noise_is_symmetric_and_everywhere():
    answer, _ = asked("hessian")
    assert (answer.noisy == answer.noisy.transpose(0, 2, 1)).all()
    assert (answer.noisy != opened(answer.exact)).all()


@pytest.mark.one_in(4)
def test_hessian_noise_has_the_ledgers_size():
    pen = OpenLedger()
    ask = oracle("hessian", pen, 1)
    drawn = np.stack([(lambda a: a.noisy[0] - opened(a.exact)[0])(ask(X5[:1])) for _ in range(3000)])
    (release,) = pen.close().releases
    for i, j, share in ((0, 0, 1), (0, 3, np.sqrt(0.5)), (2, 2, 1)):
        assert stats.kstest(drawn[:, i, j] / (share * float(release.noise_stddev)), "norm").pvalue > 1e-6


# --- ball, sphere --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["full", "one", "difference", "difference one", "hessian"])
def test_ball_noise_is_written_as_such(kind):
    _, pen = asked(kind, noise="ball")
    (release,) = pen.close().releases
    inner = getattr(release.mechanism(), "mechanism", release.mechanism())
    assert isinstance(inner, UniformBall)
    assert 3 <= inner.radius < 3 * (1 + Fraction(1, 2**50))
    assert inner.dimension == (P * (P + 1) // 2 if kind == "hessian" else P)


@pytest.mark.seconds
def test_ball_and_sphere_noise_have_their_laws():
    generators = noise.streams(0, 20_000)
    arguments = {"radius": 2.5, "per_record_bound": Fraction(1), "ledger": OpenLedger()}
    inside = noise.ball("ball", generators, 3, **arguments)
    assert stats.kstest((np.linalg.norm(inside, axis=1) / 2.5) ** 3, "uniform").pvalue > 1e-6
    surface = noise.ball("sphere", generators, 3, **arguments)
    assert np.linalg.norm(surface, axis=1) == pytest.approx(2.5)
    for points in (inside / np.linalg.norm(inside, axis=1)[:, None], surface / 2.5):  # Archimedes: uniform heights
        assert stats.kstest((points[:, 1] + 1) / 2, "uniform").pvalue > 1e-6


def test_the_sphere_promises_only_that_the_record_is_hidden():
    _, pen = asked("one", noise="sphere")
    spent = dp.delta(pen.close().mechanism(), epsilon=0, relation="replace-one")
    assert spent.upper == pytest.approx(1 / N, rel=1e-9)
    _, pen = asked("full", noise="sphere")
    assert dp.delta(pen.close().mechanism(), epsilon=5, relation="replace-one").upper == 1


# --- refusals ------------------------------------------------------------------------------------------------------


def test_what_makes_no_sense_is_refused_before_anything_is_written():
    pen = OpenLedger()
    broken = Bowl()
    broken.z[0, 0] = np.nan
    unbounded = Bowl()
    unbounded.lipschitz = unbounded.smoothness = None
    streams = Fraction(3), noise.streams(9, 5), pen
    flat = problems.sigmoid_loss(np.eye(X5.shape[1]), np.ones(X5.shape[1]), l1=0)  # has a gradient however far out
    for error, message, call in (
        (InvalidValue, "noise must be .*, not 'cauchy'", lambda: asked("full", ledger=pen, noise="cauchy")),
        (InvalidValue, "noise must be .*, not 'cauchy'", lambda: asked("difference", ledger=pen, noise="cauchy")),
        (InvalidValue, "not finite", lambda: asked("full", ledger=pen, problem=broken)),
        (InvalidValue, "not finite", lambda: asked("difference", ledger=pen, problem=broken)),
        (InvalidValue, "not finite", lambda: GradientDifferenceOracle(flat, *streams)(1e200 + 0 * X5, Y5)),
        (InvalidValue, "lipschitz", lambda: asked("full", ledger=pen, problem=unbounded)),
        (InvalidValue, "lipschitz", lambda: asked("difference", ledger=pen, problem=unbounded)),
        (InvalidValue, "smoothness", lambda: asked("hessian", ledger=pen, problem=unbounded)),
        (InvalidValue, "rank", lambda: asked("hessian", ledger=pen, rank=0)),
        (InvalidValue, "batch.records", lambda: asked("one", ledger=pen, problem=Bowl(records=9))),
        (InvalidValue, "gradients", lambda: asked("difference", ledger=pen, gradients=Gradients(Bowl()))),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            call()
    assert pen.close().releases == ()
