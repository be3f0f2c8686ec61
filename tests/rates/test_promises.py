"""What is laid side by side, and what is not: metrics, shapes of problems, statuses, hidden quantities."""

from fractions import Fraction

import pytest

from dpbounds.errors import InvalidValue
from dpbounds.rates.orders import Order
from dpbounds.rates.promises import claims_of, compared, metrics, promises, shapes
from dpbounds.rates.regimes import Restricted, compare, regimes
from dpbounds.rates.spaces import at_epsilon, in_letters, standard
from dpbounds.render.catalogue.by_metric import by_metric
from dpbounds.theorems.record import Metric, Side, Status
from dpbounds.theorems.registry import library, theorem
from dpbounds.theorems.standing import PROVEN, standing


def ids(family):
    return {one.id for one in family}


def test_every_statement_is_compared_or_left_out_with_a_reason():
    for metric in metrics():
        found = promises(metric)
        ranked = {one.id.split(": ")[0] for one in (*found.uppers, *found.lowers, *found.pure_lowers)}
        known = ranked | {name for name, _ in found.left_out}
        own = {
            one.id
            for one in library()
            if metric in (one.metric, one.reaches) and one.side is not None
            and not one.id.split("/")[-1].startswith(("table-", "figure-"))
        }  # fmt: skip
        assert own <= known, metric
        assert all(reason for _, reason in found.left_out)


# Numbers of records that suffice for something that is no metric of the library, or for one that somebody else reached
NO_METRIC = {
    "wang-chen-xu-2019/theorem-8/explicit": "to tell a second-order point from others, if one is among those given",
    "wang-chen-xu-2019/theorem-9": "within a set, where a second-order point has two tolerances",
    "wang-chen-xu-2019/theorem-9/explicit": "within a set, where a second-order point has two tolerances",
}


def test_a_proved_number_of_records_says_for_what_it_is_enough():
    proved = [one for one in library() if one.metric is Metric.SAMPLE_SIZE and standing(one) in PROVEN]
    assert {one.id for one in proved if one.reaches is None} == set(NO_METRIC)
    for one in proved:
        if one.reaches is not None:
            reasons = dict(promises(one.reaches).left_out)
            assert reasons[one.id].startswith("it says how many records suffice")


def test_a_number_of_records_leads_to_its_order():
    reasons = dict(promises("sosp").left_out)
    path = "dpbounds/second-order-path-noise"
    for name in (f"{path}/iterative", f"{path}/warm-start/iterative"):
        (order,) = (one for one in library() if one.metric is Metric.SOSP and name in one.relies_on)
        assert order.id in reasons[name]
        assert order.id in {one.id for one in promises("sosp").uppers}
    assert reasons["dpbounds/negative-curvature-descent"].endswith("no order in n is stated")


def test_a_warm_start_reaches_the_lower_bound_at_a_constant_dimension():
    """At d = 1 and ε = 1 its bound with constants falls like 1/n, and so does the map's best order."""
    known = promises("sosp")
    (there,) = (one for one in compared(known) if one.cone.contains((Fraction(1), Fraction(0), Fraction(0))))
    assert "dpbounds/second-order-path-noise/warm-start/rate" in there.best
    assert in_letters(there.value) == "d^(2/3)/(n ε)"
    assert in_letters(there.gap) == "d^(1/6)"


def test_the_map_of_second_order_points():
    """At d = n^x the best order's exponent of n, from the accounts of the path and its searches."""
    found = compared(promises("sosp"))
    for d, exponent in ((0, -1), (Fraction(1, 4), Fraction(-5, 6)), (Fraction(1, 2), Fraction(-2, 3)),
                        (Fraction(3, 4), Fraction(-1, 2)), (Fraction(3, 2), Fraction(-1, 6)), (3, 0)):  # fmt: skip
        point = (Fraction(1), Fraction(d), Fraction(0))
        for one in found:
            if one.cone.contains(point):
                assert one.space.value(Order.single(one.value), point) == exponent


def test_the_map_of_small_gradients_of_the_population():
    """At d = n^x and ε = n^-y the best order's exponent of n: path noise where privacy costs more than sampling."""
    path, found = "dpbounds/population-path-noise", compared(promises("population-gradient-norm"))
    for x, y, exponent, by in (
        (Fraction(1, 5), Fraction(1, 2), Fraction(-11, 30), f"{path}/warm-start"),  # d^(2/3)/(nε)
        (Fraction(1, 2), Fraction(3, 5), Fraction(-1, 10), path),  # (√d/(nε))^(2/3)
        (
            Fraction(3, 4),
            0,
            Fraction(-3, 8),
            "dpbounds/population-tree-spider",
        ),  # d^(1/6)/√n, where sampling costs more
    ):
        point = (Fraction(1), x, -Fraction(y))
        (there, *_) = (one for one in found if one.cone.contains(point))
        assert there.space.value(Order.single(there.value), point) == exponent
        assert by in there.best


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
    assert reason == "needs a value of kl_exponent, which is in an exponent"
    found = promises("gradient-norm", assuming=["Kurdyka-Łojasiewicz"], values={"kl_exponent": Fraction(2)})
    assert name in ids(found.uppers)


def test_a_hidden_dependence_cannot_be_compared_where_it_grows():
    name = "cited/gao-wright-2023/main-result"
    assert dict(promises("sosp").left_out)[name] == "the published order hides how it depends on epsilon"
    assert name in ids(promises("sosp", space=at_epsilon(0)).uppers)  # the paper means a constant ε
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


def test_by_how_much_a_risk_falls_is_no_order_of_a_gradient():
    fall = theorem("ganesh-liu-oh-thakurta-2023/lemma-3.4")
    assert (fall.metric, fall.side) == (Metric.SOSP, Side.LOWER)
    assert claims_of(fall, Metric.SOSP) == ()
    assert fall.id not in str(by_metric("sosp", {}).rows)
    assert "dpbounds/second-order-path-noise/rate" in str(by_metric("sosp", {}).rows)
