"""`dp.convert` against closed forms at 50 digits, chains of implications, and the examples of refusals."""

import dataclasses
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from mpmath import mp

import dpbounds as dp
from dpbounds.privacy.accountants.arrows import ARROWS, NOTIONS, arrow_of
from dpbounds.privacy.accountants.gaussian_dp import gdp_parameter_of_all_tests
from dpbounds.privacy.notions import conversions, notions

RE = "replace-one"
AT = {
    "pure": {},
    "epsilon": {"delta": "1e-3"},
    "delta": {"epsilon": "1/3"},
    "renyi": {"order": 3},
    "zcdp": {},
    "gdp": {},
    "trade-off": {"false_positive_rate": "0.05"},
}
GUARANTEES = {
    dp.PureDP: dp.PureDP("3/4", relation=RE),
    dp.ApproximateDP: dp.ApproximateDP("3/4", "1e-4", relation=RE),
    dp.ProfileDP: dp.ProfileDP({"1/2": "0.1", 1: "1e-3", 2: "1e-5"}, relation=RE),
    dp.ZCDP: dp.ZCDP("1/5", relation=RE),
    dp.RenyiDP: dp.RenyiDP({2: "1/2", 8: 3}, relation=RE),
    dp.GaussianDP: dp.GaussianDP("2/3", relation=RE),
}
BOUNDED = dp.ProfileDP({"1/2": "0.1", 1: "1e-3", 2: 0}, relation=RE)


def phi(x):
    return mpmath.ncdf(x)


def quantile(p):
    return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


def mpf(value):
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


def pure(e):
    e = mpf(e)
    p = mpmath.exp(e) / (1 + mpmath.exp(e))
    return {
        "pure": e,
        "epsilon": e + mpmath.log(1 - mpf("1/1000") * (1 + mpmath.exp(-e))),
        "delta": p - mpmath.exp(mpf("1/3")) * (1 - p),
        "renyi": mpmath.log(p**3 * (1 - p) ** -2 + (1 - p) ** 3 * p**-2) / 2,
        "zcdp": e * mpmath.tanh(e / 2),
        "gdp": 2 * quantile(p),
        "trade-off": 1 - mpmath.exp(e) * mpf("1/20"),
    }


def gaussian(mu):
    mu = mpf(mu)

    def delta(e):
        return phi(mu / 2 - e / mu) - mpmath.exp(e) * phi(-mu / 2 - e / mu)

    return {
        "epsilon": mpmath.findroot(lambda e: delta(e) - mpf("1/1000"), (1.0, 3.0), solver="anderson", tol=1e-40),
        "delta": delta(mpf("1/3")),
        "renyi": 3 * mu**2 / 2,
        "zcdp": mu**2 / 2,
        "gdp": mu,
        "trade-off": phi(quantile(1 - mpf("1/20")) - mu),
    }


def approximate(e, d):
    e, d = mpf(e), mpf(d)
    t = (mpf("1/1000") - d) / (1 - d)
    return {
        "epsilon": e + mpmath.log(1 - t * (1 + mpmath.exp(-e))),
        "delta": d + (1 - d) * (1 - mpmath.exp(mpf("1/3") - e)) / (1 + mpmath.exp(-e)),
        "trade-off": 1 - d - mpmath.exp(e) * mpf("1/20"),
    }


def concentrated(rho, xi=0):
    """The conversion of Canonne, Kamath & Steinke at the best order."""
    rho, xi = mpf(rho), mpf(xi)

    def epsilon(order):
        u = order - 1
        return xi + rho * order + mpmath.log(u / order) - mpmath.log(mpf("1/1000") * order) / u

    def log_delta(order):
        u = order - 1
        return u * (xi + order * rho - mpf("1/3")) + u * mpmath.log(u / order) - mpmath.log(order)

    def least(value):
        best = mpmath.mpf("inf")
        low, high = mpf("1.000001"), mpmath.mpf(10) ** 4
        for _ in range(12):  # finer and finer in log u
            places = [low * (high / low) ** (mpmath.mpf(k) / 40) for k in range(41)]
            found = [value(1 + place) for place in places]
            k = found.index(min(found))
            best, low, high = min(best, found[k]), places[max(0, k - 1)], places[min(40, k + 1)]
        return best

    return {"epsilon": least(epsilon), "delta": mpmath.exp(least(log_delta)), "renyi": xi + 3 * rho, "zcdp": xi + rho}


EXACT = [
    (GUARANTEES[dp.PureDP], lambda: pure("3/4")),
    (GUARANTEES[dp.GaussianDP], lambda: gaussian("2/3")),
    (GUARANTEES[dp.ApproximateDP], lambda: approximate("3/4", "1/10000")),
    (dp.ApproximateDP("3/4", 0, relation=RE), lambda: pure("3/4")),
]


@pytest.mark.parametrize(("guarantee", "formulas"), EXACT, ids=lambda value: getattr(value, "name", ""))
def test_tight_arrows_are_the_closed_forms(guarantee, formulas):
    with mp.workdps(50):
        for to, value in formulas().items():
            found = dp.convert(guarantee, to, **AT[to]).enclosure
            assert mpf(found.exact_lower) - mpf("1e-30") <= value <= mpf(found.exact_upper) + mpf("1e-30"), to
            assert found.width < 1e-4 * found.upper, to


@pytest.mark.parametrize("xi", ["0", "1/7"])
def test_concentrated_privacy_at_its_best_order(xi):
    with mp.workdps(50):
        for to, value in concentrated("1/5", xi).items():
            found = dp.convert(dp.ZCDP("1/5", relation=RE, xi=xi), to, **AT[to])
            assert value * (1 - mpf("1e-9")) <= mpf(found.proven) <= value * (1 + mpf("1e-4")), to
            attained = max(concentrated("1/5")[to] if to in ("renyi", "zcdp") else 0, 0)
            assert mpf(found.enclosure.exact_lower) >= attained * (1 - mpf("1e-9"))


def test_what_attains_the_concentrated_guarantee():
    """Gaussian noise with μ² = 2ρ, or a randomised response with ε = ξ: the lower end is the larger of the two."""
    for rho, xi, attack in (
        ("1/5", "1/7", dp.GaussianDP("0.6324", relation=RE)),
        ("1e-6", 1, dp.PureDP(1, relation=RE)),
    ):
        found = dp.convert(dp.ZCDP(rho, relation=RE, xi=xi), "delta", epsilon="1/3").enclosure
        assert found.lower >= dp.delta(attack, "1/3", RE).lower * (1 - 1e-9)
        assert found.lower <= found.upper


@pytest.mark.parametrize("to", NOTIONS)
@pytest.mark.parametrize("start", GUARANTEES, ids=lambda kind: kind.name)
def test_every_arrow_is_as_the_table_says(start, to):
    """A tight arrow has a narrow interval, and one without a finite number is refused with its reason."""
    arrow = ARROWS[start, to]
    if not arrow.theorem or (start is dp.ProfileDP and arrow.none):
        with pytest.raises(dp.UnsupportedMechanism) as refused:
            dp.convert(GUARANTEES[start], to, **AT[to])
        assert arrow.none in str(refused.value)
        if not arrow.theorem:
            return
    guarantee = BOUNDED if start is dp.ProfileDP else GUARANTEES[start]
    found = dp.convert(guarantee, to, **AT[to])
    assert found.arrow is arrow
    relative = found.enclosure.width / found.enclosure.upper
    if arrow.tight:
        assert relative < 1e-4
    elif start is not dp.ProfileDP:  # where the bound may be attained, as it depends on the points
        assert relative > 1e-3


def test_the_table_has_every_arrow_once():
    assert set(ARROWS) == {(start, to) for start in GUARANTEES for to in NOTIONS}
    assert all(bool(arrow.theorem or arrow.none) and arrow.source and arrow.proof for arrow in ARROWS.values())
    assert arrow_of(dp.ApproximateDP(1, 0, relation=RE), "pure") is ARROWS[dp.PureDP, "pure"]
    assert arrow_of(dp.Laplace(1), "pure") is None
    assert [arrow_of(dp.ZCDP(1, relation=RE, xi=xi), "renyi").tight for xi in (0, 1)] == [True, False]


AS_NOTIONS = {
    dp.PureDP: notions.PureDP("3/4", RE),
    dp.ApproximateDP: notions.ApproximateDP("3/4", "1e-4", RE),
    dp.ZCDP: notions.ZeroConcentratedDP("1/5", RE),
    dp.RenyiDP: notions.RenyiDP([(2, "1/2"), (8, 3)], RE),
    dp.GaussianDP: notions.GaussianDP("2/3", RE),
}
KINDS = {
    "pure": notions.PureDP,
    "epsilon": notions.ApproximateDP,
    "delta": notions.ApproximateDP,
    "renyi": notions.RenyiDP,
    "zcdp": notions.ZeroConcentratedDP,
}


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("start", AS_NOTIONS, ids=lambda kind: kind.name)
def test_chains_of_implications_say_the_same(start, to):
    places = {"orders": [3]} if to == "renyi" else AT[to]
    if not ARROWS[start, to].theorem:
        with pytest.raises(dp.UnsupportedMechanism):
            conversions.convert(AS_NOTIONS[start], KINDS[to], **places)
        return
    chained = conversions.convert(AS_NOTIONS[start], KINDS[to], **places).notion
    value = chained.delta if to == "delta" else chained.parameters[0]
    proven = float(dp.convert(GUARANTEES[start], to, **AT[to]).proven)
    if start is dp.RenyiDP and to == "renyi":  # which a second convex function sharpens
        assert 0.9 * float(value) < proven < float(value)
    else:
        assert proven == pytest.approx(float(value), rel=1e-4)


def rates_of(mu, a):
    """The false negative rate of the best test between N(0, 1) and N(μ, 1)."""
    return phi(quantile(1 - a) - mu)


def test_pure_privacy_is_gaussian_privacy_with_no_smaller_parameter():
    with mp.workdps(40):
        for epsilon in ("1/10", "1", "3"):
            e = mpf(Fraction(epsilon))
            mu = mpf(dp.convert(dp.PureDP(epsilon, relation=RE), "gdp").proven)
            places = [mpmath.exp(-mpf(k) / 4) / 2 for k in range(80)]
            assert all(
                rates_of(mu, a) <= max(1 - mpmath.exp(e) * a, mpmath.exp(-e) * (1 - a)) + mpf("1e-18") for a in places
            )
            corner = 1 / (1 + mpmath.exp(e))
            assert rates_of(mu * (1 - mpf("1e-9")), corner) > corner


@pytest.mark.seconds
@pytest.mark.parametrize("rho", ["1e-3", "1/2", "6"])
def test_concentrated_privacy_is_gaussian_privacy_at_every_rate(rho):
    """At tiny rates Rényi divergences allow β = e^(-(s - sqrt ρ)²) at a = e^(-s²): μ is no less than that needs."""
    found = dp.convert(dp.ZCDP(rho, relation=RE), "gdp").enclosure
    with mp.workdps(200):
        root, mu = mpmath.sqrt(mpf(Fraction(rho))), mpf(found.exact_upper)
        assert mu >= mpmath.sqrt(2) * root
        for s in (mpf(k) / 4 + root + mpf("0.5") for k in range(1, 60, 6)):
            z_a = -quantile(mpmath.exp(-(s**2)))
            z_b = -quantile(mpmath.exp(-((s - root) ** 2)))
            allowed = 1 - mpmath.exp(-((s - root) ** 2)) >= mpmath.exp(-(s**2))
            assert s < root + 3 or not allowed or z_a - z_b <= mu


def test_the_bound_beyond_the_rates_that_are_computed(monkeypatch):
    """μ is the larger of what the computed rates need, and what lies beyond: each alone is not enough."""
    from dpbounds.privacy.accountants import gaussian_dp

    rate, beyond = gaussian_dp._beyond_by_rho(Fraction(1, 2))
    with mp.workdps(200):
        root = mpmath.sqrt(mpf("1/2"))
        steepest = max(
            (-quantile(mpmath.exp(-(s**2))) + quantile(mpmath.exp(-((s - root) ** 2))))
            for s in (mpmath.sqrt(-mpmath.log(mpf(rate))) + mpf(k) / 8 for k in range(0, 60, 6))
        )
        assert steepest <= mpf(beyond) <= mpf("1.2") * steepest
        rate, beyond = gaussian_dp._beyond_by_largest_loss(Fraction(2))
        accused = mpmath.exp(2) * mpf(rate)
        assert mpf(beyond) == pytest.approx(-quantile(mpf(rate)) + quantile(accused), rel=1e-12)
    assert rate <= Fraction(1, 10**6) / 64


def test_tests_of_tiny_rates_may_need_more_than_the_others():
    """A loss of 8 with probability 1e-11: the test with the corner's rates lies beyond the rates that are computed."""
    found = dp.convert(dp.ProfileDP({0: "1e-11", 8: 0}, relation=RE), "gdp").enclosure
    with mp.workdps(60):
        a = mpf("1e-11") / (mpmath.exp(8) - 1)
        needed = quantile(1 - a) - quantile(1 - mpmath.exp(8) * a)
        assert mpf("1.06") < needed <= mpf(found.exact_upper) < mpf("1.2")


def test_all_tests_of_a_sample_need_the_parameter_of_the_full_batch():
    training = dp.PoissonSampled(dp.Gaussian(1), "0.1")
    found = dp.convert(training, "gdp")
    assert found.enclosure.exact_upper == 1
    assert found.guarantee == dp.GaussianDP(1, relation="add-or-remove-one")
    in_range = dp.convert(training, "gdp", least_rate="1e-3")
    assert in_range.enclosure.upper < 0.32
    assert in_range.guarantee is None
    assert in_range.at == Fraction(1, 1000)


def test_finitely_many_orders_give_no_rho_and_no_mu():
    """Two outcomes, of masses a^c and a: every order up to 8 is small, no ρ and no μ holds (conversions.md, 8)."""
    with mp.workdps(340):
        c, needed = mpf("15/16"), []
        for k in (40, 200, 1000):
            a = mpf(2) ** -k
            p, q = (a**c, 1 - a**c), (a, 1 - a)
            for one, other in ((p, q), (q, p)):
                moments = [
                    mpmath.log(sum(x**order * y ** (1 - order) for x, y in zip(one, other, strict=True))) / (order - 1)
                    for order in range(2, 9)
                ]
                assert max(moments) < mpf(2) ** (mpf(-k) / 3)
            rho = mpmath.log(sum(x**32 * y**-31 for x, y in zip(p, q, strict=True))) / 31 / 32
            needed.append((rho, quantile(1 - a) - quantile(1 - a**c)))
        assert all(later[0] > 4 * sooner[0] for sooner, later in pairwise(needed))
        assert all(later[1] > 2 * sooner[1] for sooner, later in pairwise(needed))


def test_a_mechanism_is_converted_as_a_guarantee_is():
    assert dp.convert(dp.Laplace(1), "pure").enclosure == dp.epsilon(dp.Laplace(1), 0)
    found = dp.convert(dp.Laplace(1), "zcdp").enclosure
    with mp.workdps(50):
        assert found.contains(Fraction(str(mpmath.nstr(mpmath.exp(-1), 40))))
    assert dp.convert(dp.Gaussian(2), "renyi", order="5/2", relation=RE).enclosure.contains("5/4")
    assert dp.convert(dp.RandomizedResponse(1), "pure", relation=RE).arrow is None
    with pytest.raises(dp.UnsupportedMechanism, match="loss is unbounded"):
        dp.convert(dp.Gaussian(1) @ dp.Laplace(1), "pure")
    with pytest.raises(dp.UnsupportedMechanism, match="least_rate"):
        dp.convert(dp.UniformBall(20, 3), "gdp")
    with pytest.raises(dp.UnsupportedMechanism, match="delta at an epsilon"):
        dp.convert(dp.UniformBall(20, 3), "epsilon", delta="1e-3")
    with pytest.raises(dp.UnsupportedMechanism, match="infinite"):
        dp.convert(dp.UniformBall(20, 3), "renyi", order=2)


def test_a_replacement_is_two_steps():
    """Twice μ, and four times ρ, without an arrow: the table is of one relation."""
    for guarantee, to, value in ((dp.GaussianDP, "gdp", 1), (dp.ZCDP, "zcdp", 2)):
        found = dp.convert(guarantee("1/2", relation="add-or-remove-one"), to, relation=RE)
        assert (found.proven, found.arrow, str(found.relation)) == (value, None, RE)
    for refused in (
        dp.ProfileDP({1: "0.1"}, relation="add-or-remove-one"),
        dp.ZCDP(1, relation="add-or-remove-one", xi=1),
    ):
        with pytest.raises(dp.UnsupportedMechanism, match="declare"):
            dp.convert(refused, "delta", epsilon=1, relation=RE)


def test_the_proven_end_is_a_guarantee():
    start = dp.PureDP("3/4", relation=RE)
    for to, kind in (("pure", dp.PureDP), ("zcdp", dp.ZCDP), ("gdp", dp.GaussianDP), ("renyi", dp.RenyiDP)):
        found = dp.convert(start, to, **AT[to])
        assert isinstance(found.guarantee, kind)
        again = dp.convert(found.guarantee, "delta", epsilon="1/3")
        assert again.enclosure.upper >= dp.convert(start, "delta", epsilon="1/3").enclosure.lower
    at = dp.convert(start, "epsilon", delta="1e-3")
    assert at.guarantee == dp.ApproximateDP(at.proven, "1e-3", relation=RE)
    at = dp.convert(start, "delta", epsilon="1/3")
    assert at.guarantee == dp.ApproximateDP("1/3", at.proven, relation=RE)
    point = dp.convert(start, "trade-off", false_positive_rate="0.05")
    assert point.proven == point.enclosure.exact_lower
    assert point.guarantee is None
    nothing = dp.convert(dp.ApproximateDP(0, 0, relation=RE), "zcdp")
    assert (nothing.proven, nothing.guarantee) == (0, None)


def test_a_conversion_shows_itself():
    found = dp.convert(dp.PureDP(1, relation=RE), "delta", epsilon="1/3")
    assert "epsilon: 1/3" in str(found)
    assert "Kairouz" in found._repr_html_()
    assert "theorem" not in str(dp.convert(dp.Laplace(1), "pure"))


@pytest.mark.parametrize(
    ("to", "given", "told"),
    [
        ("epsilon", {}, "delta must be given"),
        ("delta", {"delta": "0.1"}, "delta must be left out"),
        ("renyi", {"order": 1}, "order"),
        ("pure", {"epsilon": 1}, "epsilon must be left out"),
        ("zcdp", {"least_rate": "0.1"}, "least_rate must be left out"),
        ("trade-off", {"false_positive_rate": 2}, "false_positive_rate"),
        ("gdp", {"least_rate": 2}, "least_rate"),
        ("rdp", {}, "to"),
        ("epsilon", {"delta": 0}, "delta"),
    ],
)
def test_what_is_refused(to, given, told):
    with pytest.raises((dp.InvalidValue, dp.NotCertified), match=told):
        dp.convert(GUARANTEES[dp.PureDP], to, **given)


def test_only_a_mechanism_is_converted():
    with pytest.raises(dp.InvalidValue):
        dp.convert(0.1, "zcdp")  # type: ignore[arg-type]


def test_no_parameter_for_all_tests_without_a_reason():
    with pytest.raises(dp.UnsupportedMechanism, match="all tests"):
        gdp_parameter_of_all_tests(dp.ApproximateDP(1, "1e-3", relation=RE), RE)


@pytest.mark.parametrize("mu", ["1e-9", "30", "1000", "1e6"])
def test_a_gaussian_guarantee_of_any_size_keeps_its_parameter(mu):
    found = dp.convert(dp.GaussianDP(mu, relation=RE), "gdp").enclosure
    assert found.exact_lower <= Fraction(mu) <= found.exact_upper
    assert found.exact_upper - found.exact_lower < Fraction(mu) / 10**30


def test_without_a_test_in_reach_the_parameter_of_full_batches_is_not_attained():
    found = dp.convert(dp.PoissonSampled(dp.Gaussian("0.01"), "0.1"), "gdp").enclosure
    assert (found.exact_lower, found.exact_upper) == (0, 100)


@pytest.mark.parametrize("epsilon", ["1e-9", "8.1", "30", "1000"])
def test_the_best_parameter_of_pure_privacy_at_any_epsilon(epsilon):
    found = dp.convert(dp.PureDP(epsilon, relation=RE), "gdp").enclosure
    with mp.workdps(900):
        exact = -2 * quantile(1 / (1 + mpmath.exp(mpf(Fraction(epsilon)))))
        assert exact <= mpf(found.exact_upper) <= exact * (1 + mpf("1e-15"))
        assert mpf(found.exact_lower) <= exact
        assert Fraction(epsilon) > 40 or mpf(found.exact_lower) > exact * (1 - mpf("1e-9"))


@pytest.mark.parametrize("rho", ["1e4", "1e10", "1e12"])
def test_a_divergence_too_large_for_a_parameter_of_all_tests_is_refused(rho):
    with pytest.raises(dp.NotCertified, match="no μ is proven here for all tests"):
        dp.convert(dp.ZCDP(rho, relation=RE), "gdp")


@pytest.mark.parametrize("field", ["mechanism", "to", "at", "relation", "enclosure", "arrow"])
def test_a_conversion_has_fields_of_its_types(field):
    with pytest.raises(dp.InvalidValue, match=field):
        dataclasses.replace(dp.convert(dp.PureDP(1, relation=RE), "zcdp"), **{field: "nonsense"})
