import math
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms import noise, problems
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.selection.nets import LARGEST_NET, grid
from dpbounds.algorithms.verification.judging.checks import Verdict, bound_check
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.privacy.mechanisms import ExponentialMechanism
from tests.algorithms.selection.neighbours import loss_of_neighbours, steep
from tests.algorithms.shared import well

# --- nets


@pytest.mark.parametrize(("dimension", "covering"), [(1, "0.07"), (2, "0.1"), (3, "0.25"), (4, "0.5"), (3, "1.4")])
def test_every_point_of_the_ball_is_near_a_point_of_the_net(dimension, covering):
    net = grid(dimension, "1.5", covering)
    draw = np.random.default_rng(0)
    x = draw.normal(size=(1500, dimension))
    x *= 1.5 / np.linalg.norm(x, axis=1, keepdims=True)  # a third on the sphere, the rest within
    x[500:] *= draw.random((1000, 1)) ** (1 / dimension)
    nearest = np.array([np.sqrt(((net.points - point) ** 2).sum(axis=1).min()) for point in x])
    assert nearest.max() <= float(net.covering_radius)
    assert nearest.max() > 0.55 * float(net.covering_radius)  # and not much finer than was asked for
    assert (np.linalg.norm(net.points, axis=1) <= 1.5).all()
    assert len(np.unique(net.points, axis=0)) == net.size <= (1 + 3 / float(covering)) ** dimension  # by volumes
    # the cubes that a point belongs to: its nearest centre is within half a side in every coordinate
    own = np.array([np.abs(net.centres - point).max(axis=1).min() for point in x])
    assert own.max() <= net.side / 2 * (1 + 1e-9)


def test_a_coarse_net_is_the_centre():
    net = grid(3, 1, 2)
    assert (net.points.tolist(), net.covering_radius) == ([[0, 0, 0]], 1)


@pytest.mark.parametrize(
    ("dimension", "covering", "largest", "message"),
    [
        (6, "0.001", LARGEST_NET, r"at least 1\.744e\+19 points"),
        (1, "1e-9", LARGEST_NET, r"at least 1e\+09 points"),
        (2, "0.1", grid(2, 1, "0.1").size - 1, "points"),
        (1, 0, LARGEST_NET, "covering_radius"),
        (1, "nan", LARGEST_NET, "covering_radius"),
    ],
)
def test_a_net_that_will_not_fit_is_refused_with_its_size(dimension, covering, largest, message):
    with pytest.raises(InvalidValue, match=message):
        grid(dimension, 1, covering, largest)


# --- the law


def test_step_by_step():
    problem = well(60, 2)
    method = NetExponentialMechanism.calibrated(problem, epsilon=50, covering_radius="0.2", regularisation="0.3")
    run = method.run(problem, seed=4, repetitions=50)
    points = method.net.points
    risks = (points**4 / 4 - points**2 / 2).sum(axis=1) + 0.15 * (points**2).sum(axis=1)
    scale = 2 * float(problem.lipschitz) * 3 / (60 * 50)  # 2GD/(nε): noise and risks of one size
    for r, generator in enumerate(noise.streams(4, 50)):
        best = np.argmax(-risks - scale * np.log(generator.standard_exponential(len(points))))
        assert (run.output[r] == points[best]).all()
        assert run.measured["objective"][r] == pytest.approx(risks[best], rel=1e-12)
        assert run.samples[r] == pytest.approx(risks[best] - risks.min(), abs=1e-12)


# --- privacy


@pytest.mark.parametrize(
    ("variant", "relation", "share", "divisor"),
    [
        ("proven", "replace-one", 1, 2),
        ("proven", "add-or-remove-one", 1, 1),
        ("as-printed", "replace-one", "1/2", 4),
        ("as-printed", "add-or-remove-one", "1/4", 4),
        ("as-quoted", "replace-one", 2, 1),
        ("as-quoted", "add-or-remove-one", 1, 1),
    ],
)
def test_every_scale_spends_what_it_spends(variant, relation, share, divisor):
    method, G = NetExponentialMechanism.calibrated(well(100), relation=relation, variant=variant), well(100).lipschitz
    assert float(method.inverse_temperature(well(100))) == pytest.approx(100 / (divisor * float(G) * 3), rel=1e-12)
    assert method.planned == ExponentialMechanism(share, relation=relation)
    assert (method.budget is None) == (variant != "proven")
    ledger = method.run(well(100), repetitions=2).ledger
    assert [(each.described, each.count) for each in ledger.releases] == [(method.planned, 1)]


@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2), ("add-or-remove-one", 1)])
def test_the_loss_of_two_neighbours_is_within_epsilon_and_close_to_it(relation, factor):
    method, problem = NetExponentialMechanism(1, grid(1, "0.1", "0.0005"), relation), steep()
    beta, x = float(method.inverse_temperature(problem)), method.net.points
    assert 0.98 < loss_of_neighbours(beta, beta * problem.objective(x), x[:, 0], factor) <= 1


def test_a_start_costs_its_caller_one_entry():
    problem, pen = well(100), OpenLedger()
    method = NetExponentialMechanism.calibrated(problem, epsilon="0.5")
    starts = method.starts(problem, noise.streams(0, 4), pen)
    assert starts.shape == (4, 1)
    assert (starts == method.run(problem, seed=0, repetitions=4).output).all()
    ledger = pen.close()
    ledger.check_plan(method.planned)
    with pytest.raises(BudgetExceeded):
        ledger.check_plan(ExponentialMechanism("0.499", relation="replace-one"))


# --- utility


@pytest.mark.parametrize(("records", "dimension"), [(250, 1), (1000, 1), (4000, 1), (100, 2)])
def test_the_excess_risk_is_below_the_bound(records, dimension):
    problem = well(records, dimension)
    method = NetExponentialMechanism.calibrated(problem)
    run = method.run(problem, seed=2, repetitions=200)
    excess = run.measured["objective"] + dimension / 4
    check = bound_check("bound", excess, method.bound(problem), confidence=1 - 1e-6)
    assert check.verdict is Verdict.HOLDS
    # the tail, too: more than 20 of 200 where at most one in a hundred is allowed has a chance of 1e-14
    assert (excess > method.tail(problem, "0.01").upper).sum() <= 20


def test_the_bound_by_hand():
    problem = well(400)
    method = NetExponentialMechanism.calibrated(problem, epsilon="0.5", covering_radius="0.01")
    slope = float(problem.lipschitz)
    unit = 2 * slope * 3 / (0.5 * 400)
    level = math.log(method.net.size)
    assert method.bound(problem).upper == pytest.approx(slope * 0.01 + unit * level, rel=1e-9)
    assert method.tail(problem, "0.01").upper == pytest.approx(slope * 0.01 + unit * (level + math.log(100)), rel=1e-9)
    sampling = slope * 1.5 * math.sqrt(2 * math.log(1 + 2 * 1.5 / 0.01) / 400)
    assert method.bound(problem, "population").upper == pytest.approx(method.bound(problem).upper + sampling, rel=1e-9)
    lone = NetExponentialMechanism("0.5", method.net, "add-or-remove-one").bound(problem)
    assert lone.upper == pytest.approx(slope * 0.01 + unit / 2 * level, rel=1e-9)
    printed = NetExponentialMechanism("0.5", method.net, variant="as-printed").bound(problem)
    assert printed.upper == pytest.approx(slope * 0.01 + 2 * unit * level, rel=1e-9)


def test_regularised_losses_have_their_own_ball_and_slope():
    # Assumption 1 of Wang, Chen & Xu: a ridge λ, minimisers within G/λ
    draw = np.random.default_rng(0)
    data = draw.normal(size=(300, 1)), np.where(draw.random(300) < 0.3, -1, 1)
    problem = problems.sigmoid_loss(*data, feature_bound=1, l1=0)
    method = NetExponentialMechanism.calibrated(problem, regularisation="1/2", covering_radius="0.02")
    slope = Fraction(float(problem.lipschitz))
    assert method.net.radius == slope / Fraction(1, 2)
    unit = 2 * float(slope) * 2 * float(method.net.radius) / 300
    expected = 2 * float(slope) * 0.02 + unit * math.log(method.net.size)  # G + λR = 2G
    assert method.bound(problem).upper == pytest.approx(expected, rel=1e-9)
    printed = dp.theorem("wang-chen-xu-2019/theorem-4/explicit").evaluate(
        lipschitz=slope,
        regularisation="1/2",
        dataset_size=300,
        dimension=1,
        epsilon=1,
        net_radius="0.02",
        failure_probability="0.05",
    )
    assert method.tail(problem, "0.05").upper <= printed.value.upper  # a grid has fewer points
    fine = np.linspace(-float(method.net.radius), float(method.net.radius), 4001)[:, None]
    least = (problem.objective(fine) + fine[:, 0] ** 2 / 4).min()
    run = method.run(problem, repetitions=200)
    check = bound_check("bound", run.measured["objective"] - least, method.bound(problem), confidence=1 - 1e-6)
    assert check.verdict is Verdict.HOLDS


def test_an_l1_term_counts_in_what_the_net_loses():
    draw = np.random.default_rng(0)
    data = draw.normal(size=(50, 2)), np.where(draw.random(50) < 0.3, -1, 1)
    plain = problems.sigmoid_loss(*data, feature_bound=1, radius=1, l1=0)
    lasso = problems.sigmoid_loss(*data, feature_bound=1, radius=1, l1="0.1")
    method = NetExponentialMechanism.calibrated(plain, covering_radius="0.1")
    more = method.bound(lasso).upper - method.bound(plain).upper
    assert more == pytest.approx(0.1 * 0.1 * math.sqrt(2), rel=1e-6)


# --- what is refused


def test_what_does_not_fit_is_refused():
    problem = well(100)
    for message, net in ((r"radius.*at most that of the problem", grid(1, 2, "0.1")), ("dimension", grid(2, 1, "0.1"))):
        with pytest.raises(InvalidValue, match=message):
            NetExponentialMechanism(1, net).run(problem)
    with pytest.raises(InvalidValue, match="points"):
        NetExponentialMechanism.calibrated(well(10_000, 3))
    with pytest.raises(InvalidValue, match="radius"):
        NetExponentialMechanism.calibrated(problems.sigmoid_loss([[1.0]], [1], l1=0))
    with pytest.raises(InvalidValue, match="failure_probability"):
        NetExponentialMechanism.calibrated(problem).tail(problem, 1)
    with pytest.raises(InvalidValue, match="risk"):
        NetExponentialMechanism.calibrated(problem).bound(problem, "expected")
