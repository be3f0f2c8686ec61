"""Who wins where: the regions against brute force, the figures of the literature, dominance as an order."""

import pickle
import random
from fractions import Fraction
from itertools import permutations
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from sympy import Min, Rational, log, sqrt

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import dataset_size as n, delta, dimension as d, epsilon, rank
from dpbounds.rates.orders import LOG, LOG_DELTA, Monomial, Order
from dpbounds.rates.promises import compared, promises
from dpbounds.rates.regimes import TRIVIAL, by_winner, compare, linear_pieces, regimes, verdict_in_words
from dpbounds.rates.spaces import at_epsilon, in_letters, standard, with_rank

NOISE = sqrt(d) / (n * epsilon)
Z = d / (n * epsilon) + sqrt(d / n)
THIRD = Rational(1, 3)
EMPIRICAL = {
    "warm": Order.of(NOISE * d ** Rational(1, 6)),
    "spider": Order.of(NOISE ** Rational(2, 3)),
    "before": Order.of(sqrt(NOISE)),
    "seventh": Order.of((d / (n * epsilon)) ** Rational(4, 7)),
}
POPULATION = {
    "warm": Order.of(n**-THIRD * Z**THIRD + (NOISE * Z) ** Rational(3, 7)),
    "two passes": Order.of(n**-THIRD + NOISE ** Rational(3, 7)),
    "tree": Order.of(n**-THIRD + sqrt(NOISE)),
    "older": Order.of(epsilon * sqrt(d) + sqrt(NOISE)),
    "uniform convergence": Order.of(sqrt(d / n) + Min(NOISE * d ** Rational(1, 6), NOISE ** Rational(2, 3))),
}
FLOORS = {"empirical": Order.of(Min(1, NOISE)), "population": Order.of(1 / sqrt(n) + Min(1, NOISE))}
SPACES = {"n, d, ε": standard(), **{f"ε = d^-{b}": at_epsilon(Fraction(b)) for b in ("0", "1/4", "1/2", "1")}}


def random_points(space, count, seed):
    draw = random.Random(seed)
    rays = sorted(space.whole.rays)
    for _ in range(count):
        weights = [draw.randint(0, 400) for _ in rays]
        yield tuple(
            sum(weight * ray[i] for weight, ray in zip(weights, rays, strict=True)) for i in range(len(rays[0]))
        )


@pytest.mark.seconds
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("family", [EMPIRICAL, POPULATION], ids=["empirical", "population"])
def test_ten_thousand_random_exponents_agree_with_the_regions(space, family):
    found = regimes(family, FLOORS, space)
    named = {TRIVIAL: Order.of(1), **family}
    tested = 0
    for point in random_points(space, 1000, 7):  # 10 cells of 1000
        values = {name: space.value(order, point) for name, order in named.items()}
        best = {name for name, value in values.items() if value == min(values.values())}
        holding = [regime for regime in found if regime.cone.contains(point)]
        assert holding
        for regime in holding:
            assert space.value(Order.single(regime.value), point) == min(values.values())
            assert set(regime.best) <= best
            floor = max(space.value(order, point) for order in FLOORS.values())
            assert space.value(Order.single(regime.floor), point) == floor
            tested += 1
        inner = [regime for regime in holding if all(_inside(facet, point) for facet in regime.cone.facets)]
        assert len(inner) <= 1  # regions overlap in their boundaries only
        if inner:
            assert set(inner[0].best) == best
    assert tested >= 1000


def _inside(facet, point):
    return sum(a * b for a, b in zip(facet, point, strict=True)) > 0


@pytest.mark.seconds
def test_every_comparison_agrees_with_brute_force():
    space = standard()
    named = {**EMPIRICAL, **POPULATION}
    points = list(random_points(space, 200, 3))
    tested = 0
    for first, second in permutations(named, 2):
        verdict = compare(named[first], named[second], space)
        for point in points:
            difference = space.value(named[first], point) - space.value(named[second], point)
            sign = (difference > 0) - (difference < 0)
            assert sign in verdict.at(point) or (sign == 0 and verdict.at(point))
            tested += 1
    assert tested >= 10_000


@pytest.mark.seconds
def test_dominance_is_transitive():
    space = standard()
    named = list(POPULATION.values())
    for a, b, c in permutations(named, 3):
        ab, bc, ac = compare(a, b, space), compare(b, c, space), compare(a, c, space)
        for first in (*ab.smaller, *ab.equal):
            for second in (*bc.smaller, *bc.equal):
                common = first.meet(second)
                if common is not None:
                    assert all(common.meet(worse) is None for worse in ac.larger)


def test_empirical_regimes_of_the_literature():
    found = {regime.best: regime for regime in regimes(EMPIRICAL, {"floor": FLOORS["empirical"]})}
    assert set(found) == {(TRIVIAL,), ("spider",), ("warm",)}  # the others never win
    assert standard().inequalities(found["warm",].cone) == ("n ε >= d",)
    assert in_letters(found["warm",].gap) == "d^(1/6)"
    assert set(standard().inequalities(found["spider",].cone)) == {"n ε <= d", "n ε >= √d"}
    assert in_letters(found[TRIVIAL,].gap) == "1"
    assert compare(EMPIRICAL["warm"], EMPIRICAL["spider"]).crossovers() == ("n ε = d",)


def test_population_regimes_at_constant_epsilon():
    space = at_epsilon(0)
    found = regimes(POPULATION, {"floor": FLOORS["population"]}, space)
    edges = {}
    for regime in found:
        edges.setdefault(regime.best, set()).update(space.inequalities(regime.cone))
    assert edges[TRIVIAL,] == {"n <= √d"}
    assert "n >= d^(5/4)" in edges["warm",]
    assert {"n >= √d", "n <= d^(5/4)"} <= edges["tree",]
    last = next(regime for regime in found if space.inequalities(regime.cone) == ("n >= d^(11/6)",))
    assert in_letters(last.value) == "d^(1/6)/√n"


@pytest.mark.parametrize(
    ("power", "edge"), [("1/4", "n >= d^(27/20)"), ("1/2", "n >= d^(8/5)"), ("1", "n >= d^(14/5)")]
)
def test_where_the_warm_start_begins_to_win(power, edge):
    space = at_epsilon(Fraction(power))
    found = regimes(POPULATION, {}, space)
    assert edge in {text for one in found if one.best == ("warm",) for text in space.inequalities(one.cone)}


def test_an_improvement_in_all_regimes():
    """Ganesh et al. 2023 say that (√d/(nε))^(2/3) improves on the smaller of two earlier orders in all regimes."""
    earlier = Order.of(Min(sqrt(NOISE), (d / (n * epsilon)) ** Rational(4, 7)))
    new = EMPIRICAL["spider"]
    verdict = compare(new, earlier)
    one = Order.of(1)
    assert [standard().inequalities(cone) for cone in verdict.larger] == [("n ε <= √d",)]  # where both exceed 1
    assert compare(new.minimum(one), earlier.minimum(one)).larger == ()
    # and the gap to the lower bound is (√d/(nε))^(-1/3), not the power -1/6 of the introduction
    found = {regime.best: regime for regime in regimes({"new": new}, {"floor": FLOORS["empirical"]})}
    assert found["new",].gap == Monomial.of({n: Fraction(1, 3), epsilon: Fraction(1, 3), d: Fraction(-1, 6)})


def test_generalised_linear_models_by_rank():
    number = n * epsilon
    new = Order.of(Min(rank ** Rational(2, 3) / number, number ** Rational(-3, 7)))
    old = Order.of(Min(rank ** Rational(1, 3) / number ** Rational(2, 3), number ** Rational(-2, 5)))
    pieces = linear_pieces(new, with_rank())
    assert {in_letters(piece.monomial) for piece in pieces} >= {"r^(2/3)/(n ε)", "1/(n^(3/7) ε^(3/7))"}
    # smaller wherever n ε > 1: no point of that cone has the new one larger
    inside = with_rank().whole.cut((1, 0, 1, 0))[0]
    assert all(inside.meet(cone) is None for cone in compare(new, old, with_rank()).larger)


def test_ties_are_broken_by_logarithms_only_where_they_can_be():
    plain, longer = Order.of(NOISE), Order.of(NOISE * log(n))
    (region,) = [one for one in regimes({"plain": plain, "longer": longer}) if TRIVIAL not in one.best]
    assert region.best == ("plain", "longer")
    assert region.by_logarithms == ("plain",)
    (region,) = [
        one
        for one in regimes({"n": Order.of(NOISE * log(n)), "δ": Order.of(NOISE * log(1 / delta))})
        if TRIVIAL not in one.best
    ]
    assert region.by_logarithms == ()  # log n against log 1/δ: nobody is ahead
    hidden = Order.of(NOISE, logs_hidden=True)
    (region,) = [one for one in regimes({"plain": plain, "hidden": hidden}) if TRIVIAL not in one.best]
    assert region.by_logarithms == ()


def test_no_growth_of_delta_is_assumed():
    with pytest.raises(InvalidValue, match="inside logarithms only"):
        compare(Order.of(n * delta), Order.of(d))


def test_in_one_line():
    (regime,) = [one for one in regimes(EMPIRICAL, {"floor": FLOORS["empirical"]}) if one.best == ("warm",)]
    shown = ET.fromstring(f"<div>{regime._repr_html_()}</div>")
    facts = {row.find("th").text: row.find("td").text for row in shown.iter("tr")}
    assert facts["where"] == "n ε >= d"
    assert facts["beside lower bounds"] == "gap: d^(1/6) above the best lower bound"
    assert repr(regime) == f"<Regime {regime}>"
    assert str(regime) == "n ε >= d: d^(2/3)/(n ε) by warm; gap: d^(1/6) above the best lower bound"


def test_a_tied_epsilon_must_not_grow():
    with pytest.raises(InvalidValue, match="at least 0"):
        at_epsilon(Fraction(-1, 2))


def test_monomials_without_axes_are_constants():
    assert standard().form(Monomial.of({rank: 3})) == (0, 0, 0)


def test_regimes_show_themselves_in_notebooks_and_are_tuples_still():
    found = regimes(POPULATION, {"floor": FLOORS["population"]})
    assert found == tuple(found)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert (again, again.space) == (found, found.space)
    shown = ET.fromstring(f"<div>{found._repr_html_()}</div>")
    head, *rows = [[cell.text for cell in row] for row in shown.iter("tr")]
    assert head == ["where", "best order", "by", "beside lower bounds"]
    assert len(rows) == len(found)
    for row, one in zip(rows, found, strict=True):
        assert row[0] == " and ".join(found.space.inequalities(one.cone))
        assert row[1:] == [in_letters(one.value), ", ".join(one.best), verdict_in_words(one.gap)]
        assert str(one) in told(found)
    assert by_winner(found).space == found.space


def told(shown):
    lines = []
    shown._repr_pretty_(SimpleNamespace(text=lines.append), cycle=False)
    return "".join(lines)


def test_nothing_to_compare_shows_an_empty_table():
    empty = compared(promises("gradient-norm", statements=()))
    assert empty == ()
    assert "0 regimes" in empty._repr_html_()


def test_of_terms_that_differ_by_logarithms_the_larger_power_of_each_is_kept():
    one, other = Monomial.of({n: -1, LOG: 1}), Monomial.of({n: -1, LOG_DELTA: Fraction(1, 2)})
    (piece,) = linear_pieces(Order.sum([one, other]), standard())
    assert piece.monomial == Monomial.of({n: -1, LOG: 1, LOG_DELTA: Fraction(1, 2)})
