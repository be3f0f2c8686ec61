import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import noise, problems
from dpbounds.algorithms.frank_wolfe.bounded_entries import bounded_entries, l1_constants
from dpbounds.algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe
from dpbounds.algorithms.frank_wolfe.vertices import vertices_of
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.problems.sets import Box, L1Ball, L2Ball, Polytope, Simplex, SparseVectors
from dpbounds.algorithms.verification.studies.frank_wolfe import sign_design
from dpbounds.errors import BudgetExceeded
from tests.algorithms.shared import assert_independent_repetitions, holds, refused

PROBLEM = sign_design(1000, 6)
G1, L1 = (float(constant) for constant in l1_constants(PROBLEM))
SETS = {
    "l1": (L1Ball(6, 2), None, np.vstack([2 * np.eye(6), -2 * np.eye(6)])),
    "simplex": (Simplex(6), (1, 0, 0, 0, 0, 0), np.eye(6)),
    "box": (Box.cube(6, "1/2"), None, Box.cube(6, "1/2").vertices),
    "polytope": (Polytope(np.triu(np.ones((6, 6)))), (1,) * 6, np.triu(np.ones((6, 6)))),
}


def test_a_choice_that_is_described_by_its_zcdp_is_the_same_draw_and_has_the_same_bound():
    problem, ball = sign_design(60, 6), L1Ball(6, 2)
    exponential, concentrated, laplace = (
        VertexFrankWolfe(ball, "1/2", 5, 0.25, method=method) for method in ("exponential", "concentrated", "noisy-max")
    )
    runs = [each.run(problem, seed=5, repetitions=2) for each in (exponential, concentrated)]
    assert np.array_equal(runs[0].output, runs[1].output)
    assert concentrated.noise_drawn == exponential.noise_drawn
    assert [each.noise_drawn.split()[0] for each in (concentrated, laplace)] == ["Gumbel", "Laplace"]
    assert concentrated.bound(problem) == exponential.bound(problem)
    refused("'exponential' or 'concentrated'", laplace.bound, problem)


@pytest.mark.parametrize("method", ["exponential", "noisy-max"])
@pytest.mark.parametrize("name", SETS)
def test_it_is_algorithm_4_step_by_step(name, method):
    constraint, start, vertices = SETS[name]
    problem = sign_design(60, 6)
    run = VertexFrankWolfe(constraint, "1/2", 5, 0.25, start, method=method).run(problem, seed=5, repetitions=2)
    scale = 2 * (2 * G1 * np.abs(vertices).sum(axis=1).max() / 60) / 0.5
    for r, generator in enumerate(noise.streams(5, 2)):
        R = generator.integers(1, 5, endpoint=True)
        x, found, shortfalls = np.zeros(6) if start is None else np.array(start, float), [], []
        for k in range(1, 6):
            if k == R:
                assert run.output[r] == pytest.approx(x, abs=1e-12)
            s = 1 / (1 + np.exp(problem.features @ x))
            gradient = -(problem.features * (2 * s * s * (1 - s))[:, None]).mean(axis=0)
            products = vertices @ gradient
            drawn = generator.standard_exponential(len(vertices))
            if method == "exponential":
                drawn = -np.log(drawn)
            else:
                drawn = drawn * np.where(generator.random(len(vertices)) < 0.5, -1, 1)
            chosen = np.argmax(-products + scale * drawn)
            found.append(gradient @ x - products.min())
            shortfalls.append(products[chosen] - products.min())
            x = 0.75 * x + 0.25 * vertices[chosen]
        assert run.output_step[r] == R
        assert run.trace.gap.per_repetition[r] == pytest.approx(np.mean(found), rel=1e-10)
        assert run.trace.shortfall.per_repetition[r] == pytest.approx(np.mean(shortfalls), rel=1e-9, abs=1e-12)


def test_repetitions_are_independent_bit_for_bit_where_vertices_are_listed():
    constraint, start, _ = SETS["polytope"]
    assert_independent_repetitions(VertexFrankWolfe(constraint, "1/10", 6, 0.1, start), PROBLEM)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", [pytest.param("replace-one", marks=pytest.mark.minutes), "add-or-remove-one"])
def test_calibrated_noisy_maxima_keep_the_budget(relation):
    algorithm = VertexFrankWolfe.calibrated(
        PROBLEM, L1Ball(6), 1, "1e-6", steps=50, relation=relation, method="noisy-max", step_fraction=0.2
    )
    run = algorithm.run(PROBLEM, repetitions=1)
    assert 0.999 < run.spent.lower <= run.spent.exact_upper <= 1
    (release,) = run.ledger.releases
    assert (release.count, release.described.epsilon) == (50, algorithm.step_epsilon)


@pytest.mark.seconds
def test_printed_choices_are_several_times_noisier():
    printed = VertexFrankWolfe.calibrated(PROBLEM, L1Ball(6), steps=50, variant="as-printed", step_fraction=0.2)
    ours = VertexFrankWolfe.calibrated(PROBLEM, L1Ball(6), steps=50)
    assert float(printed.step_epsilon) == pytest.approx(1 / math.sqrt(8 * 50 * math.log(1e6)), rel=1e-12)
    assert 2 * printed.step_epsilon < ours.step_epsilon


@pytest.mark.minutes
def test_far_out_the_printed_budget_overspends_and_the_run_says_so():
    algorithm = VertexFrankWolfe.calibrated(
        PROBLEM, L1Ball(6), 40, "9/10", steps=3, variant="as-printed", step_fraction=0.5
    )
    with pytest.raises(BudgetExceeded):
        algorithm.run(PROBLEM, repetitions=1)


def test_the_sensitivity_is_attained_by_replacing_a_record():
    features = np.ones((10, 6))
    one = bounded_entries(problems.squared_sigmoid_link(features, np.ones(10), feature_bound=6), 1)
    other = bounded_entries(problems.squared_sigmoid_link(features, -np.ones(10), feature_bound=6), 1)
    method = VertexFrankWolfe(L1Ball(6, 2), 1, 1, 0.5)
    # u = <a, x> where |φ'| is largest, 8/27: at e^u = 1/2 for one label, at e^-u for the other: not at once, but at 0
    x = np.zeros((1, 6))
    moved = 2 * np.abs((one.gradient(x) - other.gradient(x)) / 10).max()
    assert 0.8 * float(method.sensitivity(one)) < moved <= float(method.sensitivity(one))
    assert method.sensitivity(one) == 2 * 2 * Fraction(8, 27) / 10


@pytest.mark.seconds
@pytest.mark.one_in(8)
@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2), ("add-or-remove-one", 1)])
@pytest.mark.parametrize("constraint", [L1Ball(4, 2), Box.cube(4), Simplex(4, 3)], ids=["l1", "box", "simplex"])
def test_no_neighbour_moves_a_score_by_more_than_the_sensitivity(relation, factor, constraint):
    """A search: scores are <∇F(x), v> at the vertices; one record is left out (its place stays), or becomes another."""
    draw, n = np.random.default_rng(3), 25
    method = VertexFrankWolfe(constraint, 1, 1, 0.5, budget=PrivacyBudget.of(1, "1e-5", relation))
    corners, largest = vertices_of(constraint), 0.0
    for _ in range(2000):
        entries = draw.choice([-1.0, 1.0], (2, 4)) * np.array([[1.0], [0.0 if factor == 1 else 1.0]])
        labels, x = draw.choice([-1.0, 1.0], 2), draw.normal(size=(1, 4)) * draw.choice([0.1, 0.5, 2])
        each = [
            bounded_entries(problems.squared_sigmoid_link(row[None], label[None], feature_bound=2), 1).gradient(x)
            for row, label in zip(entries, labels, strict=True)
        ]
        largest = max(largest, float(np.abs(corners.products((each[0] - each[1]) / n)).max()))
    problem = bounded_entries(problems.squared_sigmoid_link(np.ones((n, 4)), np.ones(n), feature_bound=2), 1)
    allowed = float(method.sensitivity(problem))
    assert 0.6 * allowed < largest <= allowed


def test_the_measured_gap_stays_below_the_bound():
    n, steps = 1000, 50
    problem = PROBLEM
    method = VertexFrankWolfe(L1Ball(6), math.sqrt(8 * 0.02 / steps), steps)  # about (1, 1e-6)-private
    bound = method.bound(problem)
    run = method.run(problem, seed=2, repetitions=12)
    assert holds(run.samples, bound)
    assert run.samples.mean() > 0.05 * bound.upper
    # E s <= (2Δ/ε₀) ln N
    selection = 4 * G1 / (n * float(method.step_epsilon)) * math.log(12)
    assert 0.1 * selection < run.trace.shortfall.mean < selection


@pytest.mark.minutes
@pytest.mark.parametrize("name", SETS)
def test_the_measured_gap_stays_below_the_bound_on_every_set_with_the_steps_of_the_theorem(name):
    constraint, start, _ = SETS[name]
    method = VertexFrankWolfe.calibrated(PROBLEM, constraint, start=start)
    run = method.run(PROBLEM, repetitions=12)
    assert holds(run.samples, method.bound(PROBLEM))


def test_the_bound_in_plain_floats():
    method = VertexFrankWolfe(L1Ball(6, 2), "1/20", 50, step_fraction=0.1)
    expected = 0.25 / (0.1 * 50) + L1 * 0.1 * 16 / 2 + 4 * G1 * 2 * 20 / 1000 * math.log(12)
    assert method.bound(PROBLEM).upper == pytest.approx(expected, rel=1e-9)
    added = VertexFrankWolfe(L1Ball(6, 2), "1/20", 50, 0.1, budget=PrivacyBudget.of(1, "1e-6", "add-or-remove-one"))
    replaced = VertexFrankWolfe(L1Ball(6, 2), 2 * added.step_epsilon, 50, step_fraction=0.1)
    assert added.bound(PROBLEM) == replaced.bound(PROBLEM)
    refused("exponential", VertexFrankWolfe(L1Ball(6), 1, 1, 0.5, method="noisy-max").bound, PROBLEM)


@pytest.mark.seconds
def test_the_population_bound_holds_what_is_measured():
    method = VertexFrankWolfe.calibrated(PROBLEM, L1Ball(6), steps=50)
    output = method.run(PROBLEM, repetitions=12).output
    corners = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T  # all features there are
    right = 1 / (1 + np.exp(-corners[:, 0]))
    excess = ((1 / (1 + np.exp(-output @ corners.T)) - right) ** 2).mean()
    assert excess < method.population_bound(PROBLEM).lower
    refused("sigmoid link", VertexFrankWolfe(L1Ball(6, 2), 1, 1, 0.5).population_bound, PROBLEM)


def test_entries_are_cut_one_by_one_and_the_constants_are_those_of_the_cut():
    features = np.array([[3.0, 0.25], [-0.5, -4.0]])
    model = bounded_entries(problems.cauchy(features, [0, 1], feature_bound=5), "1/2")
    assert (model.features == [[0.5, 0.25], [-0.5, -0.5]]).all()
    assert l1_constants(model) == (model.loss.largest_slope / 2, model.loss.largest_curvature / 4)
    assert (bounded_entries(model, "1/2").features == model.features).all()
    assert "cut at 1/2" in model.notes[-1]
    refused("entry_bound", bounded_entries, model, 0)


def test_without_a_bound_on_entries_the_l2_constants_serve():
    plain = problems.squared_sigmoid_link(np.eye(3), [1, 1, -1], feature_bound=2)
    assert l1_constants(plain) == (plain.lipschitz, plain.smoothness)


@pytest.mark.parametrize("name", SETS)
def test_products_and_points_are_those_of_the_listed_vertices(name):
    constraint, _, matrix = SETS[name]
    found = vertices_of(constraint)
    gradients = np.random.default_rng(0).standard_normal((40, 6))
    assert found.count == len(matrix)
    assert found.products(gradients) == pytest.approx(gradients @ matrix.T)
    assert found.points(np.arange(len(matrix))) == pytest.approx(matrix)


def test_what_does_not_fit_is_refused():
    for constraint, message in ((L2Ball(6), "finitely"), (Box.cube(13), "finitely"), (SparseVectors(6, 1), "convex")):
        refused(message, VertexFrankWolfe, constraint, 1, 1)
    refused("initial point", VertexFrankWolfe(Simplex(6), 1, 1, 0.5).run, PROBLEM)
    refused("leaves the set", VertexFrankWolfe.calibrated, PROBLEM, L1Ball(6, "1/10"), steps=2, variant="as-printed")
    refused("variant", VertexFrankWolfe.calibrated, PROBLEM, L1Ball(6), variant="fast")
