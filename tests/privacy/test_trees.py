"""Random trees of mechanisms: certified, consistent with themselves, and never above what simpler proofs give."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.accountants.certified import Account, account, prove_epsilon
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.routes.lattice import epsilon_bounds

Build = Callable[[Fraction], Mechanism]  # from a factor on all noise to the tree

AR, RE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
TOLERANCE = 0.03
LIGHT = ["gaussian", "laplace", "scalar", "ball", "pure", "approximate", "select", "above"]
KINDS = [*LIGHT, "zcdp"]


def numbers(low: float, high: float) -> st.SearchStrategy[Fraction]:
    """Two significant digits, evenly in the logarithm."""
    exponents = st.floats(math.log(low), math.log(high), allow_nan=False)
    return exponents.map(lambda x: Fraction(f"{math.exp(x):.2g}"))


@st.composite
def leaves(draw: st.DrawFn, relation: Relation, light: bool = False) -> Build:
    declared = AR if relation is AR else draw(st.sampled_from([AR, RE]))
    kind = draw(st.sampled_from(LIGHT if light else KINDS))
    z, epsilon = draw(numbers(1, 30)), draw(numbers(0.01, 0.5))
    return {
        "gaussian": lambda s: dp.Gaussian(z * s),
        "laplace": lambda s: dp.Laplace(z * s),
        "scalar": lambda s: dp.Laplace(z * s, dimension=1),
        "ball": lambda s: dp.UniformBall(10**8 * z * s, 3),
        "pure": lambda s: dp.PureDP(epsilon / s, relation=declared),
        "approximate": lambda s: dp.ApproximateDP(epsilon / s, Fraction(1, 10**9), relation=declared),
        "zcdp": lambda s: dp.ZCDP(epsilon**2 / s**2, relation=declared),
        "select": lambda s: dp.ExponentialMechanism(epsilon / s, relation=declared),
        "above": lambda s: dp.AboveThreshold(epsilon / s, relation=declared),
    }[kind]


@st.composite
def sampled(draw: st.DrawFn, relation: Relation, light: bool) -> Build:
    schemes = ["none", "poisson", "without"] if light else ["none", "poisson", "without", "with", "several"]
    inner, scheme = draw(leaves(relation, light)), draw(st.sampled_from(schemes))
    rate, batch = draw(numbers(0.01, 0.9)), draw(st.integers(1, 4))
    match scheme:
        case "poisson":
            return lambda s: dp.PoissonSampled(inner(s), rate)
        case "without":
            return lambda s: dp.SampledWithoutReplacement(inner(s), batch, 20)
        case "with":
            return lambda s: dp.SampledWithReplacement(inner(s), batch, 20)
        case "several":
            other = draw(leaves(relation, light))
            return lambda s: dp.PoissonSampled(inner(s) @ other(s), rate)
    return inner


@st.composite
def trees(draw: st.DrawFn, relation: Relation, light: bool = False) -> Build:
    """Light ones leave out what takes seconds: several draws, several releases on one sample, zCDP profiles."""
    most = 2 if light else 3
    parts = draw(st.lists(st.tuples(sampled(relation, light), st.integers(1, 30)), min_size=1, max_size=most))
    if draw(st.integers(0, 4)) == 0:
        one, other = draw(leaves(relation, light)), draw(leaves(relation, light))
        parts.append((lambda s: dp.InParallel((one(s), other(s))), draw(st.integers(1, 10))))
    return lambda s: dp.Composed(tuple((build(s), count) for build, count in parts))


def certified(mechanism: Mechanism, relation: Relation, delta: str = "1e-5") -> Account | None:
    """The account; None where a part is refused for a reason."""
    try:
        return account(mechanism, delta=delta, relation=relation, tolerance=TOLERANCE)
    except UnsupportedMechanism as error:
        refusal = str(error)
    assert len(refusal) > 60, "a refusal says what is missing and what could be asked instead"
    return None


def check_tree(build: Build, relation: Relation, also: str) -> None:
    """The enclosure is one; and it is at most basic composition, or at most what less noise spends."""
    mechanism = build(Fraction(1))
    found = certified(mechanism, relation)
    if found is None:
        return
    assert 0 <= found.enclosure.exact_lower <= found.enclosure.exact_upper
    if math.isinf(found.enclosure.upper):
        return
    if also == "basic":
        assert found.enclosure.exact_upper <= basic(mechanism, relation) * (1 + Fraction(TOLERANCE))
    if also == "less noise":
        noisier = certified(build(Fraction(3, 2)), relation)
        assert noisier is not None
        assert noisier.enclosure.exact_lower <= found.enclosure.exact_upper
    if found.tight:
        assert found.enclosure.width <= 0.3 * found.enclosure.upper + 1e-6


def basic(mechanism: Mechanism, relation: Relation) -> Fraction | float:
    """Σ ε_i(δ/T) over the single releases: certified ones, added up."""
    worst: Fraction | float = 0
    for each in neighbour_classes(mechanism, relation).every():
        product = resolved(each.product)
        total = sum(count for _, count in product)
        delta = Fraction("1e-5") / total
        epsilons = [(prove_epsilon(((pair, 1),), delta, TOLERANCE).enclosure.exact_upper, n) for pair, n in product]
        worst = max(worst, sum(epsilon * n for epsilon, n in epsilons))
    return worst


def check_trees(relation: Relation, light: bool, examples: int) -> None:
    @settings(max_examples=examples, database=None)
    @given(trees(relation, light), st.sampled_from(["basic", "less noise", "nothing"]))
    def check(build: Build, also: str) -> None:
        check_tree(build, relation, also)

    check()


@pytest.mark.minutes
@pytest.mark.parametrize(("light", "examples"), [(True, 100), (False, 300)], ids=["light", "heavy"])
@pytest.mark.parametrize("relation", [AR, RE], ids=str)
def test_trees(relation: Relation, light: bool, examples: int) -> None:
    check_trees(relation, light, examples)


@pytest.mark.minutes
@pytest.mark.parametrize("relation", [AR, RE], ids=str)
def test_many_trees(relation: Relation) -> None:
    check_trees(relation, light=False, examples=5000)


@pytest.mark.seconds
@settings(max_examples=15, database=None)
@given(trees(AR, light=True))
def test_regrouping_and_reordering_change_nothing(build: Build) -> None:
    mechanism = build(Fraction(1))
    assert isinstance(mechanism, dp.Composed)
    halves = [(part, n) for part, count in mechanism.parts for n in (count // 2, count - count // 2) if n]
    shuffled = dp.Composed(tuple(reversed(halves)))
    one, other = certified(mechanism, AR), certified(shuffled, AR)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.enclosure.overlaps(other.enclosure)


@pytest.mark.minutes
@settings(max_examples=25, database=None)
@given(trees(AR))
def test_both_engines_of_the_lattice_agree(build: Build) -> None:
    try:
        classes = neighbour_classes(build(Fraction(1)), AR)
    except UnsupportedMechanism:
        return
    for each in classes.every():
        product, ends = resolved(each.product), []
        for engine in ("fourier", "integers"):
            try:
                ends.append(epsilon_bounds(product, Fraction("1e-5"), tolerance=TOLERANCE, engine=engine).enclosure)
            except Declined:
                continue
        if len(ends) == 2:
            assert ends[0].overlaps(ends[1])
