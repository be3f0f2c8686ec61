"""What instances claim is measured: plain NumPy runs them, or sums over the points of an explicit net."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.errors import NotCertified
from dpbounds.rates.tightness import rows, single_records

ONE_OF = {f"{one.statement} {one.part}": one for one in rows.INSTANCES}


def claimed(name):
    """The instance's values as floats, and what it claims (squared, if it computes a square)."""
    one = ONE_OF[name]
    value = one.value()
    power = 2 if one.squared else 1
    return {key: float(number) for key, number in one.values.items()}, (value.lower**power, value.upper**power)


def agrees(samples, ends, slack=5.0):
    """The claim is met by a mean, up to its standard error."""
    error = slack * samples.std() / math.sqrt(len(samples)) + 1e-9
    return ends[0] - error <= samples.mean() <= ends[1] + error


def unit(at, runs):
    """Starts of distance 1 from 0."""
    w = np.zeros((runs, int(at["dimension"])))
    w[:, 0] = 1
    return w


def square(vectors):
    return (vectors**2).sum(axis=1)


def huber(w, slope):
    length = np.sqrt(square(w))[:, None]
    return w * np.minimum(1, slope / np.maximum(length, 1e-300))


def descent(at, runs, noise, seed=1):
    """Squares of the gradients, and of gradients plus noise, of all iterates."""
    draw, w = np.random.default_rng(seed), unit(at, runs)
    clean, noisy = [], []
    for step in range(int(at["steps"]) + 1):
        gradient = huber(w, at.get("lipschitz", np.inf)) if "rho" not in at else w
        xi = draw.normal(size=w.shape) * noise(step)
        clean.append(square(gradient))
        noisy.append(square(gradient + xi))
        w = w - at["step_size"] * (gradient + xi)
    return np.array(clean), np.array(noisy)


@pytest.mark.parametrize("part", ["bound", "private"])
def test_weighted_noisy_descent(part):
    at, ends = claimed(f"dpbounds/noisy-descent-exact {part}")
    sigma = at.get("noise_stddev") or math.sqrt(2 * at["steps"] / at["rho"]) / at["dataset_size"]
    clean, _ = descent(at, 4000, lambda step: sigma)
    weights = np.full(len(clean), at["step_size"] * (1 - at["step_size"] / 2))
    weights[-1] = 1 / 2
    assert agrees(weights @ clean / weights.sum(), ends)


@pytest.mark.parametrize("name", ["wang-chen-xu-2019/algorithm-4/explicit", "wang-xu-2019/theorem-2/explicit"])
def test_uniform_noisy_descent(name):
    at, ends = claimed(f"{name} bound")
    clean, noisy = descent(at, 400, lambda step: at["noise_stddev"])
    assert agrees(clean[:-1].mean(axis=0), ends)
    if "xu-2019/theorem-2" in name:
        assert agrees(noisy[:-1].mean(axis=0), claimed(f"{name} noisy")[1])


def test_noise_in_a_ball():
    at, ends = claimed("tholeti-kalyani-2020/algorithm-1/explicit bound")
    draw, w, seen = np.random.default_rng(2), unit(at, 400), []
    for _ in range(int(at["steps"])):
        seen.append(square(w))
        ball = draw.normal(size=w.shape)
        ball *= (draw.uniform(size=len(w)) ** (1 / at["dimension"]) / np.sqrt(square(ball)))[:, None]
        w = w - at["step_size"] * (huber(w, at["lipschitz"]) + at["radius"] * ball)
    assert max(each.max() for each in seen) <= 1 + 1e-12
    assert agrees(np.mean(seen, axis=0), ends)


@pytest.mark.seconds
def test_single_records_that_pull_both_ways():
    at, ends = claimed("dpbounds/ball-noise-at-fixed-delta bound")
    steps, slope = single_records.steps_of(ONE_OF["dpbounds/ball-noise-at-fixed-delta bound"].values), 0.23
    assert steps == 20_000
    step = math.sqrt(2 * at["initial_gap"] / (steps * (1 + at["radius"] ** 2 / 3)))
    draw, w, total = np.random.default_rng(3), np.full(500, 0.04), np.zeros(500)
    for _ in range(steps):
        gradient = np.clip(w, -slope, slope)
        total += gradient**2
        own = np.where(draw.random(500) < 0.5, slope - 1, 1 - slope)
        w = w - step * (gradient + own + draw.uniform(-at["radius"], at["radius"], 500))
    assert agrees(total / steps, ends)


def test_moves_on_a_slope():
    one = ONE_OF["dpbounds/population-tree-spider/explicit bound"]
    with pytest.raises(NotCertified, match="may leave the slope"):
        one.measured({**one.values, "segments": Fraction(101)})
    draw, w = np.random.default_rng(0), np.zeros((20, 10))
    w[:, 0] = float(one.start)
    for _ in range(3200):
        assert (square(huber(w, 4)) > 16 - 1e-9).all()
        estimate = huber(w, 4) + draw.normal(size=w.shape)  # whatever it is
        w -= 0.1 * estimate / np.sqrt(square(estimate))[:, None]


def test_falling_noise_and_langevin_steps():
    at, ends = claimed("dpbounds/geometric-noise-under-pl bound")
    steps, kappa = int(at["steps"]), 1 - at["step_size"]
    total = (1 - kappa**steps) / (1 - kappa)
    unit_noise = math.sqrt(2 * total / at["rho"]) / at["dataset_size"]
    clean, _ = descent(at, 4000, lambda step: unit_noise * kappa ** (-(steps - 1 - step) / 2))
    assert agrees(clean[-1] / 2, ends)
    at, ends = claimed("dpbounds/langevin-under-pl bound")
    clean, _ = descent(at, 4000, lambda step: math.sqrt(2 / (at["step_size"] * at["inverse_temperature"])))
    assert agrees(clean[-1] / 2, ends)


def spider(at, runs, first, later, period, draw, w):
    """The iterates of one run of DP-SPIDER on |w|²/2."""
    seen, before = [], w
    for step in range(int(at["steps"])):
        if step % period == 0:
            v = w + first * draw.normal(size=w.shape)
        else:
            v = v + (w - before) + later * np.sqrt(square(w - before))[:, None] * draw.normal(size=w.shape)
        seen.append(w)
        before, w = w, w - at["step_size"] * v
    return seen


@pytest.mark.seconds
def test_spider_at_any_parameters():
    at, ends = claimed("lowy-ullman-wright-2024/algorithm-1/explicit bound")
    seen = spider(
        at, 12, at["noise_stddev"], at["difference_noise_stddev"], int(at["anchor_period"]),
        np.random.default_rng(3), unit(at, 12),
    )  # fmt: skip
    assert agrees(np.mean([np.sqrt(square(w)) for w in seen], axis=0), ends)


@pytest.mark.seconds
def test_spider_as_prescribed():
    at, ends = claimed("lowy-ullman-wright-2024/lemma-3.1/explicit prescribed")
    a = at["dimension"] / (at["dataset_size"] ** 2 * at["rho"])
    steps = math.ceil((at["initial_gap"] / (4 * a**2)) ** (1 / 3))
    period = 1 + math.floor(1 / (2 * steps * a))
    anchors = math.ceil(steps / period)
    spent = at["dataset_size"] * math.sqrt(at["rho"])
    at |= {"steps": steps, "step_size": 1 / 2}
    seen = spider(
        at, 12, 2 * math.sqrt(anchors) / spent, 2 * math.sqrt(steps - anchors) / spent, period,
        np.random.default_rng(4), unit(at, 12) / 10,
    )  # fmt: skip
    assert agrees(np.mean([np.sqrt(square(w)) for w in seen], axis=0), ends)


def test_restarted_spider():
    at, ends = claimed("dpbounds/polyak-lojasiewicz-restarted-spider bound")
    runs, draw = 2000, np.random.default_rng(5)
    w, spent = unit(at, runs), at["dataset_size"] * math.sqrt(at["rho"])
    stages, steps = at["stages"], at["steps"]
    for _ in range(int(stages)):
        first, later = 2 * math.sqrt(stages) / spent, 2 * math.sqrt((steps - 1) * stages) / spent
        seen = spider(at | {"step_size": 1 / 2}, runs, first, later, int(steps), draw, w)
        w = np.array(seen)[draw.integers(int(steps), size=runs), np.arange(runs)]
    assert agrees(square(w), ends)


@pytest.mark.seconds
def test_the_last_gap_near_the_start():
    at, ends = claimed("dpbounds/noisy-descent-local-pl bound")
    draw, runs = np.random.default_rng(11), 300
    w = unit(at, runs)
    for _ in range(int(at["steps"])):
        w = w - at["step_size"] * (w + at["noise_stddev"] * draw.normal(size=w.shape))
    above = [(square(w) / 2 > factor * ends[0]).mean() for factor in (0.99, 1.02)]
    assert above[0] > at["failure_probability"] > above[1]


def test_restarted_spider_with_stage_shares():
    at, ends = claimed("dpbounds/polyak-lojasiewicz-restarted-spider/stage-shares bound")
    runs, draw, stages, steps = 2000, np.random.default_rng(5), int(at["stages"]), int(at["steps"])
    n, d, w = at["dataset_size"], at["dimension"], unit(at, runs)
    left, shares = at["rho"] - stages * d * (steps - 1) ** 2 / n**2, sum(2 ** (-i / 2) for i in range(stages))
    for stage in range(stages):
        first = math.sqrt(2 / left * shares * 2 ** ((stages - 1 - stage) / 2)) / n
        seen = spider(at | {"step_size": 1 / 2}, runs, first, math.sqrt(2 / (d * (steps - 1))), steps, draw, w)
        w = np.array(seen)[draw.integers(steps, size=runs), np.arange(runs)]
    assert agrees(square(w), ends)


@pytest.mark.seconds
def test_descent_on_samples_of_equal_records():
    at, ends = claimed("dpbounds/noisy-descent-batches bound")
    batch, runs, draw = at["sample_rate"] * at["dataset_size"], 30, np.random.default_rng(9)
    w, seen = math.sqrt(2 * at["initial_gap"]) * unit(at, runs), []
    for _ in range(int(at["steps"]) + 1):
        seen.append(square(w))
        share = draw.binomial(int(at["dataset_size"]), at["sample_rate"], size=(runs, 1)) / batch
        w = w - at["step_size"] * (share * w + at["noise_multiplier"] / batch * draw.normal(size=w.shape))
    weights = np.full(len(seen), at["step_size"] * (1 - at["step_size"] / 2))
    weights[-1] = 1 / 2
    assert agrees(weights @ np.array(seen) / weights.sum(), ends)
    assert not agrees(1.02 * (weights @ np.array(seen)) / weights.sum(), ends)


@pytest.mark.seconds
def test_recursive_momentum_on_samples_of_equal_records():
    at, ends = claimed("dpbounds/storm/batches bound")
    n, k, z = (at[name] for name in ("dataset_size", "momentum", "noise_multiplier"))
    batch, runs, draw = at["sample_rate"] * n, 20, np.random.default_rng(10)
    w = math.sqrt(2 * at["initial_gap"]) * unit(at, runs)
    v, seen = w + at["first_ratio"] * z / n * draw.normal(size=w.shape), [square(w)]
    for _ in range(int(at["steps"])):
        before, w = w, w - at["step_size"] * v
        reach = k + (1 - k) * np.sqrt(square(w - before))[:, None]
        share = draw.binomial(int(n), at["sample_rate"], size=(runs, 1)) / batch
        v = (1 - k) * v + share * (w - (1 - k) * before) + z / batch * reach * draw.normal(size=w.shape)
        seen.append(square(w))
    weights = np.ones(len(seen))
    weights[-1] = 1 / at["step_size"]
    assert agrees(weights @ np.array(seen) / weights.sum(), ends)


def test_recursive_momentum():
    at, ends = claimed("dpbounds/storm bound")
    runs, draw, k = 400, np.random.default_rng(6), at["momentum"]
    w = unit(at, runs)
    v = w + at["noise_stddev"] * draw.normal(size=w.shape)
    seen = [square(w)]
    for _ in range(int(at["steps"])):
        before, w = w, w - at["step_size"] * v
        noise = at["difference_noise_stddev"] * (k + (1 - k) * np.sqrt(square(w - before)))[:, None]
        v = (1 - k) * v + w - (1 - k) * before + noise * draw.normal(size=w.shape)
        seen.append(square(w))
    weights = np.ones(len(seen))
    weights[-1] = 1 / at["step_size"]
    assert agrees(weights @ np.array(seen) / weights.sum(), ends)


@pytest.mark.parametrize(("noise", "part"), [(0.5, "any-noise"), (1.0, "tuned")])
@pytest.mark.seconds
def test_subgradients(noise, part):
    at, ends = claimed(f"lowy-ullman-wright-2024/proposition-d.1/explicit {part}")
    steps = int(at.get("steps", 40_000))
    eta, draw = 1 / math.sqrt(steps * (1 + noise**2)), np.random.default_rng(7)
    w, total = np.ones(300), np.zeros(300)
    for _ in range(steps):
        total += abs(w)
        w = w - eta * (np.sign(w) + noise * draw.normal(size=w.shape))
    assert agrees(total / steps, ends)


def softmax(risks, factor):
    weights = np.exp(-factor * (risks - risks.min()))
    return weights / weights.sum()


def well(at, radius):
    return lambda places: at["lipschitz"] * np.minimum(places, radius)


def radius_of(name):
    return float(ONE_OF[name].loss.pieces[0].until)


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("lowy-ullman-wright-2024/lemma-4.2/explicit bound", 10**6),
        ("ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit empirical", 1001),
    ],
)
def test_the_mean_of_a_choice_on_an_explicit_net(name, points):
    at, ends = claimed(name)
    flat = radius_of(name)
    net = np.concatenate([[at["net_radius"]], np.linspace(flat, at["diameter"], points - 1)])
    risks = well(at, flat)(net)
    factor = at["epsilon"] * at["dataset_size"] / (2 * at["lipschitz"] * at["diameter"])
    assert abs(softmax(risks, factor) @ risks / ends[0] - 1) < 1e-9


@pytest.mark.parametrize(
    ("name", "factor", "points", "failure"),
    [
        ("lowy-ullman-wright-2024/lemma-4.2 bound", 250, np.arange(1001) / 1000, math.exp(-5)),
        ("lowy-ullman-wright-2024/equation-2 bound", 125, np.arange(501) / 500, 2 / 1000),
        ("lowy-ullman-wright-2024/lemma-4.2/explicit tail", 500, np.append(0.02, np.linspace(0.06, 1, 999_999)), 0.01),
        ("lowy-ullman-wright-2024/lemma-e.3/explicit bound", 25, np.append(0.02, np.linspace(0.4, 1, 99)), 0.01),
    ],
)
def test_the_flat_is_reached_too_often_for_a_smaller_bound(name, factor, points, failure):
    at, ends = claimed(name)
    risks = well(at, radius_of(name))(points)
    chances = softmax(risks, factor)
    assert chances[risks >= risks.max() - 1e-12].sum() > failure
    assert abs(risks.max() - ends[0]) < 1e-12


def test_the_regularised_flat_is_reached_too_often_for_a_smaller_bound():
    name = "wang-chen-xu-2019/theorem-4/explicit bound"
    _at, ends = claimed(name)
    places, edge = np.arange(-2000, 2001) / 2000, radius_of(name)
    losses = [float(ONE_OF[name].loss.at(Fraction(abs(int(step)), 2000))[0]) for step in range(-2000, 2001)]
    risks = np.array(losses) + places**2 / 2
    outside = abs(places) >= edge - 1e-12
    assert np.ptp(risks[outside]) < 1e-12
    assert softmax(risks, 1000)[outside].sum() > 0.01
    assert abs(risks[outside][0] - ends[0]) < 1e-12


def test_the_warm_start_on_its_grid():
    name = "lowy-ullman-wright-2024/corollary-4.3/explicit excess_risk"
    _, ends = claimed(name)
    loss, bend = ONE_OF[name].loss, Fraction(1, 2 * 10**6)
    places = [Fraction(step + 1, 10_000) + bend for step in range(10_001)]
    risks = np.array([float(loss.at(place)[0]) for place in places])
    assert abs(softmax(risks, 5000) @ risks / ends[0] - 1) < 1e-9


def test_gibbs_samples_by_quadrature():
    name = "ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit bound"
    at, ends = claimed(name)
    r = (np.arange(400_000) + 0.5) / 400_000
    total = np.minimum(r, radius_of(name)) + at["regularisation"] * r**2 / 2
    logs = (at["dimension"] - 1) * np.log(r) - at["inverse_temperature"] * total
    weights = np.exp(logs - logs.max())
    assert abs(weights @ total / weights.sum() / ends[0] - 1) < 1e-5
    name = "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit empirical"
    at, ends = claimed(name)
    w = 1 - r  # the origin is far from the well
    loss, cold = np.minimum(r, radius_of(name)), at["inverse_temperature"]
    weights = np.exp(-cold * loss - w**2 / 2)
    assert abs(weights @ loss / weights.sum() / ends[0] - 1) < 1e-5


def test_frank_wolfe_steps():
    at, ends = claimed("wang-xu-2019/theorem-4/explicit bound")
    draw, x, total = np.random.default_rng(8), np.full(4000, 2.0), np.zeros(4000)
    for _ in range(int(at["steps"])):
        total += x
        wrong = at["noise_stddev"] * draw.normal(size=x.shape) > at["lipschitz"]
        x = (1 - at["step_fraction"]) * x + at["step_fraction"] * 2 * wrong
    assert agrees(total / at["steps"], ends)
    at, ends = claimed("wang-xu-2019/theorem-6/explicit bound")
    scale = 2 * 2 * at["lipschitz_l1"] * at["l1_norm_bound"] / (at["dataset_size"] * at["step_epsilon"])
    x, total = np.full(4000, 2.0), np.zeros(4000)
    for _ in range(int(at["steps"])):
        total += x
        scores = np.array([-1.0, 1.0])[:, None] + scale * draw.gumbel(size=(2, len(x)))
        x = (1 - at["step_fraction"]) * x + at["step_fraction"] * 2 * (scores[1] < scores[0])
    assert agrees(total / at["steps"], ends)


def test_descent_in_one_step():
    for name, gradient in (("3.5", 2.0), ("3.5/explicit", 2.0)):
        _, ends = claimed(f"ganesh-liu-oh-thakurta-2023/lemma-{name} bound")
        after = gradient - 3.0  # the estimate is 3, its error 1, and L is 1
        assert ends[0] <= (after**2 - gradient**2) / 2 <= ends[1]
