"""What a statement defines by a formula is not data: a condition ties it to the formula, or it may have any value.

A statement that prescribes a quantity, and bounds something by a formula or under a condition in which that quantity
stands, can be evaluated at any number for it. Either one of its conditions compares the quantity with the formula, or
the bound is true at every value, for the reason that is given here.
"""

import math
from fractions import Fraction

import pytest
from sympy import Add, And, Max, ceiling, floor

from dpbounds.expressions.symbols import by_name
from dpbounds.rates.prescriptions import CALIBRATED
from dpbounds.theorems.record import Parameter
from dpbounds.theorems.registry import library, theorem

# (the bounds, why they are true at any value of a quantity that their statement defines, too); a bound by name where
# others of the statement are tied
HONEST = (
    (
        "it holds for every number of steps, step size or batch; the formula is a choice that makes it small",
        """
        dpbounds/ball-noise-at-fixed-delta: radius
        dpbounds/langevin-under-pl: step_size
        dpbounds/polyak-lojasiewicz-restarted-spider: stages
        dpbounds/population-tree-spider/explicit: move_length levels first_batch leaf_batch segments
        ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit: steps drift_threshold
        ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit: steps drift_threshold first_batch second_batch
        lowy-ullman-wright-2024/proposition-d.1/explicit: steps
        tholeti-kalyani-2020/algorithm-1/explicit: step_size steps
        tholeti-kalyani-2020/theorem-1/explicit: steps
        wang-chen-xu-2019/algorithm-4/explicit: step_size
        wang-chen-xu-2019/theorem-4/explicit: net_radius
        wang-chen-xu-2019/theorem-5/explicit: step_fraction steps
        wang-chen-xu-2019/theorem-6/explicit: step_fraction steps
        wang-xu-2019/theorem-2/explicit: steps
        wang-xu-2019/theorem-4/explicit: step_fraction steps
        wang-xu-2019/theorem-5/explicit: steps
        wang-xu-2019/theorem-6/explicit: step_fraction steps
        """,
    ),
    (
        "a condition admits it, in another form than the formula's",
        """
        dpbounds/polyak-lojasiewicz-restarted-spider: steps
        dpbounds/polyak-lojasiewicz-restarted-spider/stage-shares: steps
        dpbounds/second-order-path-noise/iterative: power_steps restarts_of_a_search
        dpbounds/second-order-path-noise/population/iterative: power_steps restarts_of_a_search
        dpbounds/second-order-path-noise/warm-start/iterative: power_steps restarts_of_a_search
        ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit: fresh_estimates
        ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit: fresh_estimates
        """,
    ),
    (
        "it counts what is done, spent or moved within a cap, whatever the cap is good for",
        """
        dpbounds/population-path-noise: path_length
        dpbounds/population-path-noise/warm-start: path_length
        dpbounds/second-order-path-noise: path_length searches
        dpbounds/second-order-path-noise/iterative: path_length searches restarts
        dpbounds/second-order-path-noise/population: path_length searches
        dpbounds/second-order-path-noise/population/iterative: path_length searches restarts
        dpbounds/second-order-path-noise/warm-start: path_length searches
        dpbounds/second-order-path-noise/warm-start/iterative: path_length searches restarts
        """,
    ),
    (
        "it is an identity between the two, or a probability at any deviation",
        """
        cited/dwork-roth-2014/theorem-3.20: delta
        ganesh-liu-oh-thakurta-2023/lemma-a.4: epsilon
        lowy-ullman-wright-2024/lemma-e.3: deviation
        """,
    ),
    (
        "the letter is the budget's; what the statement defines under that name is what one of its steps spends",
        """
        dpbounds/population-path-noise/warm-start: epsilon
        dpbounds/second-order-path-noise/population/iterative: epsilon
        ganesh-liu-oh-thakurta-2023/theorem-5.7: delta
        """,
    ),
    (
        "the net is given with its radius, and has so many points",
        "lowy-ullman-wright-2024/lemma-4.2/explicit: candidates",
    ),
    ("an order of growth in terms of another order", "ganesh-liu-oh-thakurta-2023/lemma-3.6: gradient_accuracy"),
)
# Bounds that may be evaluated at caps that are too small, because they only count (the third of the reasons above).
COUNTS = {"gradient_account", "hessian_account", "search_account", "steps", "gradients"}
COUNTS |= {"gradient_deviation", "hessian_deviation"}  # in a ball around the path


def listed():
    rows = [line.split(": ") for _, table in HONEST for line in table.strip().splitlines()]
    return [(name.strip(), each) for name, quantities in rows for each in quantities.split()]


def sides(condition):
    """The pairs of sides that a condition compares."""
    if isinstance(condition, And):
        return [pair for one in condition.args for pair in sides(one)]
    return [condition.args] if getattr(condition, "is_Relational", False) else []


def unrounded(formula):
    """A formula without what makes a whole number of it: ⌈x⌉, ⌊x⌋ + 1, max(1, x)."""
    if isinstance(formula, ceiling | floor):
        return unrounded(formula.args[0])
    if (
        isinstance(formula, Add)
        and formula.args[0] == 1
        and isinstance(formula.args[1], floor)
        and len(formula.args) == 2
    ):
        return unrounded(formula.args[1])
    if isinstance(formula, Max) and 1 in formula.args and len(formula.args) == 2:
        return unrounded(next(one for one in formula.args if one != 1))
    return formula


def tied(statement, symbol, formula, conditions):
    """Whether a condition compares the quantity with the formula that defines it."""
    return any(
        symbol in pair and unrounded(next(one for one in pair if one != symbol)) == unrounded(formula)
        for condition in conditions
        for pair in sides(condition.holds)
    )


def defined_and_free(statement):
    """The quantities that a statement defines, that a claim of it depends on, and that no condition ties."""
    records = {**by_name(), **{one.name: one for one in statement.local}}
    for definition in statement.parts:
        record = records.get(definition.name)
        if record is None:
            continue
        for part in statement.parts:
            conditions = (*statement.conditions, *part.conditions)
            depends = part.expression.free_symbols.union(*(one.symbols for one in conditions))
            if part is definition or isinstance(part, Parameter) or record.symbol not in depends:
                continue
            if not tied(statement, record.symbol, definition.expression, conditions):
                yield record.name, part.name


def found():
    """(statement, quantity, part) that no condition ties; without noise and temperature, which budgets determine."""
    return [(one.id, name, part) for one in library() for name, part in defined_and_free(one) if name not in CALIBRATED]


@pytest.mark.seconds
def test_what_a_statement_defines_is_tied_to_its_formula_or_may_have_any_value():
    assert sorted({(name, quantity) for name, quantity, _ in found()}) == sorted(listed())


def test_no_claim_about_what_is_returned_holds_for_caps_that_are_too_small():
    capped = {(name, each) for name, each in listed() if "path-noise" in name}
    capped = {(name, each) for name, each in capped if each not in ("power_steps", "restarts_of_a_search", "epsilon")}
    assert {part for name, quantity, part in found() if (name, quantity) in capped} == COUNTS


AT_A_SADDLE = {
    "lipschitz": 1,
    "smoothness": 1,
    "hessian_lipschitz": 1,
    "stationarity": "0.001",
    "failure_probability": "0.01",
    "curvature_kept": "0.7",
    "curvature_length": "1.2",
    "gradient_error": "0.06",
    "window": "0.02",
    "n": 10**6,
    "d": 10,
    "rho": "0.5",
    "diameter": 10**4,
}
SEARCHED = {
    "small_ball": "0.06",
    "overgrowth": "0.03",
    "power_noise": "0.5",
    "selection_error": "0.04",
    "check_error": "0.01",
    "restart_ratio": "0.75",
    "power_steps": 10**4,
    "restarts_of_a_search": 9,
    "restarts": 99,
}
STARTS = {
    "population": {"searches": 1},
    "warm-start": {"searches": 1},
    "population/iterative": {"searches": 1, **SEARCHED},
    "warm-start/iterative": {"searches": 1, **SEARCHED},
}


@pytest.mark.parametrize("item", STARTS)
def test_a_start_that_is_better_than_the_draw_can_be_is_refused(item):
    """At most 1e-12 above the infimum where the exponential mechanism is only known to come within 1.9."""
    caps = {"path_length": "1e-7", **STARTS[item]}
    found = theorem(f"dpbounds/second-order-path-noise/{item}").evaluate(
        "bound", **AT_A_SADDLE, start_gap="1e-12", **caps
    )
    assert [text for text in found.failing if text.startswith("start_gap >=")]


@pytest.mark.parametrize("item", STARTS)
def test_the_start_that_a_statement_prescribes_is_the_least_that_is_admitted(item):
    statement = theorem(f"dpbounds/second-order-path-noise/{item}")
    least = Fraction(statement.evaluate("start_gap", **AT_A_SADDLE).value.exact_upper)

    def admitted(gap):
        # the caps as the statement prescribes them for that start, rounded up
        caps = {
            name: math.ceil(statement.evaluate(name, **AT_A_SADDLE, start_gap=gap).value.upper)
            for name in ("path_length", "searches")
        }
        caps = STARTS[item] | caps
        found = statement.evaluate("bound", **AT_A_SADDLE, start_gap=gap, **caps)
        return "start_gap" not in " ".join(found.failing)

    assert admitted(least)
    assert not admitted(least * (1 - Fraction(1, 10**9)))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "dpbounds/negative-curvature-descent",
            {
                "d": 10,
                "rho": "0.5",
                "initial_gap": 1,
                "stationarity": "0.01",
                "failure_probability": "0.01",
                "searches": 6001,
            },
        ),
        (
            "wang-chen-xu-2019/theorem-9/explicit",
            {
                "d": 10,
                "rho": "0.5",
                "initial_gap": 1,
                "diameter": 1,
                "gap_tolerance": "0.1",
                "curvature_tolerance": "0.1",
                "approximation_ratio": 1,
                "failure_probability": "0.01",
            },
        ),
    ],
)
def test_as_many_steps_as_the_descent_may_take_and_no_fewer(name, values):
    """T = floor(x) + 1: after x steps, x whole, the last point was not looked at yet."""
    statement, known = theorem(name), {"lipschitz": 1, "smoothness": 1, "hessian_lipschitz": 1, **values}
    needed = {key: value for key, value in known.items() if key not in ("d", "rho", "failure_probability", "searches")}
    steps = int(statement.evaluate("steps", **needed).value.upper)
    assert steps % 10 == 1  # x is whole here
    assert statement.evaluate("bound", **known, steps=steps).applies is True
    for fewer in (1, steps - 1):
        assert statement.evaluate("bound", **known, steps=fewer).applies is False
