"""A record that contributes nothing, its place kept: numbers, attacks, and how the relation stands to the others."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

import dpbounds.algorithms
import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.accountants.certified import account, prove_delta
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.notions import conversions, notions
from dpbounds.privacy.pairs.losses import law_of
from dpbounds.privacy.pairs.pairs import Direction, Draws, OpposedGaussians, ShiftedGaussians, ShiftedLaplaces, Zeroed
from dpbounds.privacy.publishing.interoperability.events import from_dp_event
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.privacy.renyi.moments import log_moment
from tests.privacy.oracle.attacks import line_attacks, played
from tests.privacy.oracle.games import Grid
from tests.privacy.oracle.noise import GaussianNoise
from tests.privacy.oracle.samplings import Order as Drawn, WithoutReplacement
from tests.privacy.products import curve_of, products_of

AR, RE, ZO = Relation
ALPHAS = np.exp(np.linspace(-3, 3, 61))


def delta_of(mechanism: Mechanism, order: Order, epsilon: str) -> Fraction:
    """The proven upper end of δ in one order."""
    (relation,) = (each for each in Relation if order in each.orders)
    products = [each.product for each in neighbour_classes(mechanism, relation).along(order)]
    ends = [prove_delta(product, Fraction(epsilon), 1e-9).enclosure.exact_upper for product in products]
    return max(Fraction(end) for end in ends)


# --- Numbers ---------------------------------------------------------------------------------------------------------

ONE_STEP = [  # z, b of n, ε, zero, restore
    ("1", 1, 2, "1", "0.05869208038160195376", "0.028867617837630349513"),
    ("1", 1, 100, "1", "0.00016927272728283293581", "2.7320092615461311357e-9"),
    ("2", 1, 10, "0.25", "0.0023275389179665493948", "0.00010415446047095391561"),
    ("4", 1, 100, "0.1", "9.9080478543742090775e-11", "6.0647857946023437411e-26"),
    ("1", 5, 5, "1", "0.1269367375066439458", "0.1269367375066439458"),
]


@pytest.mark.parametrize(("z", "b", "n", "epsilon", "zero", "restore"), ONE_STEP)
def test_one_step_of_a_fixed_size(z: str, b: int, n: int, epsilon: str, zero: str, restore: str) -> None:
    step = dp.SampledWithoutReplacement(dp.Gaussian(z), b, n)
    assert float(delta_of(step, Order.ZERO, epsilon)) == pytest.approx(float(zero), rel=1e-15)
    assert float(delta_of(step, Order.RESTORE, epsilon)) == pytest.approx(float(restore), rel=1e-15)
    assert account(step, epsilon=epsilon, relation=ZO).tight


@pytest.mark.seconds
def test_one_step_by_the_best_half_line() -> None:
    """sup_t γ(F̄(t-2s) - αF̄(t-s)) - (α-1)(1-γ)F̄(t), with 30 digits."""
    z, gamma, epsilon = "1.5", Fraction(1, 5), Fraction(1, 2)
    with mp.workdps(30):
        s, alpha, g = 1 / mpf(z), mp.exp(mpf(1) / 2), mpf(1) / 5

        def gain(t: mpf) -> mpf:
            tail = [mpmath.ncdf(shift - t) for shift in (2 * s, s, mpf(0))]
            return g * (tail[0] - alpha * tail[1]) - (alpha - 1) * (1 - g) * tail[2]

        best = max((k / mpf(100) for k in range(1200)), key=gain)
        expected = gain(mpmath.findroot(lambda t: mp.diff(gain, t), best))
    step = dp.SampledWithoutReplacement(dp.Gaussian(z), gamma.numerator, gamma.denominator)
    assert float(delta_of(step, Order.ZERO, str(epsilon))) == pytest.approx(float(expected), rel=1e-14)


TRAP = [  # z, b of n, T, at least the attack, at most the second reading's upper ends, the Poisson formula
    (1, 100, 10_000, 1000, 10.344, 10.509, 1.83),
    (2, 100, 10_000, 1000, 1.194, 1.280, 0.623),
    (1, 1000, 10_000, 100, 17.43, 18.06, 7.05),
    (4, 1000, 10_000, 100, 1.203, 1.278, 0.984),
]


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "case", [pytest.param(TRAP[3]), *(pytest.param(case, marks=pytest.mark.seconds) for case in TRAP[:3])]
)
def test_a_fixed_size_is_not_a_poisson_sample(case: tuple[int, int, int, int, float, float, float]) -> None:
    z, b, n, steps, attack, upper, poisson = case
    found = account(dp.SampledWithoutReplacement(dp.Gaussian(z), b, n) ** steps, delta="1e-5", relation=ZO).enclosure
    assert attack < found.lower < found.upper < upper
    other = account(dp.PoissonSampled(dp.Gaussian(z), Fraction(b, n)) ** steps, delta="1e-5", relation=ZO).enclosure
    assert other.upper < poisson < found.lower


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("n", "b", "attained", "claimed"), [(2, 1, 0.19623, 0.20320), (3, 2, 0.26061, 0.27125)])
def test_two_adaptive_steps(n: int, b: int, attained: float, claimed: float) -> None:
    """The best adversary who looks back, by backward induction, against the product of the pairs."""
    grid = Grid(0.02, 500, 1000)
    best = played([line_attacks(GaussianNoise(1.0), WithoutReplacement(b), Drawn.ZERO, n)] * 2, grid)
    assert np.interp(0.5, np.log(grid.alphas), best) == pytest.approx(attained, abs=1e-4)
    step = dp.SampledWithoutReplacement(dp.Gaussian(1), b, n)
    assert float(delta_of(step**2, Order.ZERO, "0.5")) == pytest.approx(claimed, abs=1e-5)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_the_obvious_pair_of_a_record_drawn_several_times_is_no_bound() -> None:
    """n = b = 2, z = 1, the other record at half of x, ε = 0: Σ p_k N(k) against N(0) has 0.3533, the attack 0.3621."""
    weights = {(0, 2): 0.25, (1, 1): 0.5, (2, 0): 0.25}

    def law(own: float, x: np.ndarray) -> np.ndarray:
        means = {counts: counts[0] * own + counts[1] * 0.5 for counts in weights}
        return np.asarray(
            sum(weight * np.exp(-((x - means[counts]) ** 2) / 2) for counts, weight in weights.items())
        ) / math.sqrt(2 * math.pi)

    x = np.linspace(-12, 14, 200_001)
    attack = float(np.maximum(law(0.0, x) - law(1.0, x), 0).sum() * (x[1] - x[0]))
    assert attack == pytest.approx(0.36213, abs=1e-5)
    found = account(dp.SampledWithReplacement(dp.Gaussian(1), 2, 2), epsilon=0, relation=ZO).enclosure
    assert found.lower == pytest.approx(0.35328, abs=1e-5)  # others like the record, or zero
    assert found.upper >= attack - 1e-9


# --- Laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
@pytest.mark.parametrize("draws", [Draws(Fraction(1, 3)), Draws(Fraction(99, 100)), Draws(Fraction(1, 4), 3)])
def test_the_masses_of_the_law(direction: Direction, draws: Draws) -> None:
    """Masses on both sides add up to 1, and those of an interval have the ratio of its losses."""
    with ctx.workprec(200):
        law = law_of(Zeroed(direction, draws, ShiftedGaussians(Fraction(2, 3))))
        (atom, *_) = law.points
        assert all(point.p > 0 and abs(point.p - point.r) < arb(2) ** -150 for point in law.points)
        losses = [arb(k) / 4 for k in range(-7, 12)]
        for loss in losses:
            (p, r), (q, s) = law.tail(loss), law.head(loss)
            atoms = sum((point.p for point in law.points), arb(0))
            assert abs(p + q + atoms - 1) < arb(2) ** -150
            assert abs(r + s + atoms - 1) < arb(2) ** -150
        for low, high in itertools.pairwise(losses):
            p, r = (a - b for a, b in zip(law.tail(low), law.tail(high), strict=True))
            assert low.exp() * r <= p + arb(2) ** -150
            assert p <= high.exp() * r + arb(2) ** -150
        assert atom.loss == 0


def test_the_law_of_the_opposed_attack() -> None:
    """Its loss falls and rises again: by cells of the line."""
    gamma, s = 0.4, 0.9
    x = np.linspace(-12, 14, 400_001)

    def normal(mean: float) -> np.ndarray:
        return np.exp(-((x - mean) ** 2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])

    first = (1 - gamma) * normal(0) + gamma * normal(2 * s)
    second = (1 - gamma) * normal(0) + gamma * normal(s)
    pair = OpposedGaussians(Direction.REMOVE, Fraction(2, 5), Fraction(81, 100))
    by_cells = np.array([np.maximum(first - alpha * second, 0).sum() for alpha in ALPHAS])
    assert curve_of(pair, ALPHAS) == pytest.approx(by_cells, abs=1e-6)
    swapped = np.array([np.maximum(second - alpha * first, 0).sum() for alpha in ALPHAS])
    assert curve_of(OpposedGaussians(Direction.ADD, Fraction(2, 5), Fraction(81, 100)), ALPHAS) == pytest.approx(
        swapped, abs=1e-6
    )
    whole = curve_of(Zeroed(Direction.REMOVE, Draws(Fraction(2, 5)), ShiftedGaussians(Fraction(81, 100))), ALPHAS)
    assert (by_cells <= whole + 1e-6).all()
    assert by_cells[ALPHAS >= 1] == pytest.approx(whole[ALPHAS >= 1], abs=1e-6)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_an_envelope_of_three_laws_is_above_the_exact_law() -> None:
    """The general bound, given the Gaussian profile by atoms it cannot recognise, against the closed law."""
    laplace = Zeroed(Direction.REMOVE, Draws(Fraction(1, 3)), ShiftedLaplaces(Fraction(1)))
    s, gamma = 1.0, 1 / 3
    t = np.linspace(-12, 14, 20_001)

    def tail(at: np.ndarray) -> np.ndarray:
        return np.where(at > 0, np.exp(-np.abs(at)) / 2, 1 - np.exp(-np.abs(at)) / 2)

    above = ALPHAS >= 1
    exact = np.array(
        [(gamma * (tail(t - 2 * s) - a * tail(t - s)) - (a - 1) * (1 - gamma) * tail(t)).max() for a in ALPHAS[above]]
    )
    found = curve_of(laplace, ALPHAS)[above]
    assert (found >= exact - 1e-9).all()
    assert found == pytest.approx(exact, abs=1e-4)


# --- Against the other relations -------------------------------------------------------------------------------------

SUMS: list[Mechanism] = [
    dp.Gaussian(2),
    dp.Laplace(3, dimension=1),
    dp.UniformBall(5, 2),
    dp.Gaussian(2) @ dp.Gaussian(3),
]
DRAWS = {
    "full batch": lambda inner: inner,
    "Poisson": lambda inner: dp.PoissonSampled(inner, "0.3"),
    "without": lambda inner: dp.SampledWithoutReplacement(inner, 2, 5),
    "with": lambda inner: dp.SampledWithReplacement(inner, 2, 5),
    "by index": lambda inner: dp.InParallel((inner, dp.Gaussian(4)), "index"),
    "a batch of samples": lambda inner: dp.SampledWithoutReplacement(dp.PoissonSampled(inner, "0.5"), 2, 5),
}


def layer(drawn: str, index: int) -> Any:
    """Of a way of drawing, by the place of its noise in ``SUMS``."""
    if drawn in ("full batch", "Poisson", "by index") or (index == 0 and drawn in ("without", "with")):
        return ()
    return pytest.mark.minutes if drawn == "a batch of samples" and index in (0, 3) else pytest.mark.seconds


@pytest.mark.parametrize(
    ("inner", "drawn"),
    [
        pytest.param(
            inner,
            drawn,
            id=f"{drawn}-{index}",
            marks=layer(drawn, index),
        )
        for index, inner in enumerate(SUMS)
        for drawn in DRAWS
    ],
)
def test_a_zeroed_record_spends_no_more_than_a_replaced_one_and_two_no_less(inner: Mechanism, drawn: str) -> None:
    """⊥ is a record with the vector 0; and a replacement is one out, and another one in."""
    step = DRAWS[drawn](inner)
    for epsilon in ("0", "0.4"):
        zero, restore = (delta_of(step, order, epsilon) for order in (Order.ZERO, Order.RESTORE))
        replaced = account(step, epsilon=epsilon, relation=RE).enclosure
        rounding = Fraction(1, 10**100)  # of a hull, where nothing is spent
        assert max(zero, restore) <= Fraction(replaced.exact_upper) * (1 + Fraction(1, 10**6)) + rounding
        half = str(Fraction(epsilon) / 2)
        zero, restore = (delta_of(step, order, half) for order in (Order.ZERO, Order.RESTORE))
        chain = zero + Fraction(math.exp(float(Fraction(half))) * (1 + 1e-12)) * restore
        assert Fraction(replaced.exact_lower) <= chain * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("inner", SUMS, ids=str)
def test_where_nothing_tells_a_zeroed_record_from_none_the_relations_agree(inner: Mechanism) -> None:
    for step in (inner, dp.PoissonSampled(inner, "0.2") ** 3, dp.InParallel((inner, dp.Gaussian(9)))):
        assert products_of(step, ZO) == products_of(step, AR)


def test_a_batch_of_everything_is_the_full_batch() -> None:
    for inner in SUMS:
        assert products_of(dp.SampledWithoutReplacement(inner, 5, 5), ZO) == products_of(inner, ZO)


def test_more_noise_and_rarer_records_spend_less() -> None:
    def spent(z: str, n: int) -> list[float]:
        step = dp.SampledWithoutReplacement(dp.Gaussian(z), 2, n)
        return [float(delta_of(step, order, "0.2")) for order in (Order.ZERO, Order.RESTORE)]

    falling = [spent("1", 3), spent("1", 5), spent("2", 5), spent("2", 50)]
    for more, less in itertools.pairwise(falling):
        assert all(a > b for a, b in zip(more, less, strict=True))


DECLARED = [
    lambda relation: dp.PureDP("0.3", relation=relation),
    lambda relation: dp.ApproximateDP("0.3", "0.01", relation=relation),
    lambda relation: dp.ZCDP("0.1", relation=relation),
    lambda relation: dp.ExponentialMechanism("0.3", relation=relation),
    lambda relation: dp.AboveThreshold("0.3", relation=relation),
]


@pytest.mark.parametrize("make", DECLARED)
@pytest.mark.parametrize(("declared", "asked"), list(itertools.product(Relation, repeat=2)))
def test_what_is_declared_under_one_relation_and_asked_under_another(
    make: object, declared: Relation, asked: Relation
) -> None:
    """The same: as declared. Replace-one of another: two links. All else is refused, as notions refuse it."""
    assert callable(make)
    mechanism = make(declared)
    allowed = declared is asked or asked is RE
    notion = notions.PureDP("0.3", declared)
    if not allowed:
        with pytest.raises(UnsupportedMechanism, match=str(declared)):
            neighbour_classes(mechanism, asked)
        with pytest.raises(UnsupportedMechanism, match="gives none"):
            conversions.convert(notion, notions.PureDP, relation=asked)
        return
    found = account(mechanism, epsilon="0.1", relation=asked).enclosure
    assert found == account(make(AR), epsilon="0.1", relation=RE if declared is not asked else AR).enclosure
    converted = conversions.convert(notion, notions.PureDP, relation=asked).notion
    assert isinstance(converted, notions.PureDP)
    assert converted.epsilon == Fraction("0.3") * (1 if declared is asked else 2)


@pytest.mark.parametrize(
    ("mechanism", "relation", "reason"),
    [
        (dp.RandomizedResponse(1), AR, "or with relation='zero-out-one' if a null record answers as if"),
        (dp.PoissonSampled(dp.PureDP(1, relation=AR), "0.1"), ZO, "declare it under zero-out-one"),
        (dp.PoissonSampled(dp.PureDP(1, relation=ZO), "0.1"), AR, "says nothing about adding or removing"),
        (dp.InParallel((dp.Gaussian(1), dp.AboveThreshold(1, relation=ZO))), ZO, "blocks by the record's content"),
        (
            dp.InParallel((dp.SampledWithoutReplacement(dp.Gaussian(1), 1, 5),)),
            ZO,
            "WithoutReplacement inside a block",
        ),
        (dp.SampledWithReplacement(dp.RenyiDP({2: 1}, relation=ZO), 3, 10), ZO, "what 2 records cost"),
        (dp.RenyiDP({2: 1}, relation=ZO), RE, "triangle"),
        (dp.SampledWithoutReplacement(dp.InParallel((dp.Gaussian(1),) * 2, "index"), 2, 4), ZO, "blocks in parallel"),
        (dp.InParallel((dp.Gaussian(1),), "index"), AR, "--relation replace-one or --relation zero-out-one"),
        (
            dp.SampledWithoutReplacement(dp.MixtureOfGaussians(1, {0: "0.5", 1: "0.3", 2: "0.2"}), 2, 9),
            ZO,
            "has no bound here",
        ),
    ],
)
def test_what_is_not_proven_is_refused_in_one_line(mechanism: Mechanism, relation: Relation, reason: str) -> None:
    with pytest.raises(UnsupportedMechanism, match=reason) as caught:
        neighbour_classes(mechanism, relation)
    assert "\n" not in str(caught.value)


# --- Other accounts --------------------------------------------------------------------------------------------------


def test_groups_go_k_times_as_far() -> None:
    assert group_account(dp.Gaussian(15), 3, delta="1e-5", relation=ZO) == group_account(
        dp.Gaussian(15), 3, delta="1e-5"
    )
    poisson = dp.PoissonSampled(dp.Gaussian(4), "0.2")
    assert group_account(poisson, 2, epsilon="0.1", relation=ZO) == group_account(poisson, 2, epsilon="0.1")
    fixed = dp.SampledWithoutReplacement(dp.Gaussian(4), 1, 5)
    two, one = (group_account(fixed, k, epsilon="0.1", relation=ZO) for k in (2, 1))
    assert one.upper < two.upper <= group_account(fixed, 2, epsilon="0.1", relation=RE).upper


def test_renyi_divergences_bound_those_of_the_attack() -> None:
    """Of the opposed pair, by quadrature, at several orders; and ρ is that of the base."""
    gamma, s = 0.25, 0.5
    x = np.linspace(-14, 40, 100_001)

    def log_density(k: int) -> np.ndarray:  # over that of N(0)
        return np.asarray(np.logaddexp(math.log1p(-gamma), math.log(gamma) + k * s * x - (k * s) ** 2 / 2))

    first, second = log_density(2), log_density(1)
    pair = Zeroed(Direction.REMOVE, Draws(Fraction(1, 4)), ShiftedGaussians(Fraction(1, 4)))
    for order in (1.5, 2, 3, 8, 40):
        exponents = order * first + (1 - order) * second - x**2 / 2
        attack = math.log(float(np.exp(exponents).sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi)))
        assert attack <= float(log_moment(pair, order).upper())
    step = dp.SampledWithoutReplacement(dp.Gaussian(2), 1, 4)
    assert zcdp_rho(step, ZO) == zcdp_rho(dp.Gaussian(2), ZO) == Fraction(1, 8)


# --- Nobody forgets the third ----------------------------------------------------------------------------------------

TWO_WAYS = {  # where one relation or order is singled out in code, and why all others may be treated alike there
    "privacy/relations.py": "the properties that others should ask for",
    "privacy/accountants/groups.py": "records of a group may change blocks, and are drawn twice, only when replaced",
    "privacy/mechanisms/bounds.py": "only a record that is replaced moves from one block to another",
    "privacy/mechanisms/schemes/poisson.py": "replacing is its own reversal, and has pairs of its own",
    "privacy/mechanisms/schemes/by_user.py": "only a record that is replaced goes from one user to another",
    "privacy/mechanisms/schemes/fixed_size.py": "replacing is its own reversal, and has pairs of its own",
    "privacy/mechanisms/schemes/truncated.py": "adding reverses removing; and replacing has pairs of its own",
    "privacy/mechanisms/schemes/shuffled.py": "only two vectors can be opposite",
    "privacy/mechanisms/schemes/allocation.py": "replacing is its own reversal, and has pairs of its own",
    "privacy/mechanisms/schemes/streams.py": "only two records that are exchanged can lie in two groups",
    "privacy/mechanisms/guarantees.py": "only a replacement can raise one count and lower another, and has two answers",
    "theorems/spending.py": "a difference of two records is what replacing one needs, and adding one to a fixed batch",
    "privacy/mechanisms/schemes/bins.py": "a stride is a choice: any is sound",
    "privacy/publishing/statements.py": "the number of records is public but where they come and go: a bound on it",
    "privacy/publishing/certificates/releases.py": "words of a refusal: the checker says what it has under each",
    "privacy/publishing/hints.py": "hints, which a checker verifies: another one proves less, or nothing",
    "cli/answers/assumptions.py": "one more condition under zero-out-one",
    "privacy/accountants/probable/sampled.py": "two datasets, one without a record of the other; replacing is refused",
    "verification/attacks/neighbours.py": "a record is turned round when replaced; else its term is 0, its place kept",
    "descents/perturbed_gradient_descent.py": "what is proven on a sphere; and a radius that suffices for all",
}


def comparisons(root: Path) -> Iterator[tuple[str, str]]:
    """Files of a package in which a member of Relation or Order is compared with."""
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Relation." not in text and "Order." not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Compare):
                for side in (node.left, *node.comparators):
                    for inner in ast.walk(side):
                        if (
                            isinstance(inner, ast.Attribute)
                            and isinstance(inner.value, ast.Name)
                            and inner.value.id in ("Relation", "Order")
                        ):
                            yield path.relative_to(root).as_posix(), ast.unparse(node)


@pytest.mark.seconds
def test_every_comparison_with_one_relation_is_accounted_for() -> None:
    roots = [Path(package.__file__).parent for package in (dpbounds, dpbounds.algorithms) if package.__file__]
    found = {name: text for root in roots for name, text in comparisons(root) if not name.startswith("algorithms/")}
    assert set(found) <= set(TWO_WAYS), found


def test_groups_of_what_is_not_blind_may_see_how_many_of_them_are_drawn() -> None:
    """A sample's size is published, and an answer to "how many of these contribute?": pure ε for one, 2ε for two."""
    rate, alpha = 0.5, math.exp(0.1)

    def responses(epsilon: float) -> float:
        return max(0.0, (math.exp(epsilon) - alpha) / (1 + math.exp(epsilon)))

    attained = 2 * rate * (1 - rate) * responses(1) + rate**2 * responses(2)
    step = dp.PoissonSampled(dp.PureDP(1, relation=ZO), "0.5")
    assert group_account(step, 2, epsilon="0.1", relation=ZO).upper >= attained
    blind = dp.PoissonSampled(dp.Laplace(1), "0.5")  # here nobody sees it, and less is spent
    assert group_account(blind, 2, epsilon="0.1", relation=ZO).upper < attained


@pytest.mark.parametrize("epsilon", ["0", "0.2", "0.9"])
@pytest.mark.parametrize("options", [2, 4])
@pytest.mark.parametrize("null", ["fixed", "uniform", "drawn"])
def test_a_null_record_gives_one_of_the_answers(null: str, options: int, epsilon: str) -> None:
    """All answers listed, alone and on Poisson samples, which show whether the record's place is drawn."""
    odds, alpha, rate = math.e, math.exp(float(epsilon)), 0.25
    answers = [[odds if j == i else 1 for j in range(options)] for i in range(options)]
    weights = {"fixed": [0, 1], "uniform": [1 / options] * options, "drawn": [0.3, 0.7]}[null]
    first = [one / (odds + options - 1) for one in answers[0]]
    second = [sum(w * answers[i][j] for i, w in enumerate(weights)) / (odds + options - 1) for j in range(options)]

    def spent(p: list[float], q: list[float]) -> float:
        return math.fsum(max(0, one - alpha * other) for one, other in zip(p, q, strict=True))

    mechanism = dp.RandomizedResponse(1, options)
    for order, pair in (("zero", (first, second)), ("restore", (second, first))):
        alone = account(mechanism, epsilon=epsilon, relation=ZO, order=order).enclosure.upper
        on_samples = dp.PoissonSampled(mechanism, "1/4")
        sampled = account(on_samples, epsilon=epsilon, relation=ZO, order=order).enclosure.upper
        assert spent(*pair) <= alone * (1 + 1e-12)
        assert rate * spent(*pair) <= sampled * (1 + 1e-12)
        if null == "fixed":
            assert alone == pytest.approx(spent(*pair))
            assert sampled == pytest.approx(rate * spent(*pair))
    assert account(mechanism, epsilon=epsilon, relation=ZO).tight
    told = " ".join(each.text for each in mechanism.assumptions(ZO))
    assert "a null record answers as if it held one of the answers" in told
    assert "null" not in " ".join(each.text for each in mechanism.assumptions(RE))


def test_the_null_record_of_dp_accounting_is_covered() -> None:
    accounting = pytest.importorskip("dp_accounting")
    theirs = accounting.pld.PLDAccountant(accounting.NeighboringRelation.REPLACE_SPECIAL)
    theirs.compose(accounting.RandomizedResponseDpEvent(0.5, 4))
    mechanism = from_dp_event(accounting.RandomizedResponseDpEvent(0.5, 4))
    for epsilon in ("0.1", "0.5", "1"):
        found = account(mechanism, epsilon=epsilon, relation=ZO).enclosure
        assert theirs.get_delta(float(epsilon)) <= found.upper + 1e-9
