"""Values that violate a condition: what the user is told is the condition, in the record's words, for every part."""

import random

import attrs
import pytest

from dpbounds.errors import DpboundsError, InvalidValue
from dpbounds.theorems.checking import drawn
from dpbounds.theorems.evaluation import check, evaluate
from dpbounds.theorems.formulas import inline
from dpbounds.theorems.monotonicity import domain_in
from dpbounds.theorems.registry import library, theorem

PARTS = [(one, part) for one in library() for part in one.parts if one.conditions or part.conditions]
POINTS, ATTEMPTS = 2, 200


def fails(condition, point):
    try:
        return check(condition, point).holds is False
    except InvalidValue:  # a side of it is not defined there
        return False


def violating(one, part):
    """Points of the domains, each with the conditions of the statement or the part that it violates."""
    draw = random.Random(f"{one.id} {part.name} violated")
    stated = (*one.conditions, *part.conditions)
    symbols = part.expression.free_symbols.union(*(getattr(each.holds, "free_symbols", ()) for each in stated))
    found = []
    for _ in range(ATTEMPTS):
        point = {symbol.name: drawn(draw, domain_in(one, symbol)) for symbol in sorted(symbols, key=str)}
        broken = [each for each in stated if fails(each, point)]
        if broken:
            found.append((point, broken))
        if len(found) == POINTS:
            break
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("one", "part"), PARTS, ids=[f"{t.id}:{p.name}" for t, p in PARTS])
def test_a_violated_condition_is_what_is_told(one, part):
    for point, broken in violating(one, part):
        words = [inline(each.holds) for each in broken]
        try:
            found = one.evaluate(part.name, **point)
        except DpboundsError as error:
            told = str(error)
            assert any(text in told and each.why in told for text, each in zip(words, broken, strict=True)), told
            assert one.id in told
        else:
            assert found.applies is False
            assert set(words) <= {each.text for each in found.conditions if each.holds is False}


@pytest.mark.seconds
def test_nearly_every_condition_can_be_violated_by_drawing():
    """Else the test above would be empty."""
    assert len(PARTS) > 110
    assert sum(bool(violating(one, part)) for one, part in PARTS) > len(PARTS) - 10


def test_a_step_that_is_too_long_has_no_value_and_a_reason():
    values = {"initial_gap": 1, "smoothness": 1, "steps": 10, "dimension": 2, "noise_stddev": 1}
    with pytest.raises(InvalidValue) as caught:
        theorem("wang-xu-2019/theorem-2/explicit").evaluate(step_size="2.1", **values)
    assert str(caught.value) == (
        "smoothness, step_size must be such that wang-xu-2019/theorem-2/explicit applies, which it does where η < 2/L "
        "(each step must decrease the risk), not 1, 2.1"
    )


@pytest.mark.parametrize(
    ("step_size", "applies"), [("1/2", True), ("3", False), (None, None)], ids=["holds", "fails", "not checked"]
)
def test_a_condition_that_is_not_checked_does_not_count_as_holding(step_size, applies):
    """γ < 2/L at L = 1; where γ is not given, print's bound may hold or not."""
    given = {} if step_size is None else {"step_size": step_size}
    explicit = theorem("wang-xu-2019/theorem-2/explicit")
    statement = attrs.evolve(explicit, conditions=explicit.part("noisy").conditions)
    values = {"d": 2, "n": 100, "lipschitz": 1, "rho": 1, "smoothness": 1, "initial_gap": 1, **given}
    assert evaluate(statement, "tuned", values).applies is applies
