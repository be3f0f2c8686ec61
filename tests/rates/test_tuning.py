"""What a plan chooses: certified at what it says, never above what is prescribed, within limits, whatever the units."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import by_name
from dpbounds.privacy.accountants.certified import delta as certified_delta
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled, parts_of
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import Budget
from dpbounds.rates.budgets import gaussian_rho
from dpbounds.rates.plan import plan
from dpbounds.rates.tuning import Axis, Search, _axis, freedom, likely_rho, search, tuned
from dpbounds.theorems.record import Bound, Parameter
from dpbounds.theorems.registry import library, theorem
from tests.rates.plans import plan_of

NUMBERS = {"n": 10**5, "d": 100, "epsilon": 1, "delta": "1e-6", "lipschitz": 1, "smoothness": 1, "initial_gap": 1}
BATCHES, SAMPLED_STORM = "dpbounds/noisy-descent-batches", "dpbounds/storm/batches"
RHO = gaussian_rho(Budget(Fraction(1), Fraction(1, 10**6), Relation.REPLACE_ONE))
PATH = "dpbounds/second-order-path-noise"
STORM, EXACT, DESCENT = "dpbounds/storm", "dpbounds/noisy-descent-exact", "wang-chen-xu-2019/algorithm-4/explicit"
SHAPES = ["quasar-convex", "Polyak-Łojasiewicz"]
MORE = {"diameter": 1, "quasar_convexity": "1/2", "pl_constant": "1/10"}


def bounds(names="", **changes):
    """The proven bounds of a plan, by id: over these statements, or the whole library."""
    metric = changes.pop("metric", "gradient-norm")
    found = plan_of(names, metric, **(NUMBERS | changes)) if names else plan(metric, **(NUMBERS | changes))
    return {one.id: one for one in found.ranking if one.bound is not None}


def free_names(one):
    return {symbol.name for symbol in theorem(one.id).free}


@pytest.mark.seconds_cases("10-*", "12519-*", "250000-*", "100-*")
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("limit", "most"), [(10, "0.4265"), (100, "0.1409"), (300, "0.0818"), (1000, "0.0455"),
                                             (12_519, "0.01842"), (250_000, "0.01567")])  # fmt: skip
def test_a_limit_is_made_the_best_of(limit, most):
    """What the third reading's prototypes found (0.0472 at 1000 steps, 0.01841, 0.01566), or less."""
    best = min(bounds(steps_limit=limit).values(), key=lambda one: one.value)
    assert best.bound.less_than(most) is True
    assert {one.name: one.value for one in best.parameters}["steps"] <= limit


@pytest.mark.seconds_cases("gradient-norm", "excess-*")
@pytest.mark.parametrize("metric", ["gradient-norm", "excess-empirical-risk", "projected-gradient-norm"])
def test_the_value_is_that_of_the_statement_at_the_parameters_that_are_told(metric):
    seen = 0
    for one in bounds(metric=metric, assuming=SHAPES, steps_limit=500, **MORE).values():
        names = {each.name for each in one.parameters}
        if not free_names(one) & names:
            continue
        seen += 1
        values = {name: value for name, value in (NUMBERS | MORE).items() if name not in ("epsilon", "delta")}
        told = {each.name: each.value for each in one.parameters}
        local = {quantity.name for quantity in theorem(one.id).local}
        known = {name for part in theorem(one.id).parts for name in map(str, part.expression.free_symbols)} | local
        values |= {name: value for name, value in told.items() if name in known}
        spent = {} if one.rho is None else {"rho": one.rho}  # on samples the noise multiplier is among the parameters
        found = theorem(one.id).evaluate(one.part, **spent, **values)
        assert found.value == one.bound
        assert found.applies is not False
    assert seen


@pytest.mark.parametrize("limit", [50, 20_000, None])
def test_the_choice_is_not_above_the_prescription(limit):
    one = bounds(DESCENT, steps_limit=limit)[DESCENT]
    told = {each.name: each.value for each in one.parameters}
    numbers = {name: value for name, value in NUMBERS.items() if name not in ("epsilon", "delta")}
    same = theorem(DESCENT).evaluate("printed_step", **numbers, steps=told["steps"], noise_stddev=told["noise_stddev"])
    assert one.value <= same.value.exact_upper
    if limit != 50:  # there print's step is longer than 2/L
        assert one.value <= theorem(DESCENT).evaluate("tuned", **numbers, steps=told["steps"], rho=one.rho).value.upper


@pytest.mark.minutes
def test_a_looser_limit_is_never_worse():
    last = {}
    for limit in (1, 3, 10, 30, 100, 1000, 10**4, 10**5, 10**6):
        here = {name: one.value for name, one in bounds(steps_limit=limit).items()}
        assert set(last) - {BATCHES, SAMPLED_STORM} <= set(here)  # a sample of all records is left to the others
        for name, value in here.items():
            assert value <= last.get(name, value) * Fraction(10_001, 10_000), (name, limit)
        last = here
    assert {STORM, EXACT, DESCENT} <= set(last)


@pytest.mark.minutes
@pytest.mark.seconds_cases("500000", "10000000")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("gradients", [5 * 10**5, 10**7, 10**9])
def test_gradients_are_limited(gradients):
    for one in bounds(gradients_limit=gradients, steps_limit=2000).values():
        assert one.cost.gradients <= gradients
        assert {each.name: each.value for each in one.parameters}["steps"] <= 2000
    assert bounds(gradients_limit=gradients)


def test_less_than_one_pass_is_refused_with_the_reason():
    found = plan_of(f"{EXACT} {STORM}", "gradient-norm", gradients_limit=99_999, **NUMBERS)
    assert found.ranking == ()
    assert dict(found.left_out)[EXACT].endswith("gradients, more than the limit of 99999")


@pytest.mark.seconds
def test_less_than_one_pass_is_left_to_batches():
    assert list(bounds(gradients_limit=99_999)) == [BATCHES]  # the others begin with a full one


@pytest.mark.seconds
def test_batches_are_limited():
    found = plan("gradient-norm", batch_size=300, steps_limit=1000, gradients_limit=10**7, **NUMBERS)
    proven = [one for one in found.ranking if one.bound is not None]
    assert BATCHES in [one.id for one in proven]
    for one in proven:
        assert one.cost.batch <= 300
        assert {each.name: each.value for each in one.parameters}["sample_rate"] * NUMBERS["n"] <= 300
    assert dict(found.left_out)[EXACT] == "takes 100000 records in a batch, more than the limit of 300"


def test_memory_is_limited():
    found = plan_of(f"{STORM} {EXACT}", "gradient-norm", steps_limit=10, memory_limit=299, **NUMBERS)
    reasons = dict(found.left_out)
    assert reasons[STORM] == "takes 300 numbers in memory, more than the limit of 299"
    assert EXACT not in reasons


@pytest.mark.seconds
def test_second_order_points_count_their_gradients():
    values = NUMBERS | {"n": 10**6, "d": 10, "hessian_lipschitz": 1, "failure_probability": "0.1"}
    (found,) = plan_of(PATH, "sosp", **values).ranking
    told = {each.name: float(each.value) for each in found.parameters}
    moves = told["path_length"] / (1 - told["gradient_error"]) / told["stationarity"] + told["searches"]
    assert found.cost.gradients == pytest.approx(10**6 * (1 + moves + 10 * told["searches"]), rel=1e-9)
    assert found.cost.memory == 4 * 10 + 10**2
    enough = found.cost.gradients
    (same,) = plan_of(PATH, "sosp", gradients_limit=enough, **values).ranking
    assert same.value == pytest.approx(float(found.value), rel=1e-4)
    for one in plan_of(PATH, "sosp", gradients_limit=enough // 10, **values).ranking:
        assert one.cost.gradients <= enough // 10
        assert one.value > found.value


@pytest.mark.minutes
def test_memory_tells_searches_with_hessians_from_those_without():
    values = NUMBERS | {"n": 10**7, "d": 1000, "hessian_lipschitz": 1, "failure_probability": "0.1"}
    full, iterative = "dpbounds/second-order-path-noise", "dpbounds/second-order-path-noise/iterative"
    found = plan("sosp", memory_limit=500_000, **values)
    first = found.ranking[0]
    assert first.id == iterative
    told = {each.name: each.value for each in first.parameters}
    assert first.cost.memory == (told["power_steps"] + 8) * 1000 <= 500_000
    assert first.privacy == "all releases as one Gaussian, whose curve is exact"
    assert dict(found.left_out)[full] == "takes 1004000 numbers in memory, more than the limit of 500000"
    free = plan("sosp", **values).ranking
    assert [one.id for one in free[:2]] == [iterative, full]
    assert free[0].value <= first.value < free[1].value
    assert free[0].cost.memory > 500_000


@pytest.mark.seconds
def test_samples_save_gradients_and_what_they_spend_is_certified():
    """At n = 1e6 full batches have 0.0448 within 1e9 gradients, and DP-STORM 0.0043 within 5e11."""
    found = bounds(n=10**6, gradients_limit=10**9)
    assert found[SAMPLED_STORM].bound.less_than("0.0038") is True
    assert found[BATCHES].bound.less_than("0.0118") is True
    for name in (SAMPLED_STORM, BATCHES):
        one = found[name]
        told = {each.name: each.value for each in one.parameters}
        sampled = next(part for part, _ in parts_of(one.mechanism) if isinstance(part, PoissonSampled))
        assert sampled.sample_rate == told["sample_rate"]
        assert float(sampled.mechanism.noise_multiplier) == pytest.approx(float(told["noise_multiplier"]), rel=1e-12)
        spent = certified_delta(one.mechanism, 1, relation="replace-one")
        assert Fraction(999, 10**9) < spent.exact_lower
        assert spent.exact_upper <= Fraction(1, 10**6)
        assert one.rho is None  # which is no account of what they spend
    few = bounds(n=10**6, gradients_limit=10**9, steps_limit=1000)[SAMPLED_STORM]
    assert few.value > 3 * found[SAMPLED_STORM].value


def test_a_guess_of_what_samples_spend_is_near_what_is_proven():
    record = theorem(BATCHES)
    values = {"steps": Fraction(2000), "sample_rate": Fraction(1, 50), "gaussian_mu": Fraction(math.sqrt(2 * RHO))}
    multiplier = math.sqrt(2 * 2000 / likely_rho(record.privacy.guess, values))
    proven = calibrate(lambda z: PoissonSampled(Gaussian(z), "1/50") ** 2000, 1, "1e-6", "replace-one").value
    assert multiplier == pytest.approx(float(proven), rel=0.01)


@pytest.mark.seconds
@pytest.mark.parametrize(("loss", "length"), [(1000, 1), (1, 1000), (Fraction(1, 7), 13)])
def test_other_units_are_the_same_plan(loss, length):
    """Every loss times c, every distance times s: the bound is c/s times what it was, whatever has been chosen."""
    scaled = {"lipschitz": Fraction(loss) / length, "smoothness": Fraction(loss) / length**2, "initial_gap": loss}
    before, after = bounds(steps_limit=1000), bounds(steps_limit=1000, **scaled)
    assert set(before) == set(after)
    for name, one in before.items():
        assert float(after[name].value * length / loss) == pytest.approx(float(one.value), rel=1e-4), name


ALONG = {**NUMBERS, "hessian_lipschitz": 1, "diameter": 1, "failure_probability": "0.01"}
RANKED = {  # a metric, and statements that bound it by what is searched or prescribed
    "sosp": f"{PATH} {PATH}/iterative {PATH}/warm-start {PATH}/warm-start/iterative",
    "population-sosp": f"{PATH}/population {PATH}/population/iterative",
    "gradient-norm": f"{STORM} {EXACT} {DESCENT} lowy-ullman-wright-2024/corollary-4.3/explicit",
    "excess-empirical-risk": "lowy-ullman-wright-2024/lemma-4.2/explicit",
}


def assert_never_rises_with_n(statements, metric, sizes, **numbers):
    """A bound at more records is not larger than at fewer, but for a millionth that parameters are rounded by."""
    for name in statements.split():
        found = [bounds(name, metric=metric, **(numbers | {"n": n})).get(name) for n in sizes]
        values = [one.value for one in found if one is not None]
        assert len(values) == len(sizes), name
        for more, fewer in zip(values[1:], values, strict=False):
            assert more <= fewer * Fraction(100_001, 100_000), (name, list(map(float, values)))


@pytest.mark.seconds
def test_ever_more_records_reach_ever_smaller_points():
    """The best α leaves the range of e^14 around its natural scale, 1, where the search begins, at n = 10^9."""
    name = f"{PATH}/warm-start"
    near, far = (bounds(name, metric="sosp", **(ALONG | {"d": 1, "n": n}))[name].value for n in (10**9, 10**12))
    assert far < near < Fraction("6.7e-7")
    assert far <= Fraction("7.03e-10")  # what the parameters for n = 10^6 reach


@pytest.mark.minutes
@pytest.mark.parametrize("d", [1, 100])
@pytest.mark.parametrize("metric", sorted(RANKED))
def test_no_bound_of_a_plan_rises_with_n(metric, d):
    sizes = [10**power for power in (6, 8, 10, 12, 14)]
    assert_never_rises_with_n(RANKED[metric], metric, sizes, **(ALONG | {"d": d, "steps_limit": None}))


@pytest.mark.seconds_cases("warm-start-*")
@pytest.mark.minutes_cases("path-noise-*", "iterative-*", "population-*")
@pytest.mark.parametrize(("loss", "length"), [(1000, 1), (1, 1000), (Fraction(1, 7), 13)], ids=str)
@pytest.mark.parametrize("name", [PATH, f"{PATH}/iterative", f"{PATH}/warm-start", f"{PATH}/population"],
                         ids=["path-noise", "iterative", "warm-start", "population"])  # fmt: skip
def test_far_out_other_units_are_the_same_plan(name, loss, length):
    metric = "population-sosp" if name.endswith("population") else "sosp"
    here = bounds(name, metric=metric, **(ALONG | {"n": 10**12, "d": 5}))[name]
    units = {"initial_gap": loss, "lipschitz": Fraction(loss, length), "smoothness": Fraction(loss, length**2),
             "hessian_lipschitz": Fraction(loss) / length**3, "diameter": length}  # fmt: skip
    there = bounds(name, metric=metric, **(ALONG | {"n": 10**12, "d": 5} | units))[name]
    assert float(there.value * length / loss) == pytest.approx(float(here.value), rel=1e-3)


@pytest.mark.parametrize("target", [1e-30, 1e-3, 1e30])
def test_a_search_follows_a_minimum_beyond_its_ends(target):
    """(log a - log target)², where a search begins within e^14 of 1."""
    axis = Axis(-14.0, 14.0, np.exp, below=True, above=True)

    def of_values(values):
        return (np.log(values[0] / target) / 10) ** 2, np.empty((0, values.shape[1]))

    found = tuned(Search(("a",), (axis,), of_values))
    assert float(found.values["a"]) == pytest.approx(target, rel=0.05)


def test_few_digits_do_not_round_a_probability_to_one():
    """The goal falls towards 1, but so slowly that 1 itself would be near enough."""
    axis = _axis(by_name()["failure_probability"], {}, None)

    def of_values(values):
        return -1e-3 * values[0], np.empty((0, values.shape[1]))

    assert 0.99999 < tuned(Search(("failure_probability",), (axis,), of_values)).values["failure_probability"] < 1


def test_what_is_given_is_not_chosen():
    one = bounds(EXACT, steps_limit=1000, step_size="1/3")[EXACT]
    assert "step_size" not in {each.name for each in one.parameters}
    assert one.value > bounds(EXACT, steps_limit=1000)[EXACT].value


def assert_free_quantities_can_be_searched(statement):
    """They occur in a bound, and every condition on them is a comparison."""
    problem = {name: Fraction(value) for name, value in (NUMBERS | MORE | {"failure_probability": "0.05"}).items()}
    names = {"n": "dataset_size", "d": "dimension"}
    values = {names.get(name, name): value for name, value in problem.items()}
    values["rho"] = gaussian_rho(Budget(Fraction(1), Fraction("1e-6"), "replace-one"))
    found = set()
    for part in statement.parts:
        if isinstance(part, Parameter) or not isinstance(part, Bound):
            continue
        conditions = [one.holds for one in (*statement.conditions, *part.conditions)]
        occurring = part.expression.free_symbols.union(*(one.symbols for one in statement.every_condition))
        free = freedom(statement, occurring, values)
        found |= set(free)
        try:
            where = search(statement, part.expression, conditions, free, values, 1000)
        except InvalidValue:  # a part that needs other numbers
            continue
        if free and (best := tuned(where)) is not None:
            point = np.array([best.point])
            assert (where.measure(point)[1] > 0).all()
    assert found == set(statement.free), statement.id


def test_free_quantities_can_be_searched():
    assert_free_quantities_can_be_searched(theorem(EXACT))


@pytest.mark.seconds
def test_all_free_quantities_can_be_searched():
    statements = [one for one in library() if one.free]
    assert len(statements) > 10
    for statement in statements:
        assert_free_quantities_can_be_searched(statement)


def test_the_optimum_is_the_textbooks():
    """(Δ/(ηT) + Lη V/2)/(1 - Lη/2) in η, for the noise V of a budget: its minimum by the root of a quadratic."""
    one = bounds(DESCENT, steps_limit=1000)[DESCENT]
    noise = 100 * 2 * 1000 / (1e10 * float(one.rho))
    a = 1 / 1000  # Δ/T; the derivative vanishes where V η²/2 + a η - a = 0
    step = (-a + math.sqrt(a * a + 2 * noise * a)) / noise
    assert float({each.name: each.value for each in one.parameters}["step_size"]) == pytest.approx(step, rel=1e-3)
    best = math.sqrt((a / step + step * noise / 2) / (1 - step / 2))
    assert float(one.value) == pytest.approx(best, rel=1e-6)


SADDLES = {"d": 10, "hessian_lipschitz": 1, "failure_probability": "0.01"}


@pytest.mark.seconds
def test_a_number_of_records_is_inverted():
    """So many suffice for the α that is told, by the statement itself, and a thousandth fewer do not."""
    one = bounds(PATH, metric="sosp", **SADDLES)[PATH]
    told = {each.name: each.value for each in one.parameters}
    assert one.value == told["stationarity"]
    assert str(one.metric) == "sosp"
    same = [name for name in told if name in {*free_names(one), "path_length", "searches"}]
    numbers = {name: value for name, value in (NUMBERS | SADDLES).items() if name not in ("n", "epsilon", "delta")}
    found = theorem(PATH).evaluate(rho=one.rho, **numbers, **{name: told[name] for name in same})
    assert found.applies is True
    assert NUMBERS["n"] * Fraction(999, 1000) < found.value.exact_lower
    assert found.value.exact_upper <= NUMBERS["n"]


@pytest.mark.minutes
def test_more_records_reach_a_better_point_within_the_steps_allowed():
    numbers = {"metric": "sosp", **SADDLES}
    values = [bounds(n=10**power, **numbers)[PATH].value for power in (4, 5, 6, 7)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < Fraction(45, 10_000)
    one = bounds(n=10**7, steps_limit=10**5, **numbers)[PATH]
    assert one.value > values[-1]
    told = {each.name: each.value for each in one.parameters}
    moves = theorem(PATH).evaluate(
        "steps",
        smoothness=1,
        **{name: told[name] for name in ("path_length", "gradient_error", "stationarity", "searches")},
    )
    assert moves.value.at_most(10**5) is True
    few = bounds(n=10**7, steps_limit=10, **numbers)[PATH]
    assert few.value > one.value


def test_releases_that_are_accounted_as_one_are_not_one_gradient():
    one = bounds(metric="excess-empirical-risk", assuming=SHAPES, steps_limit=500, **MORE)[
        "dpbounds/geometric-noise-under-pl"
    ]
    assert one.cost.gradients == 10**5 * {each.name: each.value for each in one.parameters}["steps"]
