"""Derived directions are true: on random formulas and on the whole library, against values at pairs of points."""

import random
from fractions import Fraction

import pytest
import sympy
from sympy import Max, Min, Rational, Symbol, ceiling, exp, floor, log, sqrt

from dpbounds.errors import DpboundsError, NotCertified
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.symbols import Domain
from dpbounds.theorems.checking import drawn, sample
from dpbounds.theorems.monotonicity import conditions_of, derived, domain_in
from dpbounds.theorems.ranges import Ranges
from dpbounds.theorems.registry import library
from dpbounds.theorems.signs import direction

DOMAINS = {
    Symbol("x", positive=True): Domain(Fraction(0)),
    Symbol("y", nonnegative=True): Domain(Fraction(0), lower_open=False),
    Symbol("p", positive=True): Domain(Fraction(0), Fraction(1)),
    Symbol("k", positive=True, integer=True): Domain(Fraction(1), lower_open=False, whole=True),
    Symbol("r", real=True): Domain(),
    Symbol("u", positive=True): Domain(Fraction(1), Fraction(2), lower_open=False, upper_open=False),
}
X, Y, P, K, R, U = DOMAINS


def every_part():
    return [(one, part) for one in library() for part in one.parts]


def grown(draw, depth):
    """A random formula."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice([*DOMAINS, sympy.Integer(draw.randint(-2, 3)), Rational(draw.randint(1, 5), 3)])
    one, two = grown(draw, depth - 1), grown(draw, depth - 1)
    return draw.choice(
        [
            lambda: one + two, lambda: one - two, lambda: one * two, lambda: one / two, lambda: one * two,
            lambda: one ** draw.choice([2, 3, -1, -2, Rational(1, 2), Rational(1, 3), Rational(-3, 2)]),
            lambda: one**two, lambda: sqrt(one), lambda: log(one), lambda: log(1 + one**2), lambda: exp(one),
            lambda: exp(-one), lambda: Max(one, two), lambda: Min(one, two), lambda: ceiling(one), lambda: floor(one),
        ]
    )()  # fmt: skip


def formulas(count, seed):
    draw = random.Random(seed)
    while count:
        try:
            formula = grown(draw, draw.randint(1, 4))
        except (TypeError, ValueError):  # Max and Min of what is not real
            continue
        if formula.free_symbols and not formula.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I):
            count -= 1
            yield formula


def value(formula, point):
    try:
        return evaluate(formula, point, digits=12)
    except DpboundsError:
        return None


def moved(draw, point, symbol, domain):
    """The point with one quantity larger, within its domain."""
    other = drawn(draw, domain)
    low, high = sorted((point[symbol.name], other))
    return {**point, symbol.name: low}, {**point, symbol.name: high}


def small(draw, domain):
    """A number of the domain that is not so large that nothing can be computed."""
    number = drawn(draw, domain)
    return Fraction(draw.randint(1, 12)) if domain.whole else number


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(4))
def test_no_direction_of_a_random_formula_is_wrong(seed):
    draw, decided, compared = random.Random(f"pairs {seed}"), 0, 0
    for formula in formulas(80, seed):
        symbol = draw.choice(sorted(formula.free_symbols, key=str))
        found = direction(formula, symbol, DOMAINS)
        if found is None:
            continue
        decided += 1
        for _ in range(6):
            point = {one.name: small(draw, domain) for one, domain in DOMAINS.items() if one in formula.free_symbols}
            low, high = moved(draw, point, symbol, DOMAINS[symbol])
            first, second = value(formula, low), value(formula, high)
            if first is not None and second is not None:
                compared += 1
                assert found == -1 or second.less_than(first) is not True, (formula, symbol, low, high)
                assert found == 1 or first.less_than(second) is not True, (formula, symbol, low, high)
    assert decided > 15
    assert compared > 40


@pytest.mark.seconds_cases("1")
@pytest.mark.parametrize("seed", range(2))
def test_no_value_of_a_random_formula_is_out_of_its_range(seed):
    draw, compared = random.Random(f"values {seed}"), 0
    for formula in formulas(80, f"ranges {seed}"):
        found = Ranges(DOMAINS)(formula)
        for _ in range(4):
            symbols = sorted(formula.free_symbols, key=str)
            number = value(formula, {one.name: small(draw, DOMAINS[one]) for one in symbols})
            if number is not None:
                compared += 1
                assert number.exact_upper >= found.low, (formula, found)
                assert number.exact_lower <= found.high, (formula, found)
    assert compared > 60


@pytest.mark.parametrize(
    ("formula", "symbol", "expected"),
    [
        (sqrt(log(1 / P)) / K, P, -1),
        (X / (1 + X), X, 1),
        (X**2 / (1 + X), X, 1),
        (K - 1 / K, K, 1),
        (X * (1 - P) / P, P, -1),
        (U**X, X, 1),
        (P**X, X, -1),
        (X**U, U, None),  # x may be below 1 or above
        ((K - 5) ** 2, K, None),
        ((X - 1) / (X - 1) ** 2, X, None),  # falls on both sides of a pole, and not across it
        (P * log(1 / P), P, None),
        (1 / R, R, None),
        (ceiling(X) / X, X, None),
        ((-X - 1) ** 3, X, -1),  # powers of what is negative
        ((-X - 1) ** 2, X, 1),
        ((-X - 1) ** -1, X, 1),
        ((-X - 1) ** -2, X, -1),
        (X - X**2, X, None),  # one term rises, the other falls
        (-X * Y, X, -1),
        (Max(X, 1 / X), X, None),
        (sympy.erfc(X), X, -1),
        (sympy.erfc(1 / X), X, 1),
    ],
)
def test_directions_that_are_known(formula, symbol, expected):
    assert direction(formula, symbol, DOMAINS) == expected


def test_a_condition_gives_the_sign_of_a_difference():
    formula = X / (1 - X * Y / 2)
    assert direction(formula, Y, DOMAINS) is None
    assert direction(formula, Y, DOMAINS, ((2 / X - Y, True),)) == 1


def drawn_points(one, part, conditions, points):
    """As many as are found: some conditions leave little room."""
    for count in (points, 2, 1):
        try:
            return sample(one, part.expression, conditions, count)
        except NotCertified:
            continue
    return []


def tried(points, parts):
    """Every derived direction of some parts at some points; how many comparisons there were."""
    compared = 0
    for one, part in parts:
        known = {symbol: derived(one, part, symbol) for symbol in sorted(part.expression.free_symbols, key=str)}
        conditions = conditions_of(one, part)
        draw = random.Random(f"{one.id} {part.name} directions")
        for point in drawn_points(one, part, conditions, points):
            here = value(part.expression, point)
            for symbol, sign in known.items():
                domain = domain_in(one, symbol)
                further = point[symbol.name] * draw.choice((Fraction(1, 3), Fraction(3, 2), Fraction(9)))
                there = {**point, symbol.name: Fraction(-(-further // 1)) if domain.whole else further}
                if sign is None or not domain.contains(there[symbol.name]) or not holds(conditions, there):
                    continue
                second = value(part.expression, there)
                if here is None or second is None:
                    continue
                compared += 1
                wrong = (
                    second.less_than(here)
                    if (there[symbol.name] > point[symbol.name]) == (sign >= 0)
                    else (here.less_than(second))
                )
                assert wrong is not True, (one.id, part.name, symbol, sign, point, there)
    return compared


def holds(conditions, point):
    from dpbounds.theorems.evaluation import check

    try:
        return all(check(condition, point).holds is not False for condition in conditions)
    except DpboundsError:
        return False


def test_no_direction_in_the_library_is_wrong_at_a_point():
    assert tried(1, every_part()[::40]) > 30


@pytest.mark.minutes
def test_no_direction_in_the_library_is_wrong_at_many_points():
    assert tried(4, every_part()) > 4_000


@pytest.mark.seconds
def test_only_what_cannot_be_derived_is_declared():
    for one, part in every_part():
        for symbol in (*part.increasing_in, *part.decreasing_in):
            assert derived(one, part, symbol) is None, (one.id, part.name, symbol)


@pytest.mark.seconds
def test_most_directions_are_derived_and_none_is_forgotten():
    """A rule that derives less than it did must be answered by declarations; what is free has its best in between."""
    pairs = [
        (one, part, each) for one, part in every_part() for each in part.expression.free_symbols if each not in one.free
    ]
    found = [derived(*pair) is not None for pair in pairs]
    declared = [symbol in (*part.increasing_in, *part.decreasing_in) for _, part, symbol in pairs]
    assert sum(found) > 0.8 * len(pairs)
    assert sum(map(max, found, declared)) >= 2_244 / 2_469 * len(pairs)


@pytest.mark.parametrize(
    "formula",
    [exp(Rational(1, 3)), exp(Rational(-7, 2)), log(3), log(Rational(2, 7)), sqrt(2), Rational(2) ** Rational(1, 3)],
)
def test_the_range_of_a_number_contains_it(formula):
    """Floats are rounded outwards, and by little."""
    found, value = Ranges({})(formula), evaluate(formula, {}, digits=40)
    assert found.low < value.exact_lower
    assert value.exact_upper < found.high
    assert found.high - found.low < 1e-13 * abs(value.exact_upper)


def test_a_sum_is_closed_where_all_of_its_terms_are():
    ranges = Ranges(DOMAINS)
    assert not ranges(K - 1).excludes_zero
    assert not ranges(U + Y - 1).excludes_zero
    assert ranges(X + Y).excludes_zero
