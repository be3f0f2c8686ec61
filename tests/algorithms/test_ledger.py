import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from dpbounds.algorithms import ledger as ledgers, noise
from dpbounds.algorithms.ledger import (
    BudgetedLedger,
    DescribedRelease,
    Ledger,
    OpenLedger,
    PlainDescent,
    PrivacyBudget,
    Release,
    closed,
)
from dpbounds.algorithms.ledger_format import read
from dpbounds.algorithms.oracles.perturbation import perturbed
from dpbounds.algorithms.sampling import Batch, Bins, Poisson, Truncated
from dpbounds.errors import BudgetExceeded, InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants import certified as accountants
from dpbounds.privacy.budgets.filters import GaussianFilter, RenyiFilter, ZCDPFilter
from dpbounds.privacy.mechanisms import (
    ZCDP,
    ExponentialMechanism,
    Gaussian,
    InParallel,
    Laplace,
    PoissonSampled,
    SampledWithoutReplacement,
    SampledWithReplacement,
    UniformBall,
)
from dpbounds.privacy.notions.notions import RenyiDP

LEDGER = Ledger(
    (Release(Fraction(3), Fraction(1, 4), count=9), Release(Fraction(1, 3), Fraction(1, 7), Fraction(1, 9)))
)
PLAIN = Ledger((Release(Fraction(20), Fraction(1, 2), count=16),))  # noise multiplier 40, 16 times: 10 once


def exact_gaussian_epsilon(mu, delta):
    def excess(epsilon):
        upper = stats.norm.sf(epsilon / mu - mu / 2)
        return upper - math.exp(epsilon) * stats.norm.sf(epsilon / mu + mu / 2) - delta

    return optimize.brentq(excess, 0, 50, xtol=1e-13)


@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2), ("add-or-remove-one", 1)])
def test_spent_is_the_composed_gaussian_with_the_relations_factor(relation, factor):
    spent = PLAIN.spent("1e-5", relation)
    assert spent.lower <= spent.upper
    assert spent.upper == pytest.approx(exact_gaussian_epsilon(factor / 10, 1e-5), rel=1e-8)


def test_an_empty_ledger_spends_nothing():
    assert Ledger().spent("1e-5").upper == 0
    with pytest.raises(InvalidValue, match="delta"):
        Ledger().spent(2)
    with pytest.raises(InvalidValue, match="empty"):
        Ledger().mechanism()


def test_check_passes_within_the_budget_and_raises_above():
    spent = PLAIN.spent("1e-5")
    assert PLAIN.check(PrivacyBudget.of(spent.exact_upper, "1e-5")) == spent
    with pytest.raises(BudgetExceeded, match="do not publish"):
        PLAIN.check(PrivacyBudget.of(spent.exact_lower * Fraction(999, 1000), "1e-5"))
    with pytest.raises(BudgetExceeded):  # one release more than calibrated for
        Ledger((*PLAIN.releases, Release(Fraction(20), Fraction(1, 2)))).check(
            PrivacyBudget.of(spent.exact_upper, "1e-5")
        )


@pytest.mark.parametrize(
    ("low", "high", "error"), [("1/2", "1/2", None), (2, 2, BudgetExceeded), ("1/2", 2, NotCertified)]
)
def test_a_tie_is_decided_by_delta_at_the_budgets_own_epsilon(low, high, error, monkeypatch):
    spent = PLAIN.spent("1e-5")
    budget = PrivacyBudget.of((spent.exact_lower + spent.exact_upper) / 2, "1e-5")
    lost = Enclosure(budget.delta * Fraction(low), budget.delta * Fraction(high), "a proof", 53)
    monkeypatch.setattr(accountants, "delta", lambda *_, **__: lost)
    monkeypatch.setattr(closed, "_checked", Ledger._check)  # remembers nothing
    if error is None:
        assert PLAIN.check(budget).exact_upper == budget.epsilon
    else:
        with pytest.raises(error, match=r"loses delta|does not decide"):
            PLAIN.check(budget)


def test_mechanism_has_one_part_per_kind_with_its_count():
    assert [count for _, count in LEDGER.mechanism().parts] == [9, 1]
    first, second = (mechanism for mechanism, _ in LEDGER.mechanism().parts)
    assert first == Gaussian(12)
    assert second == PoissonSampled(Gaussian(Fraction(7, 3)), Fraction(1, 9))


def test_equal_releases_in_a_row_are_counted_together():
    pen = OpenLedger()
    for stddev in (1, 1, 2, 1):
        pen.gaussian(noise_stddev=Fraction(stddev), per_record_bound=Fraction(1))
    assert [(release.noise_stddev, release.count) for release in pen.close().releases] == [(1, 2), (2, 1), (1, 1)]


@pytest.mark.parametrize(
    ("epsilon", "delta", "relation", "message"),
    [
        (0, "1e-6", "replace-one", "epsilon must be .*, not 0"),
        (-1, "1e-6", "replace-one", "epsilon must be .*, not -1"),
        (1, 0, "replace-one", "delta must be .*, not 0"),
        (1, 1, "replace-one", "delta must be .*, not 1"),
        (1, "1e-6", "neighbour", "relation"),
    ],
)
def test_bad_budgets_are_refused(epsilon, delta, relation, message):
    with pytest.raises(InvalidValue, match=message):
        PrivacyBudget.of(epsilon, delta, relation)


def test_a_budget_of_floats_holds_at_the_decimals_that_were_typed():
    budget = PrivacyBudget.of(0.1, 1e-5)
    assert (budget.epsilon, budget.delta) == (Fraction("0.1"), Fraction("1e-5"))
    assert PrivacyBudget.of(1, 3e-7).delta == Fraction(3e-7) < Fraction("3e-7")


def test_a_ledger_rounds_the_numbers_of_a_guarantee_to_the_safe_side():
    assert str(DescribedRelease(ZCDP(Fraction(1, 3), relation="replace-one"))) == (
        "1 x a black box with rho-zCDP, rho at most 0.333333333334 (replace-one), the full batch"
    )


def test_a_ledger_prints_every_kind_of_release():
    assert str(LEDGER).count("x Gaussian") == 2
    assert "Poisson sample" in str(LEDGER)
    assert str(Ledger()) == "no releases"


# --- noise chosen as the run goes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ZCDPFilter, GaussianFilter])
def test_a_budgeted_ledger_refuses_before_any_noise_is_drawn(kind):
    allowed = kind.of(1, "replace-one").cost(Gaussian(8)) * 3
    pen = BudgetedLedger(kind.of(allowed, "replace-one"))
    (generator,) = noise.streams(0, 1)
    for _ in range(3):
        noise.gaussian([generator], 5, noise_stddev=4.0, per_record_bound=Fraction(1, 2), ledger=pen)
    before = generator.bit_generator.state
    with pytest.raises(BudgetExceeded, match=r"would cost .* nothing is left"):
        noise.gaussian([generator], 5, noise_stddev=4.0, per_record_bound=Fraction(1, 2), ledger=pen)
    assert generator.bit_generator.state == before
    assert pen.privacy_filter.remaining == 0
    assert [(release.noise_multiplier, release.count) for release in pen.close().releases] == [(8, 3)]


def test_a_refused_release_can_be_made_with_the_noise_that_fits():
    pen = BudgetedLedger(ZCDPFilter.for_target(1, "1e-6", "replace-one"))
    pen.gaussian(noise_stddev=Fraction(12), per_record_bound=Fraction(1))
    with pytest.raises(BudgetExceeded, match="least noise multiplier that still fits"):
        pen.gaussian(noise_stddev=Fraction(9), per_record_bound=Fraction(1))
    least = pen.privacy_filter.least_noise_multiplier
    pen.gaussian(noise_stddev=3 * least, per_record_bound=Fraction(3))
    assert [release.noise_multiplier for release in pen.close().releases] == [12, least]


def test_the_accountant_is_refused_for_an_adaptive_ledger():
    pen = BudgetedLedger(ZCDPFilter.of(1, "replace-one"))
    pen.gaussian(noise_stddev=Fraction(8), per_record_bound=Fraction(1))
    ledger = pen.close()
    assert ledger.adaptive
    assert not Ledger(ledger.releases).adaptive
    for call in (
        lambda: ledger.spent("1e-6"),
        lambda: ledger.check(PrivacyBudget.of(8, "1e-6")),
        lambda: ledger.check_plan(Gaussian(1)),
        ledger.mechanism,
        lambda: BudgetedLedger(ZCDPFilter.of(1, "replace-one")).close().spent("1e-6"),
    ):
        with pytest.raises(UnsupportedMechanism, match="chosen as the run went"):
            call()


def test_sampled_releases_are_spent_as_they_are_or_by_a_curve_of_ones_own():
    sampled = {"noise_stddev": Fraction(2), "per_record_bound": Fraction(1), "sampling": Poisson("1/128")}
    start = RenyiFilter.for_target([8], 8, "1e-6", "add-or-remove-one")
    alone = BudgetedLedger(start)
    alone.gaussian(**sampled)
    assert 0 < alone.privacy_filter.spent[0] < start.budgets[0] / 2
    asked = []

    def curve(release):
        asked.append(release)
        return RenyiDP([(8, start.budgets[0] / 2)], "add-or-remove-one")

    pen = BudgetedLedger(start, curve)
    pen.gaussian(**sampled)
    pen.gaussian(**sampled)
    with pytest.raises(BudgetExceeded):
        pen.gaussian(**sampled)
    assert pen.close().releases == (Release(Fraction(2), Fraction(1), Fraction(1, 128), 2),)
    assert len(asked) == 3


# --- releases of every kind ----------------------------------------------------------------------------------------


def mixed():
    pen = OpenLedger()
    pen.gaussian(noise_stddev=Fraction(3), per_record_bound=Fraction(1, 4), sampling=Batch(10, 100, replacement=False))
    pen.gaussian(noise_stddev=Fraction(3), per_record_bound=Fraction(1, 4), sampling=Batch(10, 100, replacement=True))
    pen.release(Laplace(3), 2)
    pen.release(Laplace(3))
    pen.release(SampledWithoutReplacement(UniformBall(5, 7), 1, 100))
    pen.release(Gaussian(9) @ Laplace(2) ** 3, 2)
    return pen.close()


def test_a_ledger_holds_every_kind_and_comes_back_from_json():
    ledger = mixed()
    assert Ledger.from_json(ledger.to_json()) == ledger
    assert ledger.mechanism().parts == (
        (SampledWithoutReplacement(Gaussian(12), 10, 100), 1),
        (SampledWithReplacement(Gaussian(12), 10, 100), 1),
        (Laplace(3), 3),
        (SampledWithoutReplacement(UniformBall(5, 7), 1, 100), 1),
        (Gaussian(9), 2),
        (Laplace(2), 6),
    )
    laplace = "3 x Laplace noise multiplier 3, the full batch"
    for text in ("10 of 100 records without replacement", laplace, "6 x Laplace"):
        assert text in str(ledger)


DESCENT = PlainDescent(Fraction(1, 100), Fraction(1, 7), "secret")
FIELDS = [
    {"seeded": True},
    {"adaptive": True},
    {"descent": DESCENT},
    {"descent": PlainDescent(Fraction(1, 100))},
    {"seeded": True, "adaptive": True, "descent": DESCENT},
    *(
        {"releases": (Release(Fraction(3, 7), Fraction(1, 9), *sampled),)}
        for sampled in (
            (None, 5),
            (Fraction(1, 9), 5),
            (None, 5, Batch(10, 100, replacement=False)),
            (None, 5, Batch(10, 100, replacement=True)),
            (None, 5, Truncated("1/4", 10, 100)),
        )
    ),
    {"releases": (DescribedRelease(Laplace(3), 5), DescribedRelease(Gaussian(3)))},
]


def test_every_field_of_a_ledger_comes_back_and_tells_it_from_others():
    ledgers_with = [replace(LEDGER, **fields) for fields in FIELDS]
    for ledger in ledgers_with:
        assert Ledger.from_json(ledger.to_json()) == ledger
        assert [other for other in (LEDGER, *ledgers_with) if other == ledger] == [ledger]
        if not ledger.adaptive:
            assert read(ledger.to_json()) == (ledger.mechanism(), ledger.seeded)


def test_what_is_said_of_a_seed_is_that_sentence_or_nothing():
    document = json.loads(replace(LEDGER, seeded=True).to_json())
    for wrong in ("", "on the seed", None, True):
        with pytest.raises(InvalidValue, match="condition"):
            Ledger.from_json(json.dumps({**document, "condition": wrong}))


def test_described_releases_are_spent_like_the_mechanism():
    pen = OpenLedger()
    pen.release(Laplace(4), 3)
    assert pen.close().spent("1e-9", "replace-one").lower == pytest.approx(1.5, abs=1e-6)  # 3 times 2/4
    with pytest.raises(UnsupportedMechanism, match="Gaussian noise of known size"):
        _ = pen.close().gaussian_releases


def test_what_is_no_single_release_is_not_written():
    pen = OpenLedger()
    for wrong in (
        InParallel((Gaussian(1),)),
        PoissonSampled(Gaussian(1) ** 2, "0.1"),
        Gaussian(3) @ InParallel((Gaussian(1),)),
    ):
        with pytest.raises(UnsupportedMechanism, match="single releases"):
            pen.release(wrong)
    with pytest.raises(InvalidValue, match="count"):
        pen.release(Gaussian(1), 0)
    with pytest.raises(InvalidValue, match="batch"):
        Release(Fraction(1), Fraction(1), sample_rate=Fraction(1, 2), batch=Batch(1, 2, True))
    with pytest.raises(InvalidValue, match="batch_size"):
        Batch(3, 2, replacement=False)
    assert pen.close() == Ledger()


def ledger_of(*parts):
    return Ledger(tuple(DescribedRelease(mechanism, count) for mechanism, count in parts))


def batch(z, b=10):
    return SampledWithoutReplacement(Gaussian(z), b, 100)


@pytest.mark.parametrize(
    ("made", "planned", "error"),
    [
        ([(Gaussian(40), 16)], Gaussian(40) ** 16, None),
        ([(Gaussian(40), 16)], Gaussian(10), None),
        ([(Gaussian(40), 16)], Gaussian(40 + Fraction(1, 10**30)) ** 16, BudgetExceeded),
        ([(Gaussian(40), 16)], Gaussian(40) ** 15, BudgetExceeded),
        ([(Gaussian(40), 16)], PoissonSampled(Gaussian(1), "0.1"), UnsupportedMechanism),
        ([(Gaussian(1), 1), (batch(3), 1)], Gaussian(2) ** 4 @ batch(3), None),  # full-batch Gaussians are one
        ([(Gaussian(1), 1), (Gaussian(10**6), 1), (batch(3), 1)], Gaussian(2) ** 4 @ batch(3), BudgetExceeded),
        ([(batch(3), 5)], batch(3) ** 5, None),
        ([(batch("3.03"), 5)], batch(3) ** 5, None),
        ([(batch("2.97"), 5)], batch(3) ** 5, BudgetExceeded),
        ([(batch(3), 6)], batch(3) ** 5, BudgetExceeded),
        ([(batch(4), 6)], batch(3) ** 5, BudgetExceeded),  # more releases are never a matter of noise
        ([(batch(3), 3), (batch(4), 2)], batch(3) ** 5, None),
        ([(batch(3), 3), (batch(4), 3)], batch(3) ** 5, BudgetExceeded),
        ([(batch(4), 2), (batch(3), 3)], batch(4) ** 3 @ batch(3) ** 2, BudgetExceeded),
        ([(batch(4), 3), (batch(3), 2)], batch(4) ** 3 @ batch(3) ** 2, None),
        ([(batch(3, 11), 5)], batch(3) ** 5, UnsupportedMechanism),
        ([(PoissonSampled(Gaussian(3), "0.2"), 1)], PoissonSampled(Gaussian(3), "0.1"), UnsupportedMechanism),
        ([(PoissonSampled(Gaussian("2.97"), "0.1"), 1)], PoissonSampled(Gaussian(3), "0.1"), BudgetExceeded),
        ([(Laplace("2.97"), 1)], Laplace(3), BudgetExceeded),
        ([(Laplace(3, dimension=1), 1)], Laplace(3), UnsupportedMechanism),
        ([(ExponentialMechanism("0.1", relation="replace-one"), 3)],
         ExponentialMechanism("0.1", relation="replace-one") ** 3, None),
        ([(ExponentialMechanism("0.101", relation="replace-one"), 3)],
         ExponentialMechanism("0.1", relation="replace-one") ** 3, BudgetExceeded),
        ([(ZCDP("0.1", relation="replace-one"), 3)], ZCDP("0.3", relation="replace-one"), None),
        ([(ZCDP("0.101", relation="replace-one"), 3)], ZCDP("0.3", relation="replace-one"), BudgetExceeded),
        ([(ZCDP("0.1", relation="add-or-remove-one"), 3)], ZCDP("0.3", relation="replace-one"), UnsupportedMechanism),
        ([(Gaussian(noise_stddev=1, sensitivity=1), 1)], Gaussian(1), UnsupportedMechanism),  # 1 is not 2
        ([(UniformBall(3, 5), 2)], UniformBall(3, 5) ** 2, None),
        ([(UniformBall(3, 5), 3)], UniformBall(3, 5) ** 2, BudgetExceeded),
        ([(UniformBall("2.97", 5), 2)], UniformBall(3, 5) ** 2, BudgetExceeded),
        ([(UniformBall("3.03", 5), 2)], UniformBall(3, 5) ** 2, None),
        ([(UniformBall(4, 4), 2)], UniformBall(3, 5) ** 2, UnsupportedMechanism),
    ],
)  # fmt: skip
def test_the_plan_is_held_kind_by_kind(made, planned, error):
    if error is None:
        ledger_of(*made).check_plan(planned)
    else:
        with pytest.raises(error):
            ledger_of(*made).check_plan(planned)


@pytest.mark.parametrize(("share", "numbers", "found"), [(0.99, 10**6, True), (0.5, 100, True), (1.0, 10**6, False)])
def test_noise_that_is_smaller_than_written_down_is_found(share, numbers, found):
    # a right run is refused with probability 1e-12; 1 % less noise among 1e6 numbers is missed with less than 1e-9
    squares = float((share * np.random.default_rng(0).standard_normal(numbers) ** 2 * share).sum())
    pen = OpenLedger()
    pen.added(squares, numbers)
    if found:
        with pytest.raises(BudgetExceeded, match="less noise was added"):
            pen.close()
    else:
        assert pen.close() == Ledger()
    pen.added(math.nan, 1)
    with pytest.raises(BudgetExceeded):
        pen.close()


def test_little_noise_at_one_level_cannot_hide_behind_much_at_another():
    drawn = np.random.default_rng(1).standard_normal(10**6)
    for wrong in ("added", "waited"):
        pen = OpenLedger()
        pen.added(float(drawn @ drawn), drawn.size, 3.0)
        getattr(pen, wrong)(0.0, 100, 5.0)
        with pytest.raises(BudgetExceeded, match="the 100 numbers"):
            pen.close()
    # and what is a little too small everywhere is found in the sum of all levels
    pen = OpenLedger()
    for level in range(1000):
        pen.added(0.9 * 100, 100, float(level))
    with pytest.raises(BudgetExceeded, match="the 100000 numbers"):
        pen.close()


@pytest.mark.parametrize(
    ("dimension", "share", "found"), [(1, 1.0, False), (3, 1.0, False), (3, 0.9, True), (50, 0.98, True)]
)
def test_ball_noise_that_is_drawn_too_small_is_found(dimension, share, found, monkeypatch):
    # (‖u‖/r)^p is uniform; at 2 % less in 50 dimensions it is at most 0.36
    whole = noise._unit
    monkeypatch.setattr(noise, "_unit", lambda *what: share * whole(*what))
    pen = OpenLedger()
    streams = noise.streams(0, 2000)
    given = {"kind": "ball", "amount": 7.0, "per_record_bound": Fraction(1), "ledger": pen}
    perturbed(np.zeros((2000, dimension)), generators=streams, **given)
    if found:
        with pytest.raises(BudgetExceeded, match="less noise was added"):
            pen.close()
    else:
        assert len(pen.close().releases) == 1


def test_a_budgeted_ledger_refuses_described_releases_as_a_whole():
    pen = BudgetedLedger(ZCDPFilter.of("0.5", "replace-one"))  # a release costs 2 / z²
    pen.release(Gaussian(4), 2)
    with pytest.raises(BudgetExceeded):
        pen.release(Gaussian(4) @ Gaussian(3))
    assert pen.privacy_filter.remaining == Fraction(1, 4)
    assert [(entry.described, entry.count) for entry in pen.close().releases] == [(Gaussian(4), 2)]


@pytest.mark.parametrize("seeded", [True, False])
def test_a_resumed_ledger_keeps_releases_noise_and_seed(seeded):
    pen = OpenLedger()
    pen.resume(Ledger(PLAIN.releases, seeded=seeded), [(0.5, 1.0, 900.0, 1000)])
    assert pen.taken == 16
    assert pen.so_far() == Ledger(PLAIN.releases, seeded=seeded)
    assert pen.noise_counted == [(0.5, 1.0, 900.0, 1000)]


def test_noise_that_rounding_swallowed_is_missed():
    """Beside 1e30 a double holds no noise of size 1: the answers are exact, and the run must not end well."""
    pen = OpenLedger()
    common = {"per_record_bound": Fraction(1), "generators": noise.streams(0, 1), "ledger": pen}
    perturbed(np.full((1, 1000), 1e30), kind="gaussian", amount=1.0, **common)
    with pytest.raises(BudgetExceeded, match="less noise was added"):
        pen.close()


def test_visits_with_other_noise_are_not_part_of_the_same_entry():
    visits = ledgers.Visits(Bins(4), OpenLedger())
    visits.release(Gaussian(2), 2)
    with pytest.raises(UnsupportedMechanism, match="all with the same noise"):
        visits.release(Gaussian(1))
    assert visits.steps == 2
