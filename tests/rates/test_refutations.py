"""Statements against each other: the library is sound in this sense, and what was wrong in it once is found again."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve
from sympy import log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, delta, diameter, dimension, epsilon, lipschitz
from dpbounds.rates.promises import DECIDING, GOALS, claims_of, needs_another, promises
from dpbounds.rates.refutations import Claimed, _binds, _rho, refutations
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.record import Bound, Claim, Metric, Rate, Side, Status, Theorem
from dpbounds.theorems.registry import library, theorem

LASSO = "cited/talwar-thakurta-zhang-2015/main-result"
CONVEX = "cited/bassily-smith-thakurta-2014/main-result"
SELECTION = "ganesh-liu-oh-thakurta-2023/theorem-5.11"


def as_it_was(name, parts, **changes):
    """A record as version 0.1 had it: nothing is said of its parts, and what is tight is a lower bound, too."""
    found = theorem(name)
    plain = {"side": None, "status": None, "relies_on": None, "under": None}
    kept = [evolve(one, **plain) for one in found.parts if one.name in parts]
    return evolve(found, parts=tuple(kept), **changes)


def told(statement):
    return [str(one) for one in refutations((statement,), library())]


@pytest.mark.minutes
def test_nothing_in_the_library_contradicts_anything_else():
    assert [str(one) for one in refutations()] == []


def test_enough_pairs_are_compared():
    claims = [Claimed(one, part, side, m) for m in GOALS for one in library() for part, side in claims_of(one, m)]
    pairs = [
        (lower, upper)
        for lower in claims
        for upper in claims
        if (lower.side, upper.side) == (Side.LOWER, Side.UPPER)
        and lower.metric is upper.metric
        and _binds(lower, upper)
    ]
    assert len(pairs) >= 100
    assert sum(isinstance(lower.part, Bound) and isinstance(upper.part, Bound) for lower, upper in pairs) >= 10


def test_the_false_floor_is_found():
    """The lasso's order was once recorded as tight in every dimension, which contradicts the exponential mechanism."""
    found = told(as_it_was(LASSO, {"rate"}, side=Side.TIGHT))
    proven = "lowy-ullman-wright-2024/lemma-4.2/explicit: tuned"
    assert f"{LASSO} (at least) exceeds {proven} (at most) where n^2 ε^6 >= d^9" in found


def test_a_true_half_of_a_refuted_theorem_is_found():
    """Theorem 5.11 was once false as a whole, its second half among it."""
    found = told(
        evolve(
            theorem(SELECTION),
            parts=tuple(
                evolve(one, status=None, relies_on=None) if one.name == "sampling" else one
                for one in theorem(SELECTION).parts
            ),
        )
    )
    assert f"{SELECTION}: sampling is marked false, and follows up to constants from {SELECTION}/explicit" in found


def test_the_refuted_half_would_be_found_if_it_were_believed():
    found = told(as_it_was(SELECTION, {"printed"}, status=Status.PROVED, relies_on=()))
    assert any(f"{SELECTION} (at least) exceeds {SELECTION[:-2]}8/explicit" in text for text in found)


def test_a_lower_bound_may_not_grow_with_the_logarithm_of_delta():
    """√(d ln(1/δ))/(nε) was recorded as tight: for d < ln(1/δ) the exponential mechanism is better."""
    found = told(as_it_was(CONVEX, {"approximate"}, side=Side.TIGHT))
    assert any("where n ε >= d and d <= log(1/δ)" in text for text in found)


MINE = Theorem(
    id="mine/theorem-1",
    title="too good",
    statement="An order that nobody reaches.",
    where="here",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    status=Status.CLAIMED,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS),
    parts=(Rate(formula=lambda: lipschitz * diameter * sqrt(dimension) / dataset_size, unit=Unit(loss=1)),),
)


def test_a_statement_of_ones_own_is_held_against_the_library():
    found = told(MINE)
    for name in (f"{SELECTION}: sampling", f"{SELECTION}/explicit: sampling"):
        assert any(text.startswith(f"{name} (at least) exceeds mine/theorem-1 (at most) where n >= ") for text in found)
    fine = evolve(MINE, parts=(evolve(MINE.parts[0], formula=lambda: lipschitz * diameter * dimension**2),))
    assert told(fine) == []


def test_constants_decide_where_orders_agree():
    def half():
        return lipschitz * diameter * sqrt(dimension / dataset_size) / 10**4

    wrong = evolve(MINE, parts=(Bound(formula=half, unit=Unit(loss=1)),), status=Status.PROVED)
    relied = evolve(wrong, privacy=theorem(f"{SELECTION[:-2]}8/explicit").privacy)
    found = [one for one in refutations((relied,), library()) if "=" in one.where and "dataset_size" in one.where]
    assert any(one.first.startswith(f"{SELECTION}/explicit") for one in found)


def test_a_lower_bound_for_pure_privacy_binds_pure_algorithms_only():
    def little():
        private = sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon)
        return lipschitz * diameter * (sqrt(dimension / dataset_size) + private)

    mine = evolve(MINE, parts=(Rate(formula=little, unit=Unit(loss=1)),))
    assert told(mine) == []
    pure = evolve(mine, parts=(evolve(mine.parts[0], under=Claim.PURE),))
    assert any("pure_privacy (at least) exceeds mine/theorem-1" in text for text in told(pure))


@pytest.mark.parametrize("metric", GOALS)
def test_no_floor_hides_what_decides(metric):
    """Nothing that leaves out n, d or ε is a lower bound anywhere in their space."""
    hiding = {
        one.id
        for one in library()
        for part, side in claims_of(one, metric)
        if side is Side.LOWER and isinstance(part, Rate) and set(part.hides) & set(DECIDING)
    }
    found = promises(metric, assuming=["l1 ball or simplex", "Lipschitz in l1", "convex"])
    assert not hiding & {one.id.split(": ")[0] for one in (*found.lowers, *found.pure_lowers)}
    if metric is Metric.EXCESS_EMPIRICAL_RISK:
        assert hiding == {LASSO}


def test_a_lower_bound_in_another_norm_does_not_pass_on_to_a_larger_class():
    plain = dict(promises("excess-empirical-risk").left_out)
    assert "its scale is that of Lipschitz in l1" in " ".join(
        reason for name, reason in promises("excess-empirical-risk").left_out if name == LASSO
    )
    assert LASSO in plain
    lower = evolve(theorem(LASSO).parts[1], hides=(), unit=Unit(loss=1), conditions=())
    full = evolve(theorem(LASSO), parts=(lower,))
    found = promises("excess-empirical-risk", statements=(full,))
    assert found.lowers == ()
    there = promises(
        "excess-empirical-risk", statements=(full,), assuming=["l1 ball or simplex", "Lipschitz in l1", "convex"]
    )
    assert [one.id for one in there.lowers] == [f"{LASSO}"]


def test_hidden_logarithms_are_no_contradiction():
    """A lower bound with logarithms does not refute a rate that hides them; it refutes one that does not."""

    def plain():
        private = sqrt(dimension) / (dataset_size * epsilon)
        return lipschitz * diameter * (sqrt(dimension / dataset_size) + private)

    part = evolve(MINE.parts[0], formula=plain)
    lower = "dpbounds/lower-bound/population-convex (at least) exceeds mine/theorem-1 (at most) where"
    assert any(text.startswith(lower) for text in told(evolve(MINE, parts=(part,))))
    assert told(evolve(MINE, parts=(evolve(part, logs_hidden=True),))) == []


def test_a_choice_among_points_that_are_given_is_no_promise():
    """Lemma 4.1: the α of the points is a value that is put in, however small."""
    lemma = theorem("ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit")
    assert needs_another(lemma, lemma.bound)
    assert told(lemma) == []


def test_the_example_of_the_documents_contradicts_nothing():
    root = Path(__file__).parents[2]
    assert told(theorem(str(root / "docs" / "my_theorem.py"))) == []


def test_smoothness_is_regularity_and_no_shape():
    smooth = evolve(MINE, assumptions=(LIPSCHITZ, SAMPLED_RECORDS, SMOOTH))
    assert told(smooth)


def test_the_comparison_is_no_formality():
    """Lower and upper bound for private selection are within a factor of a thousand: a wrong power of n would show."""
    lower, upper = (theorem(f"ganesh-liu-oh-thakurta-2023/{name}/explicit") for name in ("theorem-5.11", "theorem-5.8"))
    for size in (10**6, 10**9):
        at = {"dataset_size": size, "dimension": 50, "epsilon": 1, "delta": "1e-12", "lipschitz": 1, "diameter": 2}
        below, above = evaluate(lower, None, at).value, evaluate(upper, "tuned", at).value
        assert below.exact_lower <= above.exact_upper < 1000 * below.exact_upper


@pytest.mark.parametrize(("epsilon", "delta"), [("1/1000", "1/3"), ("1", "1e-6"), ("10", "1e-40")])
def test_statements_are_compared_at_a_rho_that_the_budget_allows(epsilon, delta):
    """ρ-zCDP is (ρ + 2√(ρ ln(1/δ)), δ)-DP (Bun and Steinke 2016, Proposition 1.3); hardly more than that is left."""
    rho = _rho({"epsilon": Fraction(epsilon), "delta": Fraction(delta)})
    spent = float(rho) + 2 * math.sqrt(float(rho) * -math.log(float(Fraction(delta))))
    assert spent <= float(Fraction(epsilon))
    assert spent == pytest.approx(float(Fraction(epsilon)), rel=1e-5)
