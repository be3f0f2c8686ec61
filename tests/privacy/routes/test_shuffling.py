"""Shuffled batches: the law of the clones from its definition, tiny runs played by brute force, and values."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import ndtr
from scipy.stats import binom

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.time_limit import TimeIsUp
from dpbounds.privacy.accountants.certified import account, delta, epsilon, prove_delta
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import DiscreteGaussian, Gaussian, InParallel, PoissonSampled, Shuffled
from dpbounds.privacy.mechanisms.refusals import shuffled_epochs
from dpbounds.privacy.pairs.pairs import Direction, Discrete, Product, ShiftedGaussians, ShuffledBatches
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.shuffling import enclosed
from dpbounds.privacy.routes.shuffling.counts import Choice, dominating, lost
from dpbounds.privacy.routes.shuffling.estimates import Aim, choice_for
from dpbounds.privacy.values import Target

AR, RE, ZO = Relation
REPLACED, ZEROED, RESTORED = Direction.REPLACE, Direction.REMOVE, Direction.ADD
ALPHAS = [math.exp(x) for x in np.linspace(-1.5, 1.5, 25)]

Law = dict[tuple[int, int], tuple[Fraction, Fraction]]


def pair_of(direction: Direction, squared_shift: str = "1/16", batches: int = 5, rest: str = "0") -> ShuffledBatches:
    return ShuffledBatches(direction, ShiftedGaussians(Fraction(squared_shift)), batches, Fraction(rest))


def choice(direction: Direction, odds: str, share: str, spacing: str = "1/50", alike: str = "0") -> Choice:
    """All of a record that may be a clone is one; the part ``alike`` of that acts like the record itself."""
    of_all, p = Fraction(1, 2) if direction is REPLACED else Fraction(alike), Fraction(share)
    shares = of_all * p, (1 - of_all) * p
    return Choice(Fraction(odds), shares, (1 / p, 1 / p), Fraction(spacing), 1e-30)


def law_by_definition(direction: Direction, batches: int, chosen: Choice) -> Law:
    """(C, K): every clone tosses its coin, and so does the record."""
    share, odds, (alike, unlike) = sum(chosen.shares, Fraction(0)), chosen.odds, chosen.shares
    high, low = odds / (1 + odds), 1 / (1 + odds)
    coin = (alike * high + unlike * low) / share
    found: Law = {}
    for clones in range(batches):
        chance = comb(batches - 1, clones) * share**clones * (1 - share) ** (batches - 1 - clones)
        for first, own in itertools.product(range(clones + 1), (0, 1)):
            tossed = chance * comb(clones, first) * coin**first * (1 - coin) ** (clones - first)
            p, q = found.get((clones, first + own), (Fraction(0), Fraction(0)))
            ways = (high, low) if own else (low, high)
            found[clones, first + own] = p + tossed * ways[0], q + tossed * ways[1]
    return {key: (q, p) for key, (p, q) in found.items()} if direction is RESTORED else found


def profile_of(law: Law, alpha: float) -> float:
    return sum(max(0.0, float(p) - alpha * float(q)) for p, q in law.values())


def profile(pair: Discrete, alpha: float) -> float:
    return float(pair.infinite) + sum(max(0.0, float(p) * (1 - alpha * math.exp(-loss))) for loss, p in pair.points)


def gaussian_profile(mu: float, alpha: float) -> float:
    return float(ndtr(mu / 2 - math.log(alpha) / mu) - alpha * ndtr(-mu / 2 - math.log(alpha) / mu))


# --- The law of the counts -------------------------------------------------------------------------------------------

CASES = [
    (direction, batches, odds, share, alike)
    for direction in (REPLACED, ZEROED, RESTORED)
    for batches, odds, share, alike in (
        (1, "3", "1/3", "0"),
        (2, "2", "1/2", "0"),
        (5, "3/2", "3/5", "0"),
        (6, "20", "1/20", "0"),
        (5, "3/2", "3/5", "1/7"),
        (4, "9", "1/2", "4/5"),
        (3, "4", "1/3", "1"),
    )
]


def check_law(direction: Direction, batches: int, odds: str, share: str, alike: str = "0", rest: str = "0") -> None:
    pair = pair_of(direction, batches=batches, rest=rest)
    chosen = choice(direction, odds, share, "1/200", alike)
    found = dominating(pair, chosen)
    assert sum((mass for _, mass in found.points), found.infinite) == 1
    exact = law_by_definition(direction, batches, chosen)
    for alpha in ALPHAS:
        mu, b = math.sqrt(pair.base.squared_shift), float(pair.rest)
        least = (1 - b) * profile_of(exact, alpha) + b * gaussian_profile(mu, alpha)
        assert least - 1e-13 <= profile(found, alpha) <= least + 2e-3


@pytest.mark.parametrize(("direction", "batches", "odds", "share", "alike"), CASES)
def test_the_law_of_the_counts_dominates_and_hardly_more(
    direction: Direction, batches: int, odds: str, share: str, alike: str
) -> None:
    check_law(direction, batches, odds, share, alike)


@pytest.mark.seconds
@pytest.mark.parametrize("direction", [REPLACED, ZEROED, RESTORED])
def test_a_smaller_batch_at_the_end_is_known_to_hold_the_record(direction: Direction) -> None:
    check_law(direction, 4, "2", "1/2", rest="1/6")


@pytest.mark.seconds
@pytest.mark.parametrize("direction", [REPLACED, ZEROED, RESTORED])
def test_what_many_clones_have_in_common(direction: Direction) -> None:
    """Numbers in a row count as the least of them, and a window cuts the rest off: still an upper law, hardly more."""
    pair, chosen = pair_of(direction, batches=40_000), choice(direction, "3", "1/3", "1/4000")
    found = dominating(pair, chosen)
    coin = 0.5 if direction is REPLACED else 0.25
    clones = np.arange(12_800, 13_900)
    chances = binom.pmf(clones, 39_999, 1 / 3)
    for alpha in (0.98, 1.0, 1.01, 1.03):
        least = 0.0
        for number, chance in zip(clones[::25], chances[::25] * 25, strict=True):
            k = np.arange(number + 2)
            b = binom.pmf(k, number, coin)
            a = np.concatenate([[0.0], b[:-1]])
            p, q = 0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b
            p, q = (q, p) if direction is RESTORED else (p, q)
            least += chance * float(np.maximum(p - alpha * q, 0).sum())
        assert 0.9999 * least - 1e-9 <= profile(found, alpha) <= 1.002 * least + 1e-6


@pytest.mark.parametrize("direction", [REPLACED, ZEROED])
def test_what_is_lost_to_clones(direction: Direction) -> None:
    with mp.workdps(80):
        for squared, batches, odds, share, clone_odds in (
            ("1/16", 7, "2", "1/4", "2.5"),
            ("1", 1000, "30", "1/60", "40"),
        ):
            near = mp.sqrt(mpf(Fraction(squared).numerator) / Fraction(squared).denominator)
            far = near if direction is REPLACED else 2 * near  # from record to record
            h = [
                mp.ncdf(mu / 2 - mp.log(x) / mu) - x * mp.ncdf(-mu / 2 - mp.log(x) / mu)
                for mu, x in ((near, mpf(odds)), (far, mpf(odds) * 3), (near, mpf(clone_odds)))
            ]
            p, p2 = Fraction(share) / 9, Fraction(share)
            clones = sum(mpf(each.numerator) / each.denominator * (h[0] + x) for each, x in ((p, h[1]), (p2, h[2])))
            wanted = h[0] + (batches - 1) * clones
            odds_of_clones = Fraction(odds) * 3, Fraction(clone_odds)
            chosen = Choice(Fraction(odds), (p, p2), odds_of_clones, Fraction(1, 50), 1e-20)
            found = lost(pair_of(direction, squared, batches), chosen)
            assert 0 <= mpf(found.numerator) / found.denominator / wanted - 1 + mpf(10) ** -60 < mpf(10) ** -20


@pytest.mark.parametrize("wrong", [("1", "1/2", "2"), ("2", "1/2", "3"), ("2", "0", "2"), ("2", "1/2", "1/2")])
def test_a_choice_that_proves_nothing_is_refused(wrong: tuple[str, str, str]) -> None:
    odds, share, clone_odds = map(Fraction, wrong)
    with pytest.raises(ValueError, match="prove nothing"):
        Choice(odds, (share, Fraction(0)), (clone_odds, Fraction(2)), Fraction(1, 50), 1e-20)
    with pytest.raises(ValueError, match="prove nothing"):
        Choice(odds, (share / 2, share / 2), (clone_odds, clone_odds), Fraction(1, 50), 1e-20)


# --- Tiny runs, played ------------------------------------------------------------------------------------------------


def played(z: float, alpha: float, direction: Direction) -> float:
    """Two batches of one record each, the better of many second steps chosen after the first output."""
    y = np.arange(-4, 4.001, 0.08) * z * 1.5
    step = y[1] - y[0]
    density = {m: np.exp(-((y - m) ** 2) / (2 * z * z)) * step / (z * math.sqrt(2 * math.pi)) for m in (-1.0, 0.0, 1.0)}
    contents = (-1.0, 0.0, 1.0)
    changed = contents if direction is REPLACED else (0.0,)
    best = 0.0
    for record, other, new in itertools.product((1.0,), contents, (-1.0,) if direction is REPLACED else (0.0,)):
        inner = np.zeros(len(y))
        for record_2, other_2, new_2 in itertools.product(contents, contents, changed):
            p = density[record][:, None] * density[other_2] + density[other][:, None] * density[record_2]
            q = density[new][:, None] * density[other_2] + density[other][:, None] * density[new_2]
            p, q = (q, p) if direction is RESTORED else (p, q)
            inner = np.maximum(inner, np.maximum(p / 2 - alpha * q / 2, 0).sum(axis=1))
        best = max(best, float(inner.sum()))
    return best


@pytest.mark.seconds
@pytest.mark.parametrize("direction", [REPLACED, ZEROED, RESTORED])
@pytest.mark.parametrize("z", [1.0, 3.0])
def test_two_batches_played_adaptively_spend_no_more_than_any_choice_says(z: float, direction: Direction) -> None:
    mu = (2 if direction is REPLACED else 1) / z
    relation = RE if direction is REPLACED else ZO
    for alpha in (1.0, math.exp(0.3), math.exp(1.0)):
        truth = played(z, alpha, direction)
        assert truth <= delta(Shuffled(Gaussian(z), 2), math.log(alpha), relation).upper + 1e-6
        odds_tried = math.exp(0.5 * mu), math.exp(mu), math.exp(3 * mu)
        for odds, share, alike in itertools.product(odds_tried, ("1", "7/10"), ("0", "1/2", "1")):
            s = Fraction(odds).limit_denominator(1000)
            chosen = choice(direction, str(s), str(Fraction(share) / s), "1/100", alike)
            pair = pair_of(direction, str(Fraction(mu * mu).limit_denominator(10**9)), 2)
            assert truth <= profile(dominating(pair, chosen), alpha) + (1 + alpha) * float(lost(pair, chosen)) + 1e-6


# --- Several epochs ---------------------------------------------------------------------------------------------------


def twin(direction: Direction, batches: int, chosen: Choice, epochs: int, at: float) -> float:
    """The clones' δ of several epochs, losses rounded down: nearly what is proven, and never more."""
    s, share, width = float(chosen.odds), float(chosen.share), 2e-4
    half = math.ceil(math.log(s) / width) + 2
    masses = np.zeros(2 * half + 1)
    coin = 1 / (1 + float(chosen.coin_odds))
    for clones in range(batches):
        chance = binom.pmf(clones, batches - 1, share)
        if chance < 1e-13:
            continue
        b = binom.pmf(np.arange(clones + 2), clones, coin)
        a = np.concatenate([[0.0], b[:-1]])
        p, q = (s * a + b) / (1 + s), (a + s * b) / (1 + s)
        p, q = (q, p) if direction is RESTORED else (p, q)
        np.add.at(masses, np.floor(np.log(p / q) / width).astype(int) + half, chance * p)
    size = 1 << (len(masses) * epochs).bit_length()
    composed = np.fft.irfft(np.fft.rfft(masses, size) ** epochs, size)[: (len(masses) - 1) * epochs + 1]
    losses = (np.arange(len(composed)) - half * epochs) * width
    above = losses > at
    return float((composed[above] * -np.expm1(at - losses[above])).sum())


def prove(product: Product, target: Target) -> Proof:
    assert not target.for_epsilon
    return prove_delta(product, target.value, 1e-3)


@pytest.mark.seconds
@pytest.mark.parametrize("direction", [REPLACED, ZEROED, RESTORED])
def test_epochs_and_total_variation_add_up(direction: Direction) -> None:
    run = enclosed._Run(((pair_of(direction, "1/100", 60), 3),), ())
    aim = Aim(math.log(1e-4), 0.0)
    found = enclosed._Plan(run, aim, 0.3, 1e-4).delta(Fraction(1), prove)
    chosen = choice_for(run.parts[0][0], aim, 1e-13)
    assert chosen is not None
    variation = 3 * float(lost(run.parts[0][0], chosen))
    least = twin(direction, 60, chosen, 3, 0.3) + (1 + math.exp(0.3)) * variation
    assert least <= float(found) <= 1.02 * least


@pytest.mark.seconds
def test_halves_through_a_zeroed_record() -> None:
    run = enclosed._Run(
        ((ShuffledBatches(REPLACED, ShiftedGaussians(Fraction(1, 25)), 60, Fraction(0), centred=True), 3),), ()
    )
    there, back = run.half(ZEROED), run.half(RESTORED)
    assert there is not None
    assert back is not None
    plans = [enclosed._Plan(there, Aim(-13.0, 0.0), 0.25, 1e-4), enclosed._Plan(back, Aim(-14.0, 0.0), 0.2, 1e-4)]
    found = enclosed._proven_delta(plans, Fraction(1, 2), prove)
    deltas = []
    for plan, direction in zip(plans, (ZEROED, RESTORED), strict=True):
        ((pair, _),) = plan.run.parts
        assert (pair.direction, pair.base.squared_shift) == (direction, Fraction(1, 100))
        chosen = choice_for(pair, plan.aim, 1e-13)
        assert chosen is not None
        deltas.append(twin(direction, 60, chosen, 3, plan.at) + (1 + math.exp(plan.at)) * 3 * float(lost(pair, chosen)))
    least = deltas[0] + math.exp(0.25) * deltas[1]
    assert least <= float(found) <= 1.02 * least


def test_every_epoch_loses_its_total_variation() -> None:
    pair, aim = pair_of(REPLACED, batches=50), Aim(math.log(1e-7), 0.0)
    one, three = (enclosed._Run.of(((pair, count),)).with_clones(aim, 1e-12)[1] for count in (1, 3))
    assert one > 0
    assert three == 3 * one


@pytest.mark.parametrize("at", ["0", "1/2", "3"])
def test_total_variation_is_weighed_by_both_laws(at: str) -> None:
    """H_α(P' ‖ Q') is at most H_α(P ‖ Q) plus τ for P and ατ for Q."""
    found = enclosed._weighed(Fraction(at), Fraction(1, 10**6))
    exact = (1 + mp.exp(mpf(Fraction(at).numerator) / Fraction(at).denominator)) / 10**6
    assert exact * (1 - mpf("1e-12")) <= mpf(found.numerator) / found.denominator <= exact * (1 + mpf("1e-12"))


def test_two_halves_never_reach_beyond_the_epsilon_asked_for() -> None:
    run = enclosed._Run(
        ((ShuffledBatches(REPLACED, ShiftedGaussians(Fraction(1, 25)), 60, Fraction(0), centred=True), 3),), ()
    )
    there, back = run.half(ZEROED), run.half(RESTORED)
    assert there is not None
    assert back is not None
    asked: list[Fraction] = []

    def remembered(product: Product, target: Target) -> Proof:
        asked.append(target.value)
        return Proof(Enclosure(Fraction(0), Fraction(1, 10**6)), "closed form")

    plans = [enclosed._Plan(there, Aim(-13.0, 0.0), 0.3, 1e-4), enclosed._Plan(back, Aim(-14.0, 0.0), 0.3, 1e-4)]
    enclosed._proven_delta(plans, Fraction(1, 2), remembered)
    assert sum(asked) <= Fraction(1, 2)


def test_no_half_where_only_distances_between_records_are_known() -> None:
    def centred(mechanism: Shuffled, relation: Relation) -> set[bool]:
        products = (each.product for each in neighbour_classes(mechanism, relation).every())
        return {pair.centred for product in products for pair, _ in product if isinstance(pair, ShuffledBatches)}

    assert centred(Shuffled(Gaussian(4), 100), RE) == {True}
    assert centred(Shuffled(Gaussian(noise_stddev=4, sensitivity=2), 100), RE) == {False}
    assert centred(Shuffled(Gaussian(4), 100), ZO) == {False}
    run = enclosed._Run.of(((pair_of(REPLACED), 2),))
    assert run.half(ZEROED) is None
    beside = enclosed._Run.of(
        (
            (ShuffledBatches(REPLACED, ShiftedGaussians(Fraction(1)), 9, centred=True), 2),
            (ShiftedGaussians(Fraction(1)), 1),
        )
    )
    assert beside.half(ZEROED) is None


# --- Through the public door ------------------------------------------------------------------------------------------

SECOND_READING = [  # z, M, E, δ = 1e-5, the value of an independent prototype, in steps of 0.01 and 0.005
    (RE, 4, 1000, 10, "3.20"),
    (RE, 4, 10_000, 10, "0.93"),
    (RE, 10, 1000, 10, "0.70"),
    (RE, 10, 1000, 1, "0.18"),
    (RE, 3, 10_000, 10, "2.04"),
    (ZO, 4, 1000, 10, "1.395"),
    (ZO, 4, 10_000, 10, "0.430"),
    (ZO, 3, 10_000, 10, "0.870"),
    (ZO, 2, 10_000, 10, "4.265"),
    (ZO, 3, 1000, 10, "3.305"),
]


@pytest.mark.minutes
@pytest.mark.parametrize(
    ("relation", "z", "batches", "epochs", "value"),
    [
        pytest.param(*row, marks=() if row[4] in ("3.20", "0.18", "4.265") else pytest.mark.minutes)
        for row in SECOND_READING
    ],
)
def test_no_more_than_an_independent_prototype_says(
    relation: Relation, z: int, batches: int, epochs: int, value: str
) -> None:
    found = account(Shuffled(Gaussian(z), batches) ** epochs, delta="1e-5", relation=relation)
    assert found.enclosure.at_most(value) is True
    assert "clones" in {proof.route for _, proof in found.proofs}
    again = delta(found.mechanism, found.enclosure.exact_upper, relation)
    assert again.at_most("1.15e-5") is True


@pytest.mark.seconds
def test_where_clones_do_not_help_the_order_might_as_well_be_known() -> None:
    for relation in (RE, ZO):
        found = account(Shuffled(Gaussian(1), 100) ** 10, delta="1e-5", relation=relation)
        plain = epsilon(shuffled_epochs(1, 10), "1e-5", relation)
        assert found.enclosure.exact_upper <= plain.exact_upper * (1 + Fraction(1, 10**9))
        assert {proof.route for _, proof in found.proofs} == {"closed form"}


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_time_limit_leaves_what_holds_without_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*given: object) -> None:
        raise TimeIsUp

    monkeypatch.setattr(enclosed, "_searched_epsilon", too_late)
    found = epsilon(Shuffled(Gaussian(4), 1000) ** 10, "1e-5", RE, time_limit=3600)
    plain = epsilon(shuffled_epochs(4, 10), "1e-5", RE)
    assert found.exact_lower <= found.exact_upper == plain.exact_upper


@pytest.mark.minutes
def test_more_epsilon_never_costs_more_delta() -> None:
    """(1 + e^ε) τ grows with ε: what is proven at a smaller ε counts."""
    deltas = [delta(Shuffled(Gaussian(4), 10_000) ** 10, e, RE).exact_upper for e in ("0.5", "1", "2", "3", "5")]
    assert all(second <= first * Fraction(101, 100) for first, second in itertools.pairwise(deltas))


@pytest.mark.seconds
def test_beside_other_releases() -> None:
    with_model = Shuffled(Gaussian(10), 1000) ** 3 @ Gaussian(20)
    found, alone = (epsilon(each, "1e-5", ZO) for each in (with_model, Shuffled(Gaussian(10), 1000) ** 3))
    assert alone.exact_upper < found.exact_upper < epsilon(Gaussian(10) ** 3 @ Gaussian(20), "1e-5", ZO).exact_upper


def test_one_batch_is_the_whole_data_set() -> None:
    for relation in (RE, ZO):
        one, whole = (epsilon(each, "1e-5", relation) for each in (Shuffled(Gaussian(3), 1) ** 4, Gaussian(3) ** 4))
        assert one == whole
    assert neighbour_classes(Shuffled(Gaussian(3), 1), RE).tight


@pytest.mark.seconds
def test_other_noise_without_a_bound_gains_nothing() -> None:
    noise = DiscreteGaussian(3, dimension=1)
    for relation in (RE, ZO):
        both = [epsilon(each, "1e-5", relation) for each in (Shuffled(noise, 50) ** 2, noise**2)]
        assert both[0].exact_upper == both[1].exact_upper


@pytest.mark.parametrize(
    ("mechanism", "relation", "says"),
    [
        (Shuffled(Gaussian(3), 10), AR, "replace-one or zero-out-one"),
        (PoissonSampled(Shuffled(Gaussian(3), 10), "1/2"), RE, "Shuffled inside"),
        (Shuffled(Shuffled(Gaussian(3), 10), 10), RE, "Shuffled inside"),
        (Shuffled(InParallel((Gaussian(3), Gaussian(4))), 10), RE, "blocks in parallel inside"),
        (InParallel((Shuffled(Gaussian(3), 10), Gaussian(4))), RE, "Shuffled inside"),
    ],
)
def test_what_has_no_proof_is_refused(mechanism: Shuffled, relation: Relation, says: str) -> None:
    with pytest.raises(UnsupportedMechanism, match=says):
        epsilon(mechanism, "1e-5", relation)


@pytest.mark.parametrize(("batches", "rest"), [(0, 0), ("x", 0), (10, "1/11"), (10, "-1/100"), (1, "1/2")])
def test_an_epoch_that_is_none(batches: int, rest: str) -> None:
    with pytest.raises(InvalidValue, match=r"batches|rest"):
        Shuffled(Gaussian(3), batches, rest)
