"""Instances of bounds: each satisfies what its statement assumes, and no bound is below its instance."""

import dataclasses
import random
from fractions import Fraction

import attrs
import mpmath
import pytest
import sympy

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import by_name
from dpbounds.rates.tightness import rows
from dpbounds.rates.tightness.instances import compare
from dpbounds.rates.tightness.losses import bowl
from dpbounds.theorems.registry import theorem

NAMES = [f"{one.statement} {one.part}" for one in rows.INSTANCES]
every_instance = pytest.mark.parametrize("instance", rows.INSTANCES, ids=NAMES)


# --- what statements assume, sampled: the loss as a function on a line (or ray) through the minimiser


def places(instance, count=60):
    """Distances from the minimiser: near kinks, near and far; only those of the set, if there is one."""
    draw = random.Random(1)
    scales = [one.until for one in instance.loss.pieces if one.until] + [instance.start, Fraction(1)]
    found = [scale * Fraction(draw.randrange(1, 3000), 1000) for scale in scales if scale for _ in range(count)]
    return [one for one in found if instance.reach is None or one <= instance.reach]


def pairs(instance):
    """Signed places: both sides of the minimiser where all of space is the set."""
    draw, found = random.Random(2), places(instance)
    if instance.reach is None:
        found += [-one for one in found]
    return [tuple(draw.sample(found, 2)) for _ in range(400)]


def value(instance, place):
    return instance.loss.at(abs(place))[0]


def slope(instance, place):
    """By differences, not by the loss's own account of it."""
    step = Fraction(1, 10**15)
    return (value(instance, place + step) - value(instance, place - step)) / (2 * step)


SMALL = Fraction(1, 10**6)


def within(changes, limit):
    return all(abs(change) <= limit * abs(run) * (1 + SMALL) + SMALL**2 for change, run in changes)


def lipschitz(instance, name="lipschitz"):
    changes = [(value(instance, a) - value(instance, b), a - b) for a, b in pairs(instance)]
    return within(changes, instance.values[name])


def smooth(instance, name="smoothness"):
    name = name if name in instance.values else "relative_smoothness"
    changes = [(slope(instance, a) - slope(instance, b), a - b) for a, b in pairs(instance)]
    across = [(slope(instance, a), a) for a in places(instance)] if instance.reach is None else []
    return within([*changes, *across], instance.values[name])


def polyak(instance):
    mu = instance.values["pl_constant"]
    return all(slope(instance, a) ** 2 * (1 + SMALL) >= 2 * mu * value(instance, a) for a in places(instance))


def quasar_convex(instance):
    share = instance.values["quasar_convexity"]
    return all(slope(instance, a) * a * (1 + SMALL) >= share * value(instance, a) for a in places(instance))


def bounded_risk(instance):
    gap = next((instance.values[name] for name in ("initial_gap", "excess_risk") if name in instance.values), None)
    return gap is None or value(instance, instance.start) <= gap


def bounded_set(instance):
    name = next(one for one in ("diameter", "l1_diameter", "diameter") if one in instance.values)
    return instance.reach is not None and instance.reach <= instance.values[name]


def of_space(instance):
    return instance.reach is None


def regularised(instance):
    return lipschitz(
        dataclasses.replace(instance, reach=instance.values["lipschitz"] / instance.values["regularisation"])
    )


def nothing(instance):
    return True


def set_or_warm_start(instance):
    """Of what is after a warm start only what the warm start itself reaches has an instance."""
    return instance.reach is not None


CHECKS = {
    "smooth risk": smooth, "smooth": smooth, "smooth in l1": lambda one: smooth(one, "smoothness_l1"),
    "Lipschitz": lipschitz, "Lipschitz in l1": lambda one: lipschitz(one, "lipschitz_l1"),
    "gradients near a common field": nothing,  # all records have one gradient
    "regularised Lipschitz loss": regularised,
    "Polyak-Łojasiewicz": polyak, "Polyak-Łojasiewicz near the start": polyak, "quasar-convex": quasar_convex,
    "bounded risk": bounded_risk, "private warm start, in expectation": bounded_risk,
    "unconstrained": nothing,  # set by the tests below
    "all of space": of_space,
    "closed convex set": nothing, "convex regulariser": nothing, "i.i.d. records": nothing,
    "bounded set": bounded_set, "compact set": bounded_set, "polytope": bounded_set, "origin in the set": nothing,
    "near-minimiser in a compact set": set_or_warm_start,
}  # fmt: skip


def broken(instance):
    """The assumptions that the instance does not satisfy."""
    return [one.name for one in theorem(instance.statement).assumptions if not CHECKS[one.name](instance)]


@pytest.mark.one_in(4)
@every_instance
def test_an_instance_satisfies_what_its_statement_assumes(instance):
    assert broken(instance) == []


def test_an_instance_that_is_too_steep_or_too_curved_or_too_far_is_noticed():
    first = next(one for one in rows.INSTANCES if one.statement == "wang-chen-xu-2019/algorithm-4/explicit")
    assert broken(dataclasses.replace(first, loss=bowl(Fraction(1)))) == ["Lipschitz"]
    less = {**first.values, "smoothness": Fraction(99, 100)}
    assert broken(dataclasses.replace(first, values=less)) == ["smooth risk"]
    assert broken(dataclasses.replace(first, start=Fraction(101, 100))) == ["bounded risk"]
    field = next(one for one in rows.INSTANCES if one.statement == "dpbounds/langevin-under-pl")
    assert broken(dataclasses.replace(field, loss=bowl(Fraction(9, 10)))) == ["Polyak-Łojasiewicz"]
    choice = next(one for one in rows.INSTANCES if one.statement == "lowy-ullman-wright-2024/lemma-4.2/explicit")
    assert broken(dataclasses.replace(choice, reach=Fraction(2))) == ["compact set"]


@every_instance
def test_every_value_is_of_the_statement_or_of_what_it_assumes(instance):
    record = theorem(instance.statement)
    known = by_name().keys() | {one.name for one in record.local}
    assert instance.values.keys() <= known


# --- the comparison


@every_instance
def test_no_bound_is_below_its_instance(instance):
    finding = compare(theorem(instance.statement), instance)
    assert not finding.refuted
    assert finding.bound.exact_upper >= finding.value.exact_lower
    assert finding.ratio.exact_upper >= 1
    if not finding.exact and finding.ratio.exact_lower < 1:  # then only because the instance is enclosed
        assert finding.value.width > 0


@every_instance
def test_a_bound_that_is_smaller_by_more_than_its_ratio_is_refuted(instance):
    record = theorem(instance.statement)
    honest = compare(record, instance)
    factor = honest.ratio.exact_upper * Fraction(1001, 1000)
    planted = factor if honest.value.exact_upper < 0 else 1 / factor  # a decrease that is promised too large
    part = record.part(instance.part)
    wrong = attrs.evolve(part, formula=part.expression * sympy.Rational(planted.numerator, planted.denominator))
    parts = tuple(wrong if one is part else one for one in record.parts)
    assert compare(attrs.evolve(record, parts=parts), instance).refuted


def test_half_of_the_noise_term_is_refuted():
    record = theorem("dpbounds/noisy-descent-exact")
    d = by_name()["dimension"].symbol
    parts = tuple(
        attrs.evolve(one, formula=one.formula.subs(d, d / 2)) if one.name in ("bound", "private") else one
        for one in record.parts
    )
    wrong = attrs.evolve(record, parts=parts)
    assert all(compare(wrong, one).refuted for one in rows.of(record))


def test_what_is_called_exact_is_equal_in_rational_arithmetic():
    equal = 0
    for instance in rows.INSTANCES:
        record = theorem(instance.statement)
        if not compare(record, instance).exact:
            continue
        symbols = {one.symbol: one.name for one in (*by_name().values(), *record.local)}
        formula = record.part(instance.part).expression
        at = {symbol: sympy.Rational(str(instance.values[symbols[symbol]])) for symbol in formula.free_symbols}
        bound = sympy.simplify(formula.subs(at) ** (2 if instance.squared else 1))
        assert bound == sympy.Rational(str(instance.measured(instance.values)))
        equal += 1
    assert equal == 5


def test_an_instance_outside_of_the_conditions_is_not_compared():
    instance = next(one for one in rows.INSTANCES if one.statement == "dpbounds/noisy-descent-exact")
    far = dataclasses.replace(instance, values={**instance.values, "step_size": Fraction(3)})
    with pytest.raises(InvalidValue, match="a step decreases the risk"):
        compare(theorem(instance.statement), far)


# --- the table


@pytest.mark.seconds
def test_every_explicit_statement_has_a_row_and_at_least_twelve_are_tight():
    found = rows.rows()
    assert len({one.theorem.id for one in found}) == len(found)
    assert {one.statement for one in rows.INSTANCES} <= {one.theorem.id for one in found}
    assert all(bool(one.findings) != bool(one.reason) for one in found)
    near = [one for one in found if any(finding.ratio.exact_upper <= 2 for finding in one.findings)]
    assert len(near) >= 12
    assert not any(finding.refuted for one in found for finding in one.findings)


def test_what_is_open_says_why_and_has_no_instance():
    ids = {one.id for one in rows.statements()}
    assert rows.OPEN.keys() <= ids
    assert not rows.OPEN.keys() & {one.statement for one in rows.INSTANCES}


def test_parts_are_named_once():
    assert len(set(NAMES)) == len(NAMES)


def test_the_width_of_the_segment_is_rounded_up():
    one = next(one for one in rows.INSTANCES if one.statement == "wang-xu-2019/theorem-4/explicit")
    width = float(one.values["gaussian_width"])
    assert 0 <= width - float(mpmath.sqrt(2 / mpmath.pi)) < 1e-6
