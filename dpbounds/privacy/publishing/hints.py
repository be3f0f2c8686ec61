"""Search for hints with which the stand-alone checker confirms a claim of version 5 or 6, with as much work as needed.

Each is a choice that ``standalone_checker.md`` proves sound whatever it is: spacings and grids, ranges of sizes, labels
and clones. The checker itself says what it confirms with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from dpbounds.errors import CertificateError
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import MatrixMechanism, Shuffled, TruncatedPoisson, parts_of
from dpbounds.privacy.mechanisms.schemes.bins import stride_of
from dpbounds.privacy.mechanisms.schemes.truncated import ranges_of_sizes
from dpbounds.privacy.pairs.pairs import Direction, ShiftedGaussians, ShuffledBatches
from dpbounds.privacy.publishing import standalone_checker as checker
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.shuffling.estimates import Aim, choice_for

Hints = dict[str, Any]
Curve = Callable[[Fraction], tuple[arb, arb | None]]

# relative, of an upper bound
_WIDER = ("0", "1e-7", "1e-6", "1e-5", "3e-5", "1e-4", "3e-4", "1e-3", "3e-3", "1e-2", "1.5e-2", "2e-2", "3e-2")
_CLOSE, _CLOSE_SUMS, _ROUNDS, _DIGITS = Fraction("1e-4"), Fraction("2e-3"), 16, 12
_LEAST_GRID = 512, 2  # points, and the logarithm of the number of those between 0 and 1
_SHARE = 3  # inverse of the largest share of the checker's work that one attempt takes
_NEGLIGIBLE = 1e-9  # negligible mass, relative to δ
_HALVINGS, _CLOSER = 20, 3
_NAMES = {"replace": ("replace", "both orders"), "remove": ("remove", "zero"), "add": ("add", "restore")}


def hints_for(
    subject: Account, releases: Sequence[Mapping[str, Any]], budget: Fraction | None = None
) -> tuple[Fraction, Fraction, dict[str, Hints]]:
    """Hints with which the checker confirms an upper bound, at most 3 % above the one proven.

    Args:
        subject: The account, with finite ends.
        releases: Its releases, as they are written.
        budget: An upper bound that is preferred, where it can be confirmed.

    Returns:
        The upper bound; the lower bound, 0 unless the checker knows the profile of the one release that shows it; hints
        by the order of the neighbours.

    Raises:
        CertificateError: No attempt within the checker's work confirms such an upper bound.
    """
    read = [checker.read_release(release) for release in releases]
    lower, upper = subject.enclosure.exact_lower, subject.enclosure.exact_upper
    assert isinstance(lower, Fraction)
    assert isinstance(upper, Fraction)
    if budget is not None and budget < upper * (1 + _CLOSE):
        upper = budget
    found = {order: _found(subject, read, order, upper) for order in checker.RECORD[str(subject.relation)]}
    shown = lower > 0 and any(_shows(each.curve, subject, lower) for each in found.values())
    claimed = max(each.upper for each in found.values())
    return claimed, lower if shown else Fraction(0), {order: each.hints for order, each in found.items()}


@dataclass(frozen=True, slots=True)
class _Found:
    hints: Hints
    upper: Fraction
    curve: Curve | None


def _shows(curve: Curve | None, subject: Account, lower: Fraction) -> bool:
    if curve is None:
        return False
    epsilon, delta = (lower, subject.target) if subject.given == "delta" else (subject.target, lower)
    value = curve(epsilon)[1]
    return value is not None and (value > checker.number(delta)) is True


def _found(subject: Account, releases: list[dict[str, Any]], order: str, upper: Fraction) -> _Found:
    """Return the first attempt that comes close; else the closest one."""
    if upper == 0:
        upper = Fraction(1, 10**9)  # δ = 0, or no ε at all, is nothing that is shown by rounding up
    best: _Found | None = None
    reason = far = "none of the attempts came within 3 % of the proven value"
    known: dict[Any, Any] = {}
    tried = False
    for hints in _attempts(subject, order, upper, releases):
        checker.effort.done = 0.0
        try:
            tries = _tried_halves if "halves" in hints else _tried
            found = tries(subject, releases, order, hints, upper, known)
        except (checker.NotCovered, checker.Unproven) as why:
            reason = reason if tried else str(why)  # a grid that is too coarse, perhaps
            if str(why) == checker.TOO_MUCH:
                break
            continue
        tried, reason = True, far
        if found is not None and (best is None or found.upper < best.upper):
            best = found
        close = _CLOSE_SUMS if "exchange" in hints else _CLOSE
        if best is not None and best.upper <= upper * (1 + close):
            break
        if checker.effort.done * _SHARE > checker.MOST_WORK:
            break
    checker.effort.done = 0.0
    if best is None:
        raise CertificateError(
            f"no certificate: the stand-alone checker could not confirm the upper bound ({reason}); publish the "
            "value with the command that computes it"
        )
    return best


def _tried(
    subject: Account, releases: list[dict[str, Any]], order: str, hints: Hints, upper: Fraction, known: dict[Any, Any]
) -> _Found | None:
    """Return the least of a few upper bounds that these hints confirm."""
    given_delta = subject.given == "delta"
    delta = subject.target if given_delta else upper
    curve = checker.curve_of(releases, order, str(subject.relation), hints, delta, known, subject.group_size)
    at = checker.rational(hints["at"]) if "at" in hints else None

    def suffices(claim: Fraction) -> bool:
        epsilon, allowed = (claim, subject.target) if given_delta else (subject.target, claim)
        return (curve(epsilon if at is None else min(at, epsilon))[0] <= checker.number(allowed)) is True

    claim = _least(upper, suffices)
    return None if claim is None else _Found(hints, claim, curve)


def _least(upper: Fraction, suffices: Callable[[Fraction], bool]) -> Fraction | None:
    """Return an end that suffices: ``upper``, or one near the least above it; None where none within 3 % does."""

    def wider(by: Fraction) -> Fraction:
        return Fraction(to_decimal(upper * (1 + by), _DIGITS, "up"))

    if suffices(upper):
        return upper
    for short, enough in pairwise(map(Fraction, _WIDER)):
        if suffices(wider(enough)):
            for _ in range(_CLOSER):
                middle = (short + enough) / 2
                short, enough = (short, middle) if suffices(wider(middle)) else (middle, enough)
            return wider(enough)
    return None


def _tried_halves(
    subject: Account, releases: list[dict[str, Any]], order: str, hints: Hints, upper: Fraction, known: dict[Any, Any]
) -> _Found | None:
    """Return the least confirmed bound of two steps, by way of a dataset whose record contributes nothing."""
    if subject.given != "delta":
        return None
    there, back = hints["halves"]
    way_out, way_back = checker.halves_of(releases, {"halves": [there, back]}, upper, subject.target, known)
    split, low, first = checker.number(Fraction(hints["split"])), Fraction(0), upper
    for _ in range(_HALVINGS):
        middle = Fraction(round((low + first) / 2 * 2**40), 2**40)
        low, first = (low, middle) if way_out(middle)[0] <= split else (middle, first)
    target = checker.number(subject.target)

    def suffices(claim: Fraction) -> bool:
        return first <= claim and (checker.by_halves(way_out, way_back, first, claim) <= target) is True

    found = _least(upper, suffices)
    return None if found is None else _Found({"halves": [there, back], "first": str(first)}, found, None)


def _attempts(subject: Account, order: str, upper: Fraction, releases: list[dict[str, Any]]) -> Iterator[Hints]:
    """Finer and finer."""
    fixed = {**_sizes(subject, releases), **_clones(subject, order), **_strides(subject)}
    natural = [each for release in releases for each in _own_spacing(release, subject.relation)]
    if natural and len(set(natural)) == 1 and len(releases) == len(natural):
        yield {**fixed, "spacing": str(natural[0])}
    if any(_is_exchanged(release, subject.relation) for release in releases):
        yield from _exchanges(fixed, upper if subject.given == "delta" else max(subject.target, Fraction(1, 100)))
        return
    epsilon = upper if subject.given == "delta" else max(subject.target, Fraction(1, 100))
    step = Fraction(1, 64)
    while step > epsilon / 64:
        step /= 2
    points, shift = _LEAST_GRID
    for attempt in range(_ROUNDS):
        grid = {"points": points << attempt, "shift": shift + attempt, "spacing": str(step / 2**attempt)}
        yield {**fixed, **grid} if "halves" not in fixed else _with_spacing(fixed, grid["spacing"])


def _is_exchanged(release: Mapping[str, Any], relation: Relation) -> bool:
    """Return whether a record is replaced in steps that are allocated in secret: each threshold is a sum of its own."""
    drawn = release["kind"] in ("random-allocation", "balls-in-bins")
    return relation is Relation.REPLACE_ONE and (drawn or release.get("participation") == "balls-in-bins")


def _exchanges(fixed: Hints, epsilon: Fraction) -> Iterator[Hints]:
    """Few thresholds, then more, each with more points."""
    step = Fraction(1)
    while step > epsilon / 24:
        step /= 2
    for attempt in range(_ROUNDS):
        spacing = str(step / 2 ** ((attempt + 1) // 2))
        yield {**fixed, "exchange": 512 << attempt, "finer": max(0, attempt - 1), "spacing": spacing}


def _with_spacing(hints: Hints, spacing: object) -> Hints:
    return {**hints, "halves": [{**each, "spacing": spacing} for each in hints["halves"]]}


def _own_spacing(release: dict[str, Any], relation: Relation) -> Iterator[Fraction]:
    """Yield the lattice on which all losses lie, where there is one."""
    noise, times = release.get("mechanism", {}), 2 if relation is Relation.REPLACE_ONE else 1
    if release["kind"] != "full-batch":
        return
    match noise["kind"]:
        case "discrete-laplace":
            yield 1 / noise["noise_scale"]
        case "discrete-gaussian":
            yield times * int(noise["bound"]) / (2 * checker.squared_scale(noise))
        case "randomized-response":
            yield noise["epsilon"]


def _sizes(subject: Account, releases: list[dict[str, Any]]) -> Hints:
    """Return the ends of ranges of dataset sizes for truncated samples, and the mass to move (``truncated.md``)."""
    from dpbounds.privacy.pairs.truncation import Costs, cut_of, moved_of

    found = [(part, n) for part, n in parts_of(subject.mechanism) if isinstance(part, TruncatedPoisson)]
    if all(part.max_batch_size >= part.dataset_size for part, _ in found):
        return {}
    hints: Hints = {}
    if subject.relation is Relation.ADD_OR_REMOVE_ONE:
        ends = [[high for _, high in sorted(ranges)] for ranges in ranges_of_sizes(found).values()]
        hints["sizes"] = ends if len(ends) > 1 else ends[0]
    count, relation = sum(n for _, n in found), subject.relation

    def moved(part: TruncatedPoisson, low: int, high: int) -> Fraction:
        if high <= part.max_batch_size:
            return Fraction(0)
        noise = getattr(part.mechanism, "noise_multiplier", None) or Fraction(1)
        others = relation is Relation.REPLACE_ONE, relation is Relation.ZERO_OUT_ONE
        cut = cut_of(part.sample_rate, part.max_batch_size, low, high)
        return _rounded_down(moved_of(cut, part.sample_rate, Costs(float(1 / noise**2), count, *others)))

    amounts = [
        [moved(part, *sizes.get(part.dataset_size, (part.dataset_size,) * 2)) for part, _ in found]
        for sizes in checker.size_classes(releases, str(relation), hints)
    ]
    return hints | ({"moved": [list(map(str, each)) for each in amounts]} if any(map(any, amounts)) else {})


def _rounded_down(amount: Fraction) -> Fraction:
    return Fraction(int(amount * (1 << 200)), 1 << 200)


def _strides(subject: Account) -> Hints:
    """Return the strides of matrices with balls in bins that the account has chosen."""
    bound = [part for part, _ in parts_of(subject.mechanism) if isinstance(part, MatrixMechanism)]
    found = [stride_of(part, subject.relation) for part in bound if part.participation == "balls-in-bins"]
    return {"strides": found} if found else {}


def _clones(subject: Account, order: str) -> Hints:
    """Return the labels and clones that the account has chosen, exactly."""
    parts = [part for part, _ in parts_of(subject.mechanism) if isinstance(part, Shuffled)]
    proofs = [proof for name, proof in subject.proofs if name.split(",")[0] in _NAMES[order]]
    if not parts or not proofs:
        return {}
    parameters: Mapping[str, Any] = proofs[0].parameters
    delta = float(subject.target if subject.given == "delta" else subject.enclosure.exact_upper)
    if "clones" in parameters:
        (plan,) = parameters["clones"]
        choices = [_choice(part, subject.relation, order, plan, delta) for part in parts]
        at = {} if subject.given == "delta" else {"at": str(Fraction(plan["at"]))}
        return {"clones": choices, **at}
    if "halves" in parameters:
        first, second = parameters["halves"]
        halves = [
            {"clones": [_choice(part, subject.relation, way, plan, delta, half=True) for part in parts]}
            for way, plan in (("remove", first), ("add", second))
        ]
        return {"halves": halves, "split": str(Fraction(first["at"]))}
    return {}


def _choice(
    part: Shuffled, relation: Relation, order: str, plan: Mapping[str, float], delta: float, *, half: bool = False
) -> Hints | None:
    pairs = [
        pair
        for each in neighbour_classes(part, relation).every()
        for pair, _ in each.product
        if isinstance(pair, ShuffledBatches)
    ]
    direction = {"replace": Direction.REPLACE, "remove": Direction.REMOVE, "add": Direction.ADD}[order]
    if not pairs:
        return None
    base = ShiftedGaussians(pairs[0].base.squared_shift / (4 if half else 1))
    pair = ShuffledBatches(direction, base, part.batches, part.rest, False)
    aim = Aim(plan["log total variation"], plan["shift"], plan["alike"])
    choice = choice_for(pair, aim, delta * _NEGLIGIBLE)
    if choice is None:
        return None
    return {
        "odds": str(choice.odds),
        "shares": [str(each) for each in choice.shares],
        "clone_odds": [str(each) for each in choice.clone_odds],
    }
