"""Numbers of any size: an answer within seconds, or one line that says why not; never anything else, never a wrong one.

Each batch of questions runs in a process of its own under a limit of processor time. What they are held against: the
order of the two ends, monotonicity in every parameter, and the closed form without sampling, computed by mpmath.
"""

import json
import math
import random
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import mpmath as mp
import pytest

import dpbounds as dp
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.relations import as_relation
from dpbounds.privacy.routes.drawn_steps import delta_ends
from dpbounds.privacy.routes.lattice import LARGEST_WORK, Work
from tests.privacy.products import products_of

CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
import dpbounds as dp
for line in sys.stdin:
    z, q, steps, given, target, relation = json.loads(line)
    try:
        one = dp.Gaussian(z) if q is None else dp.PoissonSampled(dp.Gaussian(z), q)
        found = getattr(dp, "epsilon" if given == "delta" else "delta")(one ** int(steps), target, relation)
        said = found.decimals(30)
    except dp.DpboundsError as refused:
        said = str(refused)
    print(json.dumps(said), flush=True)
"""
ORDINARY_SECONDS = 20  # of a processor that others use as well; the aim is 10


def asked(questions, seconds):
    """The answers of a child process: pairs of ends, or refusals. It dies when its processor time is over."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    call = [sys.executable, "-W", "error", "-c", CHILD, str(seconds)]
    done = subprocess.run(call, input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (questions[len(answers)], done.stderr[-600:])
    return answers


def ends(answer):
    return tuple(map(mp.mpf, answer))


def without_sampling(z, steps, epsilon, relation):
    """δ(ε) of the same releases on the full batch (Balle & Wang 2018), to 30 digits relative to its larger part."""
    with mp.workdps(1400):
        mu = mp.sqrt(mp.mpf(steps)) * (1 if relation == "add-or-remove-one" else 2) / mp.mpf(z)
        e = mp.mpf(epsilon)
        if e / mu - mu / 2 > 1000:
            return mp.mpf(0)
        if e / mu - mu / 2 < -1000:
            return mp.mpf(1)
        upper = lambda x: mp.erfc(x / mp.sqrt(2)) / 2 if x < 1e6 else mp.mpf(0)  # noqa: E731
        return upper(e / mu - mu / 2) - mp.exp(e) * upper(e / mu + mu / 2)


def drawn(draw, extreme):
    """A random question, log-uniform over an enormous range."""

    def size(low, high):
        return f"{draw.uniform(1, 9.99):.4f}e{draw.randint(low, high)}"

    reach = 300 if extreme else 6
    z = size(-reach if extreme else -1, reach)
    q = draw.choice([None, size(-reach, -1), "0." + "9" * draw.randint(1, 30 if extreme else 12)])
    steps = int(Fraction(size(0, 40 if extreme else 6)))
    given = draw.choice(["delta", "epsilon"])
    close = "0." + "9" * draw.randint(1, 40 if extreme else 6)
    target = draw.choice([size(-1000 if extreme else -50, -1), close]) if given == "delta" else size(-reach, reach)
    return [z, q, steps, given, target, draw.choice(["add-or-remove-one", "replace-one"])]


def check(questions, seconds):
    for question, answer in zip(questions, asked(questions, seconds), strict=True):
        z, q, steps, given, target, relation = question
        if isinstance(answer, str):
            assert "\n" not in answer
            assert len(answer) < 500, question
            continue
        lower, upper = ends(answer)
        assert 0 <= lower <= upper, question
        if given == "epsilon":
            assert upper <= 1
            assert lower <= without_sampling(z, steps, target, relation) * (1 + mp.mpf(10) ** -12), question
            if q is None:
                assert upper >= without_sampling(z, steps, target, relation) * (1 - mp.mpf(10) ** -12), question
        elif lower > 0:  # just below the lower end even the full batch spends more than δ
            at = lower * (1 - mp.mpf(10) ** -12)
            with mp.workdps(1400):
                text = mp.nstr(at, 40, min_fixed=-1, max_fixed=-1)
                assert without_sampling(z, steps, text, relation) >= mp.mpf(target) * (1 - mp.mpf(10) ** -9), question


KNOWN = [  # what broke the first version
    ["1e8", None, 1, "delta", "1e-6", "add-or-remove-one"],
    ["1e8", None, 1, "epsilon", "1", "add-or-remove-one"],
    ["1e-20", None, 1, "delta", "1e-6", "add-or-remove-one"],
    ["1e160", None, 1, "delta", "1e-6", "replace-one"],
    ["1", None, 10**12, "delta", "1e-6", "add-or-remove-one"],
    ["1", None, 10**29, "delta", "1e-6", "replace-one"],
    [str(Fraction(1, 2**20)), None, 3, "delta", "1e-6", "add-or-remove-one"],
    ["1", "1e-320", 3, "delta", "1e-6", "add-or-remove-one"],
    ["1", "1e-400", 3, "delta", "1e-6", "replace-one"],
    ["1e-6", "1e-12", 10**12, "delta", "1e-300", "add-or-remove-one"],
    ["1e-300", ".999999999999", 10**20, "epsilon", "1e9", "replace-one"],
    ["1e-20", ".5", 10**6, "epsilon", "1e-10", "add-or-remove-one"],
    ["1e160", "1e-6", 1000, "delta", "1e-6", "add-or-remove-one"],
    ["1", ".999999999999", 1000, "epsilon", "1e9", "add-or-remove-one"],
    [".1", ".999999999999", 10**6, "epsilon", "50", "add-or-remove-one"],
    ["1e8", "1e-20", 10**20, "delta", "1e-6", "add-or-remove-one"],
    ["1e8", "1e-6", 1, "epsilon", "50", "replace-one"],
    ["1e-6", None, 1, "epsilon", "1e300", "add-or-remove-one"],
    ["1e-300", None, 2, "delta", "1e-3", "replace-one"],  # slopes of δ(ε) that are no doubles
    ["1e-300", "1e-300", 1, "delta", "1e-50", "add-or-remove-one"],
    ["1e300", "1e-300", 1, "delta", "1e-900", "add-or-remove-one"],
]


@pytest.mark.seconds
def test_what_broke_the_first_version():
    check(KNOWN, ORDINARY_SECONDS)


@pytest.mark.minutes
@pytest.mark.parametrize("seed", range(4))
def test_enormous_numbers_of_all_kinds(seed):
    draw = random.Random(100 + seed)
    check([drawn(draw, extreme=True) for _ in range(60)], 5 * ORDINARY_SECONDS)


@pytest.mark.minutes
@pytest.mark.parametrize("seed", range(40))
def test_one_question_at_a_time(seed):
    draw = random.Random(1000 + seed)
    check([drawn(draw, extreme=False)], ORDINARY_SECONDS)


GRID = {  # parameter: its values, from what spends less to what spends more
    "noise": ["1e300", "1e20", "1e6", "1", "1e-6", "1e-300"],
    "rate": ["1e-300", "1e-20", "1e-3", "0.5", "0.999999999999", "1"],
    "steps": [1, 2, 10**6, 10**12, 10**29],
}


@pytest.mark.seconds
@pytest.mark.seconds_cases("rate-replace-one", "rate-add-or-remove-one")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
@pytest.mark.parametrize("moved", GRID)
def test_bounds_of_neighbouring_points_agree_with_monotonicity(moved, relation):
    fixed = {"noise": "1e-20", "rate": "0.999999999999", "steps": 10**20}
    for given, target in (("delta", "1e-5"), ("epsilon", "1e3")):
        found = []
        for value in GRID[moved]:
            at = {**fixed, moved: value}
            mechanism = dp.PoissonSampled(dp.Gaussian(at["noise"]), at["rate"]) ** at["steps"]
            found.append(account(mechanism, relation=relation, **{given: target}).enclosure)
        for less, more in pairwise(found):
            assert less.exact_lower <= more.exact_upper


@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_a_rate_next_to_one_is_nearly_the_full_batch(relation):
    rate = 1 - Fraction(1, 10**15)
    full = dp.delta(dp.Gaussian(3) ** 1000, 5, relation)
    found = dp.delta(dp.PoissonSampled(dp.Gaussian(3), rate) ** 1000, 5, relation)
    assert found.exact_lower <= full.exact_upper
    assert found.exact_upper >= full.exact_lower * (1 - Fraction(1, 10**9))
    for product in products_of(dp.PoissonSampled(dp.Gaussian(3), rate) ** 1000, as_relation(relation)):
        assert delta_ends(product, Fraction(5))[1] >= full.exact_lower * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize(("z", "rate"), [(2, "0.999999"), (5, "0.9999999"), ("0.8", "0.9999999999")])
def test_a_rate_next_to_one_is_answered_to_ten_digits(z, rate):
    """Bounds from closed forms are 1e-4 wide there; the full batch is not 1e-3 away."""
    found, full = (
        dp.epsilon(dp.PoissonSampled(dp.Gaussian(z), rate) ** 50, "1e-6"),
        dp.epsilon(dp.Gaussian(z) ** 50, "1e-6"),
    )
    assert found.width <= 1e-10 * found.upper
    assert full.lower * (1 - 1e-3) <= found.upper <= full.upper


def textbook(pair, epsilon):
    """The same profiles from the thresholds on x, with 400 digits instead of care."""
    upper = lambda x: mp.erfc(x / mp.sqrt(2)) / 2  # noqa: E731
    e = mp.mpf(epsilon.numerator) / epsilon.denominator
    if isinstance(pair, ShiftedGaussians):
        mu = mp.sqrt(mp.mpf(pair.squared_shift.numerator) / pair.squared_shift.denominator)
        return upper(e / mu - mu / 2) - mp.exp(e) * upper(e / mu + mu / 2)
    q = mp.mpf(pair.sample_rate.numerator) / pair.sample_rate.denominator
    v = mp.mpf(pair.variance.numerator) / pair.variance.denominator
    z = mp.sqrt(v)
    if pair.direction is Direction.REMOVE:
        x = v * mp.log((mp.expm1(e) + q) / q) + mp.mpf(1) / 2
        return q * upper((x - 1) / z) - (mp.expm1(e) + q) * upper(x / z)
    if pair.direction is Direction.ADD:
        room = mp.expm1(-e) + q
        if room <= 0:
            return mp.mpf(0)
        x = v * mp.log(room / q) + mp.mpf(1) / 2
        return -mp.expm1(e) * upper(-x / z) - mp.exp(e) * q * (upper((1 - x) / z) - upper(-x / z))
    b, c = q * mp.exp(-1 / (2 * v)), (1 - q) * mp.expm1(e)
    x = v * mp.log((c + mp.sqrt(c * c + 4 * b * b * mp.exp(e))) / (2 * b))
    return q * (upper((x - 1) / z) - mp.exp(e) * upper((x + 1) / z)) - (1 - q) * mp.expm1(e) * upper(x / z)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_profiles_without_cancellation_are_the_textbook_ones():
    draw = random.Random(3)

    def size(low, high):
        return Fraction(10 ** draw.uniform(low, high))

    for _ in range(150):
        v, epsilon = size(-4, 10), draw.choice([Fraction(0), size(-12, 2.5)])
        rate = draw.choice([size(-12, -0.01), 1 - size(-12, -1)])
        pair = draw.choice(
            [ShiftedGaussians(1 / v), *(SampledGaussians(direction, rate, v) for direction in Direction)]
        )
        with mp.workdps(400), working(200):
            expected, found = textbook(pair, epsilon), pair.closed_delta(epsilon)
            low, high = (mp.mpf(end.str(60, radius=False)) for end in (found.lower(), found.upper()))
            slack = abs(expected) * mp.mpf(10) ** -50
            assert low - slack <= expected <= high + slack, (pair, epsilon)
            assert expected == 0 or (high - low) <= abs(expected) * mp.mpf(10) ** -25, (pair, epsilon)


@pytest.mark.parametrize("given", [{"epsilon": "0.3"}, {"delta": "0.001"}])
@pytest.mark.parametrize(
    "mechanism",
    [
        dp.UniformBall(1, 1) @ dp.Laplace(1),
        dp.UniformBall(1, 1) @ dp.PoissonSampled(dp.UniformBall("1.5", 1), "0.5"),
        dp.UniformBall(1, 1) @ dp.Gaussian(1),
        dp.ApproximateDP(0, 1, relation="replace-one") @ dp.Laplace(1),
    ],
    ids=["laplace", "sampled ball", "gaussian", "failure"],
)
def test_a_release_that_certainly_gives_all_away_decides_alone(mechanism, given):
    found = account(mechanism, relation="replace-one", **given).enclosure
    everything = 1 if "epsilon" in given else float("inf")
    assert found.exact_lower == found.exact_upper == everything


@pytest.mark.seconds
def test_a_group_whose_first_bound_is_zero_is_answered():
    sampled = dp.SampledWithoutReplacement(dp.Gaussian(2), 2, 10)
    found = dp.group_account(sampled, group_size=2, delta=1e-320)
    assert 35 < found.lower < found.upper < 100


def test_enormous_groups_are_answered_or_refused_at_once():
    assert dp.group_account(dp.Gaussian(1), 10**10, delta="1e-6").exact_lower > 10**19
    with pytest.raises(dp.NotCertified, match="full batch"):
        dp.group_account(dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 3, 10**10, delta="1e-6")


RARE_JUMPS = [  # so rare, and so large, that the contour integral declines and the lattice needs many attempts
    ("1", "1e-6", 1000, {"epsilon": "1e-3"}, "add-or-remove-one"),
    ("0.1227", "2.438e-9", 20383, {"epsilon": "5.892e-7"}, "replace-one"),
    pytest.param("0.358", "3.833e-7", 17, {"epsilon": "5.828e-7"}, "replace-one", marks=pytest.mark.minutes),
    pytest.param("0.2986", "6.807e-6", 349, {"epsilon": "0.0004688"}, "replace-one", marks=pytest.mark.minutes),
]


@pytest.mark.seconds
@pytest.mark.parametrize(("z", "q", "steps", "target", "relation"), RARE_JUMPS)
def test_all_attempts_at_one_question_share_its_work(z, q, steps, target, relation, monkeypatch):
    done, spend = [], Work.spend

    def counted(work, amount):
        spend(work, amount)
        done.append(amount)

    monkeypatch.setattr(Work, "spend", counted)
    found = account(dp.PoissonSampled(dp.Gaussian(z), q) ** steps, relation=relation, **target).enclosure
    assert sum(done) <= LARGEST_WORK * 3 // 4  # some six seconds
    assert found.exact_upper < 20 * found.exact_lower


@pytest.mark.seconds
def test_a_chernoff_bound_beyond_all_numbers_leaves_the_other_bounds():
    found = dp.delta(dp.PoissonSampled(dp.Gaussian("19.12"), "7.417e-8") ** 78461, "0.01263", "replace-one")
    assert 0 <= found.exact_lower < found.exact_upper < Fraction(1, 100)


@pytest.mark.seconds
def test_rates_whose_inverse_is_no_double_are_one_line():
    with pytest.raises(dp.NotCertified, match="every value tried keeps it"):
        dp.hidden_constant(sample_rate=1e-320, steps=3, target_epsilon=1, target_delta="1e-5", relation="replace-one")


@pytest.mark.parametrize("epsilon", [0.5, 2])  # the second took half a minute
def test_a_delta_above_the_probability_of_any_use_bounds_no_noise(epsilon):
    with pytest.raises(dp.NotCertified, match="every value tried keeps it"):
        dp.get_noise_multiplier(target_epsilon=epsilon, target_delta="1e-5", sample_rate=1e-6, steps=3)


@pytest.mark.seconds
def test_a_calibration_beyond_all_plans_holds_a_value_and_says_that_it_may_be_far():
    found = dp.calibrate(lambda z: dp.PoissonSampled(dp.Gaussian(z), "0.01") ** 10**30, 1, "1e-6")
    assert not found.within_tolerance
    assert "not within tolerance" in str(found)

    def in_the_limit(z):
        """δ(1) of so many steps of so little each: that of one Gaussian of shift q √T / z (Bu et al. 2020)."""
        shift, normal = 1e13 / z, NormalDist()
        return normal.cdf(shift / 2 - 1 / shift) - math.e * normal.cdf(-shift / 2 - 1 / shift)

    assert in_the_limit(float(found.value)) < 1e-6 < in_the_limit(float(found.value) / 1.5)
