"""The shuffle model: reports in a secret order, against sums over all orders, all datasets and adaptive questions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

import dpbounds as dp
from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import prove_delta
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.pairs import shuffled_reports
from dpbounds.privacy.pairs.core import Direction, Pair
from dpbounds.privacy.pairs.losses import law_at
from dpbounds.privacy.pairs.shuffled_reports import CountedAnswers, CountedBits, ShuffledReports
from dpbounds.privacy.relations import Order, Relation

Alphas = Sequence[float] | np.ndarray
Report = np.ndarray  # P(answer | record): a row for x, one for x', one for each other record
REMOVE, ADD, REPLACE = Direction.REMOVE, Direction.ADD, Order.REPLACE
ROUNDING = 1e-12


def _clones(epsilon: str | int, n: int, options: int = 2, apart: str | int | None = None) -> ShuffledReports:
    loss = Fraction(epsilon)
    return ShuffledReports(REMOVE, loss, n, options, loss if apart is None else Fraction(apart))


def _profile(pair: Pair, alphas: Alphas) -> np.ndarray:
    with working(160):
        law = law_at(pair, 160)
        return np.array([float(law.delta(arb(math.log(alpha))).mid()) for alpha in alphas])


def _in_every_order(n: int, answers: int, question: Callable[[tuple[int, ...]], Report]) -> tuple[np.ndarray, ...]:
    """P and Q of the reports of n records, each asked what may depend on all earlier reports."""
    p: list[float] = []
    q: list[float] = []
    orders = list(itertools.permutations(range(n)))
    for seen in itertools.product(range(answers), repeat=n):
        asked = [question(seen[:i]) for i in range(n)]
        for law, own in ((p, 0), (q, 1)):
            rows = [[own if record == 0 else record + 1 for record in order] for order in orders]
            law.append(math.fsum(math.prod(asked[i][row[i], seen[i]] for i in range(n)) for row in rows) / len(orders))
    return np.array(p), np.array(q)


def _responses(true: Sequence[int] | np.ndarray, options: int, s: float) -> Report:
    table = np.ones((len(true), options))
    table[np.arange(len(true)), true] = s
    return table / (s + options - 1)


def _with_an_answer_of_both(n: int, s: float, share: float) -> Report:
    """x and x' give the third answer s times as likely as all others, who give the last s times as likely."""
    both = share * s / (s + 1)
    p = (s - 1 - both * (s - 1 / s)) / (s * s + s - 2)
    last = 1 - p * (s + 1) - both
    return np.array([[s * p, p, both, last], [p, s * p, both, last], *([[p, p, both / s, s * last]] * (n - 1))])


def _adaptive(n: int, s: float, seed: int) -> Callable[[tuple[int, ...]], Report]:
    made: dict[tuple[int, ...], Report] = {}
    generator = np.random.default_rng(seed)

    def question(seen: tuple[int, ...]) -> Report:
        if seen not in made:
            if generator.random() < 0.5:
                made[seen] = _with_an_answer_of_both(n, s, generator.random())
            else:
                made[seen] = _responses(generator.integers(4, size=n + 1), 4, s)
            made[seen] = made[seen][:, generator.permutation(4)]
        return made[seen]

    return question


def _delta(p: np.ndarray, q: np.ndarray, alphas: Alphas) -> np.ndarray:
    return np.array([np.maximum(p - alpha * q, 0).sum() for alpha in alphas])


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("epsilon", ["1/4", "1", "2"])
def test_clones_dominate_adaptive_reports(n: int, epsilon: str) -> None:
    s = math.exp(Fraction(epsilon))
    alphas = np.exp(np.linspace(-0.98, 0.98, 9) * math.log(s))
    bound = _profile(_clones(epsilon, n), alphas)
    for seed in range(6):
        p, q = _in_every_order(n, 4, _adaptive(n, s, seed))
        assert p.sum() == pytest.approx(1)
        assert (_delta(p, q, alphas) <= bound + ROUNDING).all()


def test_an_answer_of_both_contents_needs_more_than_a_decomposition() -> None:
    """With clones of probability 1/s alone the bound would be larger: what is claimed is between the two."""
    n, s = 3, math.e
    p, q = _in_every_order(n, 4, lambda seen: _with_an_answer_of_both(n, s, 0.5))
    table = _with_an_answer_of_both(n, s, 0.5)
    assert (table[2] < (table[0] + table[1]) / (s + 1)).any()
    alphas = [1, 1.5, 2.2]
    assert (_delta(p, q, alphas) <= _profile(_clones(1, n), alphas)).all()


@pytest.mark.parametrize("n", [2, 3])
def test_a_null_record_is_nearer_to_the_others(n: int) -> None:
    """Discrete Laplace noise, in one of three cells: x at 1, null at 0, the others at -1, twice as far from x."""
    epsilon = 0.5
    inner = np.exp(-epsilon * np.abs(np.subtract.outer([1, 0, *[-1] * (n - 1)], np.arange(-60, 61))))
    cells = np.stack([inner[:, :60].sum(1), inner[:, 60], inner[:, 61:].sum(1)], 1)
    table = cells / cells.sum(1, keepdims=True)
    alphas = [0.7, 1, 1.2, 1.5]
    p, q = _in_every_order(n, 3, lambda seen: table)
    near, far = _profile(_clones("1/2", n), alphas), _profile(_clones("1/2", n, apart=1), alphas)
    assert (_delta(p, q, alphas) <= far + ROUNDING).all()
    assert (near < far).all()


def _leaking(n: int, s: float, leak: float, seed: int) -> Callable[[tuple[int, ...]], Report]:
    """An adaptive pure report; or, with probability ``leak``, whether the content is x, or x', or neither."""
    pure = _adaptive(n, s, seed)

    def question(seen: tuple[int, ...]) -> Report:
        shown = np.zeros((n + 1, 3))
        shown[np.arange(n + 1), [0, 1, *[2] * (n - 1)]] = leak
        return np.hstack([(1 - leak) * pure(seen), shown])

    return question


@pytest.mark.seconds
@pytest.mark.parametrize("n", [2, 3])
def test_reports_that_are_not_pure(n: int) -> None:
    """Section 6: of n reports each may show what it should not, which costs at most s n δ."""
    s, leak = math.e, 0.02
    alphas = np.exp(np.linspace(0, 1, 6))
    bound = _profile(_clones(1, n), alphas) + s * n * leak
    for seed in range(2):
        p, q = _in_every_order(n, 7, _leaking(n, s, leak, seed))
        found = _delta(p, q, alphas)
        assert (found <= bound + ROUNDING).all()
        assert found[-1] >= leak - ROUNDING


@pytest.mark.parametrize(("epsilon", "n", "delta"), [("1", 300, "1e-7"), ("3", 300, "1e-8"), ("1/2", 1000, "1e-9")])
def test_the_pair_of_reports_that_are_not_pure(epsilon: str, n: int, delta: str) -> None:
    loss, leak = Fraction(epsilon), Fraction(delta)
    pair = shuffled_reports.approximate(loss, leak, n)
    assert pair is not None
    s, middle = math.exp(loss), math.exp(loss / 2)
    lower, upper = np.linspace(1, middle, 20), np.linspace(middle, s, 20)
    lost = s * n * float(leak)
    assert (_profile(pair, lower) >= _profile(_clones(epsilon, n), lower) + lost - ROUNDING).all()
    (top,) = _profile(_clones(epsilon, n), [middle]) + lost
    chord = float(leak) + (top - float(leak)) * (s - upper) / (s - middle)
    assert (_profile(pair, upper) >= chord - ROUNDING).all()
    assert _profile(pair, [2 * s])[0] == pytest.approx(float(leak))
    assert _profile(pair, [1.2])[0] < _profile(_clones(epsilon, n), [1.2])[0] + 30 * lost
    assert shuffled_reports.approximate(loss, 1000 * leak, 10**6) is None


def test_approximate_black_boxes_gain_while_their_delta_is_small() -> None:
    found = [
        dp.epsilon(dp.Shuffled(dp.ApproximateDP(1, delta, relation="replace-one"), 10_000), "1e-6", "replace-one")
        for delta in ("1e-15", "1e-12", "1e-5")
    ]
    assert 0.035 < found[0].lower < found[0].upper < 0.045
    assert found[0].upper < found[1].upper < 0.06
    assert found[2].exact_upper == math.inf


# --- Randomised response: all datasets --------------------------------------------------------------------------------


def _histograms(true: Sequence[int], options: int, s: float) -> dict[tuple[int, ...], float]:
    found: dict[tuple[int, ...], float] = {(0,) * options: 1.0}
    for row in _responses(true, options, s):
        grown: dict[tuple[int, ...], float] = {}
        for counts, mass in found.items():
            for answer, chance in enumerate(row):
                key = (*counts[:answer], counts[answer] + 1, *counts[answer + 1 :])
                grown[key] = grown.get(key, 0.0) + mass * chance
        found = grown
    return found


def _largest_of_all_datasets(n: int, options: int, s: float, alphas: Alphas) -> np.ndarray:
    largest = np.zeros(len(alphas))
    for others in itertools.combinations_with_replacement(range(options), n - 1):
        p, q = (_histograms((own, *others), options, s) for own in (0, 1))
        first, second = (np.array([law[counts] for counts in p]) for law in (p, q))
        largest = np.maximum(largest, _delta(first, second, alphas))
    return largest


@pytest.mark.parametrize(("n", "options"), [(3, 2), (6, 2), (6, 3), (5, 4)])
def test_responses_on_all_datasets(n: int, options: int) -> None:
    epsilon = Fraction(1)
    alphas = np.exp(np.linspace(0.02, 0.95, 8))
    largest = _largest_of_all_datasets(n, options, math.e, alphas)
    pair, attacks = shuffled_reports.of_responses(epsilon, options, n)
    assert (largest <= _profile(pair, alphas) + ROUNDING).all()
    attained = np.max([_profile(attack, alphas) for attack in attacks], axis=0)
    assert (attained <= largest + ROUNDING).all()
    assert attained[:4] == pytest.approx(largest[:4], rel=0.25)
    assert len(attacks) == (2 if options == 2 else 3)


def test_a_mixed_dataset_may_be_the_worst_of_two_options() -> None:
    """Section 7: with n = 4, neither two equal other records nor opposite ones spend the most at every α."""
    worst = []
    for alpha in (math.exp(0.05), math.exp(0.9)):
        values = []
        for ones in range(4):
            p, q = (_histograms((own, *[0] * ones, *[1] * (3 - ones)), 2, math.e) for own in (0, 1))
            values.append(sum(max(0.0, p[counts] - alpha * q[counts]) for counts in p))
        worst.append(int(np.argmax(values)))
    assert worst == [2, 3]


# --- Pairs of counts, at 50 digits ------------------------------------------------------------------------------------


def _exact(pair: Pair, alpha: mpmath.mpf) -> mpmath.mpf:
    """δ of a pair of counts, as (1/n) E (ΣX)_+ over all numbers of labels."""
    n = pair.reports  # type: ignore[attr-defined]
    if isinstance(pair, CountedBits):
        a, b = (mpmath.mpf(x.numerator) / x.denominator for x in (pair.first, pair.second))
        labels = [(b, a / b - alpha), (1 - b, (1 - a) / (1 - b) - alpha)]
    else:
        assert isinstance(pair, ShuffledReports | CountedAnswers)
        s, k = mpmath.exp(mpmath.mpf(pair.epsilon.numerator) / pair.epsilon.denominator), pair.options
        p = 1 / (s + k - 1)
        if isinstance(pair, ShuffledReports):
            kept = s / mpmath.exp(mpmath.mpf(pair.apart.numerator) / pair.apart.denominator)
            labels = [(p * kept, (s - alpha) / kept), (p * kept, (1 - alpha * s) / kept), ((k - 2) * p, 1 - alpha)]
        else:
            labels = [(p, s - alpha), (p, 1 - alpha * s), (1 - 2 * p, (1 - alpha) * (k - 2) * p / (1 - 2 * p))]
    labels = [(mass, value) for mass, value in labels if mass]
    rest = 1 - mpmath.fsum(mass for mass, _ in labels)
    total = mpmath.mpf(0)
    for counts in itertools.product(range(n + 1), repeat=len(labels)):
        if sum(counts) <= n:
            ways, mass, left = mpmath.mpf(1), mpmath.mpf(1), n
            for count, (chance, _) in zip(counts, labels, strict=True):
                ways, mass, left = ways * mpmath.binomial(left, count), mass * chance**count, left - count
            value = mpmath.fsum(count * value for count, (_, value) in zip(counts, labels, strict=True))
            total += ways * mass * (rest**left if left else 1) * max(mpmath.mpf(0), value)
    return total / n


COUNTS = [
    _clones(1, 2),
    _clones(1, 12),
    _clones("1/2", 12, 3),
    _clones(2, 9, 6),
    _clones("1/3", 8, apart="2/3"),
    _clones(5, 6),
    CountedAnswers(REMOVE, Fraction(1), 12, 3),
    CountedAnswers(REMOVE, Fraction(2), 9, 5),
    CountedBits(REMOVE, 12, Fraction(7, 10), Fraction(3, 10)),
    CountedBits(REMOVE, 12, Fraction(2, 10), Fraction(1, 10)),
]


def _reversed(pair: Pair, alpha: mpmath.mpf) -> mpmath.mpf:
    """H_α of (Q, P)."""
    return 1 - alpha + alpha * _exact(pair, 1 / alpha)


def test_an_attack_far_beyond_all_losses_shows_nothing() -> None:
    """No event of probability 10^-35 has a loss of 0.5 there: by Chernoff's bound it has one below e^-7600."""
    mechanism = dp.Shuffled(dp.RandomizedResponse(1), 100_000)
    assert dp.delta(mechanism, "0.5", "replace-one").exact_lower == 0
    assert dp.epsilon(mechanism, "1e-35", "replace-one").lower < 0.06


@pytest.mark.parametrize("pair", COUNTS, ids=str)
def test_counts_at_fifty_digits(pair: Pair) -> None:
    dominates = isinstance(pair, ShuffledReports)
    with mpmath.workdps(50), working(256):
        law, mirrored = law_at(pair, 256), law_at(pair.mirrored(), 256)
        for log_alpha in ("0", "0.03", "0.2", "0.31"):
            alpha, at = mpmath.exp(mpmath.mpf(log_alpha)), arb(log_alpha)
            exact, found = _exact(pair, alpha), mpmath.mpf(law.delta(at).str(50, radius=False))
            assert (
                found >= exact * (1 - mpmath.mpf(10) ** -45)
                if dominates
                else found <= exact * (1 + mpmath.mpf(10) ** -45)
            )
            assert abs(found / exact - 1) < 0.1
            if dominates:
                other = 1 - at.exp() + at.exp() * law.delta(-at)
                assert abs(mirrored.delta(at) - other) < 1e-25
            else:  # rounded down for its own order
                exact, found = _reversed(pair, alpha), mpmath.mpf(mirrored.delta(at).str(50, radius=False))
                assert found <= exact * (1 + mpmath.mpf(10) ** -45)
                assert abs(found / exact - 1) < 0.1 or exact < mpmath.mpf(10) ** -40


@pytest.mark.parametrize(
    "pair", [_clones(1, 30), _clones(1, 12, 4), CountedAnswers(REMOVE, Fraction(1), 12, 4)], ids=str
)
@pytest.mark.parametrize("fineness", [2, 5])
def test_coarse_groups_round_to_the_safe_side(pair: Pair, fineness: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_FINENESS", "_COARSENESS", "_SHARES"):
        monkeypatch.setattr(shuffled_reports, name, fineness)
    monkeypatch.setattr(shuffled_reports, "_CELLS", 4 * fineness)
    shuffled_reports._listed.cache_clear()
    try:
        with working(128):
            law = pair.distribution()
        with mpmath.workdps(30), working(128):
            for log_alpha in ("0.02", "0.1", "0.3", "0.6"):
                exact = _exact(pair, mpmath.exp(mpmath.mpf(log_alpha)))
                found = mpmath.mpf(law.delta(arb(log_alpha)).str(30, radius=False))
                assert found >= exact if isinstance(pair, ShuffledReports) else found <= exact
                assert abs(found - exact) < 0.1
    finally:
        shuffled_reports._listed.cache_clear()


@pytest.mark.parametrize("pair", COUNTS, ids=str)
def test_what_lies_outside_of_the_windows_counts_on_the_safe_side(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(trials: int, chance: float) -> tuple[int, int]:
        mean = trials * chance
        return math.floor(0.7 * mean), min(trials, math.ceil(1.3 * mean))

    monkeypatch.setattr(shuffled_reports, "window", narrow)
    shuffled_reports._listed.cache_clear()
    try:
        with working(128):
            laws = ((pair.distribution(), _exact), (pair.mirrored().distribution(), _reversed))
        with mpmath.workdps(30), working(128):
            for (law, exactly), log_alpha in itertools.product(laws, ("0.02", "0.2", "0.31")):
                exact = exactly(pair, mpmath.exp(mpmath.mpf(log_alpha)))
                found = mpmath.mpf(law.delta(arb(log_alpha)).str(30, radius=False))
                slack = mpmath.mpf(10) ** -25
                assert found >= exact - slack if isinstance(pair, ShuffledReports) else found <= exact + slack
    finally:
        shuffled_reports._listed.cache_clear()


@pytest.mark.parametrize("labels", [3, 10, 40])
def test_states_of_a_group_are_reached_by_striking_out_or_tossing(labels: int) -> None:
    """The record stays among h of the labels with h/e where e are known, and certainly where fewer are."""
    both = set()
    for s, low, high in itertools.product((1.2, 3, 20), range(1, labels + 1), range(1, labels + 1)):
        if low <= high:
            hits, share = shuffled_reports._dominating_state(arb(s), labels, low, high)
            assert hits in (low, high)
            both.add(hits == high)
            for h in range(low, high + 1):
                own = (s + 1) * h / ((s + 1) * h + 2 * (labels - h))
                assert float(share) * min(1, h / hits) >= own - ROUNDING
    assert both == {True, False}


@pytest.mark.seconds
@pytest.mark.parametrize(("epsilon", "n", "options"), [("1/2", 100, 2), ("1", 50, 3), ("3", 60, 7), ("1/100", 40, 4)])
def test_more_reports_and_less_epsilon_spend_less(epsilon: str, n: int, options: int) -> None:
    alphas = np.exp(np.array([0.2, 1, 3]) * math.tanh(float(Fraction(epsilon)) / 2) / math.sqrt(n))
    here = _profile(_clones(epsilon, n, options), alphas)
    assert (_profile(_clones(epsilon, 2 * n, options), alphas) < here).all()
    assert (_profile(_clones(str(Fraction(epsilon) * Fraction(9, 10)), n, options), alphas) < here).all()
    assert (_profile(_clones(epsilon, n, options + 3), alphas) < here).all()
    alone = dp.RandomizedResponse(epsilon, options).dominated_by(Relation.REPLACE_ONE.orders[0]).pair
    assert (here < _profile(alone, alphas)).all()


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("epsilon", "n", "options"), [("1", 2000, 3), ("1", 20_000, 20), ("2", 1000, 3), ("1/10", 500, 3)]
)
def test_both_ends_nearly_meet_for_three_options(epsilon: str, n: int, options: int) -> None:
    found = dp.epsilon(dp.Shuffled(dp.RandomizedResponse(epsilon, options), n), "1e-6", "replace-one")
    assert found.exact_upper < found.exact_lower * Fraction(104, 100)


# --- The scheme -------------------------------------------------------------------------------------------------------


def _closed_form(epsilon: float, n: int, delta: float) -> float:
    """Feldman, McMillan & Talwar 2021, Theorem 3.1."""
    s = math.exp(epsilon)
    assert epsilon <= math.log(n / (16 * math.log(2 / delta)))
    return math.log(1 + (s - 1) / (s + 1) * (8 * math.sqrt(s * math.log(4 / delta) / n) + 8 * s / n))


@pytest.mark.seconds
@pytest.mark.parametrize(("epsilon", "n"), [("1", 100_000), ("2", 10_000), ("1", 1000)])
def test_less_than_the_closed_form_of_the_literature(epsilon: str, n: int) -> None:
    found = dp.epsilon(dp.Shuffled(dp.RandomizedResponse(epsilon), n), "1e-6", "replace-one")
    assert 0 < found.lower < found.upper < _closed_form(float(epsilon), n, 1e-6) / 3
    black_box = dp.epsilon(dp.Shuffled(dp.PureDP(epsilon, relation="replace-one"), n), "1e-6", "replace-one")
    assert black_box.exact_upper == found.exact_upper
    assert black_box.lower > found.lower or float(epsilon) > 1


@pytest.mark.seconds
def test_any_noise_of_bounded_loss_is_hidden() -> None:
    for mechanism in (dp.Laplace(2), dp.DiscreteLaplace(2), dp.PoissonSampled(dp.Laplace(2), "1/2")):
        found = dp.epsilon(dp.Shuffled(mechanism, 10_000), "1e-6", "replace-one")
        assert found.upper < 0.0433
        assert (found.lower > 0.025) == (mechanism.noise is mechanism)
    null = dp.epsilon(dp.Shuffled(dp.Laplace(2), 10_000), "1e-6", "zero-out-one")
    assert 0.009 < null.lower < null.upper < 0.035


def test_a_null_record_has_one_epsilon_in_both_orders() -> None:
    """The loss of a sampled report is larger where the record goes than where it comes: both count."""
    found = [
        pair
        for each in neighbour_classes(
            dp.Shuffled(dp.PoissonSampled(dp.Laplace(1), "1/2"), 1000), Relation.ZERO_OUT_ONE
        ).every()
        for pair, _ in each.product
    ]
    (pair,) = found
    assert isinstance(pair, ShuffledReports)
    assert float(pair.epsilon) == pytest.approx(math.log((1 + math.e) / 2))
    assert pair.apart == 2 * pair.epsilon


def test_a_smaller_batch_shows_the_record() -> None:
    """With probability 1/50 the report is in the last batch, alone, and that is seen."""
    whole = dp.Shuffled(dp.RandomizedResponse(1), 40)
    cut = dp.Shuffled(dp.RandomizedResponse(1), 40, rest="1/50")
    response = dp.delta(dp.RandomizedResponse(1), "1/2", "replace-one")
    before, after = (dp.delta(each, "1/2", "replace-one") for each in (whole, cut))
    assert after.upper == pytest.approx(0.98 * before.upper + 0.02 * response.upper, rel=1e-9)


@pytest.mark.seconds
def test_epochs_compose() -> None:
    one = _clones(1, 200)
    together = prove_delta(((one, 2),), Fraction(1, 2), 1e-6).enclosure
    with working(128):
        points = [(float(each.loss), float(each.p)) for each in law_at(one, 128).points]
    expected = sum(p * q * max(0.0, -math.expm1(0.5 - x - y)) for x, p in points for y, q in points)
    assert together.lower <= expected * (1 + 1e-6)
    assert together.upper >= expected * (1 - 1e-6)


def test_where_nothing_is_gained_a_report_spends_its_own() -> None:
    (each,) = neighbour_classes(dp.Shuffled(dp.RandomizedResponse(1), 2), Relation.REPLACE_ONE).every()
    assert each.product[0][0].in_words(str) == "randomised response of 2 options, epsilon 1"
    for mechanism in (dp.ApproximateDP(1, "1e-5", relation="replace-one"), dp.ZCDP("1/10", relation="replace-one")):
        alone, shuffled = (
            dp.epsilon(m, "1e-6", "replace-one").exact_upper for m in (mechanism, dp.Shuffled(mechanism, 10_000))
        )
        assert shuffled == alone
    test = dp.AboveThreshold(1, relation="replace-one")  # its queries may depend on other batches
    for waiting in (test, dp.Composed(((dp.RandomizedResponse(1), 1), (test, 1)))):
        found = neighbour_classes(dp.Shuffled(waiting, 1000), Relation.REPLACE_ONE)
        assert not any(isinstance(pair, ShuffledReports) for each in found.every() for pair, _ in each.product)
    with pytest.raises(UnsupportedMechanism, match="ask under replace-one"):
        dp.epsilon(dp.Shuffled(dp.Laplace(1), 10), "1e-6", "add-or-remove-one")


@pytest.mark.seconds
def test_several_records_spend_as_in_a_known_order() -> None:
    found = dp.group_account(dp.Shuffled(dp.Laplace(2), 1000) ** 3, 2, delta="1e-6", relation="replace-one")
    alone = dp.group_account(dp.Laplace(2) ** 3, 2, delta="1e-6", relation="replace-one")
    assert found.exact_upper == alone.exact_upper


@pytest.mark.seconds
def test_tiny_and_huge_numbers() -> None:
    for mechanism in (dp.RandomizedResponse("1e-9"), dp.RandomizedResponse(200), dp.RandomizedResponse("1e-9", 5)):
        found = dp.epsilon(dp.Shuffled(mechanism, 1000), "1e-12", "replace-one")
        assert 0 <= found.exact_lower <= found.exact_upper <= mechanism.epsilon
    many = dp.epsilon(dp.Shuffled(dp.RandomizedResponse(1), 10**12), "1e-6", "replace-one")
    assert many.upper < 2e-4


def test_clones_need_their_conditions() -> None:
    with pytest.raises(ValueError, match="prove nothing"):
        _clones(1, 10, apart="1/2")
    with pytest.raises(ValueError, match="prove nothing"):
        _clones(1, 10, 3, apart=2)
