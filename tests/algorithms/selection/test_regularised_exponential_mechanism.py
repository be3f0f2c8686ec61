import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, special, stats

from dpbounds.algorithms import noise, problems
from dpbounds.algorithms.selection import regularised_exponential_mechanism as mechanism
from dpbounds.algorithms.selection.alternate_sample import (
    Schedule,
    alternate_sample,
    distance,
    log_sobolev,
    near_the_ball,
    schedule_for,
)
from dpbounds.algorithms.selection.gibbs import Gibbs, net_for, sample_exactly
from dpbounds.algorithms.selection.regularised_exponential_mechanism import RegularisedExponentialMechanism
from dpbounds.algorithms.verification.judging.checks import Verdict, bound_check
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms import ApproximateDP, ExponentialMechanism
from tests.algorithms.selection.neighbours import loss_of_neighbours, steep
from tests.algorithms.shared import well

RELATIONS = ("replace-one", "add-or-remove-one")
RADIUS = Fraction(3, 2)


def target(beta, dimension=1, problem=None):
    return Gibbs(problem or well(20, dimension), RADIUS, Fraction(beta))


def density(pi, x):
    """Unnormalised, at the rows of x."""
    return np.exp(-float(pi.inverse_temperature) * pi.problem.objective(x) - float(pi.precision) / 2 * (x**2).sum(1))


def cdf(pi):
    x = np.linspace(-1.5, 1.5, 20_001)
    mass = integrate.cumulative_trapezoid(density(pi, x[:, None]), x, initial=0)
    return lambda t: np.interp(t, x, mass / mass[-1])


# --- the exact sampler


def test_the_exact_sampler_step_by_step():
    pi = target(9, 2)
    net = net_for(pi)
    found = sample_exactly(pi, noise.streams(6, 60))
    heights = 9 * pi.problem.objective(net.points)
    weights = np.cumsum(np.exp(heights.min() - heights))
    slack = float(pi.slope * net.covering_radius)
    for r, generator in enumerate(noise.streams(6, 60)):
        while True:
            u = generator.random(4)
            cube = np.searchsorted(weights, u[0] * weights[-1], side="right")
            x = net.centres[cube] + (u[1:3] - 0.5) * net.side
            if x @ x > 2.25:
                continue
            level = 9 * float(pi.problem.objective(x[None])[0])
            if math.log1p(-u[3]) <= heights[cube] - level - slack - float(pi.precision) / 2 * (x @ x):
                break
        assert found[r] == pytest.approx(x, abs=1e-14)


@pytest.mark.parametrize("beta", ["0.3", 12, 200])
def test_the_law_of_the_exact_sampler_on_an_interval(beta):
    pi = target(beta)
    x = sample_exactly(pi, noise.streams(1, 2000))[:, 0]
    assert stats.kstest(x, cdf(pi)).pvalue > 1e-6  # a right sampler fails once in 10^6 such tests


@pytest.mark.seconds
def test_the_regulariser_is_part_of_the_law():
    # in eight dimensions it weighs: e^(-p/8) from the centre to the rim; F itself is next to nothing
    pi = target("1e-9", 8)
    lengths = np.linalg.norm(sample_exactly(pi, noise.streams(4, 4000)), axis=1)
    r = np.linspace(0, 1.5, 4001)

    def distance(precision):
        mass = integrate.cumulative_trapezoid(r**7 * np.exp(-precision / 2 * r**2), r, initial=0)
        return stats.kstest(lengths, lambda t: np.interp(t, r, mass / mass[-1])).pvalue

    assert pi.precision == Fraction(8, 9)
    assert distance(8 / 9) > 1e-6
    assert distance(0) < 1e-9


def test_an_l1_term_is_part_of_the_slope():
    problem = problems.sigmoid_loss(np.ones((20, 1)), np.ones(20), l1=2, radius=RADIUS)
    assert float(Gibbs(problem, RADIUS, Fraction(3)).slope) == pytest.approx(3 * (float(problem.lipschitz) + 2))


def test_a_wrong_constant_is_found():
    class Steep:
        records, dimension, radius, lipschitz = 20, 1, RADIUS, well(20).lipschitz

        def objective(self, X):
            return 50 * X[:, 0]

        objective_at = objective

    with pytest.raises(InvalidValue, match="Lipschitz constant of the objective"):
        sample_exactly(Gibbs(Steep(), RADIUS, Fraction(1)), noise.streams(0, 50))


# --- the alternating sampler


def test_a_gaussian_restricted_to_the_ball():
    draw = np.random.default_rng(0)
    for centre in (0.4, 1.7, 4.0):
        normal, uniform = draw.normal(size=(6000, 1)), draw.random(6000)
        x = near_the_ball(np.full((6000, 1), centre), 0.5, 1.5, normal, uniform)[:, 0]
        x = x[np.abs(x) <= 1.5]
        law = stats.truncnorm((-1.5 - centre) / 0.5, (1.5 - centre) / 0.5, loc=centre, scale=0.5)
        assert len(x) > 3000  # where plain rejection would keep one in 3 million for the last one
        assert stats.kstest(x, law.cdf).pvalue > 1e-6
    # in the plane, the part across the direction of a centre outside: by quadrature over chords of the disc
    normal, uniform = draw.normal(size=(12_000, 2)), draw.random(12_000)
    x = near_the_ball(np.tile([1.2, 1.6], (12_000, 1)), 0.5, 1.5, normal, uniform)
    x = x[(x**2).sum(axis=1) <= 2.25]
    t = np.linspace(-1.5, 1.5, 8001)
    half = np.sqrt(np.maximum(2.25 - t**2, 0))
    chord = stats.norm.pdf(t / 0.5) * (special.ndtr((half - 2) / 0.5) - special.ndtr((-half - 2) / 0.5))
    mass = integrate.cumulative_trapezoid(chord, t, initial=0)
    assert len(x) > 6000
    across = x @ np.array([-0.8, 0.6])
    assert stats.kstest(across, lambda u: np.interp(u, t, mass / mass[-1])).pvalue > 1e-6


def chain(beta, eta, steps, precision=1 / 9, cap=2.0):
    """The law of x_T on a grid of [-1.5, 1.5]: y = x + √η N, then x from the Gaussian around y, thinned by F."""
    grid = np.linspace(-1.5, 1.5, 301)
    weights = np.full(301, 3 / 300)
    weights[[0, -1]] /= 2
    y = np.linspace(-2.2, 2.2, 881)
    shrink = 1 / (1 + eta * precision)
    forward = stats.norm.pdf(y[None], grid[:, None], math.sqrt(eta)) * (y[1] - y[0])
    heights = beta * (grid**4 / 4 - grid**2 / 2)
    inside = stats.norm.pdf(grid[None], shrink * y[:, None], math.sqrt(eta * shrink)) * weights
    inside /= inside.sum(axis=1, keepdims=True)  # X and Z: independent, given that both are in the ball
    accepted = inside @ np.minimum(np.exp(heights[:, None] - heights[None]), cap)  # over Z, for every X
    back = inside * accepted
    back /= back.sum(axis=1, keepdims=True)
    law = weights / 3
    for _ in range(steps):
        law = (law @ forward) @ back
    return grid, np.cumsum(law) - law / 2


@pytest.mark.seconds
@pytest.mark.parametrize(("beta", "steps"), [(Fraction(5, 2), 1), (30, 60)])
def test_the_law_after_some_steps(beta, steps):
    eta = Fraction(1, 50) if steps == 1 else Fraction(1, 600)
    x = alternate_sample(target(beta), Schedule(steps, eta, 200), noise.streams(3, 4000))[:, 0]

    def distance(factor, many=steps):
        grid, law = chain(factor * float(beta), float(eta), many)
        return stats.kstest(x, lambda t: np.interp(t, grid, law)).statistic

    allowed = math.sqrt(math.log(2 / 1e-6) / (2 * 4000)) + 0.005  # a grid of 300 cells
    assert distance(1) <= allowed
    if steps > 1:  # and the test has power: without F, with half of it, with half of the steps, without any
        assert min(distance(0), distance(1 / 2), distance(1, steps // 2), distance(1, 0)) > 1.2 * allowed


def test_the_alternating_sampler_step_by_step():
    pi, eta, T, K = target("1.5", 2), 0.05, 6, 3
    found = alternate_sample(pi, Schedule(T, Fraction(eta), K), noise.streams(8, 3))
    shrink = 1 / (1 + eta * float(pi.precision))
    spread = math.sqrt(eta * shrink)

    def draw(m, g, u):
        length = np.linalg.norm(m)
        if length <= 1.5:
            return m + spread * g
        e = m / length
        a = length - 1.5
        return e * (1.5 + a + spread * special.ndtri((1 - u) * special.ndtr(-a / spread))) + spread * (g - (g @ e) * e)

    def F(x):
        return (x**4 / 4 - x**2 / 2).sum()

    for r, generator in enumerate(noise.streams(8, 3)):
        direction = generator.standard_normal(2)
        x = direction / np.linalg.norm(direction) * 1.5 * math.sqrt(generator.random())
        normals, uniforms = generator.standard_normal((256, 6)), generator.random((256, 3))
        row = 0
        for _ in range(T):
            y, attempts, kept = x + math.sqrt(eta) * normals[row, :2], 0, False
            while not kept:
                X = draw(shrink * y, normals[row, 2:4], uniforms[row, 0])
                Z = draw(shrink * y, normals[row, 4:], uniforms[row, 1])
                if X @ X <= 2.25 and Z @ Z <= 2.25:
                    attempts += 1
                    ratio = min(math.exp(1.5 * (F(Z) - F(X))), 2)
                    kept = uniforms[row, 2] < ratio / 2 or attempts == K
                row += 1
            x = X
        assert found[r] == pytest.approx(x, abs=1e-12)


def test_the_distance_by_hand():
    pi, schedule = target("0.4"), Schedule(3000, Fraction(1, 100), 40)
    slope = 0.4 * float(pi.problem.lipschitz)
    assert float(pi.slope) == pytest.approx(slope, rel=1e-12)
    constant = math.exp(3 * slope) * 9  # e^(βSD) D²/p
    assert float(log_sobolev(pi)) == pytest.approx(constant, rel=1e-9)
    converged = math.sqrt((3 * slope + 1 / 8) / (1 + 0.01 / constant) ** 3000 / 2)
    bias = 2 * math.exp(-(100 + 1 / 9) * math.log(2) ** 2 / (4 * slope**2))
    assert distance(pi, schedule).upper == pytest.approx(converged + 3000 * (bias + ((1 + bias) / 2) ** 40), rel=1e-9)


@pytest.mark.parametrize(("beta", "tolerance"), [("0.01", "1e-8"), ("0.3", "1e-4"), ("0.6", "0.1")])
def test_a_schedule_keeps_its_tolerance_and_is_not_wasteful(beta, tolerance):
    pi = target(beta)
    schedule = schedule_for(pi, tolerance, 10**7)
    assert distance(pi, schedule).upper <= float(tolerance)
    fewer = Schedule(int(schedule.steps * 0.9), schedule.proximal_step, schedule.attempts)
    assert distance(pi, fewer).lower > float(tolerance) / 2


def test_too_many_steps_are_refused_with_their_number():
    with pytest.raises(InvalidValue, match=r"steps must be at most 1000"):
        schedule_for(target(2), "1e-6", 1000)
    with pytest.raises(InvalidValue, match="exact sampler"):
        schedule_for(target(2000), "1e-6", 1000)


# --- the mechanism


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_exact_sampler_is_pure(relation):
    problem = well()
    method = RegularisedExponentialMechanism.calibrated(problem, "0.8", relation=relation)
    run = method.run(problem, repetitions=3)
    assert method.planned == ExponentialMechanism("0.8", relation=relation)
    assert run.ledger.releases[0].described == method.planned
    assert run.ledger.spent("1e-9", relation).upper <= 0.8
    factor = {"replace-one": 2, "add-or-remove-one": 1}[relation]
    beta = 0.8 * 200 / (factor * float(problem.lipschitz) * 3)
    assert run.parameters["inverse_temperature"] == pytest.approx(beta, rel=1e-12)


@pytest.mark.seconds
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_alternating_sampler_pays_for_its_distance(relation):
    problem = well(20)
    method = RegularisedExponentialMechanism.calibrated(
        problem, "0.2", "1e-4", relation=relation, sampler="alternating"
    )
    run = method.run(problem, repetitions=3)
    described = run.ledger.releases[0].described
    assert isinstance(described, ApproximateDP)
    assert described == method.planned
    assert run.spent.upper <= 0.2
    reached = distance(method.target(problem), method.schedule_for(problem))
    assert (1 + math.exp(described.epsilon)) * reached.upper <= float(described.delta)
    # the target is pure: what the printed temperature spends is far below the budget
    beta = 0.3 * 0.2 * math.log(20) / (float(problem.lipschitz) * 3 * math.sqrt(math.log(1e4)))
    assert run.parameters["inverse_temperature"] == pytest.approx(beta, rel=1e-9)
    factor = {"replace-one": 2, "add-or-remove-one": 1}[relation]
    assert float(described.epsilon) == pytest.approx(factor * float(problem.lipschitz) * 3 * beta / 20, rel=1e-9)


def test_a_schedule_without_a_proof_promises_nothing_or_is_refused():
    problem, short = well(20), Schedule(50, Fraction(1, 50), 40)
    with pytest.raises(InvalidValue, match=r"schedule must be .*, not 50 steps, proven to be within"):
        RegularisedExponentialMechanism("0.1", RADIUS, sampler="alternating", failure="1e-4", schedule=short).run(
            problem
        )
    free = RegularisedExponentialMechanism("0.1", RADIUS, sampler="alternating", failure=1, schedule=short)
    run = free.run(problem, repetitions=2)
    assert run.ledger.releases[0].described.delta == 1
    assert run.ledger.spent("1e-6").upper > 10
    with pytest.raises(InvalidValue, match="failure"):
        free.bound(problem)


@pytest.mark.parametrize(("records", "dimension"), [(100, 1), (400, 1), (1600, 1), (60, 2)])
def test_the_excess_risk_is_below_the_bound(records, dimension):
    problem = well(records, dimension)
    method = RegularisedExponentialMechanism.calibrated(problem)
    run = method.run(problem, seed=3, repetitions=200)
    check = bound_check("bound", run.samples + dimension / 4, method.bound(problem), confidence=1 - 1e-6)
    assert check.verdict is Verdict.HOLDS


def test_the_bound_by_hand():
    problem = well(100)
    method = RegularisedExponentialMechanism.calibrated(problem, "0.5")
    beta, span = 0.5 * 100 / (2 * 3 * float(problem.lipschitz)), 3 * float(problem.lipschitz)
    expected = (1.5 + math.log(1 + beta * span)) / beta
    assert method.bound(problem).upper == pytest.approx(expected, rel=1e-9)
    assert method.bound(problem, "population").upper == pytest.approx(
        expected + span * math.tanh(beta * span / 200), rel=1e-9
    )


def test_the_bound_with_an_l1_term_and_of_the_alternating_sampler_by_hand(monkeypatch):
    problem = problems.sigmoid_loss(np.ones((100, 1)), np.ones(100), l1="0.5", radius=RADIUS)
    G = float(problem.lipschitz)
    method = RegularisedExponentialMechanism.calibrated(problem, "0.5")
    beta = 0.5 * 100 / (2 * 3 * G)  # what is public cancels: no l1 in it
    expected = (1.5 + math.log(1 + beta * 3 * (G + 0.5))) / beta
    assert method.bound(problem).upper == pytest.approx(expected, rel=1e-9)
    moving = RegularisedExponentialMechanism.calibrated(well(20), "0.2", "1e-2", sampler="alternating")
    planned = moving.planned
    tolerance = float(planned.delta) / (1 + math.exp(float(planned.epsilon)))
    beta, span = float(moving.target(well(20)).inverse_temperature), 3 * float(well(20).lipschitz)
    expected = (1.5 + math.log(1 + beta * span)) / beta + tolerance * span
    vacuous = moving.bound(well(20))
    assert vacuous.upper == pytest.approx(span)
    assert vacuous.upper < expected / 2
    assert vacuous.method.startswith("trivial: ")
    monkeypatch.setattr(mechanism, "no_more_than_range", lambda found, *limits: found)
    assert moving.bound(well(20)).upper == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2), ("add-or-remove-one", 1)])
def test_the_loss_of_two_neighbours_is_within_epsilon_and_close_to_it(relation, factor):
    pi, x = RegularisedExponentialMechanism(1, "1/10", relation).target(steep()), np.linspace(-0.1, 0.1, 20_001)
    beta = float(pi.inverse_temperature)
    flat = beta * pi.problem.objective(x[:, None]) + float(pi.precision) / 2 * x**2
    assert 0.97 < loss_of_neighbours(beta, flat, x, factor) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"failure": "1e-6"}, "exact sampler has neither"),
        ({"sampler": "alternating", "failure": 1}, "schedule"),
        ({"sampler": "alternating"}, "failure"),
        ({"radius": 2}, r"radius.*at most"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments, message):
    with pytest.raises(InvalidValue, match=message):
        RegularisedExponentialMechanism(**{"epsilon": 1, "radius": 1, **arguments}).run(well())


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(InvalidValue, match="less than 1/2"):
        RegularisedExponentialMechanism.calibrated(well(), sampler="alternating")
    with pytest.raises(InvalidValue, match="points"):
        RegularisedExponentialMechanism.calibrated(well(10_000, 3), 1).run(well(10_000, 3))
    for broken in ({"steps": 0}, {"attempts": 0}, {"proximal_step": Fraction(0)}):
        with pytest.raises(InvalidValue):
            Schedule(**({"steps": 1, "proximal_step": Fraction(1), "attempts": 1} | broken))
