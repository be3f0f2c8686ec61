"""Choices as Gaussian noise: the lemma and the theorem of ``many_choices.md``, by brute force in doubles."""

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from dpbounds import privacy
from dpbounds.privacy.accountants.certified import account, delta, prove_epsilon
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.domination.many_choices import with_gaussian_choices, with_reserve
from dpbounds.privacy.mechanisms import ExponentialMechanism, Gaussian
from dpbounds.privacy.pairs.pairs import BoundedRangeProfile, ShiftedGaussians
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.accountant import renyi_epsilon

F = Fraction
REPLACE = "replace-one"


def call(m, v, c=1.0):
    """C(m; v)."""
    if v == 0:
        return np.maximum(m - c, 0)
    first = (np.log(m / c) + v / 2) / np.sqrt(v)
    return m * ndtr(first) - c * ndtr(first - np.sqrt(v))


def after_a_choice(value, m, h):
    """The mean of a convex function of m after the worst ratio within a range of 2h: two-valued."""
    worst = value(m)
    for shift in np.linspace(-h, h, 41)[1:-1]:
        high, low = np.exp(shift + h), np.exp(shift - h)
        q = (1 - low) / (high - low)
        worst = np.maximum(worst, q * value(m * high) + (1 - q) * value(m * low))
    return worst


@pytest.mark.parametrize("v", [0.02, 0.5, 6.0, 30.0])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_the_lemma(v, share):
    h = np.sqrt(min(share * v, 6))
    m = np.exp(np.linspace(-8, 8, 801) * np.sqrt(v))
    left = after_a_choice(lambda each: call(each, v), m, h)
    assert (left <= call(m, v + h**2 * v / (v - h**2)) * (1 + 1e-9) + 1e-14).all()
    if v < 1:  # there is no room for much less
        assert (left > call(m, v + h**2 * (1 - share / 50)) * (1 + 1e-9) + 1e-14).any()


def played(h, count, noise, c):
    """δ at c where each choice is the worst for what was published: all noise first, or last."""
    at = np.linspace(-16, 16, 8001)
    grid, (nodes, weights) = np.exp(at), np.polynomial.hermite_e.hermegauss(101)

    def choices(last):
        value = last(grid)
        for _ in range(count):
            known = value
            value = after_a_choice(lambda m, known=known: np.interp(np.log(m), at, known), grid, h)
        return lambda m: np.interp(np.log(m), at, value)

    worst = choices(lambda m: call(m, 0, c))
    first = (weights * worst(np.exp(np.sqrt(noise) * nodes - noise / 2))).sum() / weights.sum()
    return max(first, float(choices(lambda m: call(m, noise, c))(np.array([1.0]))[0]))


@pytest.mark.seconds
@pytest.mark.parametrize(("count", "noise"), [(1, 0.0), (1, 0.05), (4, 0.0), (4, 0.3), (12, 0.1)])
def test_the_theorem_against_the_game(count, noise):
    span, seen = F(1, 2), []
    for c in (0.5, 1.0, 1.3, 2.0, 3.0):
        spent = played(float(span) / 2, count, noise, c)
        assert spent <= call(1.0, noise + float(span**2 / 4 * with_reserve(count)), c) * (1 + 1e-6) + 1e-7
        seen.append(spent > call(1.0, noise + count * float(span) ** 2 / 4, c) * (1 + 1e-4))
    assert any(seen) or noise  # without the reserve it is false


def test_what_is_replaced():
    span, gaussian = F(1, 10), ShiftedGaussians(F(1, 100))
    product = ((gaussian, 2), (BoundedRangeProfile(span), 500), (BoundedRangeProfile(span), 19))
    found = with_gaussian_choices(product)
    assert found == ((ShiftedGaussians(F(1, 50) + span**2 / 4 * with_reserve(500)), 1), product[2])
    assert with_gaussian_choices(product[::2]) == product[::2]
    wide = ((BoundedRangeProfile(F(41, 10)), 500),)
    assert with_gaussian_choices(wide) == wide


@pytest.mark.seconds
@pytest.mark.parametrize("noise", [None, Gaussian(9)])
@pytest.mark.parametrize(("span", "count"), [("1/50", 20), ("1", 20), ("3", 20), ("1/3", 250), ("1/10", 1000)])
def test_it_is_not_above_what_profiles_and_divergences_promise(span, count, noise):
    choices = ExponentialMechanism(span, relation=REPLACE) ** count
    mechanism = choices if noise is None else noise @ choices
    found = account(mechanism, delta="1e-6", relation=REPLACE).enclosure.exact_upper
    assert found <= renyi_epsilon(mechanism, "1e-6", REPLACE).enclosure.exact_upper
    for each in neighbour_classes(mechanism, Relation.REPLACE_ONE).every():
        assert found < prove_epsilon(each.product, F(1, 10**6), 1e-4).enclosure.exact_upper


def test_many_choices_are_accounted_at_once_and_nearly_as_gaussian_noise():
    each = ExponentialMechanism(F(1, 500), relation=REPLACE)
    found = account(Gaussian(12) @ each**2500, epsilon=1, relation=REPLACE)
    least = delta(Gaussian(noise_stddev=1, sensitivity=F(round(1e6 * (1 / 36 + 2500 / 4 / 500**2) ** 0.5), 10**6)), 1)
    assert least.exact_lower < found.enclosure.exact_upper < F(101, 100) * least.exact_upper
    assert 0 < found.enclosure.exact_lower < found.enclosure.exact_upper
    assert [proof.route for _, proof in found.proofs] == ["closed form"]


@pytest.mark.seconds
def test_calibration_takes_the_smaller_noise():
    found = calibrate(lambda z: ExponentialMechanism(1 / z, relation=REPLACE) ** 300, 1, "1e-6", REPLACE)
    spent = account(ExponentialMechanism(1 / found.value, relation=REPLACE) ** 300, delta="1e-6", relation=REPLACE)
    assert F(99, 100) < spent.enclosure.exact_upper <= 1


NAME = BoundedRangeProfile.__name__
MAKERS = {
    "mechanisms/guarantees.py": "an exponential mechanism, whose loss lies in such an interval",
    "pairs/guarantees.py": "k of these intervals on top of each other: a group of k records",
}


def test_nothing_else_is_said_to_be_of_bounded_range():
    """The theorem is about what lies in the range, not about all that the profile dominates: who makes it is listed."""
    package = Path(privacy.__file__).parent
    made = set()
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8")
        calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)] if NAME in text else []
        if any(getattr(call, "attr", getattr(call, "id", "")) == NAME for call in calls):
            made.add(path.relative_to(package).as_posix())
    assert made == set(MAKERS)
