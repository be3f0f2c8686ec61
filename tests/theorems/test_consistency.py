"""What statements assume can be true, and what their symbols mean is kept: witnesses, contradictions, limits.

Sets of assumptions are enumerated, not named: a statement that is added without a witness fails here.
"""

import dataclasses
import itertools
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
import sympy

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.evaluation import decide
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import Budget
from dpbounds.rates.budgets import tied_rho
from dpbounds.theorems import assumptions as known, consistency, index, record, registry
from dpbounds.theorems.checking import defects
from dpbounds.theorems.consistency import all_implied, contradiction, limits_for, satisfies, witness_of
from dpbounds.theorems.rational_functions import (
    EVERYWHERE,
    ONE,
    POSITIVE,
    ZERO,
    Interval,
    T,
    at,
    infimum,
    never_negative,
    supremum,
)
from dpbounds.theorems.record import Metric, Side, Status
from dpbounds.theorems.spending import spending
from dpbounds.theorems.witnesses import HYPERBOLA, LINE, SEGMENT, WITNESSES, ParameterSpace, Witness, tilted

ROOT = Path(__file__).parents[2]


@cache
def sets():
    """The sets of assumptions of all statements, in a fixed order."""
    found = {frozenset(one.assumptions) for one in registry.library()}
    return sorted(found, key=lambda each: sorted(one.name for one in each))


@cache
def every():
    """All assumptions that a statement makes or that follow from them."""
    return sorted({one for each in sets() for one in all_implied(tuple(each))}, key=lambda one: one.name)


def without_witness(assumed):
    """Those sets of assumptions that contradict themselves, or that no known problem satisfies."""
    return [each for each in assumed if contradiction(tuple(each)) is not None or witness_of(tuple(each)) is None]


@pytest.mark.seconds
def test_assumptions_have_a_witness():
    assert without_witness(sets()[::24]) == []


@pytest.mark.seconds
def test_every_set_of_assumptions_has_a_witness():
    assert without_witness(sets()) == []


@pytest.mark.seconds
def test_the_sets_that_held_only_constants_are_refused():
    """The classes that two statements of this library once declared."""
    for missing in (
        (known.LIPSCHITZ, known.SMOOTH, known.PL, known.BOUNDED_RISK, known.UNCONSTRAINED),
        (known.SMOOTH_RISK, known.LIPSCHITZ, known.PL, known.UNCONSTRAINED),
        (known.LIPSCHITZ, known.STRONGLY_CONVEX, known.UNCONSTRAINED),
        (known.BOUNDED_LOSS, known.CONVEX, known.UNCONSTRAINED),
        (known.POLYTOPE, known.UNCONSTRAINED),
    ):
        assert contradiction(missing) is not None
        assert witness_of(missing) is None


@pytest.mark.seconds
def test_no_witness_refutes_a_contradiction():
    """Against an over-eager rule: nothing non-constant satisfies what a rule forbids."""
    for rule, witness in itertools.product(consistency.CONTRADICTIONS, WITNESSES):
        assert not satisfies(witness, rule.together), (rule.because, witness.name)


@pytest.mark.seconds
def test_contradictions_need_all_that_they_name():
    """Against a rule with too much in it: without any one of its assumptions a witness exists."""
    for rule in consistency.CONTRADICTIONS:
        for left_out in rule.together:
            rest = tuple(one for one in rule.together if one is not left_out)
            assert witness_of(rest) is not None, (rule.because, left_out.name)


ARROWS = {
    "all of space": {"closed convex set"},
    "bounded set": {"closed convex set"},
    "centrally symmetric set": {"bounded set"},
    "convex": {"star-convex"},
    "gradients near a common field": {"bounded gradient differences"},
    "l1 ball or simplex": {"polytope"},
    "Lipschitz": {"gradients near a common field"},
    "Polyak-Łojasiewicz": {"Kurdyka-Łojasiewicz", "Polyak-Łojasiewicz near the start"},
    "polytope": {"bounded set"},
    "smooth": {"smooth risk"},
    "star-convex": {"quasar-convex"},
    "strongly convex": {"convex", "Polyak-Łojasiewicz"},
    "unconstrained": {"all of space"},
}


def test_arrows_are_those_of_textbooks():
    """Typed a second time: a witness refutes a wrong arrow only where one is known that has the one property alone."""
    assumptions = [one for one in vars(known).values() if isinstance(one, known.Assumption)]
    found = {one.name: {other.name for other in one.stronger_than} for one in assumptions if one.stronger_than}
    assert found == ARROWS


@pytest.mark.one_in(4)
@pytest.mark.parametrize("witness", WITNESSES, ids=lambda one: one.name)
def test_arrows_hold_for_every_witness(witness):
    """An arrow says that every problem with the stronger property has the weaker one."""
    for one in every():
        if one.holds_for(witness):
            missing = [other.name for other in one.stronger_than if not other.holds_for(witness)]
            # what a composite adds to its parts is all that its own question asks
            assert not missing or len(one.stronger_than) > 2, (one.name, missing)


@pytest.mark.seconds
def test_every_question_can_be_answered_with_no():
    plain = {one for one in every() if all(one.holds_for(witness) for witness in WITNESSES)}
    ask = {one.name for one in plain if not one.holds_for(bad_problem())}
    chosen = {one.name for one in every() if one.asks == "can_be_chosen"}
    assert {one.name for one in plain} - ask == chosen
    assert chosen < {one.name for one in every()}


def bad_problem():
    """-w⁴ with records ± w²/2 on the line: nothing is bounded, not even from below."""
    records = tuple((sign * T**2 / 2 - T**4, sign * T**2 / 2 - T**4) for sign in (1, -1))
    return Witness("bad", ParameterSpace.SPACE, LINE, records, regulariser=-(T**4))


@pytest.mark.parametrize(
    ("assumption", "problem"),
    [
        (known.LIPSCHITZ, tilted("quadratic", T**2 / 2, Fraction(1), ParameterSpace.SPACE)),
        (known.PL, tilted("two minima", (T**2 - 1) ** 2 / 10, Fraction(1), ParameterSpace.SPACE)),
        (known.PL, tilted("quartic, flat at its minimum", T**4, Fraction(1), ParameterSpace.CROSS_POLYTOPE)),
        (known.QUASAR_CONVEX, tilted("bounded", T**2 / (1 + T**2), Fraction(1), ParameterSpace.SPACE)),
        (known.STRICT_SADDLES, tilted("flat inflection", T**3 + T**5, Fraction(1), ParameterSpace.SPACE)),
        (known.SMOOTH_RISK, tilted("quartic", T**4, Fraction(1), ParameterSpace.SPACE)),
        (known.NEAR_A_FIELD, Witness("unlike", ParameterSpace.SPACE, LINE, ((T**2, T**2), (3 * T**2, T**2)))),
        (known.BOUNDED_RISK, tilted("unbounded", T, Fraction(1), ParameterSpace.SPACE)),
        (known.CONVEX, tilted("dent", T**2 / 2 + 4 * T**2 / (1 + T**2), Fraction(1), ParameterSpace.SPACE)),
        (known.DISSIPATIVE, Witness("cone", ParameterSpace.SPACE, HYPERBOLA, (((T + 1 / T) / 2,) * 2,))),
        (known.CONVEX_REGULARISER, Witness("r", ParameterSpace.SPACE, LINE, ((T, T),), regulariser=-(T**2))),
    ],
    ids=lambda value: value.name,
)
def test_problems_without_a_property_do_not_witness_it(assumption, problem):
    assert not assumption.holds_for(problem)


def test_a_constant_is_no_witness():
    constant = Witness("constant", ParameterSpace.SPACE, LINE, ((ONE, ONE),), centre=Fraction(0))
    tilts = Witness("constant mean", ParameterSpace.SPACE, LINE, ((T, T), (-T, -T)), centre=Fraction(0))
    for one in (constant, tilts):
        assert one.is_constant()
        assert not satisfies(one, (known.LIPSCHITZ, known.UNCONSTRAINED))
        assert not satisfies(one, ())


@pytest.mark.one_in(4)
@pytest.mark.parametrize("witness", WITNESSES, ids=lambda one: one.name)
def test_constants_of_witnesses_keep_every_limit(witness):
    """Against a limit that refuses inputs which some problem has, at starting points all over the domain."""
    assumed = tuple(one for one in every() if one.holds_for(witness))
    constants = {
        "lipschitz": witness.lipschitz_square and sympy.sqrt(sympy.Rational(witness.lipschitz_square)),
        "smoothness": witness.risk_smoothness,
        "lipschitz_l1": witness.partial_bound,
        "loss_range": witness.loss_range,
        "pl_constant": witness.pl_constant,
        "dimension": 2,
        "dataset_size": len(witness.records),
        "rank": 2,
        "kl_exponent": 2 if witness.pl_constant else None,
        "kl_constant": witness.pl_constant and sympy.sqrt(1 / sympy.Rational(2 * witness.pl_constant)),
        "norm_bound": 1,
        "l1_norm_bound": 1 if witness.domain is ParameterSpace.CROSS_POLYTOPE else sympy.sqrt(2),
        "diameter": 2,
        "l1_diameter": 2 if witness.domain is ParameterSpace.CROSS_POLYTOPE else 2 * sympy.sqrt(2),
        "enclosing_radius": 1,
        # E max |g_i| and E |g| for two coordinates
        "gaussian_width": 2 / sympy.sqrt(sympy.pi)
        if witness.domain is ParameterSpace.CROSS_POLYTOPE
        else sympy.sqrt(sympy.pi / 2),
    }
    given = {name: sympy.sympify(value) for name, value in constants.items() if value is not None}
    checked = 0
    for place in (Fraction(1, 3), Fraction(9, 10), *((Fraction(7),) if witness.domain is ParameterSpace.SPACE else ())):
        gap = sum((at(risk, place) for risk in witness.risks), -(witness.infimum or Fraction(0)))
        for limit in limits_for(assumed):
            relation = limit.holds.subs({s: given[str(s)] for s in limit.holds.free_symbols if str(s) in given})
            relation = relation.subs({s: sympy.Rational(gap) for s in relation.free_symbols if str(s) == "initial_gap"})
            if not relation.free_symbols:
                assert bool(relation), (limit.why, place, witness.name)
                checked += 1
    assert checked or witness.domain is ParameterSpace.SPACE


IMPOSSIBLE = [
    ((known.PL, known.LIPSCHITZ), {"pl_constant": "0.5", "lipschitz": 1, "initial_gap": 100}),
    ((known.PL, known.LIPSCHITZ), {"pl_constant": 1, "lipschitz": 1, "initial_gap": "0.51"}),  # at most G²/(2μ)
    ((known.PL, known.SMOOTH, known.UNCONSTRAINED), {"pl_constant": 2, "smoothness": 1}),
    ((known.STRONGLY_CONVEX, known.SMOOTH_RISK), {"pl_constant": 2, "smoothness": 1}),
    ((known.KL, known.LIPSCHITZ), {"kl_constant": 1, "kl_exponent": 1, "lipschitz": 1, "initial_gap": 2}),
    (
        (known.KL, known.SMOOTH, known.UNCONSTRAINED),
        {"kl_constant": 1, "kl_exponent": 1, "smoothness": 1, "initial_gap": 3},
    ),
    ((known.LIPSCHITZ, known.BOUNDED_SET), {"lipschitz": 1, "diameter": 2, "initial_gap": 3}),
    ((known.LIPSCHITZ_L1, known.L1_GEOMETRY), {"lipschitz_l1": 1, "l1_diameter": 2, "initial_gap": 3}),
    ((known.NEAR_A_FIELD,), {"lipschitz": 1, "distance": 3}),
    ((known.LIPSCHITZ,), {"lipschitz": 1, "sensitivity": 3}),
    ((known.GRADIENT_DISTANCE,), {"sensitivity": 1, "distance": 2}),
    ((known.BOUNDED_SET,), {"diameter": 3, "norm_bound": 1}),
    ((known.SYMMETRIC_SET,), {"diameter": 1, "norm_bound": 1}),
    ((known.BOUNDED_SET,), {"diameter": 3, "enclosing_radius": 1}),
    ((known.BOUNDED_SET,), {"diameter": 2, "l1_diameter": 1}),
    ((known.BOUNDED_SET,), {"diameter": 1, "l1_diameter": 3, "dimension": 4}),
    ((known.BOUNDED_SET,), {"norm_bound": 2, "l1_norm_bound": 1}),
    ((known.BOUNDED_SET,), {"norm_bound": 1, "l1_norm_bound": 3, "dimension": 4}),
    ((known.BOUNDED_SET,), {"gaussian_width": 5, "diameter": 2, "dimension": 4}),
    ((known.BOUNDED_SET,), {"gaussian_width": "0.5", "diameter": 2}),
    ((known.GENERALISED_LINEAR,), {"rank": 3, "dimension": 2}),
    ((known.GENERALISED_LINEAR,), {"rank": 3, "dataset_size": 2}),
    ((consistency.SADDLES_ARE_HARDER,), {"hessian_lipschitz": 1, "stationarity": 2, "smoothness": 1}),
    ((), {"initial_gap": 3, "loss_range": 2}),
]


def a_statement(assumed):
    return record.Theorem(
        id="test/lemma-1",
        title="a test",
        statement="A test.",
        where="here",
        metric=Metric.NONE,
        status=Status.CLAIMED,
        assumptions=assumed,
        parts=(record.Bound(formula=lambda: sympy.Integer(1)),),
    )


@pytest.mark.parametrize(("assumed", "values"), IMPOSSIBLE)
def test_impossible_inputs_are_refused(assumed, values):
    found = a_statement(assumed).evaluate(**values)
    assert found.applies is False
    failing = [one for one in found.conditions if one.holds is False]
    assert all("no problem has other constants" in one.why for one in failing)
    if assumed:
        assert a_statement(()).evaluate(**values).applies is True


def test_every_limit_is_exercised():
    hit = {
        limit.holds
        for assumed, values in IMPOSSIBLE
        for limit in limits_for(assumed)
        if limit.symbols <= set(values) and not decide(limit.holds, {k: sympy.Rational(v) for k, v in values.items()})
    }
    assert {limit.holds for limit in consistency.limits()} == hit


def test_a_regulariser_lifts_what_only_losses_obey():
    values = {"pl_constant": "0.5", "lipschitz": 1, "initial_gap": 100}
    for extra in (known.CONVEX_REGULARISER, known.ALL_OF_SPACE):
        assert a_statement((known.PL, known.LIPSCHITZ, extra)).evaluate(**values).applies is True


def test_a_statement_of_ones_own_hears_of_it():
    own = known.Assumption("weakly convex", "convex plus a multiple of |w|²")
    assert [text for text in defects(a_statement((known.LIPSCHITZ, own))) if "no witness known" in text]
    empty = a_statement((known.LIPSCHITZ, known.PL, known.UNCONSTRAINED))
    assert [text for text in defects(empty) if "contradictory" in text]
    assert not [text for text in defects(a_statement((known.LIPSCHITZ, known.SMOOTH))) if "assumptions" in text]


def test_bounds_on_walks_say_where_the_walk_may_go():
    """An upper bound for an algorithm that walks in all of R^d does not hold on a set: its iterates leave it."""
    goals = {metric for metric in Metric if "risk" in metric or "gradient" in metric or "sosp" in metric}
    for one in registry.library():
        if one.algorithm and one.side is Side.UPPER and one.metric in {*goals, Metric.COUNT}:
            walks = known.ALL_OF_SPACE in all_implied(registry.theorem(one.algorithm).assumptions)
            assert not walks or known.ALL_OF_SPACE in all_implied(one.assumptions), one.id
        if one.derivation and one.status is Status.PROVED_HERE and one.metric in goals:
            derivation = ROOT / index.file_of(one.id).with_name(one.derivation)
            assert derivation.is_file(), f"{one.id} has its derivation in {derivation.relative_to(ROOT)}: write it"
            if "smooth on R^d" in derivation.read_text(encoding="utf-8") and one.metric is not Metric.POPULATION_SOSP:
                assert known.ALL_OF_SPACE in all_implied(one.assumptions), one.id


def test_only_replacing_a_record_is_promised_where_records_are_compared():
    assert not consistency.bounds_single_records((known.NEAR_A_FIELD, known.SMOOTH))
    assert not consistency.bounds_single_records((known.GRADIENT_DISTANCE,))
    assert consistency.bounds_single_records((known.LIPSCHITZ,))
    assert consistency.bounds_single_records(())


def test_assumptions_can_be_copied_and_compared():
    assert dataclasses.replace(known.PL) == known.PL
    assert len({one.name for one in every()}) == len(every())


# --- the arithmetic below: against values that are known ------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "interval", "largest"),
    [
        (T / (1 + T**2), EVERYWHERE, Fraction(1, 2)),
        (T**2 / (1 + T**2), EVERYWHERE, Fraction(1)),  # at infinity
        (-(T**2), EVERYWHERE, Fraction(0)),
        (1 / T, Interval(Fraction(1), None), Fraction(1)),
        (T, Interval(None, Fraction(2)), Fraction(2)),
        (1 / T, POSITIVE, None),
        (1 / T**2, EVERYWHERE, None),
        (T**3, EVERYWHERE, None),
        (-1 / T, POSITIVE, Fraction(0)),
        (T * (1 - T), SEGMENT.interval, Fraction(1, 4)),
        (ONE * 3, EVERYWHERE, Fraction(3)),
    ],
)
def test_suprema(function, interval, largest):
    found = supremum(function, interval)
    assert found is None if largest is None else largest <= found <= largest + Fraction(1, 10**5)
    assert largest is None or infimum(-function, interval) == -found


@pytest.mark.parametrize(
    ("function", "interval", "answer"),
    [
        (T**2, EVERYWHERE, True),
        (T**2 - ONE / 10**12, EVERYWHERE, False),
        ((T - 1) ** 2 * (T + 2), POSITIVE, True),
        ((T - 1) ** 2 * (T + 2), EVERYWHERE, False),
        ((T - 1) * (T - 2), POSITIVE, False),
        (1 / T, POSITIVE, True),
        (1 / T, EVERYWHERE, False),
        (T, POSITIVE, True),
        (1 - T, Interval(Fraction(0), Fraction(1)), True),
        (-ONE, EVERYWHERE, False),
        (ZERO, EVERYWHERE, True),
    ],
)
def test_signs(function, interval, answer):
    assert never_negative(function, interval) is answer


def test_no_route_accounts_for_a_record_that_nothing_bounds():
    """Neither the statement's own account nor the planner's search for a ρ."""
    budget = Budget(Fraction(1), Fraction(1, 10**6), Relation.ADD_OR_REMOVE_ONE)
    for name, others in (
        ("dpbounds/polyak-lojasiewicz-restarted-spider", {"steps": 9, "stages": 2}),
        ("dpbounds/langevin-under-pl", {"steps": 9}),
    ):
        one = registry.theorem(name)
        with pytest.raises(UnsupportedMechanism, match="not what one record contributes"):
            spending(one, {"rho": "0.1", **others}, budget.relation)
        with pytest.raises(UnsupportedMechanism, match="not what one record contributes"):
            tied_rho(one, lambda rho, others=others: {"rho": rho, **others}, budget)
