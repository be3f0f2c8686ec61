"""What is laid side by side, and what is not: metrics, shapes of problems, statuses, hidden quantities."""

from fractions import Fraction

import pytest

from dpbounds.errors import InvalidValue
from dpbounds.rates.orders import Order
from dpbounds.rates.promises import metrics, promises, shapes
from dpbounds.rates.regimes import Restricted, compare, regimes
from dpbounds.rates.spaces import at_epsilon, standard
from dpbounds.theorems.record import Metric, Side, Status
from dpbounds.theorems.registry import library, theorem
from dpbounds.theorems.standing import standing


def ids(family):
    return {one.id for one in family}


def test_every_statement_is_compared_or_left_out_with_a_reason():
    for metric in metrics():
        found = promises(metric)
        compared = {one.id.split(": ")[0] for one in (*found.uppers, *found.lowers, *found.pure_lowers)}
        known = compared | {name for name, _ in found.left_out}
        own = {
            one.id
            for one in library()
            if one.metric == metric and (one.rate or one.bound) and one.side is not None
            and not one.id.split("/")[-1].startswith(("table-", "figure-"))
        }  # fmt: skip
        assert own <= known, metric
        assert all(reason for _, reason in found.left_out)


def test_a_second_order_point_has_a_small_gradient():
    found = promises("gradient-norm", statuses=["claimed", "proved", "disputed"])
    assert "lowy-ullman-wright-2024/corollary-4.4" in ids(found.uppers)
    assert "cited/arora-et-al-2023/theorem-4.2" not in ids(promises("sosp").uppers)


def test_a_special_shape_is_assumed_or_left_out():
    name = "lowy-ullman-wright-2024/corollary-5.3"
    assert dict(promises("gradient-norm").left_out)[name] == "assumes quasar-convex"
    assert name in ids(promises("gradient-norm", assuming=["quasar-convex"]).uppers)
    assert name in ids(promises("gradient-norm", assuming=["star-convex"]).uppers)  # which implies it


def test_a_lower_bound_holds_for_the_classes_of_its_examples():
    name = "cited/arora-et-al-2023/theorem-4.3"  # its examples are convex
    assert name in ids(promises("gradient-norm").lowers)
    assert name in ids(promises("gradient-norm", assuming=["quasar-convex"]).lowers)
    reasons = dict(promises("gradient-norm", assuming=["Polyak-Łojasiewicz"]).left_out)
    assert reasons[name] == "as a lower bound: its hard examples are not known to be Polyak-Łojasiewicz"


def test_quasar_convex_losses_meet_the_lower_bound():
    found = promises("gradient-norm", assuming=["quasar-convex"])
    regions = regimes({one.id: one.order for one in found.uppers}, {one.id: one.order for one in found.lowers})
    assert all(region.gap is not None and region.gap.powers == () for region in regions)


def test_kl_losses_at_an_exponent():
    name = "lowy-ullman-wright-2024/corollary-6.3"
    reason = dict(promises("gradient-norm", assuming=["Kurdyka-Łojasiewicz"]).left_out)[name]
    assert reason == "needs a value of kl_exponent, which stands in exponents"
    found = promises("gradient-norm", assuming=["Kurdyka-Łojasiewicz"], values={"kl_exponent": Fraction(2)})
    assert name in ids(found.uppers)


def test_what_print_hides_cannot_be_compared_where_it_grows():
    name = "cited/gao-wright-2023/main-result"
    assert dict(promises("sosp").left_out)[name] == "print hides how it depends on epsilon"
    assert name in ids(promises("sosp", space=at_epsilon(0)).uppers)  # a constant ε is what print means
    assert name not in ids(promises("sosp", space=at_epsilon(1)).uppers)


def test_a_proof_is_as_good_as_what_it_rests_on():
    for one in library():
        known = standing(one)
        assert known in Status
        if one.status is Status.FALSE:
            assert known is Status.FALSE
        for name in one.relies_on:
            below = standing(theorem(name))
            if below in (Status.FALSE, Status.DISPUTED) and one.status not in (Status.DEFINITION, Status.EMPIRICAL):
                assert known in (Status.DISPUTED, Status.FALSE), (one.id, name)


@pytest.mark.seconds
def test_lower_bounds_are_below_upper_bounds():
    """Up to the exponents, for every pair that bounds the same thing on the same problems."""
    pairs = 0
    for metric in metrics():
        for assuming in ((), *((name,) for name in shapes())):
            found = promises(metric, assuming=assuming)
            for upper in found.uppers:
                for lower in found.lowers:
                    capped = Restricted(upper.order.order.minimum(Order.of(1)), upper.order.region)
                    assert compare(capped, lower.order, standard()).smaller == (), (upper.id, lower.id)
                    pairs += 1
    assert pairs >= 20


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"metric": "nonsense"}, "metric must be .*, not nonsense"),
        ({"metric": "sosp", "statuses": ["nice"]}, "status must be .*, not nice"),
        ({"metric": "sosp", "assuming": ["round"]}, "assuming must be .*, not round"),
    ],
)
def test_unknown_words_are_refused(arguments, text):
    with pytest.raises(InvalidValue, match=text):
        promises(**arguments)


def test_every_metric_has_an_upper_bound():
    assert {"gradient-norm", "sosp", "frank-wolfe-gap", "excess-empirical-risk"} <= set(metrics())
    assert set(metrics()) <= set(Metric)
    for metric in metrics():
        assert any(one.metric == metric and one.side in (Side.UPPER, Side.TIGHT) for one in library())
