"""The parameter μ of Gaussian differential privacy of a mechanism, over a stated range of error rates.

μ-GDP says that no test is better than the best one between N(0, 1) and N(μ, 1) (Dong, Roth & Su 2022). A mechanism on
samples keeps it for all tests only with the μ of the full batch: at tiny error rates a test sees runs that drew the
record every time. So the answer is for tests with error rates that are not below a given one (``attackers.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, as_promised, brief
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.attackers import trade_off
from dpbounds.privacy.accountants.certified import delta_curve, epsilon as epsilon_of
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Product, ShiftedGaussians
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.privacy.values import open_unit

METHOD = "Gaussian trade-off function below that of δ(ε)"
_PRECISION = 256
_PLACES = 96  # values of ε at first
_NEARER, _FINEST = 8, Fraction(1, 10**12)  # parts of the first distance of two places; its least length
_LEAST_RATE = Fraction(1, 10**6)
_MODERATE = 8  # largest loss up to which the bound by the largest loss is used; beyond it that by ρ
_LARGE = 1000  # largest loss, and largest ρ, for which a μ of all tests is tried
_TRIED_UP_TO = 40  # largest loss, and largest μ of full batches, for which a test is tried
_FAR = 3  # least root of -log of the true positive rate, in the bound by ρ
_NEARLY = tuple(
    Fraction(4, 1000 * 4**k) for k in range(4)
)  # relative distance from the worst corner, within which corners are refined


def gdp_parameter(
    mechanism: Mechanism,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    least_rate: ExactLike = "1e-6",
) -> Enclosure:
    """Enclose the smallest μ for which no test is better than μ-GDP allows, of those with error rates in a range.

    Args:
        mechanism: The mechanism.
        relation: The neighbouring relation.
        least_rate: The smallest false positive rate and the smallest false negative rate of the tests that count,
            greater than 0 and less than 1/2.

    Returns:
        Certified bounds; publish the upper one, with ``least_rate``. The lower one is what an attack shows.

    Raises:
        InvalidValue: A value is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: Some test may have both error rates below ``least_rate`` and no μ of full batches is known, or no
            method could prove an answer.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> gdp_parameter(Gaussian(2) ** 4).contains(1)
    True
    """
    rate = least_rate_of_tests(least_rate)
    found = _enclosed(mechanism, rate, as_relation(relation))
    if found is None:
        raise NotCertified(
            f"a test may have both error rates below {brief(rate)}, so that no μ follows; ask for a smaller least_rate"
        )
    return found


def _enclosed(mechanism: Mechanism, rate: Fraction, neighbours: Relation) -> Enclosure | None:
    """Enclose the smallest μ for tests with error rates of at least ``rate``; None where no μ follows."""
    found = _upper_end(mechanism, rate, neighbours)
    if found is None:
        return None
    upper, a = found
    attained = Fraction(0) if a is None else Fraction(trade_off(mechanism, a, neighbours).exact_upper)
    lower = _mu(a, attained, down=True) if a is not None and rate <= attained < 1 else Fraction(0)
    return Enclosure(min(lower, upper), upper, METHOD, _PRECISION)


def least_rate_of_tests(value: ExactLike) -> Fraction:
    """Return the least error rate of the tests that count; of a float the smaller of it and its decimal."""
    rate = open_unit(as_promised(value, "least_rate"), "least_rate")
    if rate >= Fraction(1, 2):
        raise InvalidValue("least_rate", value, "less than 1/2", "no test that is better than guessing would count")
    return rate


def largest_mu(mechanism: Mechanism, rate: Fraction, relation: Relation) -> Fraction | None:
    """Return the upper bound of :func:`gdp_parameter` alone; None where no μ follows."""
    found = _upper_end(mechanism, rate, relation)
    return None if found is None else found[0]


def _upper_end(mechanism: Mechanism, rate: Fraction, neighbours: Relation) -> tuple[Fraction, Fraction | None] | None:
    """Return a μ that holds, with the false positive rate that asks for it; None where no μ follows.

    Where some test may have both error rates below ``rate``, only the μ of full batches is known. It holds for all
    tests, and no false positive rate in the range asks for it.
    """
    with working(_PRECISION):
        farthest = math.ceil(ball_end(-ball(rate).log(), "up"))
    known = _deltas(mechanism, [Fraction(farthest * k, _PLACES) for k in range(_PLACES + 1)], neighbours)
    step = Fraction(farthest, _PLACES)
    while known[step] < known[Fraction(0)] / 2 and step > _FINEST:  # δ falls before the first place: go nearer to 0
        known |= _deltas(mechanism, [step * k / _NEARER for k in range(1, _NEARER)], neighbours)
        step /= _NEARER
    corners = _corners(known, rate)
    for nearly in _NEARLY:
        largest = max((_mu(a, b) for a, b, _ in corners), default=Fraction(0))
        worst = [place for a, b, place in corners if _mu(a, b) >= largest * (1 - nearly)]
        known |= _deltas(mechanism, _halves(known, worst), neighbours)
        corners = _corners(known, rate)
    of_all_tests = _of_full_batches(mechanism, neighbours)
    if not corners:
        return None if of_all_tests is None else (of_all_tests, None)
    upper, a = max((_mu(a, b), a) for a, b, _ in corners)
    return min(upper, of_all_tests or upper), a


def gdp_parameter_of_all_tests(
    mechanism: Mechanism, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Enclosure:
    """Enclose the smallest μ for which the mechanism is μ-GDP, so that all tests count (``attackers.md``, section 6).

    It is known where every pair has a shift of Gaussians that spends no less, where the privacy loss is bounded, and
    where a ρ is proven.

    Raises:
        UnsupportedMechanism: None of the three holds, or no dominating pair is proven under this relation.
        NotCertified: The privacy loss is too large for the proof, or no method could prove an answer.

    >>> from dpbounds.privacy.mechanisms import PureDP
    >>> gdp_parameter_of_all_tests(PureDP(1, relation="replace-one"), "replace-one").decimals(6)[1]
    '1.23204'
    """
    neighbours = as_relation(relation)
    full = _of_full_batches(mechanism, neighbours)
    if full is not None:
        return Enclosure(_attained_by_full_batches(mechanism, neighbours, full), full, METHOD, _PRECISION)
    largest = epsilon_of(mechanism, 0, neighbours).exact_upper
    found = [_of_two_ranges(mechanism, largest, neighbours)]
    if largest <= _LARGE:
        found.append(_of_largest_loss(mechanism, Fraction(largest), neighbours))
    known = [each for each in found if each is not None]
    if not known:
        raise NotCertified(
            "no μ is proven here for all tests: the privacy loss is so large that a test may make hardly any error; "
            "ask for epsilon at a delta instead"
        )
    lower, upper = max(each.exact_lower for each in known), min(each.exact_upper for each in known)
    return Enclosure(min(lower, upper), upper, METHOD, _PRECISION)


def _of_two_ranges(mechanism: Mechanism, largest: Fraction | float, relation: Relation) -> Enclosure | None:
    """Enclose μ by tests with error rates above some rate, and below it; None where no μ follows."""
    if largest <= _MODERATE:
        rate, beyond = _beyond_by_largest_loss(Fraction(largest))
    else:
        try:
            rho = zcdp_rho(mechanism, relation)
        except UnsupportedMechanism:
            raise UnsupportedMechanism(
                "no μ is proven here for all tests: the privacy loss is unbounded, and no ρ is proven; ask for a μ of "
                "tests whose error rates are not below a least_rate (gdp_parameter)"
            ) from None
        if rho > _LARGE:
            return None
        rate, beyond = _beyond_by_rho(rho)
    near = _enclosed(mechanism, rate, relation)
    if near is None:
        return None
    upper = max(beyond, Fraction(near.exact_upper))
    return Enclosure(near.exact_lower, upper, METHOD, _PRECISION)


def _of_largest_loss(mechanism: Mechanism, largest: Fraction, relation: Relation) -> Enclosure:
    """Enclose μ by the best μ for ε-DP, and by a test with a false positive rate of 1/(1 + e^ε)."""
    with working(_PRECISION):
        rate = ball_end(1 / (1 + ball(largest).exp()), "down")
    upper = _mu(rate, rate)
    if largest > _TRIED_UP_TO:
        return Enclosure(Fraction(0), upper, METHOD, _PRECISION)
    attained = Fraction(trade_off(mechanism, rate, relation).exact_upper)
    lower = _mu(rate, attained, down=True) if 0 < attained < 1 else Fraction(0)
    return Enclosure(min(lower, upper), upper, METHOD, _PRECISION)


def _beyond_by_largest_loss(largest: Fraction) -> tuple[Fraction, Fraction]:
    """A rate, and a μ for all tests with a smaller error rate, where no loss exceeds ``largest``."""
    rate = _LEAST_RATE * Fraction(1, 8) ** math.ceil(largest)  # e^largest times the rate is small
    with working(_PRECISION):
        accused = ball_end(ball(largest).exp() * ball(rate), "up")
    return rate, _mu(rate, 1 - accused)


def _beyond_by_rho(rho: Fraction) -> tuple[Fraction, Fraction]:
    """A rate, and a μ for all tests with a smaller error rate, of ρ-zCDP."""
    with working(_PRECISION):
        root = ball(rho).sqrt()
        rate = min(_LEAST_RATE, ball_end((-((_FAR + root) ** 2)).exp(), "down"))
        least = (-ball(rate).log()).sqrt() - root  # the root of -log of the true positive rate
        z = ball(Fraction(ball_end(arb(2).sqrt() * (2 * (-(least**2)).exp()).erfcinv(), "down")))
        assert z > 1
        steepest = 2 * (ball(Fraction(1, 2)) + ((2 * arb.pi()).sqrt() * (z + 1 / z)).log() / z**2).sqrt()
        return rate, ball_end(root * steepest, "up")


def _deltas(mechanism: Mechanism, epsilons: Sequence[Fraction], relation: Relation) -> dict[Fraction, Fraction]:
    found = delta_curve(mechanism, epsilons, relation)
    return {epsilon: Fraction(ends.exact_upper) for epsilon, ends in zip(epsilons, found, strict=True)}


def _lines(known: dict[Fraction, Fraction]) -> list[tuple[Fraction, arb, arb, arb]]:
    """Return the lines b = 1 - δ - e^ε a that are the largest somewhere: ε, e^ε, 1 - δ, and the a where each begins.

    A line that is dropped lowers the bound: any choice is sound.
    """
    kept: list[tuple[Fraction, arb, arb, arb]] = []
    for epsilon in sorted(known):
        slope, height = ball(epsilon).exp(), ball(1 - known[epsilon])
        meets = arb(1)
        while kept:
            _, before, level, begins = kept[-1]
            meets = (height - level) / (slope - before)
            if meets < begins or len(kept) == 1:  # the line at ε = 0 leads to the other half, which is symmetric
                break
            kept.pop()
        kept.append((epsilon, slope, height, meets))
    return kept


def _corners(known: dict[Fraction, Fraction], rate: Fraction) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Return the corners (a, b) of the largest line, with both at least ``rate``, b rounded down, and the line's ε.

    Between two corners the line lies above a convex function that lies below it at both: no other a has to be tested.
    """
    corners = []
    with working(_PRECISION):
        lines = _lines(known)
        for index, (epsilon, slope, height, _) in enumerate(lines):
            ends = lines[index + 1][3] if index + 1 < len(lines) else arb(0)  # where the next, steeper line begins
            a = max(rate, ball_end(ends, "down"))
            b = ball_end(height - slope * ball(a), "down")
            if b < rate:
                return []
            corners.append((a, b, epsilon))
            if a == rate:
                break
    return corners


def _mu(a: Fraction, b: Fraction, *, down: bool = False) -> Fraction:
    """Return μ = Φ^-1(1 - a) - Φ^-1(b), for which G_μ(a) = b."""
    with working(_PRECISION):
        found = arb(2).sqrt() * ((2 * ball(a)).erfcinv() + (2 * ball(b)).erfcinv())
        return max(Fraction(0), ball_end(found, "down" if down else "up"))


def _halves(known: dict[Fraction, Fraction], places: Sequence[Fraction]) -> list[Fraction]:
    """Return the middles of the gaps beside some of the known ε."""
    ordered = sorted(known)
    index = {epsilon: k for k, epsilon in enumerate(ordered)}
    found = set()
    for place in places:
        k = index[place]
        for first, second in ((k - 1, k), (k, k + 1), (k + 1, k + 2)):
            if first >= 0 and second < len(ordered):
                found.add((ordered[first] + ordered[second]) / 2)
    return sorted(found)


def _of_full_batches(mechanism: Mechanism, relation: Relation) -> Fraction | None:
    """Return a μ for all tests, if every pair is dominated by a shift of Gaussians; None otherwise."""
    largest = Fraction(0)
    for each in neighbour_classes(mechanism, relation).every():
        shifts = [(pair.dominating_shift, count) for pair, count in each.product]
        if any(shift is None for shift, _ in shifts):
            return None
        largest = max(largest, sum((shift * count for shift, count in shifts if shift is not None), Fraction(0)))
    with working(_PRECISION):
        return ball_end(ball(largest).sqrt(), "up")


def _shift_of_gaussians(product: Product) -> Fraction | None:
    """Return the squared shift of a product of shifted Gaussians; None where a pair is another one."""
    total = Fraction(0)
    for pair, count in product:
        shift = pair.dominating_shift
        if shift is None or pair != ShiftedGaussians(shift):
            return None
        total += shift * count
    return total


def _attained_by_full_batches(mechanism: Mechanism, relation: Relation, full: Fraction) -> Fraction | float:
    """Return a lower bound on the μ of all tests, where ``full`` is an upper one.

    It is the μ of an attack by shifts of Gaussians alone. Where there is none, it is that of a test, for a moderate
    ``full``, and 0 otherwise.
    """
    attacks = [attack for each in neighbour_classes(mechanism, relation).every() for attack in each.attacks]
    shifts = [shift for attack in attacks if (shift := _shift_of_gaussians(attack)) is not None]
    if shifts:
        with working(_PRECISION):
            return min(full, ball_end(ball(max(shifts)).sqrt(), "down"))
    if full > _TRIED_UP_TO:
        return Fraction(0)
    with working(_PRECISION):  # some test has both error rates above this one
        rate = min(_LEAST_RATE, ball_end((-(ball(full) ** 2 / 8 + ball(full) + 8)).exp(), "down"))
    found = _enclosed(mechanism, rate, relation)
    return Fraction(0) if found is None else found.exact_lower
