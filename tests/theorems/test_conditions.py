"""Conditions of statements: what holds, what fails, what nobody checked, and what an error says of a violation."""

import random

import pytest
from sympy import sqrt

from dpbounds.errors import InvalidValue
from dpbounds.theorems.checking import drawn
from dpbounds.theorems.evaluation import check
from dpbounds.theorems.formulas import inline
from dpbounds.theorems.language import Bound, Condition, q
from dpbounds.theorems.monotonicity import domain_in
from dpbounds.theorems.registry import library, theorem
from tests.theorems import made

POINTS, ATTEMPTS = 2, 200
DIMENSION, EPSILON = Condition(q.d >= 2, "a plane"), Condition(q.epsilon < 1, "small budgets")


def statement(*conditions, part_conditions=()):
    """A statement whose bound is G, under these conditions."""
    return made.statement(Bound(q.G, conditions=part_conditions), conditions=conditions)


# --- the answer: True, False, or None where a condition was not checked ---


@pytest.mark.parametrize(
    ("values", "answers", "applies"),
    [
        ({"dimension": 2, "epsilon": "0.9"}, [True, True], True),
        ({"dimension": 1, "epsilon": "0.9"}, [False, True], False),
        ({"dimension": 2, "epsilon": 1}, [True, False], False),  # exactly on the boundary, which is excluded
        ({"dimension": 2}, [True, None], None),
        ({"epsilon": "0.9"}, [None, True], None),
        ({}, [None, None], None),
        ({"dimension": 1}, [False, None], False),  # one that fails decides, whatever the other is
    ],
)
@pytest.mark.parametrize("of_part", [False, True])
def test_a_condition_that_nobody_checked_does_not_count_as_holding(values, answers, applies, of_part):
    own = statement(DIMENSION, part_conditions=EPSILON) if of_part else statement(DIMENSION, EPSILON)
    found = own.evaluate(lipschitz=1, **values)
    assert [one.holds for one in found.conditions] == answers
    assert found.applies is applies
    assert found.failing == tuple(one.text for one in found.conditions if one.holds is False)
    assert ("does not apply" in str(found)) is (applies is False)
    assert str(found._sheet()).count("not checked") == answers.count(None)


@pytest.mark.parametrize(("name", "value"), [("dimension", 0), ("dimension", "2.5"), ("epsilon", -1), ("steps", 0)])
def test_values_outside_of_their_domains_are_refused(name, value):
    """Those that no formula uses, too: the number of steps is one here."""
    with pytest.raises(InvalidValue, match=name):
        statement(DIMENSION, EPSILON).evaluate(**{"lipschitz": 1, "dimension": 2, "epsilon": "0.9", name: value})


def test_a_quantity_that_is_given_twice_is_refused():
    with pytest.raises(InvalidValue, match="given once only: it is another name of dimension"):
        statement(DIMENSION, EPSILON).evaluate(lipschitz=1, epsilon="0.9", dimension=2, d=3)


def test_what_a_condition_lacks_is_named():
    found = statement(Condition(q.d >= q.n * q.epsilon)).evaluate(lipschitz=1, dataset_size=10)
    assert [one.missing for one in found.conditions] == [("dimension", "epsilon")]


def test_a_boundary_that_cannot_be_decided_is_not_checked():
    """√6 against √2 √3: at every precision their enclosures overlap."""
    equal = statement(Condition(sqrt(q.d + 1) * sqrt(q.d + 2) >= sqrt(q.d**2 + 3 * q.d + 2)))
    assert equal.evaluate(lipschitz=1, dimension=1).applies is None


def test_a_statement_of_the_library_with_an_unstated_constant():
    evaluate = theorem("cited/abadi-et-al-2016/theorem-1").evaluate
    values = {"epsilon": 1, "delta": "1e-6", "steps": 10_000, "sample_rate": "0.01", "noise_constant": 2}
    assert evaluate(**values).applies is None
    assert evaluate(**values, range_constant="1.01").applies is True
    assert evaluate(**values, range_constant="0.99").applies is False


def test_a_step_that_is_too_long_has_no_value_and_a_reason():
    values = {"initial_gap": 1, "smoothness": 1, "steps": 10, "dimension": 2, "noise_stddev": 1}
    found = theorem("wang-xu-2019/theorem-2/explicit").evaluate(step_size="2.1", **values)
    assert found.applies is False
    with pytest.raises(InvalidValue) as caught:
        _ = found.value
    assert str(caught.value) == (
        "smoothness, step_size must be such that wang-xu-2019/theorem-2/explicit applies, which it does where η < 2/L "
        "(each step must decrease the risk), not 1, 2.1"
    )


@pytest.mark.parametrize("formula", [q.G, sqrt(q.G - q.d)], ids=["defined", "not defined"])
def test_a_statement_that_does_not_apply_has_no_value_whether_or_not_its_formula_has_one(formula):
    found = made.statement(Bound(formula), conditions=DIMENSION).evaluate(lipschitz="1/2", dimension=1)
    assert found.applies is False
    assert (found.formula_value is None) is (formula != q.G)
    with pytest.raises(InvalidValue, match=r"d >= 2 \(a plane\)"):
        _ = found.value
    assert str(found).endswith("does not apply: d >= 2 fails")
    assert dict(found._sheet().facts)["value"] == "none: the statement does not apply"


def test_a_condition_that_is_not_defined_does_not_hold():
    found = statement(Condition(sqrt(q.G - q.d) >= 0), DIMENSION).evaluate(lipschitz=1, dimension=2)
    assert [one.holds for one in found.conditions] == [False, True]
    with pytest.raises(InvalidValue, match="; here argument of sqrt"):
        _ = found.value


def test_a_formula_that_is_not_defined_where_nothing_fails_is_an_error():
    with pytest.raises(InvalidValue):
        made.statement(Bound(sqrt(q.G - q.d)), conditions=DIMENSION).evaluate(lipschitz=1, dimension=2)


# --- every condition of the library, at points that violate it ---


def conditional_parts():
    return [(one, part) for one in library() for part in one.parts if one.conditions or part.conditions]


def fails(condition, point):
    try:
        return check(condition, point).holds is False
    except InvalidValue:  # a side of it is not defined there
        return False


def violating(one, part):
    """Points of the domains, each with the conditions of the statement or the part that it violates."""
    draw = random.Random(f"{one.id} {part.name} violated")
    stated = (*one.conditions, *part.conditions)
    symbols = part.expression.free_symbols.union(*(each.symbols for each in stated))
    found = []
    for _ in range(ATTEMPTS):
        point = {symbol.name: drawn(draw, domain_in(one, symbol)) for symbol in sorted(symbols, key=str)}
        broken = [each for each in stated if fails(each, point)]
        if broken:
            found.append((point, broken))
        if len(found) == POINTS:
            break
    return found


def assert_violations_are_reported(parts):
    """The evaluation has the violated conditions in the record's words, and no value; how many parts were violated."""
    violated = 0
    for one, part in parts:
        points = violating(one, part)
        violated += bool(points)
        for point, broken in points:
            words = [inline(each.holds) for each in broken]
            found = one.evaluate(part.name, **point)
            assert found.applies is False, (one.id, part.name, point)
            assert set(words) <= set(found.failing), (one.id, part.name, point)
            with pytest.raises(InvalidValue) as caught:
                _ = found.value
            message = str(caught.value)
            assert one.id in message
            assert any(text in message and each.why in message for text, each in zip(words, broken, strict=True))
    return violated


def test_a_violated_condition_is_reported():
    parts = conditional_parts()[::8]
    assert assert_violations_are_reported(parts) > len(parts) - 5


@pytest.mark.seconds
def test_every_violated_condition_is_reported():
    parts = conditional_parts()
    assert len(parts) > 110
    assert assert_violations_are_reported(parts) > len(parts) - 10
