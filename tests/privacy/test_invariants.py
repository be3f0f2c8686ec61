"""What answers about one mechanism imply about each other, on drawn trees: no joint answer is worse than its parts'.

Each of these has a proof, whatever route an answer took:

- *Parts.* A composition spends at most Σ ε_i at Σ δ_i (basic composition).
- *Relations.* Zeroing a record is one way to replace it: zero-out-one spends at most what replace-one does. A sum to
  which a record adds nothing is the sum without it, so that under the full batch and under Poisson samples
  add-or-remove-one spends what zero-out-one does (``zero_out.md``), so at most what replace-one does.
- *The dearest part.* A release of more noise is one of less noise with more added. A promise about all datasets of at
  most n records holds for those of at most n' < n.
- *ε and δ.* At the ε that suffices for δ no more than δ is spent; below the ε that does not, more is.

Upper ends are compared up to the width of the answers: each of the two may be so much above what it encloses.
"""

import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.mechanisms import Mechanism, parts_of
from dpbounds.privacy.relations import Relation

AR, RE, ZO = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE, Relation.ZERO_OUT_ONE
WIDTH = 0.03  # relative, of an answer
ROOM = Fraction(105, 100)  # between two upper ends
DELTAS = (Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**20))
Noise = Callable[[Fraction], Mechanism]


# --- Trees ------------------------------------------------------------------------------------------------------------


def _number(draw: random.Random, low: float, high: float) -> Fraction:
    """Two significant digits, evenly in the logarithm."""
    return Fraction(f"{math.exp(draw.uniform(math.log(low), math.log(high))):.2g}")


def _step(draw: random.Random, *, plain: bool) -> Noise:
    """A release on a batch; ``plain``: on all records or a Poisson sample of them. Most answers take milliseconds."""
    z, rate, batch = _number(draw, 0.5, 20), _number(draw, 0.01, 0.9), draw.randint(1, 3)
    ways: list[Noise] = [
        lambda s: dp.Gaussian(z * s),
        lambda s: dp.PoissonSampled(dp.Gaussian(z * s), rate),
        lambda s: dp.PoissonSampled(dp.Gaussian(z * s), rate),
        lambda s: dp.Laplace(z * s),
    ]
    if not plain:
        size = draw.randint(batch + 1, 6)
        ways += [lambda s: dp.SampledWithoutReplacement(dp.Gaussian(z * s), batch, 20)] * 3
        ways += [lambda s: dp.TruncatedPoisson(dp.Gaussian(z * s), rate, batch, size)]
    return draw.choice(ways)


def tree(seed: int, *, plain: bool) -> Noise:
    """One to three different steps, each a few times, by a factor on all noise."""
    draw = random.Random(f"{seed} {plain}")
    parts = [(_step(draw, plain=plain), draw.choice([1, 2, 3, 8])) for _ in range(draw.randint(1, 3))]
    return lambda s: dp.Composed(tuple((step(s), count) for step, count in parts))


# --- What is asked ----------------------------------------------------------------------------------------------------


def epsilon(mechanism: Mechanism, delta: Fraction, relation: Relation) -> Enclosure | None:
    """None where the mechanism is refused under the relation."""
    try:
        return account(mechanism, delta=delta, relation=relation, tolerance=WIDTH).enclosure
    except UnsupportedMechanism:
        return None


def at_most(found: Enclosure, limit: Fraction | float) -> bool:
    return found.exact_upper <= limit * ROOM + Fraction(1, 10**9)


def check_parts(mechanism: Mechanism, delta: Fraction, relation: Relation, found: Enclosure) -> None:
    parts = parts_of(mechanism)
    if len(parts) == 1:
        return
    each = [epsilon(dp.Composed((part,)), delta / len(parts), relation) for part in parts]
    assert at_most(found, sum(one.exact_upper for one in each if one is not None)), (mechanism, delta, relation)


def check_relations(mechanism: Mechanism, delta: Fraction, *, plain: bool) -> None:
    spent = {relation: epsilon(mechanism, delta, relation) for relation in Relation}
    dearer = spent[RE]
    for relation in (AR, ZO) if plain else (ZO,):
        cheaper = spent[relation]
        if cheaper is not None and dearer is not None:
            assert at_most(cheaper, dearer.exact_upper), (mechanism, delta, relation)


def check_less_noise(build: Noise, delta: Fraction, relation: Relation) -> None:
    """One run with more noise spends at most what one run with less does, alone and beside another."""
    noisy, dearer = build(Fraction(3, 2)), build(Fraction(1))
    for mixed, alike in ((noisy, dearer), (dp.Composed(((dearer, 1), (noisy, 1))), dp.Composed(((dearer, 2),)))):
        found, limit = epsilon(mixed, delta, relation), epsilon(alike, delta, relation)
        assert found is not None
        assert limit is not None
        assert at_most(found, limit.exact_upper), (mixed, delta, relation)


def check_delta(mechanism: Mechanism, delta: Fraction, relation: Relation, found: Enclosure) -> None:
    if isinstance(found.exact_upper, float):
        return
    at = account(mechanism, epsilon=found.exact_upper, relation=relation, tolerance=WIDTH).enclosure
    assert at.exact_lower <= delta, (mechanism, delta, relation)
    if found.exact_lower > 0:
        below = account(mechanism, epsilon=found.exact_lower, relation=relation, tolerance=WIDTH).enclosure
        assert below.exact_upper >= delta, (mechanism, delta, relation)


def check(seed: int) -> None:
    """Basic composition, and one other rule, for one tree; which, and which δ and relation, turn with its number."""
    plain, delta, relation = seed % 8 != 1, DELTAS[seed // 2 % 3], (AR, RE, ZO)[seed // 6 % 3]
    build = tree(seed, plain=plain)
    mechanism = build(Fraction(1))
    found = epsilon(mechanism, delta, relation)
    if found is None:
        return
    check_parts(mechanism, delta, relation, found)
    match seed // 18 % 3:
        case 0:
            check_relations(mechanism, delta, plain=plain)
        case 1:
            check_less_noise(build, delta, relation)
        case 2:
            check_delta(mechanism, delta, relation, found)


# --- Tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [4, 6, 40, 52])
def test_a_tree(seed: int) -> None:
    check(seed)


@pytest.mark.seconds
@pytest.mark.parametrize("first", range(84, 96, 3))
def test_few_trees(first: int) -> None:
    for seed in range(first, first + 3):
        check(seed)


@pytest.mark.minutes
@pytest.mark.parametrize("first", range(0, 1000, 50))
def test_a_thousand_trees(first: int) -> None:
    for seed in range(first, first + 50):
        check(seed)


@pytest.mark.seconds
@pytest.mark.parametrize(
    "mechanism",
    [
        dp.TruncatedPoisson(dp.Gaussian(1), "1/2", 2, 4) ** 3 @ dp.TruncatedPoisson(dp.Gaussian(1), "1/2", 2, 3) ** 2,
        dp.TruncatedPoisson(dp.Gaussian(1), "1/2", 2, 4) ** 2 @ dp.TruncatedPoisson(dp.Gaussian(2), "1/3", 1, 4) ** 2,
    ],
    ids=["unlike sizes", "unlike cuts"],
)
def test_truncated_samples_spend_no_more_than_their_parts(mechanism: Mechanism) -> None:
    delta = Fraction(1, 10**6)
    found = epsilon(mechanism, delta, AR)
    assert found is not None
    check_parts(mechanism, delta, AR, found)


@pytest.mark.parametrize("count", [2, 6])
def test_pure_releases_spend_no_more_than_their_sum_at_a_tiny_delta(count: int) -> None:
    mechanism, delta = dp.Laplace(4) ** count @ dp.Laplace(3), Fraction(1, 10**30)
    found = epsilon(mechanism, delta, AR)
    assert found is not None
    check_parts(mechanism, delta, AR, found)
    check_delta(mechanism, delta, AR, found)


def test_a_rule_that_is_broken_is_seen() -> None:
    """A joint answer that is a tenth too wide fails."""
    mechanism, delta = dp.Gaussian(3) @ dp.Laplace(4), Fraction(1, 10**6)
    found = epsilon(mechanism, delta, AR)
    assert found is not None
    parts = sum(one.exact_upper for part, _ in parts_of(mechanism) if (one := epsilon(part, delta / 2, AR)) is not None)
    check_parts(mechanism, delta, AR, found)
    with pytest.raises(AssertionError):
        check_parts(mechanism, delta, AR, Enclosure(found.exact_lower, Fraction(parts) * Fraction(11, 10)))
    with pytest.raises(AssertionError):
        check_delta(mechanism, delta, AR, Enclosure(Fraction(0), found.exact_lower * Fraction(9, 10)))
