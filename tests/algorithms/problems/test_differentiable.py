"""Losses written in JAX: the gradients of the library's own problems, one record's bound by brute force, its runs.

Skipped where JAX is not installed.
"""

import dataclasses
import subprocess
import sys
from fractions import Fraction
from functools import cache

import attrs
import numpy as np
import pytest

from dpbounds.algorithms import (
    NegativeCurvatureDescent,
    PrivateTraining,
    ProjectedGradientDescent,
    QuantileClipping,
    Spider,
    StochasticGradientDescent,
    Storm,
    problems,
)
from dpbounds.algorithms.guards.residuals import NoiseWrong, Residuals
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import GradientDifferenceOracle, HessianProductOracle
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.problems import Clipped, differentiable
from dpbounds.algorithms.problems.differentiable_losses import margins, problem as asked, programs as made, sums
from dpbounds.algorithms.progress import followed_by
from dpbounds.algorithms.sampling import Batch, Poisson
from dpbounds.algorithms.second_order.gradient_descent import GradientDescent
from dpbounds.algorithms.second_order.gradient_path_noise import GradientPathNoise
from dpbounds.algorithms.second_order.iterative_path_noise import IterativePathNoise
from dpbounds.algorithms.second_order.path_noise_descent import PathNoiseDescent
from dpbounds.algorithms.second_order.stationary_point_selection import StationaryPointSelection
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms import Gaussian
from tests.algorithms.problems.lazy_jax import jax, jnp, needs_jax
from tests.algorithms.shared import exact_square

pytestmark = [pytest.mark.seconds, needs_jax]

RNG = np.random.default_rng(0)
N, P = 60, 4
FEATURES = RNG.standard_normal((N, P)).astype(np.float32) / 3
SIGNS = np.where(RNG.random(N) < 0.5, -1, 1)
POINTS = RNG.standard_normal((5, P))


def sigmoid(w, record):
    features, sign = record
    return jax.nn.sigmoid(-sign * (features @ w))


def linear(w, record):
    """The gradient is the record: what is clipped is what is given."""
    return sum(jnp.vdot(w[name], record[name]) for name in record)


def network(parameters, record):
    features, label = record
    return -jax.nn.log_softmax(
        jnp.tanh(features @ parameters["in"] + parameters["bias"]) @ parameters["out"].astype(jnp.float32)
    )[label]


@cache  # compiled once
def a_network(**more):
    draw = np.random.default_rng(1)
    parameters = {
        "in": jnp.asarray(draw.standard_normal((P, 6)), dtype=jnp.float32),
        "bias": jnp.zeros(6, jnp.float32),
        "out": jnp.asarray(draw.standard_normal((6, 3)), dtype=jnp.float16),
    }
    return parameters, differentiable(network, parameters, (FEATURES, SIGNS + 1), **{"clip": 1, **more})


def of_rows(rows, clip=1, **more):
    """A problem whose records' gradients are these rows, in two leaves."""
    rows = np.asarray(rows, dtype=np.float32)
    start = {"a": jnp.zeros(1, jnp.float32), "b": jnp.zeros(rows.shape[1] - 1, jnp.float32)}
    return differentiable(linear, start, {"a": rows[:, :1], "b": rows[:, 1:]}, clip=clip, **more)


def total(problem, rows=None, x=None):
    x = problem.initial_point if x is None else x
    return problem.summed_gradients(x, np.arange(problem.records) if rows is None else np.asarray(rows))


def test_it_is_a_clipped_problem_of_the_library():
    own = problems.sigmoid_loss(FEATURES, SIGNS, l1=0, feature_bound=10)
    for clip in ("1/20", 10):
        reference = Clipped(own, clip)
        problem = differentiable(sigmoid, jnp.zeros(P, jnp.float32), (FEATURES, SIGNS.astype(np.float32)), clip=clip)
        single = problem.compiled.parameters(POINTS[0])
        assert single.dtype == np.float32
        assert problem.gradient(POINTS) == pytest.approx(reference.gradient(POINTS), abs=2e-7)
        rows = RNG.integers(0, N, (5, 7))
        assert problem.batch_gradient(POINTS, rows) == pytest.approx(reference.batch_gradient(POINTS, rows), abs=2e-7)
        for method in (
            GradientDescent(10, 20, step_size=0.5),
            StochasticGradientDescent(5, 20, 1, Poisson("1/4")),
            StochasticGradientDescent(5, 20, 1, Batch(6, N, replacement=True)),
        ):
            runs = [method.run(each, seed=1, repetitions=2) for each in (problem, reference)]
            assert runs[0].output == pytest.approx(runs[1].output, abs=1e-5)
            assert runs[0].ledger.releases == runs[1].ledger.releases


@pytest.mark.parametrize("loss", [lambda w, x, y: jnp.sum((x @ w - y) ** 2), lambda w: jnp.sum(w)])
def test_a_loss_of_other_arguments_is_refused_with_the_form_that_is_needed(loss):
    with pytest.raises(InvalidValue, match=r"one record, loss\(w, z\), not of the arguments \(w.*pair \(x, y\)"):
        differentiable(loss, jnp.zeros(P), (FEATURES, SIGNS), clip=1)


def test_a_loss_of_batches_is_refused_with_the_shape_of_a_record():
    with pytest.raises(InvalidValue, match=r"one scalar per record, .*take no mean over records"):
        differentiable(lambda w, z: z[0] * w, jnp.zeros(P), (FEATURES, SIGNS), clip=1)
    with pytest.raises(IndexError) as found:
        differentiable(lambda w, z: jnp.sum(z[0] @ w) * z[1].shape[0], jnp.zeros(P), (FEATURES, SIGNS), clip=1)
    assert f"one record, whose arrays have the shapes ({P},), ()" in "".join(found.value.__notes__)


def test_leaves_of_several_types_are_clipped_as_one_vector():
    parameters, problem = a_network(clip="1/10")
    assert problem.dimension == P * 6 + 6 + 18
    back = problem.parameters(problem.initial_point)
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), back) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), parameters
    )
    summed = np.zeros(problem.dimension)
    for row in range(N):
        found = jax.grad(network)(parameters, (FEATURES[row], SIGNS[row] + 1))
        flat = np.concatenate([np.asarray(leaf, dtype=np.float64).ravel() for leaf in jax.tree.leaves(found)])
        alone = total(problem, [row])
        assert alone == pytest.approx(flat * min(1, 0.1 / np.linalg.norm(flat)), abs=1e-4)  # half precision
        assert exact_square(alone) <= Fraction(1, 100)
        summed += alone
    assert total(problem) == pytest.approx(summed, abs=1e-3)
    assert not jax.config.jax_enable_x64


def test_leaves_that_are_functions_stay_as_they_are():
    """As in a module of Equinox: the loss gets them, and so does who asks for parameters; optimisers do not."""
    optax = pytest.importorskip("optax")

    def loss(w, record):
        return jax.nn.softplus(-record[1] * w["turned"](record[0] @ w["in"]).sum())

    records = FEATURES, SIGNS.astype(np.float32)
    start = jnp.ones((P, 2), jnp.float32) / 5
    fixed = differentiable(loss, {"turned": jnp.tanh, "in": start}, records, clip={"turned": 7, "in": 1})
    plain = differentiable(lambda w, record: loss({"turned": jnp.tanh, **w}, record), {"in": start}, records, clip=1)
    runs = [
        PrivateTraining(5, 3, optax.adam(0.1), sampling=Poisson("1/4")).run(each, seed=1) for each in (fixed, plain)
    ]
    assert (runs[0].output == runs[1].output).all()
    back = fixed.parameters(runs[0].output[0])
    assert back["turned"] is jnp.tanh
    assert (back["in"] == plain.parameters(runs[1].output[0])["in"]).all()
    assert fixed.rounding == plain.rounding


@pytest.mark.parametrize("rows", [[0, N], [-1, 3]])
def test_places_of_no_record_are_refused(rows):
    """In the program they would be read as those of others."""
    with pytest.raises(InvalidValue, match=f"rows must be places of records, 0 to {N - 1}"):
        total(a_network()[1], rows)


def wild(rows, columns):
    """Rows of every size and kind that single precision knows."""
    draw = np.random.default_rng(2)
    scale = 10.0 ** draw.uniform(-40, 38, (rows, 1))
    with np.errstate(over="ignore"):
        found = (draw.standard_normal((rows, columns)) * scale).astype(np.float32)
    found[0], found[1, 0], found[2, -1], found[3] = 0, np.nan, np.inf, np.finfo(np.float32).max
    found[4] = np.finfo(np.float32).tiny
    found[5] = np.float32(1 / np.sqrt(columns))  # beside the bound
    found[6] = np.nextafter(found[5], np.float32(1))
    return found


@pytest.mark.parametrize("clip", [Fraction(1), Fraction(1, 3), Fraction(10) ** 30, Fraction(1, 10**30)])
def test_neighbours_sums_differ_by_at_most_the_bound_exactly(clip):
    """Each record removed, and each replaced by each of some: squares of differences as fractions."""
    rows = wild(40, 9)
    problem = of_rows(rows, clip)
    every, largest = total(problem), Fraction(0)
    assert np.isfinite(every).all()
    for gone in range(len(rows)):
        moved = exact_square(every - total(problem, np.delete(np.arange(len(rows)), gone)))
        # the difference of two doubles is rounded once more here
        assert moved <= clip**2 * (1 + Fraction(1, 2**50))
        largest = max(largest, moved)
    assert largest > clip**2 * Fraction(999, 1000)
    for other in (rows[3], -rows[3], rows[1], rows[8]):
        changed = rows.copy()
        changed[11] = other
        assert exact_square(total(of_rows(changed, clip)) - every) <= 4 * clip**2 * (1 + Fraction(1, 2**50))


def test_sums_that_cancel_keep_within_the_margin():
    """Large parts that cancel, where single precision would lose the smallest record by far more than the margin."""
    rows = np.tile(np.float32([[1, 0], [-1, 0]]), (500, 1))
    rows = np.concatenate([rows, np.float32([[1e-6, 1e-7]])])
    problem = of_rows(rows)
    moved = total(problem) - total(problem, np.arange(1000))
    assert moved == pytest.approx(rows[-1], abs=1e-12)
    assert margins.margin(1001, 2) < Fraction(1, 10**8)


def test_the_margin_is_what_the_proof_asks_for():
    u = Fraction(1, 2**53)
    for n, p in ((1, 1), (1000, 10**7), (10**6, 10**9)):
        eta = margins.margin(n, p)
        A = Fraction(1, 2**31) + (p + 8) * u / (1 - (p + 8) * u)
        B = 2 * n * (2 * n + 8) * u / (1 - (2 * n + 8) * u)
        assert (1 - eta) * (1 + A) * (1 + B) < 1
        assert (1 - eta / 4) * (1 + A) * (1 + B) > 1 - eta  # and not much more
    with pytest.raises(InvalidValue, match="records must be"):
        margins.margin(2 * 10**6, 10)


def test_what_is_not_finite_counts_as_nothing():
    rows = np.ones((6, 3), np.float32) / 4
    bad = rows.copy()
    bad[0, 1], bad[1], bad[2, 0] = np.nan, np.inf, -np.inf
    assert total(of_rows(bad)) == pytest.approx(total(of_rows(rows), [3, 4, 5]), abs=1e-15)


def test_batches_are_sums_over_a_public_number():
    """Where the divisor is what was drawn, the steps of equal records are all alike."""
    problem = of_rows(np.ones((40, 3)) / 10)
    run = StochasticGradientDescent(5, 30, 1, Poisson("1/4")).run(problem, seed=0, repetitions=1)
    sizes = np.sqrt(run.trace["step"].per_step) / np.linalg.norm(np.float32([0.1] * 3)) * 10
    assert sizes == pytest.approx(np.round(sizes), abs=1e-5)
    assert len(np.unique(np.round(sizes))) > 5  # sizes differ, the divisor does not
    (release,) = run.ledger.releases
    assert release.per_record_bound == Fraction(1, 10)


@pytest.mark.minutes
def test_places_in_a_chunk_mean_nothing_and_memory_is_kept():
    _, large = a_network()

    def used(lanes):
        return large.compiled.bytes_of(64, lanes, jnp.zeros(48, jnp.float32), large.leaves)

    assert (large.chunk, large.compiled.lanes) == (64, 16)
    _, small = a_network(memory_limit=used(8))
    assert used(8) < used(16)
    assert (small.chunk, small.compiled.lanes) == (64, 8)
    assert total(small) == pytest.approx(total(large), abs=1e-4)
    with pytest.raises(InvalidValue, match="memory_limit must be at least"):
        a_network(memory_limit=100)


def test_every_row_is_in_one_block_of_one_width():
    for count in range(1, 70):
        for most in (1, 4, 16, 64):
            found = list(made.blocks(np.arange(count), most))
            assert np.concatenate(found).tolist() == list(range(count))
            assert all(len(rows) == most for rows in found[:-1])
            assert len(found[-1]) <= most


def wide(features, count):
    """A network whose gradients are rounded in other ways by programs of other widths."""
    draw = np.random.default_rng(3)
    parameters = {
        "in": jnp.asarray(draw.standard_normal((64, 128)) / 10, dtype=jnp.float32),
        "bias": jnp.zeros(128, jnp.float32),
        "out": jnp.asarray(draw.standard_normal((128, 10)), dtype=jnp.float32),
    }
    return differentiable(network, parameters, (features[:count], np.arange(count) % 10), clip="1/100")


def test_a_record_has_the_same_bits_in_every_place():
    problem = wide(np.random.default_rng(4).standard_normal((40, 64)).astype(np.float32), 40)
    x, rows = problem.initial_point.astype(np.float32), np.arange(problem.chunk) % 40

    def gradients(chosen):
        found = jax.tree.leaves(problem.compiled.gradients(x, [leaf[chosen] for leaf in problem.leaves]))
        return np.concatenate([np.asarray(each).reshape(len(chosen), -1) for each in found], axis=1)

    here = gradients(rows)
    for shift in (1, 3, 17):
        assert (np.roll(gradients(np.roll(rows, shift)), -shift, axis=0) == here).all()


@pytest.mark.parametrize("count", [2, 9, 33])
def test_a_record_more_moves_a_sum_by_its_own_part_and_nothing_else(count):
    """Every record taken out of a sample in turn, so that those behind it move up: only sums may round, in doubles."""
    problem = wide(np.random.default_rng(4).standard_normal((40, 64)).astype(np.float32), 40)
    drawn = np.arange(count)
    every = total(problem, drawn)
    for gone in drawn:
        moved = every - total(problem, np.delete(drawn, gone))
        assert np.abs(moved - total(problem, [gone])).max() < 1e-16
        assert exact_square(moved) <= Fraction(1, 10**4) * (1 + Fraction(1, 2**50))


def test_differences_are_clipped_per_distance():
    def steep(w, z):
        return 50 * jnp.sum((w - z) ** 2) / 2

    data = RNG.standard_normal((N, P)).astype(np.float32)
    problem = differentiable(steep, jnp.zeros(P, jnp.float32), data, clip=1, smoothness=2)
    x, y = POINTS[0], POINTS[0] + 2.0**-6
    apart = np.linalg.norm(x - y)
    for row in range(5):
        alone = problem.summed_differences(x, y, np.array([row]))
        assert np.linalg.norm(alone) == pytest.approx(2 * apart, rel=1e-6)
        assert exact_square(alone) <= 4 * exact_square(x - y)
        far = problem.summed_differences(x, x + 100, np.array([row]))
        assert np.linalg.norm(far) == pytest.approx(2, rel=1e-6)
    assert not problem.summed_differences(x, x, np.arange(N)).any()
    generators = [np.random.default_rng(0)]
    for kept in (Fraction(1), Fraction(3, 4)):
        for sampling in (None, Poisson("1/4"), Batch(6, N, replacement=False)):
            pen = StochasticGradientDescent(1, 1)._ledger()
            oracle = GradientDifferenceOracle(
                problem, Fraction(1, 10**9), generators, pen, sampling=sampling, kept=kept
            )
            answer = oracle(x[None], y[None])
            by = N if sampling is None else 15 if isinstance(sampling, Poisson) else 6
            bound = float(kept) * 2 * apart + float(1 - kept)
            assert oracle.per_record_bounds(x[None], y[None])[0] == pytest.approx(bound / by, rel=1e-5)
            if sampling is None:
                exact = float(kept) * problem.summed_differences(x, y, np.arange(N))
                exact = (exact + float(1 - kept) * total(problem, x=x)) / N
                assert opened(answer.exact)[0] == pytest.approx(exact, abs=1e-12)
    with pytest.raises(UnsupportedMechanism, match="no secure noise"):
        GradientDifferenceOracle(problem, Fraction(1), generators, pen, "secure")


METHODS = {
    "dp-gd": lambda problem: GradientDescent.calibrated(problem, 1, "1e-5", steps=8, step_size=0.5),
    "dp-sgd-poisson": lambda problem: StochasticGradientDescent.calibrated(
        problem, 1, "1e-5", steps=8, distance=2, sampling=Poisson("1/4")
    ),
    "dp-sgd-batch": lambda problem: StochasticGradientDescent.calibrated(
        problem, 1, "1e-5", steps=8, distance=2, sampling=Batch(6, N, replacement=False)
    ),
    "projected": lambda problem: ProjectedGradientDescent.calibrated(problem, 1, "1e-5", steps=8, step_size=0.5),
    "spider": lambda problem: Spider.calibrated(problem, 1, "1e-5", steps=8, anchor_period=4),
    "storm": lambda problem: Storm.calibrated(problem, 1, "1e-5", steps=8, initial_gap=1),
}


@pytest.mark.parametrize("name", METHODS)
def test_existing_algorithms_run_certified_under_guard_and_promise_nothing(name):
    _, problem = a_network(smoothness=4)
    if name not in ("spider", "storm", "dp-gd"):  # which walk in all of space
        problem = dataclasses.replace(problem, radius=Fraction(20))
    method = METHODS[name](problem)
    run = method.run(problem, seed=1, repetitions=2, guarded=True)
    assert run.spent.upper <= 1
    assert "utility    no bound applies" in str(run)
    assert np.isfinite(run.output).all()
    for own in problem.leaves:
        assert not own.flags.writeable
    with pytest.raises(InvalidValue):
        method.bound(problem)
    if name == "projected":
        assert np.linalg.norm(run.output, axis=1).max() <= 20 * (1 + 1e-12)


def test_what_rests_on_constants_is_refused():
    _, problem = a_network()
    for method in (METHODS["spider"], METHODS["storm"]):
        with pytest.raises(InvalidValue, match="smoothness"):
            method(problem)
    _, problem = a_network(smoothness=4)
    with pytest.raises((InvalidValue, UnsupportedMechanism)):
        PathNoiseDescent.calibrated(problem, 1, "1e-5")
    with pytest.raises(InvalidValue):
        problem.objective(problem.initial_point[None])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parameters": np.zeros(3)}, r"parameters\[0\]\.dtype"),
        ({"parameters": lambda: jnp.zeros(3, int)}, r"parameters\[0\]\.dtype"),
        ({"parameters": {}}, "parameters must be"),
        ({"parameters": lambda: jnp.full(3, jnp.nan)}, "parameters must be"),
        ({"records": (np.zeros((4, 3)), np.zeros(5))}, r"records\[1\]\.shape"),
        ({"records": 1.0}, r"records\[0\]\.shape"),
        ({"records": ()}, "records must be"),
        ({"loss": lambda w, z: w}, "loss must be"),
        ({"clip": 0}, "clip must be"),
        ({"smoothness": -1}, "smoothness must be"),
        ({"memory_limit": 1.5}, "memory_limit must be"),
        ({"radius": 0}, "radius must be"),
    ],
)
def test_what_does_not_fit_is_refused(change, said):
    given = {"loss": lambda w, z: jnp.sum(w), "parameters": jnp.zeros(3), "records": np.zeros((4, 3)), "clip": 1}
    parameters = change.get("parameters")
    given |= {**change, "parameters": parameters()} if callable(parameters) else change  # made where JAX is installed
    with pytest.raises(InvalidValue, match=said):
        differentiable(**given)


def test_machines_whose_doubles_are_others_are_refused(monkeypatch):
    for change in (
        lambda: monkeypatch.setattr("jax.default_backend", lambda: "tpu"),
        lambda: monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true"),
    ):
        with monkeypatch.context():
            change()
            with pytest.raises(UnsupportedMechanism, match="IEEE doubles"):
                of_rows(np.zeros((3, 2)))
            monkeypatch.undo()


@pytest.fixture
def traced_anew():
    """Programs of this test's own: what was traced before, or in it, is forgotten."""
    jax.clear_caches()
    yield
    jax.clear_caches()


def a_leaf_is_forgotten(monkeypatch):
    cut = sums.clipped_sum

    def wrong(parts, groups, there, limits, *more):
        first, within = cut(parts[:1], groups[:1], there, limits, *more)
        return jnp.concatenate([first, *(there @ each.of(slice(None)) for each in parts[1:])]), within

    monkeypatch.setattr(sums, "clipped_sum", wrong)


def every_leaf_by_itself(monkeypatch):
    cut = sums.clipped_sum

    def wrong(parts, groups, there, limits, *more):
        found = [cut([part], (0,), there, limits, *more) for part in parts]
        return jnp.concatenate([each for each, _ in found]), found[0][1]

    monkeypatch.setattr(sums, "clipped_sum", wrong)


def padding_counts(monkeypatch):
    cut = sums.clipped_sum
    monkeypatch.setattr(
        sums, "clipped_sum", lambda parts, groups, there, *more: cut(parts, groups, there * 0 + 1, *more)
    )


def no_margin(monkeypatch):
    monkeypatch.setattr(asked.Differentiable, "_limit", lambda self, bound, *_: float(bound) * (1 + 1e-9))


@pytest.mark.usefixtures("traced_anew")
@pytest.mark.parametrize("bug", [a_leaf_is_forgotten, every_leaf_by_itself, padding_counts, no_margin])
def test_planted_bugs_break_the_bound(bug, monkeypatch):
    bug(monkeypatch)
    rows = np.float32([[3, 4], [-7, 2], [5, 5]])
    problem = of_rows(rows)
    every = total(problem)
    moved = max(exact_square(every - total(problem, [row for row in range(3) if row != gone])) for gone in range(3))
    assert moved > 1 + Fraction(1, 2**50)


@pytest.mark.usefixtures("traced_anew")
def test_not_a_number_would_spread(monkeypatch):
    def spreading(parts, groups, there, limits, *more):
        wide = [part.of(slice(None)) for part in parts]
        squares = sum((each * each).sum(axis=1) for each in wide)
        factor = there * jnp.minimum(1.0, limits[0] / jnp.sqrt(squares))
        return jnp.concatenate([factor @ each for each in wide]), there.sum()

    monkeypatch.setattr(sums, "clipped_sum", spreading)
    assert np.isnan(total(of_rows([[np.nan, 1], [1, 1]]))).any()


def test_importing_the_algorithms_does_not_import_jax():
    asked = "import sys, dpbounds, dpbounds.algorithms as a; a.problems.Clipped, a.Spider; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True).stdout == "False\n"
    asked = "from dpbounds.algorithms.problems import differentiable; import sys; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True).stdout == "False\n"


# --- part by part, and without copies


def of_two(clip, **more):
    """Gradients are the rows, in two parts of 1 and 2 numbers."""
    rows = np.float32([[3, 4, 0], [-7, 2, 1], [0.1, 0.1, 0.1], [np.nan, 0, 0], [0, 8, 6]])
    start = {"a": jnp.zeros(1, jnp.float32), "b": jnp.zeros(2, jnp.float32)}
    return rows, differentiable(linear, start, {"a": rows[:, :1], "b": rows[:, 1:]}, clip=clip, **more)


def test_parts_are_clipped_one_by_one():
    rows, problem = of_two({"a": 2, "b": "1/2"})
    assert problem.clip**2 >= Fraction(17, 4)
    assert float(problem.clip) == pytest.approx(17**0.5 / 2, rel=1e-15)
    for row, own in enumerate(rows):
        alone = total(problem, [row])
        if np.isnan(own).any():
            assert not alone.any()
            continue
        expected = np.append(np.clip(own[0], -2, 2), own[1:] * min(1, 0.5 / max(np.linalg.norm(own[1:]), 1e-9)))
        assert alone == pytest.approx(expected, abs=1e-7)
        assert exact_square(alone[:1]) <= 4
        assert exact_square(alone[1:]) <= Fraction(1, 4)
    assert exact_square(total(problem, [1])) > Fraction(17, 4) * Fraction(999, 1000)  # the bound is attained
    with pytest.raises(InvalidValue, match="one for all leaves"):
        problem.sums_within(problem.initial_point, np.arange(2), Fraction(1))
    for wrong in ({"a": 1}, {"a": 1, "b": 0}, [1, 2], None):
        with pytest.raises(InvalidValue, match="clip"):
            of_two(wrong)


def test_a_part_that_is_not_clipped_is_caught_under_guard(monkeypatch):
    real = sums.clipped_sum

    def wrong(parts, groups, there, limits, *more):
        return real(parts, groups, there, limits * jnp.array([1.0, 1e6]), *more)

    def trained():
        problem = of_two({"a": 2, "b": "1/2"})[1]
        return PrivateTraining(5, 3, 0.1).run(problem, seed=1, repetitions=2, guarded=True)

    trained()
    monkeypatch.setattr(sums, "clipped_sum", wrong)
    with pytest.raises(NoiseWrong, match="records"):
        trained()


WIDE = np.random.default_rng(5).standard_normal((20, 4, 24)).astype(np.float32)


def tokens(w, z):
    """One leaf in a product with four rows, one with one, behind a jit and transposed; a bias is copied."""
    rows, label = z
    hidden = jnp.tanh(rows @ w["in"].T + w["bias"])
    return -jax.nn.log_softmax(jax.jit(lambda each, out: each @ out.T)(hidden.mean(axis=0), w["out"]))[label]


def both(clip, rows=WIDE, loss=tokens, copies=(True, False), **more):
    draw = np.random.default_rng(6)
    start = {
        "in": jnp.asarray(draw.standard_normal((30, 24)) / 5, jnp.float32),
        "bias": jnp.zeros(30, jnp.float32),
        "out": jnp.asarray(draw.standard_normal((60, 30)) / 5, jnp.float32),
    }
    records = (rows, np.arange(len(rows)) % 3)
    return [differentiable(loss, start, records, clip=clip, copies=each, **more) for each in copies]


@pytest.mark.parametrize("clip", ["1/20", 100, {"in": "1/10", "bias": 1, "out": "1/50"}])
def test_gradients_without_copies_are_the_same(clip):
    copied, kept = both(clip)
    assert (copied.compiled.tokens, kept.compiled.tokens) == (1, 4)
    for rows in (np.arange(20), np.array([3]), np.array([1, 1, 5])):
        assert total(kept, rows) == pytest.approx(total(copied, rows), abs=1e-6)
        if not isinstance(clip, dict):
            assert exact_square(total(kept, rows[:1])) <= Fraction(clip) ** 2
    start = jnp.zeros(copied.dimension, jnp.float32)
    needed = [
        each.compiled.bytes_of(each.chunk, each.compiled.lanes, start, each.leaves, groups=len(each.clipping.bounds))
        for each in (copied, kept)
    ]
    assert needed[1] < 0.9 * needed[0]  # what all blocks share is in both


def test_neighbours_sums_without_copies_differ_by_at_most_the_bound_exactly():
    """Records of every size, with tokens that cancel to the last digit, removed one by one."""
    scale = 10.0 ** np.random.default_rng(7).uniform(-20, 20, (20, 1, 1))
    rows = (WIDE * scale).astype(np.float32)
    rows[0, 1], rows[0, 2:] = -rows[0, 0], 0
    rows[1, 1:] = -rows[1, 0] * (1 + 1e-6) / 3
    rows[2, 0, 0], rows[3, 0, 0] = np.nan, np.inf

    def summed(w, z):
        return (z[0] @ w["in"].T).sum() + (z[0].sum(axis=0) @ w["in"].T @ w["out"].T).sum() * 0 + w["bias"].sum()

    kept = both(1, rows, summed)[1]
    every = total(kept)
    assert np.isfinite(every).all()
    for gone in range(20):
        moved = exact_square(every - total(kept, np.delete(np.arange(20), gone)))
        assert moved <= 1 + Fraction(1, 2**50)


def test_a_norm_that_forgets_how_tokens_add_up_breaks_the_bound(monkeypatch):
    """The sum of the tokens' squares in the place of the square of their sum."""

    def wrong(self):
        X, D = self._doubles()
        found = ((X**2).sum(axis=2) * (D**2).sum(axis=2)).sum(axis=1)
        return found, found

    rows = np.tile(WIDE[:, :1], (1, 4, 1))
    assert exact_square(total(both("1/1000", rows)[1], [4])) <= Fraction(1, 10**6)
    monkeypatch.setattr(sums.Outer, "sizes", wrong)
    assert exact_square(total(both("1/1000", rows)[1], [4])) > Fraction(11, 10**7)


def test_what_is_no_single_product_keeps_its_copies():
    def twice(w, z):
        return tokens(w, z) + (w["in"] ** 2).sum()

    for loss in (twice, lambda w, z: tokens({**w, "in": w["in"] * 2}, z)):
        copied, kept = both(1, loss=loss)
        assert kept.compiled.tokens == 1
        assert total(kept) == pytest.approx(total(copied), abs=1e-6)


@pytest.mark.minutes
def test_by_default_only_products_of_one_row_have_no_copies():
    """Which costs no margin; differences of gradients are written out either way."""
    copied, short, kept = both(1, smoothness=1, copies=(True, None, False))
    assert (copied.compiled.tokens, short.compiled.tokens, kept.compiled.tokens) == (1, 1, 4)
    rows = jax.tree.map(lambda leaf: leaf[:2], list(copied.leaves))
    shapes = [jax.tree.structure(each.compiled.gradients(copied.initial_point, rows)) for each in (copied, short, kept)]
    assert len(set(shapes)) == 3
    x, y, every = copied.initial_point, copied.initial_point + 0.01, np.arange(20)
    for other in (short, kept):
        assert total(other, every) == pytest.approx(total(copied, every), abs=1e-6)
        found = other.summed_differences(y, x, every)
        assert found == pytest.approx(copied.summed_differences(y, x, every), abs=1e-6)


@pytest.mark.seconds
def test_rules_of_their_own_loops_and_branches_are_kept_beside_products():
    @jax.custom_vjp
    def halved(x):
        return x

    @jax.custom_jvp
    def flat(x):
        return jnp.abs(x)

    halved.defvjp(lambda x: (x, None), lambda _, back: (back / 2,))
    flat.defjvp(lambda points, tangents: (jnp.abs(points[0]), 3 * tangents[0]))

    def loss(w, z):
        rows, label = z
        hidden = jax.checkpoint(lambda own: jnp.tanh(halved(flat(rows.mean(axis=0) @ own.T))))(w["in"])
        turned = jax.lax.scan(lambda so_far, by: (jnp.cos(so_far + by), by), w["bias"], hidden[None])[0]
        there = jax.lax.cond(label > 0, jnp.sin, lambda each: each * 2, halved(w["out"] @ flat(hidden + turned)))
        return jax.lax.fori_loop(0, 2, lambda _, so_far: jax.nn.relu(so_far) + so_far, there).sum()

    copied, short = both(100, loss=loss, copies=(True, None))
    rows = jax.tree.map(lambda leaf: leaf[:2], list(copied.leaves))
    assert isinstance(short.compiled.gradients(copied.initial_point, rows)[2], tuple)  # the last layer's
    assert total(short) == pytest.approx(total(copied), abs=1e-5)


def test_terms_that_cancel_need_a_wider_margin():
    assert margins.margin(1000, 10) < margins.margin(1000, 10, 4)
    u, (n, T, p) = Fraction(1, 2**53), (5000, 9, 10**5)
    eta, K = margins.margin(n, p, T), 4 * 3
    A = Fraction(1, 2**31) + (p + 8) * u / (1 - (p + 8) * u)
    B = 2 * n * K * (2 * n * T + 10) * u / (1 - (2 * n * T + 10) * u)
    assert (1 - eta) * (1 + A) * (1 + B) < 1
    with pytest.raises(InvalidValue, match="records must be fewer"):
        margins.margin(10**6, 10, 16)


# --- Hessians


def bowl(w, z):
    return jnp.tanh(z @ w["a"]) ** 2 + w["b"][0] * w["a"].sum() * z[0]


def a_bowl(smoothness, **more):
    data = np.random.default_rng(8).standard_normal((30, 3)).astype(np.float32)
    start = {"a": jnp.ones(3, jnp.float32) / 2, "b": jnp.ones(1, jnp.float32)}
    return differentiable(bowl, start, data, clip=1, smoothness=smoothness, **more)


@pytest.mark.minutes
def test_hessians_and_their_products_are_clipped():
    loose, tight = a_bowl(1000), a_bowl("1/2")
    x, v, every = loose.initial_point, RNG.standard_normal(4), np.arange(30)
    H = loose.hessian(x[None])[0]
    flat = lambda each: {"a": each[:3], "b": each[3:]}  # noqa: E731
    exact = sum(jax.hessian(lambda at, z=z: bowl(flat(at), z))(jnp.float32(x)) for z in loose.leaves[0]) / 30
    assert pytest.approx(np.asarray(exact), abs=1e-5) == H
    assert np.array_equal(H, H.T)
    assert loose.summed_products(x, v, every) / 30 == pytest.approx(H @ v, abs=1e-5)
    for row in range(30):
        assert exact_square(tight.summed_products(x, v, np.array([row]))) <= exact_square(v) / 4
    assert np.linalg.norm(tight.hessian(x[None])) <= 0.5
    assert np.linalg.norm(tight.summed_products(x, v, np.array([2]))) == pytest.approx(np.linalg.norm(v) / 2, rel=1e-6)
    none = a_bowl(None)
    for question in (lambda: none.hessian(x[None]), lambda: none.summed_products(x, v, every)):
        with pytest.raises(InvalidValue, match="smoothness must be"):
            question()


def test_noise_on_products_is_in_proportion_to_the_direction():
    problem, generators = a_bowl("1/2"), streams(1, 400)
    pen = OpenLedger()
    oracle, X = HessianProductOracle(problem, Fraction(3), generators, pen), np.tile(problem.initial_point, (400, 1))
    residuals = Residuals()
    with watched_by(residuals):
        for size in (0.0, 1.0, 4.0):
            answer = oracle(X, np.full((400, 4), size / 2))
            assert answer.noise_stddev == pytest.approx(3 * 0.5 * size / 30)
    residuals.demand_right(pen.close())
    assert pen.close().mechanism() == Gaussian(3) ** 3
    with pytest.raises(InvalidValue, match="smoothness"):
        HessianProductOracle(Clipped(problems.sigmoid_loss(FEATURES, SIGNS), 1), Fraction(3), generators, pen)


def test_methods_that_use_curvature_run_for_privacy_alone():
    problem = a_bowl(2, assumed={"hessian_lipschitz": 4, "initial_gap": 1})
    for method in (
        PathNoiseDescent(2, 20, steps=6, searches=3, path_length=5, stationarity="1/2"),
        IterativePathNoise(2, 20, 20, "1/9", 6, 3, 2, 5, 3, path_length=5, stationarity="1/2"),
        NegativeCurvatureDescent(20, 20, steps=6, stationarity="1/2"),
    ):
        run = method.run(problem, seed=1, repetitions=2, guarded=True)
        run.ledger.check_plan(method.planned)
        assert "no bound applies" in str(run)
        with pytest.raises(InvalidValue):
            method.bound(problem)
    for wrong in ({"smoothness": 1}, {"initial_gap": 0}):
        with pytest.raises(InvalidValue, match="assumed"):
            a_bowl(2, assumed=wrong)


def test_no_guarantee_of_a_method_that_uses_curvature_is_about_clipped_gradients():
    """With so little noise and so large caps that nothing else is refused."""
    problem = a_bowl(2, assumed={"hessian_lipschitz": 4, "initial_gap": 1})
    little, caps = "1e-9", {"steps": 10**4, "stationarity": "1/2"}
    walks, tries = (
        {"path_length": 100, "searches": 100},
        {"search_restarts": 20, "restarts": 5000, "power_steps": 10**4},
    )
    for method in (
        PathNoiseDescent(little, little, **walks, **caps),
        IterativePathNoise(little, little, little, 10**9, **tries, **walks, **caps),
        GradientPathNoise(little, 10**4, 100, "1/2"),
        NegativeCurvatureDescent(little, little, **caps),
        StationaryPointSelection(little, little, little, **caps),
    ):
        with pytest.raises(InvalidValue, match="gradients are not clipped"):
            method.bound(problem)


# --- optimisers of Optax


def test_optax_trains_and_a_run_that_was_stopped_goes_on_from_its_checkpoint(tmp_path):
    optax = pytest.importorskip("optax")
    parameters, problem = a_network.__wrapped__(clip={"in": 1, "bias": "1/2", "out": 1})
    rule = optax.adam(optax.exponential_decay(0.1, 5, 0.5))
    method = PrivateTraining(5, 6, rule, sampling=Poisson("1/4"))
    run = method.run(problem, seed=3, guarded=True)
    (generator,), state, now = streams(3, 1), rule.init(parameters), parameters
    rate, x = float(method.sampling.sample_rate), problem.initial_point
    for _ in range(6):
        rows = np.flatnonzero(generator.random(N) < rate)
        g = problem.summed_gradients(x, rows) / (rate * N)
        g = g + float(5 * problem.clip) / (rate * N) * generator.standard_normal(problem.dimension)
        updates, state = rule.update(problem.compiled.unravel(g.astype(np.float32)), state, now)
        now = optax.apply_updates(now, updates)
        x = np.asarray(jax.flatten_util.ravel_pytree(now)[0], np.float64)
    assert run.output[0] == pytest.approx(x, abs=2e-3)  # a leaf is of half precision

    class Stopped(Exception):
        pass

    def stop(made):
        if made.step == 4:
            raise Stopped

    with pytest.raises(Stopped), followed_by(stop):
        method.run(problem, checkpoint=tmp_path / "run", every=3)
    on = method.run(problem, checkpoint=tmp_path / "run")
    assert on.ledger == method.run(problem).ledger
    with pytest.raises(Stopped), followed_by(stop):
        method.run(problem, checkpoint=tmp_path / "other", every=3)
    with pytest.raises(InvalidValue, match="optimiser must be"):
        attrs.evolve(method, optimiser=optax.sgd(0.1)).run(problem, checkpoint=tmp_path / "other")


def test_a_norm_that_adapts_on_a_network():
    _, problem = a_network()
    method = PrivateTraining(2, 5, 0.1, sampling=Batch(20, N, replacement=False), clipping=QuantileClipping())
    run = method.run(problem, seed=1, repetitions=2, guarded=True)
    assert run.outputs["clips"].shape == (2, 1)
    x, every = problem.initial_point, np.arange(N)
    norms = np.array([np.linalg.norm(problem.sums_within(x, every[row : row + 1], Fraction(1000))[0]) for row in every])
    for clip in (0.3, 1.0, 3.0):
        assert problem.sums_within(x, every, Fraction(clip))[1] == (norms <= clip).sum()
