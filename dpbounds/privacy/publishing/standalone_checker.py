# Made from the files in dpbounds/privacy/publishing/checker/, whose names are above their parts, by
# `python -m dpbounds.privacy.publishing.amalgamate`. Change those files, and not this one.
"""Check a dpbounds privacy certificate without trusting dpbounds: one file, Python and python-flint, nothing else.

Usage: ``python standalone_checker.py certificate.json``. It prints a verdict, then what exactly was claimed, of which
mechanism and under which assumptions (its own list), then how each inequality was decided. Exit status: 0 the
certificate holds; 1 it is refuted, or could not be confirmed; 2 the file is not a well-formed certificate; 3 neither
confirmed nor refuted, because it rests on a method that is not re-done here (``dpbounds check`` covers it).

What it proves. The privacy curve is δ(ε) = max over the orders of the neighbours of E_P[(1 - e^{ε - L})_+] with
L = log dP/dQ and the pairs (P, Q) of ``products_of``. That these dominate all neighbouring datasets is a theorem
(Balle & Wang 2018; Zhu, Dong & Wang 2022; the files named in ``standalone_checker.md``), and the only thing taken
on trust beside Python and Arb.
δ(·) does not increase, so that "ε(δ) lies in [lo, hi]" follows from δ(hi) <= δ and δ(lo) > δ.

How. In ball arithmetic: an ``arb`` is an interval, and ``x < y`` is True only where it holds for all points of both.
Everything in the certificate but the claim and the mechanism is a hint: a bad one makes this checker say that it could
not confirm, never confirm wrongly. The inequalities (1) to (32) are proven in ``standalone_checker.md``.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
import stat
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import accumulate, pairwise, zip_longest
from typing import Any, ClassVar

from flint import acb, acb_mat, arb, arb_poly, ctx, fmpq, fmpz, fmpz_mat, fmpz_poly

# --- verdicts.py ------------------------------------------------------------------------------------------------------
# Verdicts on a certificate, and reasons for which it is undecided.

CONFIRMED, WRONG, MALFORMED, NOT_COVERED = 0, 1, 2, 3


class Malformed(Exception):
    """The document is not a certificate of the known format."""


class Unproven(Exception):
    """A condition of the proof could not be shown with these hints."""


class NotCovered(Exception):
    """The certificate rests on a method that is not re-done here."""


class OutOfReach(NotCovered):
    """No method re-does this: its numbers lie beyond double precision."""


def require(condition: object, what: str) -> None:
    """Go on only where the condition is proven."""
    if condition is not True:
        raise Unproven(what)


VERDICTS = {
    CONFIRMED: "THE CERTIFICATE HOLDS",
    WRONG: "THE CERTIFICATE DOES NOT HOLD",
    NOT_COVERED: "NEITHER CONFIRMED NOR REFUTED: it rests on a method that is not re-done here",
}


# --- balls.py ---------------------------------------------------------------------------------------------------------
# Balls around numbers, and whole numbers from balls.


def repeated(one: Any, times: int, both: Callable[[Any, Any], Any]) -> Any:
    """Combine ``times`` copies of one object (at least one), by doubling."""
    total = None
    while times:
        if times & 1:
            total = one if total is None else both(total, one)
        times >>= 1
        one = both(one, one) if times else one
    return total


def number(value: Fraction) -> arb:
    """Return the ball around a rational number."""
    return arb(fmpq(value.numerator, value.denominator))


def rounded_up(mass: arb, bits: int) -> int:
    """Return a mass in units of 2^-bits, at least 0."""
    whole = (mass * arb(2) ** bits).upper().ceil().unique_fmpz()
    if whole is None:
        raise NotCovered("a lattice whose masses could not be enclosed")
    return max(0, int(whole))


def only_whole(ball: arb, what: str) -> int:
    """Return the whole number that a ball holds."""
    found = ball.unique_fmpz()
    if found is None:
        raise Unproven(f"{what} is enclosed")
    return int(found)


def normal_tail(t: arb) -> arb:
    """P(N(0, 1) > t)."""
    return (t / arb(2).sqrt()).erfc() / 2


def chance_of_at_least(trials: int, chance: arb, hits: int) -> arb:
    """P(Bin(trials, probability) >= hits), an incomplete beta function."""
    if hits <= 0 or hits > trials:
        return arb(1 if hits <= 0 else 0)
    if hits > trials * chance:
        return chance.beta_lower(hits, trials - hits + 1, 1)
    return 1 - (1 - chance).beta_lower(trials - hits + 1, hits, 1)


def log(value: Fraction) -> float:
    """Return the logarithm of a positive rational number, roughly."""
    return math.log(value.numerator) - math.log(value.denominator)


def shown(value: Fraction, rounding: str = ROUND_CEILING) -> str:
    """Return a number for a line of the report, rounded to 15 digits."""
    return f"{Context(15, rounding).divide(Decimal(value.numerator), Decimal(value.denominator)):.15g}"


# --- limits.py --------------------------------------------------------------------------------------------------------
# Limits on the size of files, and on the work.

# what is read: bytes of the file, brackets in one another, characters of a JSON number, releases, repetitions of one
BYTES, NESTING, JSON_DIGITS, RELEASES, COUNT = 16 * 2**20, 32, 1_000, 10_000, 10**30
NUMBER_BITS = 13_000
LABEL = 80  # characters of a word or a few


# of matrices: steps, rows given entry by entry, digits of a common denominator; of last iterates: batches, epochs
STEPS, ROWS, DIGITS, RUNS = 100_000, 2_048, 1_000, 10**9


# of releases on samples that are composed: beyond, doubles and the work of a minute do not reach
LEAST_RATE, LEAST_NOISE, LEAST_DELTA = Fraction(1, 10**300), Fraction(1, 10**150), Fraction(1, 10**100)


# of datasets: classes of sizes
CLASSES = 1_000
# of one account: functions evaluated on balls of 256 bits (20 000 000 are minutes), in a search that nothing guides,
# balls kept at once (half a gigabyte), and bits of a sum's denominator
MOST_WORK, MOST_SEARCH, MOST_BALLS, SUM_BITS = 20_000_000, 1_000_000, 2_000_000, 100_000


# --- reading.py -------------------------------------------------------------------------------------------------------
# JSON with one meaning only, its fields, and exact numbers.

# exact numbers: p and q have at most 2000 digits, exponents four or five, and the number at most 13 000 bits either way
NUMBER = re.compile(r"(-?[0-9]{1,2000})(?:/([0-9]{1,2000}))?(?:\*2\*\*(-?[0-9]{1,5}))?(?:\*5\*\*(-?[0-9]{1,5}))?")


def read(path: str) -> Any:
    """The JSON document in a regular file: no field twice, finite numbers, moderate in size, digits and nesting."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # asked before it is opened: a pipe would block
            raise Malformed("this is not a regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            raw = file.read(BYTES + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, ValueError) as reason:
        raise Malformed(f"the file cannot be read: {getattr(reason, 'strerror', None) or reason}") from None
    if len(raw) > BYTES:
        raise Malformed(f"the file has more than {BYTES} bytes")
    return parsed(text)


def parsed(text: str) -> Any:
    """JSON with one meaning only."""
    depth = 0
    # strings (one may lack its end) and all else but brackets are left out, in one pass
    for bracket in re.sub(r'"(?:[^"\\]|\\.)*+"?|[^\[\]{}"]+', "", text, flags=re.DOTALL):
        depth += 1 if bracket in "[{" else -1
        if depth > NESTING:
            raise Malformed(f"more than {NESTING} brackets in one another")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = Counter(name for name, _ in pairs)
            raise Malformed(f"the field {quoted(max(names, key=lambda name: names[name]))} occurs twice in one object")
        return found

    def refused(word: str) -> Any:
        raise Malformed(f"{quoted(word)} is not a finite number of at most {JSON_DIGITS} characters")

    def whole(digits: str) -> int:
        return int(digits if len(digits) <= JSON_DIGITS else refused(digits))

    def real(digits: str) -> float:
        value = float(digits if len(digits) <= JSON_DIGITS else refused(digits))
        return value if math.isfinite(value) else float(refused(digits))

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refused, parse_int=whole, parse_float=real)
    except json.JSONDecodeError as reason:
        raise Malformed(f"not JSON: {reason.msg} in line {reason.lineno}") from None


def quoted(value: object) -> str:
    """Quote a value of the file in an error: on one line, short, and without terminal control characters."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return ascii(value if not isinstance(value, str) or len(value) <= 60 else value[:60] + "...")[:80]


def label(record: Any, name: str) -> None:
    """A word or a few."""
    if re.fullmatch(rf"[\w ,;()-]{{0,{LABEL}}}", field(record, name, str)) is None:
        raise Malformed(f"the field {name!r} is {quoted(record[name])}")


def rational(text: object, least: int | None = None) -> Fraction:
    """Return an exact number, written p, p/q or p/q*2**a*5**b; refused below ``least``."""
    match = NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None or (match[2] is not None and int(match[2]) == 0):
        raise Malformed(f"{quoted(text)} is not an exact number such as 1/3 or 7*2**-60")
    two, five = int(match[3] or 0), int(match[4] or 0)
    if max(abs(two), abs(five)) > NUMBER_BITS:
        raise Malformed(f"{quoted(text)} has too large an exponent")
    value = Fraction(int(match[1]), int(match[2] or 1)) * Fraction(2) ** two * Fraction(5) ** five
    if max(abs(value.numerator), value.denominator).bit_length() > NUMBER_BITS:
        raise Malformed(f"{quoted(text)} has more than {NUMBER_BITS} bits")
    if least is not None and value < least:
        raise Malformed(f"{quoted(text)} is below {least}")
    return value


def field(record: object, name: str, kind: type | tuple[type, ...]) -> Any:
    """Return the value of a field that must be there, of that type."""
    if not isinstance(record, dict) or name not in record:
        raise Malformed(f"the field {name!r} is missing")
    if not isinstance(record[name], kind) or isinstance(record[name], bool):
        raise Malformed(f"the field {name!r} is {quoted(record[name])}")
    return record[name]


def positive(record: object, name: str) -> Fraction | None:
    """Return a positive exact number, or None where the field is null."""
    text = field(record, name, (str, type(None)))
    value = None if text is None else rational(text)
    if value is not None and value <= 0:
        raise Malformed(f"{name} = {quoted(text)} is not positive")
    return value


def nonnegative(record: object, name: str) -> Fraction:
    """Return an exact number, at least 0."""
    return rational(field(record, name, str), 0)


def finite(record: object, name: str) -> float:
    """Return a hint: a number of moderate size."""
    value = field(record, name, (int, float))
    if not abs(value) < 1e9:
        raise Malformed(f"the field {name!r} is {value}")
    return float(value)


# --- relations.py -----------------------------------------------------------------------------------------------------
# Neighbouring relations, and the orders of two neighbours.

RELATIONS = {
    "add-or-remove-one": "two datasets are neighbours when one is the other plus one record",
    "replace-one": "two datasets are neighbours when one record is replaced by another",
    "zero-out-one": "two datasets are neighbours when they agree but for one position, whose record in one of the two "
    "contributes nothing to any answer; its place, and how many records there are, stay and are public",
}
ORDERS = ("remove", "add", "replace", "both orders")
RECORD = {"replace-one": ("replace",), "zero-out-one": ("remove", "add"), "add-or-remove-one": ("remove", "add")}


# --- claims.py --------------------------------------------------------------------------------------------------------
# Claims: reading them, and in words.


def read_claim(account: object) -> dict[str, Any]:
    """Return the claim "ε(δ) (or δ(ε)) of this mechanism lies in [lower, upper]" with exact numbers."""
    claim = field(account, "claim", dict)
    given, relation = field(claim, "given", str), field(claim, "relation", str)
    target, lower, upper = (rational(claim.get(name), 0) for name in ("target", "lower", "upper"))
    if given not in ("delta", "epsilon") or lower > upper or (given == "delta" and not 0 < target < 1):
        raise Malformed("a claim needs given = delta or epsilon, its target in range, and lower <= upper")
    if relation not in RELATIONS:
        raise Malformed(f"relation {quoted(relation)}")
    found = {"relation": relation, "given": given, "target": target, "lower": lower, "upper": upper}
    if "group_size" in claim:
        found["group_size"] = field(claim, "group_size", int)
        if not 2 <= found["group_size"] <= 1000:
            raise Malformed("a group has 2 to 1000 records")
    return found


def claim_in_words(claim: dict[str, Any]) -> str:
    """Return the claim, rounded outwards."""
    other = "epsilon" if claim["given"] == "delta" else "delta"
    ends = f"[{shown(claim['lower'], ROUND_FLOOR)}, {shown(claim['upper'])}]"
    group = f", groups of {claim['group_size']} records" if "group_size" in claim else ""
    return f"{other} in {ends} at {claim['given']} = {shown(claim['target'])} ({claim['relation']}{group})"


def relation_in_words(claim: dict[str, Any]) -> str:
    """Return the definition of neighbouring datasets."""
    group = claim.get("group_size", 1)
    more = "" if group == 1 else f"; here for up to {group} records at once, the same throughout"
    return RELATIONS[claim["relation"]] + more


# --- fields.py --------------------------------------------------------------------------------------------------------
# Objects with the fields of their kind, and no others.

Reader = Callable[[Any, str], Any]  # maps a record and the name of a field to its value
Fields = Mapping[str, Reader]

FIELDS = {
    "certificate": ("format", "version", "calibration", "accounts", "assumptions", "versions"),
    "calibration": ("solve", "value", "fails_at", "target_epsilon", "target_delta"),
    "account": ("role", "claim", "mechanism", "proofs"),
    "claim": ("relation", "given", "target", "lower", "upper"),
    "proof": ("order", "route", "method", "precision", "parameters", "error_budget"),
    "versions": ("dpbounds", "python-flint", "FLINT", "Python"),
}


def has_fields(record: object, kind: str, *more: str) -> dict[str, Any]:
    """Return an object of the document with the fields of its kind, and no others."""
    return demand_fields(record, kind, (*FIELDS[kind], *more))


def demand_fields(record: object, kind: str, names: Iterable[str]) -> dict[str, Any]:
    """Return an object with these fields, and no others."""
    needed = {*names}
    if not isinstance(record, dict):
        raise Malformed(f"{quoted(record)} is no {kind}, which is an object")
    if set(record) != needed:
        wrong = ", ".join([*sorted(needed - set(record)), *sorted(map(quoted, set(record) - needed))][:5])
        raise Malformed(
            f"a {kind} has the fields {', '.join(sorted(needed))} and no others; missing or unknown: {wrong}"
        )
    return record


def read_fields(record: object, kind: str, fields: Fields) -> dict[str, Any]:
    """Return the same with each field read."""
    return {name: fields[name](record, name) for name in demand_fields(record, kind, fields)}


def unread(record: Any, name: str) -> Any:
    """Return a field unchecked, to be read later."""
    return record[name]


def whole(most: int, *, optional: bool = False) -> Reader:
    """Reads a whole number from 1 on."""

    def read_whole(record: Any, name: str) -> int | None:
        value: int | None = field(record, name, (int, type(None)) if optional else int)
        if value is not None and not 1 <= value <= most:
            raise Malformed(f"{name} is {quoted(value)}, and not from 1 to {most}")
        return value

    return read_whole


COUNTED, COUNTED_OR_NONE, MANY = whole(COUNT), whole(COUNT, optional=True), whole(RUNS)


# --- work.py ----------------------------------------------------------------------------------------------------------
# The work that an account takes, counted so that none takes hours or gigabytes.


class Effort:
    """The work of an account so far, in functions evaluated on balls of 256 bits."""

    done = 0.0

    def spend(self, evaluations: float, kept: int = 0) -> None:
        """Count work and stored balls in advance; raises an error at amounts that would take hours or gigabytes."""
        self.done += evaluations * (1 + (ctx.prec / 256) ** 2) / 2
        if self.done > MOST_WORK or kept > MOST_BALLS:
            raise NotCovered(TOO_MUCH)


TOO_MUCH = "work of hours or gigabytes is not done here; `dpbounds check` has other means"


effort = Effort()


# --- profiles.py ------------------------------------------------------------------------------------------------------
# Profiles H_α of pairs of measures, and how they are put together: (14), (17), (19) and (30).

Vectors = dict[Fraction, tuple[Fraction, int]]  # σ²: the squared distance, and the number of coordinates that move
Curve = Callable[[Fraction], tuple[arb, arb]]  # ε -> balls whose lower and upper endpoints enclose δ(ε)
DrawnCurve = Callable[[Fraction], tuple[arb, "arb | None"]]  # ε -> δ(ε) from above, and from below where that is known


class Profile:
    """α -> H_α(P ‖ Q) = ∫ (dP - α dQ)_+ for α > 0, as a ball; of a pair of measures that dominates one release.

    It is one convex function that does not increase, with ``total`` = H_0, the P-mass: 1, or a little more where masses
    were rounded up. ``exact`` says that it is the release's pair itself, so that it shows lower bounds as well.
    """

    def __init__(self, value: Callable[[arb], arb], total: arb | None = None, *, exact: bool = True) -> None:
        self.value, self.exact = value, exact
        self.total = arb(1) if total is None else total

    def __call__(self, alpha: arb) -> arb:
        """H_α."""
        effort.spend(1)
        return self.value(alpha)

    def reversed(self) -> Profile:
        """(14) Of (Q, P), both of mass 1."""
        return Profile(lambda alpha: 1 - alpha + alpha * self(1 / alpha), exact=self.exact)


def mirrored(straight: Callable[[arb], arb], other: Callable[[arb], arb] | None = None, **more: Any) -> Profile:
    """Return a profile for α >= 1, and below the reversal of that of the other order (None: the same)."""
    back = straight if other is None else other

    def below(alpha: arb) -> arb:
        return 1 - alpha + alpha * back(1 / alpha)

    def value(alpha: arb) -> arb:
        if alpha >= 1 or alpha < 1:
            return straight(alpha) if alpha >= 1 else below(alpha)
        return straight(alpha.max(arb(1))).union(below(alpha.min(arb(1))))

    return Profile(value, **more)


def gaussian_profile(squared_shift: Fraction) -> Profile:
    """N(μ, 1) against N(0, 1)."""
    mu = number(squared_shift).sqrt()

    def value(alpha: arb) -> arb:
        near = alpha.log() / mu
        return normal_tail(near - mu / 2) - alpha * normal_tail(near + mu / 2)

    return Profile(value) if squared_shift else Profile(lambda alpha: (1 - alpha).max(arb(0)))


def concentrated_profile(rho: Fraction) -> Profile:
    """(29) Any release with Rényi divergences of at most λρ of every order λ, either way."""
    if not LEAST_RATE < rho < 1 / LEAST_RATE:
        raise OutOfReach("noise beyond what doubles hold")

    def above(alpha: arb) -> arb:
        loss, rough, near = alpha.log(), float(rho), float(alpha.log().mid())

        def exponent(log_u: float) -> float:
            u = math.exp(log_u)
            return u * ((1 + u) * rough - near) - math.log1p(u) - u * math.log1p(1 / u)

        low, high = -20.0, 40.0
        for _ in range(90):  # it falls, then rises; any order will do
            third = (high - low) / 3
            low, high = (low, high - third) if exponent(low + third) < exponent(high - third) else (low + third, high)
        u = arb(math.exp(low))
        return (u * ((1 + u) * number(rho) - loss) - (1 + u).log() - u * (1 + 1 / u).log()).exp().min(arb(1))

    return mirrored(above, exact=False)


def vectors_profile(vectors: Vectors, shift: Fraction = Fraction(0)) -> Profile:
    """(29) The least of several bounds for discrete Gaussian noise on vectors, with other Gaussian noise."""
    rho = sum((squared / (2 * variance) for variance, (squared, _) in vectors.items()), shift / 2)
    divergences, bounds = concentrated_profile(rho), []
    for exponent in (5 * 1.1**j for j in range(60)):  # any s will do
        s = Fraction(math.ceil(64 * exponent / (2 * math.pi**2)), 64)
        if 2 * s > min(vectors):
            break
        apart, failure = shift, arb(0)
        for variance, (squared, moved) in vectors.items():
            near, own = ((-2 * arb.pi() ** 2 * number(each)).exp() for each in (s, variance))
            apart, failure = apart + squared / (variance - s), failure + moved * 2 * (near + own / (1 - own))
        bounds.append((gaussian_profile(apart), failure))

    def above(alpha: arb) -> arb:
        least = arb(1)
        for profile, failure in bounds:
            if failure < 1:
                value = profile(alpha) + failure
                if value > least:  # with s the bounds fall, then rise
                    break
                least = least.min(value)
        return least.min(divergences(alpha))

    return mirrored(above, exact=False)


def thinned(base: Profile, rate: Fraction) -> Profile:
    """(14) (1-q)Q + qP against Q."""
    q = number(rate)

    def value(alpha: arb) -> arb:
        above = alpha - 1 + q
        if above > 0:
            return q * base(above / q)
        require(above <= 0, "α is distinguished from 1 - q")
        return 1 - alpha

    return Profile(value, exact=base.exact)


def sampled_profile(order: str, rate: Fraction, squared_shift: Fraction) -> Profile:
    """A Poisson sample with Gaussian noise."""
    base = gaussian_profile(squared_shift)
    if rate == 1:
        return gaussian_profile(4 * squared_shift) if order == "replace" else base
    if order != "replace":
        return thinned(base, rate) if order == "remove" else thinned(base, rate).reversed()
    q, z = number(rate), 1 / number(squared_shift).sqrt()

    def value(alpha: arb) -> arb:  # with y = e^{t/z}: 1-q + b y > α (1-q + b/y)
        b, c = q * (-1 / (2 * z * z)).exp(), (1 - q) * (alpha - 1)
        start = z * ((c + (c * c + 4 * b * b * alpha).sqrt()) / (2 * b)).log()
        return q * (normal_tail(start - 1 / z) - alpha * normal_tail(start + 1 / z)) - c * normal_tail(start)

    return Profile(value)


def symmetrised(base: Profile, rate: Fraction) -> Profile:
    """(17) γ h(1 + (α-1)/γ) for α >= 1, mirrored below."""
    gamma = number(rate)
    return mirrored(lambda alpha: gamma * base(1 + (alpha - 1) / gamma), exact=base.exact)


def two_guarantees(present: Profile, replaced: Profile, rate: Fraction) -> Profile:
    """(30) A replaced record in a Poisson sample: q((1-s) h_1 + s h_2) at α' = 1 + (α-1)/q, s = α/α'."""
    q = number(rate)

    def above(alpha: arb) -> arb:
        inner = 1 + (alpha - 1) / q
        return q * ((1 - alpha / inner) * present(inner) + alpha / inner * replaced(inner))

    return mirrored(above, exact=False)


def averaged(parts: list[tuple[Fraction, Profile]]) -> Profile:
    """(19) One of several pairs, drawn and revealed."""
    weights = [(number(weight), profile) for weight, profile in parts if weight]
    return Profile(
        lambda alpha: sum((weight * profile(alpha) for weight, profile in weights), arb(0)),
        sum((weight * profile.total for weight, profile in weights), arb(0)),
        exact=all(profile.exact for _, profile in weights),
    )


def weighed(parts: list[tuple[Fraction, Fraction, Profile]]) -> Profile:
    """(19) One of several pairs, revealed, with one weight under P and another one, not 0 where the first is not."""
    weights = [(number(first), number(second), profile) for first, second, profile in parts if first]
    return Profile(
        lambda alpha: sum((w * profile(alpha * v / w) for w, v, profile in weights), arb(0)),
        sum((w * profile.total for w, _, profile in weights), arb(0)),
        exact=all(profile.exact for _, _, profile in weights),
    )


# --- assumptions.py ---------------------------------------------------------------------------------------------------
# The sentences that a certificate of each version holds.

# written (the lowest that has the kinds of its releases); read: version 1 has no digest, 3 has Gaussian releases only
FORMAT, VERSION, VERSIONS = "dpbounds privacy certificate", 6, (1, 2, 3, 4, 5, 6)


# what has to be true of a training run for the claim to be about it; a certificate holds these sentences and no others
ASSUMPTIONS = (
    "Each release is a sum of per-record terms of l2 norm at most C (or an answer of the stated sensitivity) plus "
    "Gaussian noise; averages divide by a public constant, never by the realised batch size.",
    "Where a sample rate is given, each record enters each sample independently with exactly that probability, decided "
    "by a secure source of randomness and kept secret.",
    "Noise, sample rates, bounds and the number of releases are fixed in advance or depend on public data only; what "
    "is asked may depend on earlier answers.",
    "The noise is drawn as described: ideal Gaussian, independent between releases; a seed, where there is one, is "
    "secret and never used again. Floating-point and pseudo-random effects of a sampler are outside.",
    "Nothing else that depends on the data is published: preprocessing, hyperparameters, stopping rules and metrics "
    "are outside; so is the number of records, which counts as public.",
)
_UNTIL_VERSION_2 = tuple(
    text.replace("; a seed, where there is one, is secret and never used again", "") for text in ASSUMPTIONS
)
_SINCE_VERSION_4 = (
    "Of a run said to be a last iterate nothing is published but that iterate and the checkpoints named. It is plain "
    "noisy gradient descent (no momentum, adaptive steps, averages or early stopping; a projection to a public convex "
    "set is allowed) with the same public step size in every step, and with the weight decay stated (where that is 0: "
    "with any, times the step size at most 2), over batches cut by public positions, the same in each epoch. The sum "
    "over a batch is divided by a public number, at least that of the records in any batch; gradients are scaled down "
    "to the bound, never up; and every record's loss is as smooth as stated.",
    "Of a matrix mechanism the rows of C x, x being the sums of the steps, are released with independent noise in each "
    "row, and a step's sum depends on earlier rows only. Every record takes part in the stated steps only (with a "
    "sample rate: in each step of its group by a draw of its own), chosen by what is stated as groups, and the "
    "steps of the others do not depend on it.",
)
_STEP_SIZES = (
    "the same public step size in every step",
    "public step sizes, as stated (one number: always the same)",
)
_SINCE_VERSION_5 = (
    "Each release is a sum of per-record terms within the bound C (l2 norm; l1 norm for Laplace noise; whole numbers "
    "for noise on whole numbers), or an answer of the stated sensitivity, plus the noise stated; averages divide by a "
    "public constant, never by the realised batch size. Randomised response publishes one such answer per record.",
    "Records are drawn exactly as stated, by a secure source of randomness, independently of the data and of what was "
    "published, and the draws are kept secret. Where a sample rate is given, each record enters each sample "
    "independently with that probability. Of random allocation and balls in bins every record draws its own steps or "
    "bin, independently, so that batches have random sizes, and nobody is displaced; a batch of a fixed size is a "
    "uniform subset, or so many independent draws with replacement, drawn afresh; a truncated sample keeps a uniform "
    "choice of at most the stated number; batches are "
    "shuffled by a uniform permutation, drawn afresh in each epoch. In a mixture of Gaussians each record's bound is "
    "drawn afresh in every release, by one public law.",
    "A dataset_size is public, the number of records or, under add-or-remove-one, of the larger neighbour's; a lower "
    "bound on it for batches of a fixed size, for truncated samples under add-or-remove-one an upper bound.",
    "Noise, sample rates, sizes, bounds and the number of releases are fixed in advance or depend on public data only; "
    "what is asked may depend on earlier answers.",
    "The noise is drawn as described: ideal, independent between releases; a seed, where there is one, is secret and "
    "never used again. Floating-point and pseudo-random effects of a sampler are outside.",
    ASSUMPTIONS[-1],
)
_POSITIONS = "over batches cut by public positions, the same in each epoch"
_WITH_ORDERS = tuple(
    text.replace(
        _POSITIONS,
        f"{_POSITIONS} (order shuffled: by a uniform permutation of them, secret and drawn afresh in each epoch; order "
        "secret: by one such permutation, kept)",
    ).replace(*_STEP_SIZES)
    for text in _SINCE_VERSION_4
)


def assumptions_of(version: int) -> tuple[str, ...]:
    """Return the sentences that a certificate of this version holds."""
    first = _UNTIL_VERSION_2 if version < 3 else ASSUMPTIONS if version < 5 else _SINCE_VERSION_5
    return first if version < 4 else first + (_SINCE_VERSION_4 if version < 5 else _WITH_ORDERS)


# --- spent.py ---------------------------------------------------------------------------------------------------------
# Shifts, profiles and divergences of releases, which add up or compose.

Sampled = Counter[tuple[Fraction, Fraction]]  # (q, z²): count
Steps = list[tuple[Profile, int]]


class Spent:
    """The privacy spent by a release, or by a run of releases.

    Attributes:
        shift: The squared shift of a Gaussian pair; they add up.
        steps: Profiles, each with how often it occurs.
        vectors: Discrete Gaussian noise on vectors (29); squared distances and numbers of coordinates add up, too.
        variation: The total variation to add for clones (21).
    """

    def __init__(
        self,
        shift: Fraction = Fraction(0),
        steps: Steps | None = None,
        vectors: Vectors | None = None,
        variation: arb | None = None,
    ) -> None:
        self.shift, self.steps = shift, [] if steps is None else steps
        self.vectors: Vectors = {} if vectors is None else vectors
        self.variation = arb(0) if variation is None else variation

    def add(self, other: Spent, count: int) -> None:
        """Add the loss of another release, with its multiplicity."""
        self.shift += count * other.shift
        self.steps += [(profile, count * times) for profile, times in other.steps]
        for variance, (squared, moved) in other.vectors.items():
            before, those = self.vectors.get(variance, (Fraction(0), 0))
            self.vectors[variance] = before + count * squared, those + count * moved
        self.variation += count * other.variation

    def profiles(self) -> Steps:
        """Return all of it as profiles."""
        if self.vectors and not self.steps:
            return [(vectors_profile(self.vectors, self.shift), 1)]
        shift = [(gaussian_profile(self.shift), 1)] if self.shift else []
        return shift + self.steps + ([(vectors_profile(self.vectors), 1)] if self.vectors else [])


# --- noises/noise.py --------------------------------------------------------------------------------------------------
# Common interface of all noises.


class Noise:
    """One kind of noise, drawn on all records or on a sample of them.

    Attributes:
        kind: Its name in certificates.
        version: The first version of the format that has it.
        fields: The fields of its object, each with what reads it.
        scales: Fields of which smaller values spend more, so that they are rounded down in words.
        symmetric: Whether both orders of the neighbours have one profile.
        displaces: Whether a record that takes another one's place is covered.
        truncates: Whether it is covered on truncated samples.
    """

    kind = ""
    version = 5
    fields: ClassVar[Fields] = {}
    scales: tuple[str, ...] = ("noise_multiplier", "noise_stddev", "noise_scale", "noise_variance")
    symmetric = True
    displaces = False
    truncates = False

    def form(self, noise: object) -> tuple[Fields, int]:
        """Return the fields that noise given in this way has, and the first version of the format that has it."""
        return self.fields, self.version

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse parameters that do not go together."""

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Return the profile on all records, if one moves by ``times`` times its bound: 2 if it is replaced."""
        raise NotImplementedError

    def spent(self, noise: dict[str, Any], times: int) -> Spent:
        """Return the profile of vectors, several coordinates of which may move."""
        return Spent(steps=[(self.profile(noise, times), 1)])

    def sampled(self, noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
        """(14), (30) A record that is in a Poisson sample with probability ``rate``, beside the others."""
        if relation == "replace-one":
            return self.replaced(noise, rate)
        sample = thinned(self.profile(noise, 1), rate)
        return sample if order == "remove" else sample.reversed()

    def replaced(self, noise: dict[str, Any], rate: Fraction) -> Profile:
        """(30) The same where the record is replaced."""
        return two_guarantees(self.profile(noise, 1), self.profile(noise, 2), rate)

    def on_poisson_samples(self, noise: dict[str, Any]) -> bool:
        """Return whether it is covered on Poisson samples, as closely as on all records."""
        return True

    def is_attained(self, noise: dict[str, Any]) -> bool:
        """Return whether some run attains the pair, which then shows lower bounds."""
        return True


def demand_given(noise: dict[str, Any], name: str) -> None:
    """Refuse noise without its scale."""
    if noise[name] is None:
        raise Malformed(f"{noise['kind']} noise needs {name}")


def demand_one_scale(noise: dict[str, Any], names: tuple[str, str, str]) -> None:
    """Refuse noise that is not given by its multiplier, or by its scale with a final distance."""
    if [noise[name] is None for name in names] not in ([False, True, True], [True, False, False]):
        raise Malformed(f"noise is given by {names[0]}, or by {names[1]} with {names[2]}")


def replaced_alone(replaced: Profile, rate: Fraction) -> Profile:
    """(30) A replaced record in a Poisson sample, where nothing else is covered."""
    q = number(rate)
    return averaged([(1 - rate, gaussian_profile(Fraction(0))), (rate, replaced)]) if q < 1 else replaced


# --- noises/gaussian.py -----------------------------------------------------------------------------------------------
# Gaussian noise.


class GaussianNoise(Noise):
    """N(0, σ²) in every coordinate."""

    kind = "gaussian"
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_stddev", "sensitivity"), positive),
        "kind": unread,
    }
    displaces = truncates = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse two scales."""
        demand_one_scale(noise, ("noise_multiplier", "noise_stddev", "sensitivity"))

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One Gaussian against another."""
        return gaussian_profile(times**2 * per_bound(noise))

    def sampled(self, noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
        """Mixtures of two Gaussians."""
        return sampled_profile(order, rate, per_bound(noise))


def per_bound(noise: dict[str, Any]) -> Fraction:
    """Return the squared shift of Gaussian noise per unit of the per-record bound."""
    if not has_multiplier(noise):
        raise NotCovered("other than Gaussian noise, given by its noise_multiplier, with records drawn so")
    return 1 / Fraction(noise["noise_multiplier"]) ** 2


def has_multiplier(noise: dict[str, Any]) -> bool:
    """Return whether it is Gaussian noise that is known per unit of the per-record bound."""
    return noise["kind"] == GaussianNoise.kind and noise["noise_multiplier"] is not None


# --- noises/laplace.py ------------------------------------------------------------------------------------------------
# Laplace noise (15), (30).


class LaplaceNoise(Noise):
    """Laplace noise in every coordinate; distances in l1 norm."""

    kind = "laplace"
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_scale", "sensitivity"), positive),
        "kind": unread,
        "dimension": COUNTED_OR_NONE,
    }
    displaces = truncates = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse two scales."""
        demand_one_scale(noise, ("noise_multiplier", "noise_scale", "sensitivity"))

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Noise of scale 1, moved by a distance."""
        multiplier, scale, distance = (noise[name] for name in ("noise_multiplier", "noise_scale", "sensitivity"))
        return laplace_profile(times / multiplier if multiplier is not None else distance / scale)

    def replaced(self, noise: dict[str, Any], rate: Fraction) -> Profile:
        """Exactly on the line; with a final distance, of a replacement alone."""
        if noise["sensitivity"] is not None:
            return replaced_alone(self.profile(noise, 2), rate)
        if noise["dimension"] == 1:
            return sampled_laplace(rate, 1 / noise["noise_multiplier"])
        return super().replaced(noise, rate)


def laplace_profile(shift: Fraction) -> Profile:
    """(15) Laplace noise of scale 1, moved by ``shift``."""
    least = (-number(shift) / 2).exp()
    return Profile(lambda alpha: (1 - alpha.sqrt() * least).max(1 - alpha).max(arb(0)))


def sampled_laplace(rate: Fraction, shift: Fraction) -> Profile:
    """(30) The same on the line, for Laplace noise: (1-q)f + qf(· - s) against (1-q)f + qf(· + s)."""
    q, s = number(rate), number(shift)
    still = 1 - q + q * (-s).exp()

    def above(alpha: arb) -> arb:
        grown = (alpha * still - (1 - q)) / q  # e^{2t - s} where the ratio is α, for 0 <= t <= s
        t = ((grown.max((-s).exp()).log() + s) / 2).min(s)
        event = (1 - q) * (-t).exp() / 2 + q * (1 - (t - s).exp() / 2) - alpha * (-t).exp() * still / 2
        return event.max(arb(0))

    return mirrored(above)


# --- noises/mixtures.py -----------------------------------------------------------------------------------------------
# Mixtures of Gaussians (16).


def read_norms(record: Any, name: str) -> list[list[Fraction]]:
    """Reads pairs of a norm and its probability."""
    norms = field(record, name, list)
    if not 0 < len(norms) <= 100 or any(not isinstance(each, list) or len(each) != 2 for each in norms):
        raise Malformed("a mixture has 1 to 100 pairs of a norm and a probability")
    read = [[rational(value, 0) for value in each] for each in norms]
    increasing = all(one[0] < other[0] for one, other in pairwise(read))
    if sum((p for _, p in read), Fraction(0)) != 1 or not increasing or not all(p for _, p in read):
        raise Malformed("a mixture has norms that increase and positive probabilities that sum to 1")
    if read[-1][0] == 0:
        raise Malformed("a mixture in which no record contributes")
    return read


class MixtureOfGaussiansNoise(Noise):
    """Gaussian noise, where each record's bound is drawn."""

    kind = "mixture-of-gaussians"
    fields: ClassVar[Fields] = {"kind": unread, "noise_stddev": positive, "norms": read_norms}
    symmetric = False

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "noise_stddev")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Return a mixture against one Gaussian, or against its mirror image."""
        return mixture_profile(noise["norms"], noise["noise_stddev"], replaced=times == 2)


def mixture_profile(norms: list[tuple[Fraction, Fraction]], stddev: Fraction, *, replaced: bool) -> Profile:
    """(16) Σ p_i N(c_i/σ) against N(0), or where a record is replaced against Σ p_i N(-c_i/σ)."""
    parts = [(number(c / stddev), number(p)) for c, p in norms]
    rough = [(float(c / stddev), log(p) - float(c / stddev) ** 2 / 2) for c, p in norms]
    at_rest = sum((p for c, p in norms if c == 0), Fraction(0))

    def log_sum(t: float) -> float:
        logs = [weight + c * t for c, weight in rough]
        return max(logs) + math.log(sum(math.exp(each - max(logs)) for each in logs))

    def sides(t: arb) -> tuple[arb, arb, arb, arb]:
        """dP/dN(0) and dQ/dN(0) at t, and their derivatives."""
        terms = [(c, p * (c * t - c * c / 2).exp()) for c, p in parts]
        up, rise = sum((each for _, each in terms), arb(0)), sum((c * each for c, each in terms), arb(0))
        if not replaced:
            return up, arb(1), rise, arb(0)
        terms = [(c, p * (-c * t - c * c / 2).exp()) for c, p in parts]
        return up, sum((each for _, each in terms), arb(0)), rise, -sum((c * each for c, each in terms), arb(0))

    def value(alpha: arb) -> arb:
        effort.spend(12 * len(parts))
        if not replaced and at_rest:
            if alpha <= number(at_rest):
                return 1 - alpha
            require(alpha > number(at_rest), "α is distinguished from the share that contributes nothing")
        wanted, low, high = float(alpha.log().mid()), -1e6, 1e6
        for _ in range(70):
            middle = (low + high) / 2
            gap = log_sum(middle) - (log_sum(-middle) if replaced else 0.0)
            low, high = (middle, high) if gap < wanted else (low, middle)
        t = arb(high)
        for _ in range(4):  # Newton's method, at midpoints
            up, down, rise, fall = sides(t)
            t = (t - (up - alpha * down) / (rise - alpha * fall)).mid()
        width = arb(2) ** -(ctx.prec // 3)
        left, right = sides(t - width), sides(t + width)
        require(left[0] < alpha * left[1], "the threshold lies right of the left end")
        require(right[0] > alpha * right[1], "the threshold lies left of the right end")
        near = (t - width).union(t + width)
        up, down, _, _ = sides(near)
        off = ((-near * near / 2).exp() * abs(up - alpha * down)).upper() * 2 * width
        moved = sum((p * normal_tail(t - c) for c, p in parts), arb(0))
        still = sum((p * normal_tail(t + c) for c, p in parts), arb(0)) if replaced else normal_tail(t)
        return moved - alpha * still + arb(0).union(off)

    return Profile(value)


def mixed(law: list[Fraction], z: Fraction, order: str) -> Profile:
    """Σ p_j N(j/z) against N(0), or against Σ p_j N(-j/z) where records are replaced."""
    found = mixture_profile([(Fraction(j), p) for j, p in enumerate(law)], z, replaced=order == "replace")
    return found.reversed() if order == "add" else found


# --- noises/responses.py ----------------------------------------------------------------------------------------------
# Randomised response (15).


class RandomizedResponseNoise(Noise):
    """One of several options for each record: the truth, or any."""

    kind = "randomized-response"
    fields: ClassVar[Fields] = {"kind": unread, "epsilon": positive, "options": COUNTED}

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse fewer than two options, and none of them distinguished."""
        if noise["options"] < 2:
            raise Malformed("randomised response has two options or more")
        demand_given(noise, "epsilon")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Return the profile of a record that is replaced."""
        if times != 2:
            raise Malformed("randomised response has a pair under replace-one only")
        return response_profile(noise["epsilon"], noise["options"])

    def replaced(self, noise: dict[str, Any], rate: Fraction) -> Profile:
        """Return the profile of a replacement alone."""
        return replaced_alone(self.profile(noise, 2), rate)


def response_profile(epsilon: Fraction, options: int) -> Profile:
    """(15) Randomised response: the truth with odds e^ε against each of the other options."""
    odds = number(epsilon).exp()
    atoms = [(odds, arb(1)), (arb(1), odds), (arb(options - 2), arb(options - 2))]
    return Profile(lambda alpha: sum(((p - alpha * q).max(arb(0)) for p, q in atoms), arb(0)) / (odds + options - 1))


# --- noises/whole_numbers.py ------------------------------------------------------------------------------------------
# Noise on whole numbers (15), and on vectors of them (29).


def read_bound(record: Any, name: str) -> Fraction:
    """Reads the bound of noise on whole vectors."""
    bound = positive(record, name)
    if bound is None or not 1 <= bound <= 10**6:
        raise Malformed(f"the bound of noise on whole vectors is {quoted(str(bound))}, and not from 1 to 1000000")
    return bound


class DiscreteLaplaceNoise(Noise):
    """P(x) ~ e^{-|x|/b}."""

    kind = "discrete-laplace"
    fields: ClassVar[Fields] = {"kind": unread, "noise_scale": positive, "bound": whole(10**6)}
    displaces = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "noise_scale")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One coordinate."""
        return discrete_laplace_profile(noise["noise_scale"], times * noise["bound"])


class DiscreteGaussianNoise(Noise):
    """P(x) ~ e^{-x²/2σ²}, σ or σ² given."""

    kind = "discrete-gaussian"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "noise_stddev": positive,
        "bound": read_bound,
        "dimension": COUNTED_OR_NONE,
    }
    displaces = True

    def form(self, noise: object) -> tuple[Fields, int]:
        """Since version 6 with ``noise_variance`` in place of ``noise_stddev``."""
        if not (isinstance(noise, dict) and "noise_variance" in noise):
            return self.fields, self.version
        others = {name: reader for name, reader in self.fields.items() if name != "noise_stddev"}
        return {**others, "noise_variance": positive}, 6

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "noise_variance" if "noise_variance" in noise else "noise_stddev")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One coordinate, or the bounds of a vector."""
        if vectors(noise, times) is not None:
            return vectors_profile(moved_vectors(noise, times))
        return discrete_gaussian_profile(squared_scale(noise), times * math.floor(noise["bound"]))

    def spent(self, noise: dict[str, Any], times: int) -> Spent:
        """Return the loss of a vector: below 2, ``times`` coordinates move by 1; else distances add up."""
        squared = vectors(noise, times)
        if squared is None:
            return super().spent(noise, times)
        if squared < 4:
            ones = int(min(squared, noise["dimension"] or 3))
            return Spent(steps=[(discrete_gaussian_profile(squared_scale(noise), 1), ones)])
        return Spent(vectors=moved_vectors(noise, times))

    def is_attained(self, noise: dict[str, Any]) -> bool:
        """Vectors that move by 2 or more have bounds only."""
        return bool(noise["dimension"] == 1 or noise["bound"] < 2)


def squared_scale(noise: dict[str, Any]) -> Fraction:
    """Return σ² of discrete Gaussian noise."""
    found: Fraction = noise["noise_variance"] if "noise_variance" in noise else noise["noise_stddev"] ** 2
    return found


def vectors(noise: dict[str, Any], times: int) -> Fraction | None:
    """Return the squared distance of whole vectors, several coordinates of which may move; None for all else."""
    squared: Fraction = (times * noise["bound"]) ** 2
    return squared if noise["dimension"] != 1 and squared >= 2 else None


def moved_vectors(noise: dict[str, Any], times: int) -> Vectors:
    """Return the squared distance, which is whole, and how many coordinates move."""
    whole = math.floor((times * noise["bound"]) ** 2)
    return {squared_scale(noise): (Fraction(whole), min(whole, noise["dimension"] or whole))}


def half_line_profile(
    tails: Callable[[int], tuple[arb, arb]], first: Callable[[arb], arb], least: int, most: int
) -> Profile:
    """(15) The largest of 0, 1 - α and p - αq, (p, q) = ``tails(t)`` the masses from t on, at the first t >= first(α).

    t is kept between ``least`` and ``most``.
    """

    def value(alpha: arb) -> arb:
        at = first(alpha)
        ends = (only_whole(end.ceil(), "the threshold of whole numbers") for end in (at.lower(), at.upper()))
        places = {max(least, min(most, t)) for t in ends}
        require(len(places) == 1 or max(places) - min(places) == 1, "the threshold of whole numbers is narrow")
        found = (1 - alpha).max(arb(0))
        for t in places:
            moved, still = tails(t)
            found = found.max(moved - alpha * still)
        return found

    return Profile(value)


def discrete_laplace_profile(scale: Fraction, distance: int) -> Profile:
    """P(x) ~ e^{-|x|/b}."""
    p, b = (-number(1 / scale)).exp(), number(scale)

    def tail(t: int) -> arb:
        return p**t / (1 + p) if t >= 0 else 1 - p ** (1 - t) / (1 + p)

    return half_line_profile(
        lambda t: (tail(t - distance), tail(t)), lambda alpha: (b * alpha.log() + distance) / 2, 0, distance
    )


def discrete_gaussian_profile(variance: Fraction, distance: int) -> Profile:
    """P(x) ~ e^{-x²/2σ²}; beyond the table neighbouring weights fall by a half at least."""
    reach = math.isqrt(2 * ctx.prec * math.ceil(variance)) + math.ceil(variance) + 2
    effort.spend(4 * reach, 4 * reach)
    weights = [(-number(Fraction(x * x) / (2 * variance))).exp() for x in range(reach + 2)]
    require(weights[-1] * 2 < weights[-2], "weights beyond the table fall by a half at least")
    rest = arb(0).union(2 * weights[-1])
    upper = list(accumulate(reversed(weights[1:-1]), initial=rest))  # sums over x >= reach + 1, ..., x >= 1
    total = 1 + 2 * upper[-1]
    upper = [each / total for each in upper[::-1]]  # [t - 1] for x >= t

    def tail(t: int) -> arb:
        if t > 0:
            return upper[min(t - 1, reach)] if t <= reach else arb(0).union(upper[reach].upper())
        return 1 - tail(1 - t)

    def first(alpha: arb) -> arb:
        return number(variance) * alpha.log() / distance + arb(distance) / 2

    far = reach + distance + 1
    return half_line_profile(lambda t: (tail(t - distance), tail(t)), first, -far, far)


# --- noises/skellam.py ------------------------------------------------------------------------------------------------
# Skellam noise (32), on whole numbers and on vectors that move few coordinates by one.


class SkellamNoise(Noise):
    """The difference of two Poisson numbers."""

    kind = "skellam"
    version = 6
    fields: ClassVar[Fields] = {
        "kind": unread,
        "variance": positive,
        "bound": read_bound,
        "dimension": COUNTED_OR_NONE,
    }
    scales = ("variance",)
    displaces = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "variance")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One coordinate."""
        if vectors(noise, times) is not None:
            raise NotCovered("Skellam noise on samples of vectors of which several coordinates may move")
        return skellam_profile(noise["variance"], times * math.floor(noise["bound"]))

    def spent(self, noise: dict[str, Any], times: int) -> Spent:
        """Return the loss of a vector that moves by less than 2: ``times`` coordinates move by 1."""
        squared = vectors(noise, times)
        if squared is None:
            return super().spent(noise, times)
        if squared >= 4:
            raise NotCovered("Skellam noise on vectors that move by 2 or more")
        ones = int(min(squared, noise["dimension"] or 3))
        return Spent(steps=[(skellam_profile(noise["variance"], 1), ones)])

    def on_poisson_samples(self, noise: dict[str, Any]) -> bool:
        """One coordinate only."""
        return vectors(noise, 1) is None


def skellam_profile(variance: Fraction, distance: int) -> Profile:
    """(32) f(· - D) against f, by sums over two Poisson numbers."""
    masses, lost, reach = skellam_masses(variance, distance)
    rest = arb(0).union(lost.upper())
    tails = [each + rest for each in accumulate(reversed(masses[1:]), initial=arb(0))][::-1]  # [t - 1] for x >= t
    f = [each + rest for each in masses[: reach + 1]]
    least = (distance - 1) // 2  # there f(t - D) < f(t)

    def tail(t: int) -> arb:
        return tails[t - 1] if t > 0 else 1 - tails[-t]

    def above(alpha: arb) -> arb:
        low, high = least, reach + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if f[abs(middle - distance)] > alpha * f[middle] else (middle, high)
        found = arb(0).union(tail(high - distance).upper())  # at least what any later threshold gives
        if high <= reach:
            found = (tail(high - distance) - alpha * tail(high)).max(arb(0))
        while low > least and not f[abs(low - distance)] < alpha * f[low]:
            require(high - low < 5, "the threshold of whole numbers is narrow")
            found, low = found.max(tail(low - distance) - alpha * tail(low)), low - 1
        return found

    return mirrored(above)


def skellam_masses(variance: Fraction, distance: int) -> tuple[list[arb], arb, int]:
    """(32) f(0), f(1), … from below, an upper bound on their total error, and the index where it gets negligible."""
    if not LEAST_NOISE < variance < 1 / LEAST_NOISE:
        raise OutOfReach("noise beyond what doubles hold")
    mu, rough = number(variance / 2), float(variance)
    # how small f(D) is, in bits: a choice of how far to go, as those below are
    deep = distance * math.asinh(distance / rough) - math.hypot(distance, rough) + rough
    bits = 2 * ctx.prec + math.ceil(1.5 * deep) + 64
    most = math.ceil(rough / 2) + math.isqrt(2 * bits * math.ceil(rough / 2)) + bits
    effort.spend(most, most)
    poisson = list(accumulate(range(1, most + 2), lambda p, j: p * mu / j, initial=(-mu).exp()))
    kept = [j for j, p in enumerate(poisson[:-1]) if p > arb(2) ** -bits]
    first, last = kept[0], kept[-1]
    require(last + 2 > mu, "Poisson masses beyond the table fall")
    beyond = poisson[last + 1] / (1 - mu / (last + 2))
    if first:
        require(first - 1 < mu, "Poisson masses below the table fall")
        beyond += poisson[first - 1] / (1 - (first - 1) / mu)
    some = poisson[first : last + 1]
    effort.spend(16 * len(some), 4 * len(some))
    masses = [arb(each) for each in (arb_poly(some) * arb_poly(some[::-1])).coeffs()[len(some) - 1 :]]
    lost = 2 * beyond
    enough = lost * arb(2) ** (ctx.prec // 2)
    reach = next((k for k, mass in enumerate(masses) if not mass > enough), len(masses)) - 1
    require(reach > distance, "what moves is seen in the table")
    return masses, lost, reach


# --- noises/table.py --------------------------------------------------------------------------------------------------
# All kinds of noise.

NOISES: dict[str, Noise] = {
    each.kind: each
    for each in (
        *(GaussianNoise(), LaplaceNoise(), DiscreteLaplaceNoise(), DiscreteGaussianNoise()),
        *(MixtureOfGaussiansNoise(), RandomizedResponseNoise(), SkellamNoise()),
    )
}


def read_noise(noise: object, sampling: str, refused: tuple[str, ...] = (), version: int = VERSION) -> dict[str, Any]:
    """Read the noise of each batch; some schemes treat some noises as another kind."""
    kind = field(noise, "kind", str)
    if kind not in NOISES or kind in refused:
        raise Malformed(f"noise of kind {quoted(kind)} with records drawn by {sampling}")
    fields, first = NOISES[kind].form(noise)
    if first > version:
        raise Malformed(f"such noise of kind {quoted(kind)}, which version {version} does not have")
    found = read_fields(noise, f"noise {kind}", fields)
    NOISES[kind].demand(found)
    return found


def noise_profile(noise: dict[str, Any], times: int) -> Profile:
    """(15), (16), (29) Noise on all records, one of them moving by ``times`` times its bound: 2 if it is replaced."""
    return NOISES[noise["kind"]].profile(noise, times)


def joining(noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
    """(14), (30) A record that is in a Poisson sample with probability ``rate``, beside the others."""
    return NOISES[noise["kind"]].sampled(noise, order, relation, rate)


# --- aim.py -----------------------------------------------------------------------------------------------------------
# Choices for one claim: hints, and the fineness of the computation.

Sizes = dict[int, tuple[int, int]]  # by the largest size of datasets that is promised: the first and last of a range
CHOICES = ("clones", "strides")  # hints that are lists, of one choice for each release that takes one


class Aim:
    """Choices for one claim: where distributions are cut off and rounded; none of them matters for soundness."""

    def __init__(self, delta: Fraction, releases: int, hints: dict[str, Any], known: dict[Any, Any]) -> None:
        self.hints, self.known = hints, known
        self.waiting = {name: list(field(hints, name, list)) for name in CHOICES if name in hints}
        self.moved: list[object] = []  # (19): of each cut sample, in one class of sizes
        self.sizes: Sizes = {}  # (19): that class
        self.share = delta / releases
        self.negligible = number(self.share) * arb(2) ** -26
        # (24): how many points, and how much rarer what is cut off
        self.exchange_points = field(hints, "exchange", int) if "exchange" in hints else 256
        self.finer = field(hints, "finer", int) if "finer" in hints else 0
        few = self.exchange_points
        if not (16 <= few <= 2**18 and few & (few - 1) == 0 and 0 <= self.finer <= 40):
            raise Malformed(f"a grid of {few} points, {self.finer} steps finer")

    def choice(self, name: str) -> Any:
        """Return the next choice that the hints hold under this name; None where there is none."""
        waiting = self.waiting.get(name)
        return waiting.pop(0) if waiting else None


# --- rules/secret_steps.py --------------------------------------------------------------------------------------------
# One of many steps, in secret: (20), and (24) where the record is replaced.

GRID = {"points": 2048, "shift": 4}


class Ratios:
    """(20) Q-masses in units of 2^-bits at levels[l][k], the ratio k 2^l in units of 2^-shift; ``lost``: mean at oo."""

    def __init__(self, levels: list[list[int]], lost: int) -> None:
        self.levels, self.lost = levels, lost

    @property
    def mass(self) -> int:
        """All Q-mass."""
        return sum(map(sum, self.levels))


class Grid:
    """(20) Level 0 has the points 0, ..., 2 half - 1, each further one half, ..., 2 half - 1, twice as far apart."""

    def __init__(self, half: int, shift: int, levels: int, bits: int) -> None:
        self.half, self.shift, self.levels, self.bits = half, shift, levels, bits

    def law(self, base: Profile, negligible: arb) -> Ratios:
        """Return the distribution of dP/dQ under Q: its E (X - x)_+ is made linear between the points."""
        places = [(level, k) for level in range(self.levels) for k in range(self.half if level else 1, 2 * self.half)]
        found: list[list[int]] = [[0] * (2 * self.half) for _ in range(self.levels)]
        unit = number(Fraction(1, 2**self.shift))
        at, above, slope, here = arb(0), arb(base.total), arb(-1), (0, 0)
        effort.spend(0, len(places))
        for level, k in places:
            place = arb(k << level) * unit
            value = base(place)
            rise = (value - above) / (place - at)
            found[here[0]][here[1]] = rounded_up(rise - slope, self.bits)
            at, above, slope, here = place, value, rise, (level, k)
            if value <= negligible:
                break
        found[here[0]][here[1]] = rounded_up(-slope, self.bits)
        return Ratios(found[: here[0] + 1], rounded_up(above / unit, self.bits))

    def constant(self, value: int) -> Ratios:
        """Return a whole number, spread to two points."""
        level, place = 0, value << self.shift
        while place >= (2 * self.half - 1) << level:
            level += 1
        require(level < self.levels, "what is certain lies on the grid")
        found: list[list[int]] = [[0] * (2 * self.half) for _ in range(level + 1)]
        k, rest = divmod(place, 1 << level)
        part = -(-(rest << self.bits) >> level)
        found[level][k] = (1 << self.bits) - (rest << self.bits >> level)
        found[level][k + 1] += part
        return Ratios(found, 0)

    def lowered(self, found: Ratios, by: int) -> Ratios:
        """(24) Less ``by`` units, and at least 0: points stay points, because ``by`` is a multiple of all spacings."""
        require(by >= 0 and by % (1 << self.levels) == 0, "what is taken off is a whole number of spacings")
        if not by:
            return found
        effort.spend(len(found.levels) * self.half / 8)
        below = (2 * self.half).bit_length() - 1
        levels: list[list[int]] = [[0] * (2 * self.half) for _ in range(len(found.levels))]
        for level, masses in enumerate(found.levels):
            for k, mass in enumerate(masses):
                if mass:
                    left = max(0, (k << level) - by)
                    at = max(0, left.bit_length() - below)
                    levels[at][left >> at] += mass
        return Ratios(levels, found.lost)

    def coarser(self, masses: list[int]) -> list[int]:
        """On points twice as far apart: those between are spread to both sides, in halves rounded up."""
        found = [*masses[0::2], 0]
        for i, mass in enumerate(masses[1::2]):
            if mass:
                found[i] += mass + 1 >> 1
                found[i + 1] += mass + 1 >> 1
        return found

    def sum(self, one: Ratios, other: Ratios) -> Ratios:
        """Return the distribution of a sum; a product of two levels goes to the coarser one."""
        top = 2 * self.half
        nothing: list[int] = []
        levels, over, low_one, low_other = list[list[int]](), nothing, nothing, nothing
        lost = one.lost * other.mass + other.lost * one.mass
        for level in range(self.levels):
            first = one.levels[level] if level < len(one.levels) else []
            second = other.levels[level] if level < len(other.levels) else []
            size = len(first) + len(second) + len(over)
            effort.spend(size / 4, 4 * size)
            low_one_poly, low_other_poly = fmpz_poly(low_one), fmpz_poly(low_other)
            both = (low_one_poly + fmpz_poly(first)) * (low_other_poly + fmpz_poly(second))
            both -= low_one_poly * low_other_poly
            masses = [-(-int(c) >> self.bits) for c in both.coeffs()]
            masses = [a + b for a, b in zip_longest(masses, over, fillvalue=0)]
            levels.append(masses[:top])
            over = self.coarser([0] * top + masses[top:]) if len(masses) > top else []
            low_one = self.coarser([a + b for a, b in zip_longest(low_one, first, fillvalue=0)])
            low_other = self.coarser([a + b for a, b in zip_longest(low_other, second, fillvalue=0)])
            if level + 1 >= max(len(one.levels), len(other.levels)) and not over:
                break
        if over:  # Q-mass from the last level to the last point, the mean beyond it to infinity
            levels[-1] += [0] * (top - len(levels[-1]))
            levels[-1][-1] += sum(over)
            excess = sum(
                mass * ((k << len(levels)) - (top - 1 << len(levels) - 1)) for k, mass in enumerate(over) if mass
            )
            lost += excess << self.bits
        return Ratios(levels, -(-lost >> self.bits))


def grid_for(aim: Aim, bases: list[tuple[Fraction, int]], bins: int) -> Grid:
    """(20) Points and unit are hints; levels reach values that one ratio, or all together, hardly ever exceed."""
    half, shift = (field(aim.hints, name, int) if name in aim.hints else least for name, least in GRID.items())
    if not (16 <= half <= 2**18 and 0 <= shift <= 40 and half & (half - 1) == 0):
        raise Malformed(f"a grid of {half} points and unit 2^-{shift}")
    mu = math.sqrt(max(float(shift) for shift, _ in bases))
    farthest = math.exp(min(500.0, mu * mu / 2 + mu * math.sqrt(2 * (20 - log(aim.share))))) + 4 * bins
    levels = max(1, math.ceil(math.log2(farthest * 2**shift / half)))
    return Grid(half, shift, levels, math.ceil(math.log2(bins * farthest) - log(aim.share) / math.log(2)) + 60)


def mean_profile(grid: Grid, found: Ratios, bins: int, order: str) -> Profile:
    """(20) The profile of R = (X_1 + … + X_m)/m times Q against Q, or the other way round."""
    points = [(k << level, mass) for level, masses in enumerate(found.levels) for k, mass in enumerate(masses) if mass]
    places = [place for place, _ in points]
    require(all(a < b for a, b in pairwise(places)), "the points of all levels increase")
    masses = list(accumulate((mass for _, mass in points), initial=0))
    means = list(accumulate((place * mass for place, mass in points), initial=0))
    scale, q_unit = number(Fraction(1, bins * 2 ** (grid.shift + grid.bits))), number(Fraction(1, 2**grid.bits))
    lost = found.lost * scale

    def below(at: arb) -> int:
        """Return the number of points below, ``at`` in units."""
        return bisect_right(places, only_whole(at.floor(), "a threshold between points of the grid"))

    def removed(alpha: arb) -> arb:
        i = below(alpha * bins * 2**grid.shift)
        return (means[-1] - means[i]) * scale - alpha * (masses[-1] - masses[i]) * q_unit + lost

    def added(alpha: arb) -> arb:
        i = below(bins * 2**grid.shift / alpha)
        return masses[i] * q_unit - alpha * means[i] * scale

    if order == "remove":
        return Profile(removed, means[-1] * scale + lost, exact=False)
    return Profile(added, masses[-1] * q_unit, exact=False)


def allocated(bases: list[tuple[Fraction, int]], bins: int, order: str, aim: Aim) -> Profile:
    """(20) One of ``bins`` steps holds the record; the squared shifts, with how many steps have each (0: not run)."""
    if bins == 1:
        return gaussian_profile(bases[0][0] * (4 if order == "replace" else 1))
    if order == "replace":
        asked = (tuple(bases), bins, aim.exchange_points, aim.finer, aim.share)
        if asked not in aim.known:
            aim.known[asked] = Exchanged(bases, bins, aim)
        exchanged: Exchanged = aim.known[asked]
        return Profile(exchanged, exact=False)
    grid = grid_for(aim, bases, bins)
    key = (tuple(bases), bins, grid.half, grid.shift, grid.bits, grid.levels)
    if key not in aim.known:
        laws = [
            repeated(grid.law(gaussian_profile(shift), aim.negligible), count, grid.sum)
            if shift
            else grid.constant(count)
            for shift, count in bases
            if count
        ]
        aim.known[key] = reduce(grid.sum, laws)
    return mean_profile(grid, aim.known[key], bins, order)


class Exchanged:
    """(24) α -> H_α of Σ_j N(μ_j e_j)/m against Σ_j N(-μ_j e_j)/m: a record replaced in one of m secret steps.

    One α is one sum of m bounded values; choices are the number of points, where values begin, and where sums do.
    """

    def __init__(self, bases: list[tuple[Fraction, int]], bins: int, aim: Aim) -> None:
        self.moving = [(shift, count) for shift, count in bases if shift and count]
        self.idle = sum(count for shift, count in bases if not shift)
        self.bins, self.aim, self.known = bins, aim, dict[int, arb]()
        mu = math.sqrt(max(float(shift) for shift, _ in self.moving))
        rare = math.sqrt(2 * (math.log(bins) + 9 - log(aim.share)))
        self.most = mu * rare - mu * mu / 2  # logarithm of what a value hardly ever exceeds
        self.farthest = self.most + mu * mu  # farthest point, for values weighted by themselves
        self.least = mu * (4.25 + aim.finer / 2) - mu * mu / 2  # smallest value of -value/α
        if max(self.farthest, self.least) > 300:
            raise NotCovered("steps allocated in secret with so little noise, under replace-one")

    def __call__(self, alpha: arb) -> arb:
        """Return the value by symmetry from α >= 1; then at the next number e^(k 2^-30) below, to use fewer."""
        if alpha < 1:
            return 1 - alpha + alpha * self(1 / alpha)
        k = math.floor(float(alpha.log().mid()) * 2**30 + 0.5) - 1
        at = max(k, 0)
        if at not in self.known:
            lower = number(Fraction(at, 2**30)).exp()
            self.known[at] = self.bound(lower)
        require(at == 0 or number(Fraction(at, 2**30)).exp() <= alpha, "a profile is looked up at a smaller threshold")
        return self.known[at]

    def bound(self, alpha: arb) -> arb:
        """E (V_1 + … + V_m)_+ / m from above, V = dP_j/dN(0) - α dQ_j/dN(0)."""
        half, size = self.aim.exchange_points, float(alpha.mid())
        start = math.exp(self.least) * size
        shift = max(0, math.ceil(math.log2(half / start)))
        farthest = 4 * (start + math.exp(self.farthest))
        levels = max(1, math.ceil(math.log2(farthest * 2**shift / half)))
        bits = math.ceil(math.log2(self.bins * farthest) - log(self.aim.share) / math.log(2)) + 60
        grid, step = Grid(half, shift, levels, bits), 1 << levels
        first = math.ceil(start * 2**shift / step) * step  # values begin at -first units
        enough = max(first, math.ceil((start + math.exp(self.most)) * 2**shift / step) * step)  # and sums at -enough

        def added(one: tuple[Ratios, int], other: tuple[Ratios, int]) -> tuple[Ratios, int]:
            offset = one[1] + other[1]
            return grid.lowered(grid.sum(one[0], other[0]), max(0, offset - enough)), min(offset, enough)

        values = [self.value_above(squared, alpha, number(Fraction(first, 2**shift))) for squared, _ in self.moving]
        laws = [(grid.law(value, self.aim.negligible), first) for value in values]
        sums = [repeated(law, count, added) for law, (_, count) in zip(laws, self.moving, strict=True)]
        found, offset = reduce(added, sums)
        edge = offset + self.idle * (alpha - 1) * 2**shift  # those that are not run add 1 - α each
        above = only_whole(edge.lower().floor(), "a threshold between points of the grid")
        mass = mean = 0
        for level, masses in enumerate(found.levels):
            for k, each in enumerate(masses):
                if each and k << level > above:
                    mass, mean = mass + each, mean + (k << level) * each
        scale = number(Fraction(1, self.bins * 2 ** (shift + bits)))
        value: arb = (((mean - mass * edge).max(arb(0)) + found.lost) * scale).upper()
        return value

    @staticmethod
    def value_above(squared_shift: Fraction, alpha: arb, start: arb) -> Profile:
        """Return E (max(V, -start) + start - x)_+, V = e^(μy - μ²/2) - α e^(-μy - μ²/2): V > v is a half-line in y."""
        mu = number(squared_shift).sqrt()
        c = (-mu * mu / 2).exp()

        def value(x: arb) -> arb:
            v = x - start
            root = (v * v + 4 * alpha * c * c).sqrt()
            w = (v + root) / (2 * c) if v >= 0 else 2 * alpha * c / (root - v)  # c w - αc/w = v
            t = w.log() / mu
            return normal_tail(t - mu) - alpha * normal_tail(t + mu) - v * normal_tail(t)

        return Profile(value, value(arb(0)))


# --- schemes/scheme.py ------------------------------------------------------------------------------------------------
# Base class of kinds of releases: fields, conditions, words, and profiles.


class Scheme:
    """One kind of releases: how records are drawn, around a noise.

    Attributes:
        kind: Its name in certificates.
        version: The first version of the format that has it.
        fields: The fields of its object, each with what reads it.
        refused_noises: Noises that it does not hold, because these are kinds of their own.
        by_position: Whether records go by their positions, which shift where others come and go.
        halves: Whether a replacement may be shown in two halves, to a record that is zeroed, and back.
        groups_under: Relations under which groups of records are covered, with Gaussian noise.
    """

    kind = ""
    version = 5
    fields: ClassVar[Fields] = {}
    refused_noises: tuple[str, ...] = ()
    by_position = False
    halves = False
    groups_under: tuple[str, ...] = ()

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Return whether its profile around a noise is covered."""
        return has_multiplier(noise)

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse parameters that do not go together, and read those that depend on others."""

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Return whether it takes the profiles of version 5."""
        return True

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return whether some run attains the release's pair, which then shows lower bounds; others only dominate."""
        noise = release["mechanism"]
        return NOISES[noise["kind"]].is_attained(noise)

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """Return, for a release that is not drawn, a squared shift and pairs on samples."""
        raise NotImplementedError

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the loss of one release, as pairs or profiles."""
        shift, sampled = self.product(release, relation)
        return Spent(shift, [(sampled_profile(order, q, 1 / z2), times) for (q, z2), times in sampled.items()])

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """(31) Return the loss of ``group`` records at once."""
        raise NotCovered(f"groups of records with {self.kind} under {relation}")

    def sampling(self, release: dict[str, Any]) -> str | None:
        """Return the name of the scheme in the digest, beside that of the noise."""
        return self.kind

    def words(self, release: dict[str, Any]) -> str:
        """One line for a person; exact numbers are rounded so that the stated release spends no less."""
        return drawn_in_words(release)


def of_noise(release: dict[str, Any], relation: str) -> tuple[Fraction, int]:
    """z, in units of the distance 1, and the distance: 2 under replace-one, unless the final one is given."""
    z, stddev, distance = (release[name] for name in ("noise_multiplier", "noise_stddev", "sensitivity"))
    if z is not None and stddev is None and distance is None:
        return z, 2 if relation == "replace-one" else 1
    if z is None and stddev is not None and distance is not None:
        return stddev / distance, 1
    raise Malformed("a release gives either noise_multiplier, or noise_stddev with sensitivity")


def demand_positions(relation: str) -> None:
    """Refuse schemes that depend on positions where positions shift."""
    if relation == "add-or-remove-one":
        raise Malformed("batches by position have no pair under add-or-remove-one, where all positions shift")


def demand_rate(release: dict[str, Any]) -> None:
    """Refuse a rate above 1, and none."""
    if release["sample_rate"] is None or release["sample_rate"] > 1:
        raise Malformed(f"{release['kind']} needs a sample_rate of at most 1")


def drawn_in_words(read: dict[str, Any]) -> str:
    """Noise and sampling; exact numbers are rounded so that the stated release spends no less."""
    noise, left = read["mechanism"], ("kind", "mechanism", "count")

    def told(name: str, value: Any) -> str:
        down = name in (*NOISES[noise["kind"]].scales, "rest")
        word = shown(value, ROUND_FLOOR if down else ROUND_CEILING) if isinstance(value, Fraction) else str(value)
        if name == "norms":
            word = ", ".join(f"{shown(c)} with probability {shown(p)}" for c, p in value)
        return f"{name.replace('_', ' ')} {word}"

    of_noise = [told(name, value) for name, value in noise.items() if name not in left and value is not None]
    drawn = [told(name, value) for name, value in read.items() if name not in left]
    how = f"{read['kind'].replace('-', ' ')}{' (' if drawn else ''}{', '.join(drawn)}{')' if drawn else ''}"
    return f"{read['count']} x {noise['kind'].replace('-', ' ')} noise, {', '.join(of_noise)}, on {how}"


def noise_in_words(release: dict[str, Any]) -> str:
    """Gaussian noise of a release that holds its parameters itself, rounded down; distances are rounded up."""
    z, stddev, distance = (release.get(name) for name in ("noise_multiplier", "noise_stddev", "sensitivity"))
    if stddev is not None and distance is not None:
        return f"standard deviation {shown(stddev, ROUND_FLOOR)} at sensitivity {shown(distance)}"
    return "" if z is None else f"standard deviation {shown(z, ROUND_FLOOR)} per unit of the per-record bound"


# --- schemes/allocation.py --------------------------------------------------------------------------------------------
# Records that take part in steps or bins of their own drawing (20).


class RandomAllocation(Scheme):
    """Random allocation: every record is in a random set of steps, of a given size."""

    kind = "random-allocation"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "count": COUNTED,
        **dict.fromkeys(("steps", "participations"), MANY),
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse more participations than steps."""
        if release["participations"] > release["steps"]:
            raise Malformed("more participations than steps")

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """One step of each group of steps."""
        return Spent(steps=of_allocated(release, order, aim))


class BallsInBins(Scheme):
    """Every record draws one of the steps of an epoch, once or anew in each epoch."""

    kind = "balls-in-bins"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "bins": MANY,
        "epochs": positive,
        "redraw": unread,
        "count": COUNTED,
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse other than a number of epochs, and yes or no."""
        if type(release["redraw"]) is not bool or release["epochs"] is None:
            raise Malformed("balls in bins need epochs, and redraw is true or false")
        if release["epochs"] > RUNS:
            raise Malformed(f"more than {RUNS} epochs")

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """One bin of all."""
        return Spent(steps=of_bins(release, order, aim))


def of_allocated(release: dict[str, Any], order: str, aim: Aim) -> Steps:
    """(20) k groups of steps, one step of each."""
    t, k, one = release["steps"], release["participations"], per_bound(release["mechanism"])
    if k == t:
        return [(gaussian_profile(t * one * (4 if order == "replace" else 1)), 1)]
    groups = Counter({t // k + 1: t % k, t // k: k - t % k})
    return [(allocated([(one, size)], size, order, aim), count) for size, count in groups.items() if count]


def of_bins(release: dict[str, Any], order: str, aim: Aim) -> Steps:
    """(20) Bins that are kept are one choice, bins drawn anew one in each epoch."""
    bins, one = release["bins"], per_bound(release["mechanism"])
    whole = math.floor(release["epochs"])
    last = math.ceil((release["epochs"] - whole) * bins)
    if bins == 1:
        return [(gaussian_profile((whole + last) * one * (4 if order == "replace" else 1)), 1)]
    if not release["redraw"]:
        return [(allocated([((whole + 1) * one, last), (whole * one, bins - last)], bins, order, aim), 1)]
    epochs = [(allocated([(one, bins)], bins, order, aim), whole)] if whole else []
    return epochs + ([(allocated([(one, last), (Fraction(0), bins - last)], bins, order, aim), 1)] if last else [])


# --- rules/displacement.py --------------------------------------------------------------------------------------------
# A record in the place of another one: (17), (18) where it is zeroed, (28) where that happens several times.


def zeroed_profile(squared_shift: Fraction, rate: Fraction | arb, order: str) -> Profile:
    """(18) Gaussian noise, a record zeroed in a batch of fixed size (remove), or put back (add)."""
    gamma, s = rate if isinstance(rate, arb) else number(rate), number(squared_shift).sqrt()
    base = gaussian_profile(squared_shift)

    def restored(alpha: arb) -> arb:
        return gamma * base(1 + (alpha - 1) / gamma)

    def zeroed(alpha: arb) -> arb:
        lead, middle = gamma * (-s * s).exp(), gamma * alpha
        w = (middle + (middle**2 + 4 * lead * (alpha - 1) * (1 - gamma)).sqrt()) / (2 * lead)
        t = w.log() / s + s / 2
        event = gamma * (normal_tail(t - 2 * s) - alpha * normal_tail(t - s))
        return event - (alpha - 1) * (1 - gamma) * normal_tail(t)

    return mirrored(*((zeroed, restored) if order == "remove" else (restored, zeroed)))


def may_displace(noise: dict[str, Any], relation: str) -> bool:
    """Return whether a record that displaces another one is covered."""
    if relation == "zero-out-one":
        return has_multiplier(noise)
    return NOISES[noise["kind"]].displaces and not noise.get("sensitivity")


def displacing(noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
    """(17), (18) A record that is in the batch with probability ``rate``, and then displaces another one."""
    if relation == "zero-out-one":
        return zeroed_profile(per_bound(noise), rate, order)
    if not may_displace(noise, relation):
        raise NotCovered(f"{noise['kind']} noise on batches of a fixed size, or given by its final distance")
    base = noise_profile(noise, 2)
    if relation == "replace-one":
        return symmetrised(base, rate)
    return thinned(base, rate) if order == "remove" else thinned(base, rate).reversed()


def replaced_draws(chances: list[Fraction], z: Fraction, lost: arb) -> Profile:
    """(28) sup_t Σ p_k max_{t-D <= y <= t} F̄(y) - αF̄(y+D), D = 2k/z, for α >= 1, mirrored below."""
    parts = [(number(2 * k / z), number(p)) for k, p in enumerate(chances) if k and p]
    rough = [(float(2 * k / z), float(p)) for k, p in enumerate(chances) if k and float(p)]
    rest, still = number(chances[0]), float(chances[0])

    def falls_roughly(t: float, logarithm: float) -> float:
        found = -(1 - math.exp(-logarithm)) * still
        for d, p in rough:
            lower, upper = d * t - d * d / 2 - logarithm, -d * t - d * d / 2
            found += p * max(0.0, math.exp(min(lower, 500.0)) - 1)
            found -= p * max(0.0, math.exp(min(upper, 500.0)) - math.exp(-logarithm))
        return found

    def falls(t: arb, alpha: arb) -> tuple[arb, arb]:
        """-f'/(αφ) at t, which grows with t, and its derivative."""
        found, rise = -(1 - 1 / alpha) * rest, arb(0)
        for d, p in parts:
            right, left = (d * t - d * d / 2).exp() / alpha, (-d * t - d * d / 2).exp()
            found += p * ((right - 1).max(arb(0)) - (left - 1 / alpha).max(arb(0)))
            rise += p * d * (right * int(right > 1) + left * int(left > 1 / alpha))
        return found, rise

    def above(alpha: arb) -> arb:
        effort.spend(12 * len(parts))
        logarithm, low, high = alpha.log(), -1e4, 1e4
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if falls_roughly(middle, float(logarithm.mid())) < 0 else (low, middle)
        t = arb(high)
        for _ in range(3):  # Newton's method, at midpoints
            off, rise = falls(t, alpha)
            t = (t - off / rise).mid() if rise > 0 else t
        width = arb(2) ** -(ctx.prec // 3)
        require(falls(t - width, alpha)[0] <= 0, "the sum rises up to the left end")
        require(falls(t + width, alpha)[0] >= 0, "the sum falls from the right end on")
        near = (t - width).union(t + width)
        slope = abs(falls(near, alpha)[0]) * alpha * (-near * near / 2).exp()
        found = (1 - alpha) * rest * normal_tail(t)
        for d, p in parts:
            y = (logarithm / d - d / 2).min(t).max(t - d)
            found += p * (normal_tail(y) - alpha * normal_tail(y + d))
        return found + arb(0).union(slope.upper() * 2 * width) + lost

    return mirrored(above, total=1 + lost, exact=False)


# --- schemes/fixed_size.py --------------------------------------------------------------------------------------------
# Batches of a fixed size: b of n records (17), (18), and groups of them (31).


class WithoutReplacement(Scheme):
    """A uniform subset of b records."""

    kind = "without-replacement"
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("kind", "mechanism"), unread),
        **dict.fromkeys(("batch_size", "dataset_size", "count"), COUNTED),
    }
    groups_under = ("add-or-remove-one", "replace-one")

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse more records than there are."""
        if release["batch_size"] > release["dataset_size"]:
            raise Malformed("a batch is larger than the dataset")

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Return whether the noise is supported: a record may displace another one."""
        return may_displace(noise, relation)

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return a record in the place of another one."""
        return Spent(steps=[(of_fixed_size(release, order, relation), 1)])

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """A batch holds a hypergeometric number of the group."""
        if relation not in self.groups_under:
            return super().of_group(release, order, relation, group)
        demand_rest(release, group, release["batch_size"])
        return Spent(steps=[(group_in_batch(release, order, relation, group), 1)])


def of_fixed_size(release: dict[str, Any], order: str, relation: str) -> Profile:
    """(17), (18) b of n records."""
    rate = Fraction(release["batch_size"], release["dataset_size"])
    if rate == 1 and relation != "add-or-remove-one":
        return noise_profile(release["mechanism"], 2 if relation == "replace-one" else 1)
    if rate == 1:
        raise Malformed("under add-or-remove-one a batch is smaller than the dataset")
    return displacing(release["mechanism"], order, relation, rate)


def demand_rest(release: dict[str, Any], group: int, batch: int) -> None:
    """Refuse groups without which no whole batch is left, and other than Gaussian noise."""
    per_bound(release["mechanism"])
    if release["dataset_size"] - group < batch:
        raise NotCovered("a group without which no whole batch is left")


def group_in_batch(release: dict[str, Any], order: str, relation: str, group: int) -> Profile:
    """(31) Return the profile of ``group`` of n records in a batch of b."""
    b, n, z = release["batch_size"], release["dataset_size"], release["mechanism"]["noise_multiplier"]
    few, many = sorted((group, b))  # the two are interchangeable
    require(few <= 64, "a batch holds at most 64 records of a group")
    ways = [math.comb(many, j) * math.comb(n - many, few - j) for j in range(few + 1)]
    law = [Fraction(each, math.comb(n, few)) for each in ways]
    return replaced_draws(law, z, arb(0)) if relation == "replace-one" else mixed(law, z / 2, order)


# --- schemes/draws.py -------------------------------------------------------------------------------------------------
# Draws with replacement (27), (28), and groups of records (31).


class WithReplacement(Scheme):
    """b independent draws of n records."""

    kind = "with-replacement"
    fields: ClassVar[Fields] = WithoutReplacement.fields
    groups_under = WithoutReplacement.groups_under

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse draws from an empty set of other records."""
        if release["dataset_size"] < 2:
            raise Malformed("draws with replacement from fewer than two records")

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return a record that is drawn several times."""
        return Spent(steps=[(of_draws(release, order, relation), 1)])

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """A batch holds a binomial number of draws of the group; a single draw is a batch of one record."""
        if relation not in self.groups_under:
            return super().of_group(release, order, relation, group)
        demand_rest(release, group, 1)
        if release["batch_size"] == 1:
            return Spent(steps=[(group_in_batch(release, order, relation, group), 1)])
        return Spent(steps=[(of_draws(release, order, relation, group), 1)])


def of_draws(release: dict[str, Any], order: str, relation: str, group: int = 1) -> Profile:
    """(27), (28), (31) b draws with replacement: Σ p_k N(2k/z) against N(0) for records that come and go."""
    draws, n, one = release["batch_size"], release["dataset_size"], per_bound(release["mechanism"])
    if draws == 1 and relation != "add-or-remove-one":
        return of_fixed_size(release, order, relation)
    chance, scale = number(Fraction(group, n)), 2**240
    tails = [Fraction(1)]  # P(k or more draws), from above
    while tails[-1] > Fraction(1, 2**200) and len(tails) <= draws:
        if len(tails) > 1000:
            raise NotCovered("a record that is drawn more than 1000 times")
        effort.spend(1)
        tails.append(min(tails[-1], Fraction(rounded_up(chance_of_at_least(draws, chance, len(tails)), 240), scale)))
    beyond = tails.pop() if len(tails) <= draws else Fraction(0)
    chances = [a - b for a, b in pairwise([*tails, Fraction(0)])]
    lost = number(beyond)
    if relation == "replace-one":
        return replaced_draws(chances, release["mechanism"]["noise_multiplier"], lost)
    if relation == "zero-out-one":
        return zeroed_draws(chances, one, chance_of_at_least(draws, chance, 1), order, lost)
    norms = [(Fraction(2 * k), p) for k, p in enumerate(chances) if p]
    mixture = mixture_profile(norms, release["mechanism"]["noise_multiplier"], replaced=False)
    whole = Profile(lambda alpha: mixture(alpha) + lost, 1 + lost, exact=False)
    return whole if order == "remove" else whole.reversed()


def zeroed_draws(chances: list[Fraction], one: Fraction, some: arb, order: str, lost: arb) -> Profile:
    """(28) Σ_{k >= 1} p_k/η times (18) at the rate η and k shifts, for α >= 1; the other order, mirrored, below."""
    both = [
        [(number(p), zeroed_profile(k * k * one, some, way)) for k, p in enumerate(chances) if k and p]
        for way in (order, "add" if order == "remove" else "remove")
    ]

    def above(way: int, alpha: arb) -> arb:
        return sum((p * each(alpha) for p, each in both[way]), arb(0)) / some + lost

    return mirrored(partial(above, 0), partial(above, 1), total=1 + lost, exact=False)


# --- schemes/full_batch.py --------------------------------------------------------------------------------------------
# All records in every step.


class FullBatch(Scheme):
    """Noise on all records."""

    kind = "full-batch"
    fields: ClassVar[Fields] = {"kind": unread, "mechanism": unread, "count": COUNTED}
    refused_noises = (GaussianNoise.kind,)

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Every noise."""
        return True

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the noise's own."""
        noise = NOISES[release["mechanism"]["kind"]]
        found = noise.spent(release["mechanism"], 2 if relation == "replace-one" else 1)
        if order == "add" and not noise.symmetric:
            found.steps = [(profile.reversed(), times) for profile, times in found.steps]
        return found


# --- schemes/poisson.py -----------------------------------------------------------------------------------------------
# Poisson samples.


class Poisson(Scheme):
    """Noise other than Gaussian on a Poisson sample."""

    kind = "poisson"
    fields: ClassVar[Fields] = {"kind": unread, "mechanism": unread, "sample_rate": positive, "count": COUNTED}
    refused_noises = (GaussianNoise.kind,)

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse a rate above 1."""
        demand_rate(release)

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Every noise."""
        return True

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return a record beside the others."""
        return Spent(steps=[(joining(release["mechanism"], order, relation, release["sample_rate"]), 1)])


# --- schemes/gaussian.py ----------------------------------------------------------------------------------------------
# Gaussian noise on all records or on Poisson samples, as every version has it.


class Gaussian(Scheme):
    """One release, whose object holds the parameters of its noise."""

    kind = "gaussian"
    version = 1
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_stddev", "sensitivity", "sample_rate"), positive),
        "kind": unread,
        "count": COUNTED,
    }
    groups_under = tuple(RELATIONS)

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """However its noise is given."""
        return True

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Closed forms and the contour integral know it."""
        return False

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return True: a single record attains it."""
        return True

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """μ² of one release on all the data, or its pair on a sample."""
        (z, farthest), q = of_noise(release, relation), release["sample_rate"]
        if q is not None and q > 1:
            raise Malformed(f"sample rate {quoted(str(q))}")
        if q is None or q == 1:
            return (farthest / z) ** 2, Sampled()
        if release["noise_multiplier"] is None and relation == "replace-one":
            raise Malformed("a sampled release under replace-one needs noise_multiplier")
        return Fraction(0), Sampled({(q, z**2): 1})

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """Return the profile of a group: k times the shift; or a binomial number of it on a sample."""
        shift, sampled = self.product(release, relation)
        if not sampled:
            return Spent(group**2 * shift)
        q, (z, _) = release["sample_rate"], of_noise(release, relation)
        require(group <= 64, "a group on Poisson samples has at most 64 records")
        law = [math.comb(group, j) * q**j * (1 - q) ** (group - j) for j in range(group + 1)]
        return Spent(steps=[(mixed(law, z, order), 1)])

    def sampling(self, release: dict[str, Any]) -> str:
        """Return the name of the sampling scheme around the noise."""
        return FullBatch.kind if release["sample_rate"] is None else Poisson.kind

    def words(self, release: dict[str, Any]) -> str:
        """Noise is rounded down, sample rates and distances up."""
        q = release["sample_rate"]
        on = "the full data" if q is None else f"Poisson samples at rate {shown(q)}"
        return f"{release['count']} x Gaussian noise, {noise_in_words(release)}, on {on}"


# --- schemes/windows.py -----------------------------------------------------------------------------------------------
# Cost of a participation in a last iterate (11), with step sizes that change (25).


def window(rise: Fraction, steps: int) -> Fraction:
    """1 / (1 + c^-2 + ... + c^-2(steps - 1)) from above, c = 1 + rise."""
    if rise == 0 or steps == 1:
        return Fraction(1, steps)
    with ctx.workprec(1024):
        twice = -2 * number(rise).log1p()
        value = twice.expm1() / (steps * twice).expm1()
        return min(Fraction(1), Fraction(rounded_up(value, 300), 2**300))


def is_scheduled(release: dict[str, Any]) -> bool:
    """Return whether step sizes change, of a last iterate."""
    return isinstance(release.get("smoothness_step"), list)


def windows_of(release: dict[str, Any]) -> Callable[[int, int], arb]:
    """(11), (25) The cost of a participation in step i, from above, up to the next one, or to publication, in j."""
    if not is_scheduled(release):
        rise = release["smoothness_step"] - release["weight_decay_step"]
        of_length = lru_cache(maxsize=None)(lambda steps: number(window(rise, steps)))
        return lambda i, j: of_length(j - i)
    steps = release["batches"] * release["epochs"]
    times = steps // len(release["smoothness_step"])
    effort.spend(3 * steps, 2 * steps)
    with ctx.workprec(512):
        sizes = [number(each) for each in release["smoothness_step"] for _ in range(times)]
        rest = [arb(0)] * (steps + 1)  # Σ_{j >= i} λ_j² η_j², from the last step on
        shrink = [arb(1)] * (steps + 2)  # the product of c_k² over k < j
        for i in reversed(range(steps)):
            follows = (1 + sizes[i + 1]) ** -2 if i + 1 < steps else arb(0)
            rest[i] = sizes[i] ** 2 + follows * rest[i + 1]
        for i in range(steps):
            shrink[i + 1] = shrink[i] * (1 + sizes[i]) ** 2

    def cost(i: int, j: int) -> arb:
        beyond = rest[j] * shrink[i + 1] / shrink[j + 1]  # λ_j = 1/(c_{i+1} … c_j)
        value = sizes[i] ** 2 / (rest[i] - beyond)
        return value.min(arb(1)) if value.is_finite() else arb(1)

    return cost


def scheduled_costs(release: dict[str, Any]) -> list[Fraction]:
    """(25) For each position, kept in every epoch: windows up to the next participation, or to publication."""
    m, epochs, cost = release["batches"], release["epochs"], windows_of(release)
    ends, costs = {*release["checkpoints"], epochs}, []
    with ctx.workprec(512):
        for p in range(m):
            total = sum((cost(e * m + p, (e + 1) * m + (0 if e + 1 in ends else p)) for e in range(epochs)), arb(0))
            costs.append(min(Fraction(epochs), Fraction(rounded_up(total, 300), 2**300)))
    return costs


def in_every_step(rise: Fraction, steps: int) -> Fraction:
    """(1 + c)(1 - c^T) / ((1 - c)(1 + c^T)) from above where c < 1, else T, for T steps, c = 1 + rise."""
    if rise >= 0:
        return Fraction(steps)
    with ctx.workprec(1024):
        power = steps * number(rise).log1p()
        value = number(2 + rise) * -power.expm1() / (number(-rise) * (1 + power.exp()))
        return min(Fraction(steps), Fraction(rounded_up(value, 300), 2**300))


# --- schemes/secret_orders.py -----------------------------------------------------------------------------------------
# Last iterates in secret orders (22).

Costs = list[tuple[Fraction, Fraction]]  # probabilities, rounded up, with squared shifts


def secret_costs(release: dict[str, Any], one: Fraction) -> Costs:
    """(22) Of a last iterate whose record has a position drawn once, or anew in each epoch; ``one`` is S."""
    m = release["batches"]
    if release["order"] == "shuffled":
        return Shuffles(release, one).law()
    size = -(-m // 400)
    if is_scheduled(release):  # positions of similar cost are grouped, each as its most expensive one
        costs = sorted(scheduled_costs(release), reverse=True)
        return [(Fraction(min(size, m - at), m), one * costs[at]) for at in range(0, m, size)]
    rise, pieces = release["smoothness_step"] - release["weight_decay_step"], len(release["checkpoints"]) + 1
    several = (release["epochs"] - pieces) * window(rise, m)
    blocks = [(start, min(start + size, m)) for start in range(0, m, size)]
    return [(Fraction(end - start, m), one * (several + pieces * window(rise, m - end + 1))) for start, end in blocks]


def blocks_of(batches: int, rise: float, most: int) -> list[tuple[int, int]]:
    """Return positions in about ``most`` blocks, narrow where costs change quickly: at either end of an epoch."""
    effort.spend(batches / 4, batches)
    power = -2 * math.log1p(max(rise, -0.999))
    costs = [math.expm1(power) / math.expm1(min(700.0, power * g)) if rise else 1 / g for g in range(1, batches + 1)]
    changes = [math.sqrt(max(0.0, one - two)) for one, two in pairwise(costs)]
    sums = list(accumulate(map(max, changes, reversed(changes)), initial=0.0))
    groups = [math.floor(each * most / sums[-1]) if batches > most else k for k, each in enumerate(sums)]
    starts = [0, *(k + 1 for k, (one, two) in enumerate(pairwise(groups)) if one != two), batches]
    return list(pairwise(starts))


class Shuffles:
    """(22) Positions drawn anew in each epoch, in blocks; costs on multiples of a unit, masses in units of 2^-96.

    Unit, blocks and places are choices. A run of many epochs is cut, as if iterates between had been published.
    """

    def __init__(self, release: dict[str, Any], one: Fraction) -> None:
        self.m, self.epochs, self.one = release["batches"], release["epochs"], one
        self.cost, self.changing = windows_of(release), is_scheduled(release)
        self.pieces = Counter[tuple[int, int]]()  # first epoch (0 where all are alike) and length
        for start, end in pairwise((0, *release["checkpoints"], self.epochs)):
            parts = -(-(end - start) // 32)
            short, longer = divmod(end - start, parts)
            if not self.changing:
                self.pieces += Counter({(0, short): parts - longer, (0, short + 1): longer})
                continue
            for part in range(parts):
                self.pieces[start, short + (part < longer)] += 1
                start += short + (part < longer)
        grid = range(0, self.m, -(-self.m // 12))
        looked_at = range(self.epochs if self.changing else 1)
        effort.spend(len(looked_at) * len(grid) ** 2)
        rough = sum(float(self.window(e, p, q).mid()) for e in looked_at for p in grid for q in grid) / len(grid) ** 2
        each = max(rough / len(looked_at), 2.0**-40)
        mean = each * self.epochs
        self.unit = Fraction(2) ** math.floor(math.log2(min(mean / 256, each / 2)))
        self.most = math.ceil(min(Fraction(self.epochs), 4 + 4 * Fraction(mean)) / self.unit)
        self.fall = (-number(self.unit * one) / 8).exp()
        taken, sizes = sum(count for _, count in self.pieces), release["smoothness_step"]
        slope = sum(sizes) / len(sizes) if self.changing else sizes - release["weight_decay_step"]
        rise = float(min(slope, 10**9))
        self.blocks = blocks_of(self.m, rise, min(200, max(8, math.isqrt(MOST_WORK * 60 // (taken * self.most)))))
        effort.spend(taken * len(self.blocks) ** 2 * self.most / 100, self.most * len(self.blocks))
        effort.spend(taken * self.m * len(self.blocks) / 10 if self.changing else 0)
        self.chances = [math.ceil(Fraction(end - start, self.m) * 2**64) for start, end in self.blocks]
        self.known: dict[int, list[list[tuple[int, fmpz_poly]]]] = {}

    def window(self, epoch: int, first: int, second: int) -> arb:
        """Return the window from a position to the next epoch (0 if an iterate is published between), or to the end."""
        return self.cost(epoch * self.m + first, min((epoch + 1) * self.m + second, self.m * self.epochs))

    def dearest(self, epoch: int, block: tuple[int, int], second: int) -> tuple[int, fmpz_poly]:
        """Return the lower of two multiples of the unit around a block's cost, and the shares of 2^32 of both."""
        places = range(block[0] if self.changing else block[1] - 1, block[1])
        found = reduce(arb.max, (self.window(epoch, p, second) for p in places)) / number(self.unit)
        k, rest = divmod(rounded_up(found, 40), 1 << 40)
        if not k or not rest:
            return max(k, 1), fmpz_poly([1 << 32])
        up = self.moved_up(k + arb(rest) / 2**40, k, k + 1)
        return k, fmpz_poly([(1 << 32) - up, up])

    def moved_up(self, at: arb, low: int, high: int) -> int:
        """Return the part, in units of 2^-32, of a mass between two places that goes to the higher one."""
        low_root, root, high_root = arb(low).sqrt(), at.sqrt(), arb(high).sqrt()
        share = 1 / (1 + self.fall ** (high - low) * (high_root - root) / (root - low_root))
        return min(1 << 32, rounded_up(share, 32))

    def steps(self, epoch: int) -> list[list[tuple[int, fmpz_poly]]]:
        """Return the steps from every block to every block in the next epoch."""
        key = epoch if self.changing else 0
        if key not in self.known:
            with ctx.workprec(512):
                self.known = {key: [[self.dearest(key, block, to) for to, _ in self.blocks] for block in self.blocks]}
        return self.known[key]

    def piece(self, first: int, count: int) -> tuple[fmpz_poly, int]:
        """Return the masses of ``count`` epochs, the last followed by publication; and the mass beyond."""
        laws, beyond, nothing = [fmpz_poly([mass << 32]) for mass in self.chances], 0, fmpz_poly([0])
        for epoch in range(first, first + count - 1):
            gathered = [nothing] * len(self.blocks)
            for law, row in zip(laws, self.steps(epoch), strict=True):
                for j, (k, shares) in enumerate(row):
                    gathered[j] = gathered[j] + law.left_shift(k) * shares
            kept = [rounded_poly(law * mass, 96, self.most) for law, mass in zip(gathered, self.chances, strict=True)]
            laws, beyond = [law for law, _ in kept], beyond + sum(over for _, over in kept)
        last = [self.dearest(first + count - 1, block, 0) for block in self.blocks]
        total = sum((law.left_shift(k) * shares for law, (k, shares) in zip(laws, last, strict=True)), nothing)
        found, over = rounded_poly(total, 32, self.most)
        return found, beyond + over

    def both(self, one: tuple[fmpz_poly, int], other: tuple[fmpz_poly, int]) -> tuple[fmpz_poly, int]:
        """Return the distribution of a sum."""
        found, over = rounded_poly(one[0] * other[0], 96, self.most)
        return found, one[1] + other[1] + over

    def law(self) -> Costs:
        """On few places, farther apart where costs are large; the mass beyond has the largest cost."""
        parts = [repeated(self.piece(*each), times, self.both) for each, times in self.pieces.items()]
        total, beyond = reduce(self.both, parts)
        masses = [int(mass) for mass in total.coeffs()]
        if not any(masses):
            raise NotCovered("a run whose costs lie beyond the table")
        low, high = next(k for k, mass in enumerate(masses) if mass), len(masses) - 1
        roots = [math.sqrt(low) + (math.sqrt(high) - math.sqrt(low)) * i / 255 for i in range(256)]
        places = sorted({low, high, *(min(high, max(low, round(root**2))) for root in roots)})
        found = Counter[int]()
        for k in range(low, high + 1):
            at = bisect_right(places, k) - 1
            up = self.moved_up(arb(k), places[at], places[at + 1]) if places[at] < k else 0
            found[places[at]] += -(-masses[k] * ((1 << 32) - up) >> 32)
            if up:
                found[places[at + 1]] += -(-masses[k] * up >> 32)
        costs = [(Fraction(mass, 2**96), self.one * self.unit * k) for k, mass in sorted(found.items()) if mass]
        return [*costs, (Fraction(2 * beyond, 2**96), self.one * self.epochs)]


def rounded_poly(masses: fmpz_poly, bits: int, most: int) -> tuple[fmpz_poly, int]:
    """Coefficients divided by 2^bits, rounded up; and the sum of those beyond x^most."""
    found = [-(-int(c) >> bits) for c in masses.coeffs()]
    return fmpz_poly(found[: most + 1]), sum(found[most + 1 :])


# --- schemes/last_iterates.py -----------------------------------------------------------------------------------------
# Last iterates (11), (22), (25).


def step_sizes(record: Any, name: str) -> Fraction | list[Fraction] | None:
    """Reads one step size, or one for each epoch or step."""
    if not isinstance(record[name], list):
        return positive(record, name)
    sizes = [rational(each) for each in record[name]]
    if not sizes or min(sizes) <= 0:
        raise Malformed("a step size that is not positive")
    return sizes


class LastIterate(Scheme):
    """Last iterate of noisy gradient descent over batches by position, and checkpoints."""

    kind = "last-iterate"
    version = 4
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_stddev", "sensitivity"), positive),
        "kind": unread,
        "batches": MANY,
        "epochs": MANY,
        "smoothness_step": step_sizes,
        "weight_decay_step": nonnegative,
        "order": unread,
        "checkpoints": unread,
        "count": COUNTED,
    }
    by_position = True

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse parameters that no run has."""
        after = field(release, "checkpoints", list)
        if any(type(each) is not int for each in after) or any(
            second <= first for first, second in pairwise((0, *after, release["epochs"]))
        ):
            raise Malformed("the checkpoints are not epochs in increasing order, each before the last")
        if release["order"] not in ("fixed", "shuffled", "secret")[: 1 if version < 5 else 3]:
            raise Malformed(f"a last iterate in the order {quoted(release['order'])}, which version {version} has not")
        if release["smoothness_step"] is None or release["weight_decay_step"] > 1:
            raise Malformed("a last iterate needs a smoothness_step, and a weight_decay_step of at most 1")
        if is_scheduled(release):
            if version < 5 or release["weight_decay_step"]:
                raise Malformed("step sizes that change go with version 5 and no weight decay")
            if len(release["smoothness_step"]) not in (release["epochs"], release["epochs"] * release["batches"]):
                raise Malformed("step sizes that change are one per epoch, or one per step")
            if len(set(release["smoothness_step"])) == 1:
                raise Malformed("step sizes that are all the same are one number")

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Return whether positions are secret, or step sizes change."""
        return release["order"] != "fixed" or is_scheduled(release)

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return whether the pair is attained: the record takes part in every step."""
        return bool(release["batches"] == 1)

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """(11): windows of m steps from a participation to the next, and of one after the last."""
        demand_positions(relation)
        (z, farthest), m = of_noise(release, relation), release["batches"]
        rise = release["smoothness_step"] - release["weight_decay_step"]  # c - 1, above -1
        epochs = [b - a for a, b in pairwise((0, *release["checkpoints"], release["epochs"]))]
        if m == 1:
            effort.spend(20 * len(set(epochs)))
            several = {count: in_every_step(rise, count) for count in set(epochs)}
            cost = sum((several[count] for count in epochs), Fraction(0))
        else:
            cost = (release["epochs"] - len(epochs)) * window(rise, m) + len(epochs)
        return cost * (farthest / z) ** 2, Sampled()

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the profile of the most expensive position, or of an average of positions."""
        if not self.is_drawn(release):
            return super().spent(release, order, relation, aim)
        z, farthest = of_noise(release, relation)
        one = (farthest / z) ** 2
        if release["order"] == "fixed":
            return Spent(one * max(scheduled_costs(release)))
        parts = secret_costs(release, one)
        effort.spend(len(parts))
        found = averaged([(chance, gaussian_profile(cost)) for chance, cost in parts])
        found.exact = False
        return Spent(steps=[(found, 1)])

    def sampling(self, release: dict[str, Any]) -> None:
        """Return None: it has no separate noise."""

    def words(self, release: dict[str, Any]) -> str:
        """Noise and decay are rounded down, steps up."""
        after, steps = release["checkpoints"], release["smoothness_step"]
        also = f" and after epochs {', '.join(map(str, after[:20]))}" if after else ""
        more = ", ..." if len(after) > 20 else ""
        sizes = f"steps, {shown(min(steps))} to" if is_scheduled(release) else "step"
        largest = shown(max(steps) if is_scheduled(release) else steps)
        return (
            f"{release['count']} x only the last iterate{also}{more} of {release['epochs']} epochs of "
            f"{release['batches']} batches in a {release['order']} order, smoothness {sizes} {largest}, weight decay "
            f"step {shown(release['weight_decay_step'], ROUND_FLOOR)}; Gaussian noise in every step, "
            f"{noise_in_words(release)}"
        )


# --- schemes/columns.py -----------------------------------------------------------------------------------------------
# Matrices: how they are read, their rows and columns.

MATRICES = {
    "toeplitz": ("kind", "coefficients", "steps"),
    "lower-triangular": ("kind", "rows"),
    "binary-tree": ("kind", "steps"),
}


def read_matrix(matrix: object) -> dict[str, Any]:
    """Return a matrix with its numbers read: lower triangular, without a 0 on its diagonal."""
    kind = field(matrix, "kind", str)
    if kind not in MATRICES:
        raise Malformed(f"a matrix of kind {quoted(kind)}")
    found = dict(demand_fields(matrix, kind, MATRICES[kind]))
    if "steps" in found and not 1 <= field(matrix, "steps", int) <= STEPS:
        raise Malformed(f"steps is {quoted(found['steps'])}, and not from 1 to {STEPS}")
    if kind == "toeplitz":
        found["coefficients"] = values = [rational(each) for each in field(matrix, "coefficients", list)]
        if not 0 < len(values) <= found["steps"] or values[0] == 0 or values[-1] == 0:
            raise Malformed(
                "a Toeplitz matrix has 1 to as many coefficients as steps; the first and the last are not 0"
            )
        common_denominator(values)
    elif kind == "lower-triangular":
        rows = field(matrix, "rows", list)
        if not 0 < len(rows) <= ROWS:
            raise Malformed(f"a matrix that is given entry by entry has 1 to {ROWS} rows")
        if any(not isinstance(row, list) or len(row) != index for index, row in enumerate(rows, 1)):
            raise Malformed("the rows of a lower triangular matrix end at its diagonal")
        found["rows"] = read = [[rational(each) for each in row] for row in rows]
        if any(row[-1] == 0 for row in read):
            raise Malformed("a 0 on the diagonal of a matrix")
        common_denominator([value for row in read for value in row])
    return found


def common_denominator(values: list[Fraction]) -> int:
    """Return the common denominator of numbers; an error if it is long."""
    found = 1
    for value in values:
        found = math.lcm(found, value.denominator)
        if found > 10**DIGITS:
            raise Malformed(f"the common denominator of a matrix has more than {DIGITS} digits")
    return found


def whole_rows(matrix: dict[str, Any], steps: int) -> tuple[list[list[int]], int]:
    """Return the rows up to the diagonal in units of 1 / (the common denominator), and that."""
    if matrix["kind"] == "toeplitz":
        values = matrix["coefficients"]
        if steps > ROWS:
            raise NotCovered(f"a Toeplitz matrix of more than {ROWS} steps whose coefficients rise or have two signs")
        rows = [[values[i - j] if i - j < len(values) else Fraction(0) for j in range(i + 1)] for i in range(steps)]
    else:
        values, rows = [value for row in matrix["rows"] for value in row], matrix["rows"]
    common = common_denominator(values)
    effort.spend(steps**2 / 8)
    return [[value.numerator * (common // value.denominator) for value in row] for row in rows], common


def squared_norms(matrix: dict[str, Any], steps: int) -> list[Fraction]:
    """Return the squared norms of the columns."""
    effort.spend(steps / 4, steps)
    if matrix["kind"] == "toeplitz":
        values, common = matrix["coefficients"], common_denominator(matrix["coefficients"])
        norms = list(accumulate((value * common).numerator ** 2 for value in values))
        return [Fraction(norms[min(len(values), steps - j) - 1], common**2) for j in range(steps)]
    rows, common = whole_rows(matrix, steps)
    return [Fraction(sum(row[j] ** 2 for row in rows[j:]), common**2) for j in range(steps)]


def bands_of(matrix: dict[str, Any]) -> int:
    """Return the number of diagonals that hold all entries that are not 0, including the main one."""
    if matrix["kind"] == "toeplitz":
        return len(matrix["coefficients"])
    return max(len(row) - next(j for j, value in enumerate(row) if value) for row in matrix["rows"])


def steps_in(given: dict[str, Any]) -> int:
    """Return the number of rows."""
    return len(given["rows"]) if "rows" in given else int(given["steps"])


# --- schemes/binned_matrices.py ---------------------------------------------------------------------------------------
# Matrix mechanisms with balls in bins (26).


def overlaps(given: dict[str, Any], steps: int, bins: int) -> list[Fraction]:
    """(26) For each d < bins the largest ⟨c_j, c_k⟩ over k - j = d, c_j being |C| summed over the columns of bin j."""
    if given["kind"] == "toeplitz" and bins <= steps:
        values = given["coefficients"]
        common = common_denominator(values)
        effort.spend(2 * steps, 4 * steps)
        taken = fmpz_poly([0 if at % bins else 1 for at in range(steps)])
        summed = fmpz_poly([abs((value * common).numerator) for value in values]) * taken
        first = [int(each) for each in summed.coeffs()[:steps]]
        first += [0] * (steps - len(first))
        found = (fmpz_poly(first[::-1]) * fmpz_poly(first)).coeffs()
        found += [fmpz(0)] * (2 * steps - len(found))
        return [Fraction(int(found[steps - 1 + d]), common**2) for d in range(bins)]
    if bins > ROWS or steps > ROWS:
        raise NotCovered(f"balls in bins with more than {ROWS} rows or bins, other than Toeplitz")
    sums: list[list[int]]
    if given["kind"] == "binary-tree":
        nodes = [(level, node) for level in range(steps.bit_length()) for node in range(steps >> level)]
        common, sums = 1, [[0] * bins for _ in nodes]
        effort.spend(steps * steps.bit_length(), len(nodes) * bins)
        for line, (level, node) in zip(sums, nodes, strict=True):
            for step in range(node << level, node + 1 << level):
                line[step % bins] += 1
    else:
        rows, common = whole_rows(given, steps)
        sums = [[sum(map(abs, row[j::bins])) for j in range(bins)] for row in rows]
    effort.spend(len(sums) * bins**2 / 200, len(sums) * bins)
    gram = fmpz_mat(sums).transpose() * fmpz_mat(sums)
    return [Fraction(max(int(gram[j, j + d]) for j in range(bins - d)), common**2) for d in range(bins)]


def of_binned_matrix(release: dict[str, Any], order: str, stride: int, aim: Aim) -> Steps:
    """(26) The common part of the bins of one residue, and one of them for the rest; any stride is valid."""
    bins, given = release["separation"], release["matrix"]
    if stride < 1 or bins % stride:
        raise Malformed(f"a stride of {stride} with {bins} bins")
    found = overlaps(given, steps_in(given), bins)
    common = max(found[stride::stride], default=Fraction(0))
    require(common <= found[0], "what two bins share is at most what one has")
    ways, unit = 4 if order == "replace" else 1, 1 / release["noise_multiplier"] ** 2
    own = unit * (found[0] - common)
    if stride == bins or not own:
        return [(gaussian_profile(ways * unit * found[0]), 1)]
    rest = allocated([(own, bins // stride)], bins // stride, order, aim)
    return [(rest, 1), *([(gaussian_profile(ways * unit * common), 1)] if common else [])]


# --- schemes/participations.py ----------------------------------------------------------------------------------------
# Matrix mechanisms: the steps that a record may take part in (12), and cyclic samples (13).


def blocks(release: dict[str, Any], steps: int, relation: str) -> Counter[Fraction]:
    """(13): the squared norms of the columns that dominate every group's, with how many have them."""
    apart, given = release["separation"], release["matrix"]
    if given["kind"] == "binary-tree" or bands_of(given) > apart:
        raise Malformed("cyclic Poisson samples need at most as many bands as the separation")
    norms = squared_norms(given, steps)
    if relation == "replace-one" and release["groups"] == "content":
        if apart < 2 * bands_of(given) - 1:
            raise Malformed("groups by content under replace-one need a separation of twice the bands, less one")
        return Counter({max(norms): -(-steps // apart)})
    groups = [sorted(norms[start::apart], reverse=True) for start in range(min(apart, steps))]
    return Counter(map(max, zip_longest(*groups, fillvalue=Fraction(0))))


def toeplitz_reach(given: dict[str, Any], steps: int, apart: int, most: int, free: bool) -> Fraction:
    """(12): columns that do not overlap, or coefficients that fall: 0, b, 2b, ...; else as any matrix."""
    values = given["coefficients"]
    if len(values) <= apart:
        return sum(squared_norms(given, steps)[::apart][:most], Fraction(0))
    if values[-1] < 0 or any(one < other for one, other in pairwise(values)):
        return dense_reach(given, steps, apart, most, free)
    common = common_denominator(values)
    effort.spend(steps, 2 * steps)
    taken = fmpz_poly([0 if at % apart else 1 for at in range((most - 1) * apart + 1)])
    sums = (fmpz_poly([(value * common).numerator for value in values]) * taken).coeffs()[:steps]
    return Fraction(int(sum(value * value for value in sums)), common**2)


def dense_reach(given: dict[str, Any], steps: int, apart: int, most: int, free: bool) -> Fraction:
    """(12): the sum of the Gram matrix's absolute values over the steps of the worst phase."""
    if free and bands_of(given) > apart:
        raise NotCovered(
            "a minimum separation with overlapping columns, other than of a tree or of falling Toeplitz coefficients"
        )
    if free:
        return heaviest(squared_norms(given, steps), apart, most)
    if most == 1:
        return max(squared_norms(given, steps))
    rows, common = whole_rows(given, steps)
    bits = max(abs(value).bit_length() for row in rows for value in row)
    effort.spend(apart * steps * most**2 * (1 + bits / 64) / 200, steps * most)
    largest = 0
    for start in range(apart):
        taken = [row[start::apart] for row in rows]
        wide = len(taken[-1])
        columns = fmpz_mat([row + [0] * (wide - len(row)) for row in taken])
        gram = columns.transpose() * columns
        largest = max(largest, sum(abs(int(entry)) for entry in gram.entries()))
    return Fraction(largest, common**2)


def heaviest(weights: list[Fraction], apart: int, most: int) -> Fraction:
    """Return the largest sum of at most ``most`` weights at places ``apart``: best[n] of the first n places."""
    effort.spend(len(weights) * most / 4)
    before = [Fraction(0)] * (len(weights) + 1)
    for _ in range(most):
        best = [Fraction(0)]
        for place, weight in enumerate(weights):
            best.append(max(best[-1], weight + before[max(0, place + 1 - apart)]))
        before = best
    return before[-1]


def tree_reach(_: dict[str, Any], steps: int, apart: int, most: int, free: bool) -> Fraction:
    """(12): squared numbers of participations, node by node."""
    levels = range(steps.bit_length())
    if most == 1:
        return Fraction(len(levels))
    effort.spend(steps * len(levels) / 8)
    if not free:
        phases = [0] * apart
        for level in levels:
            held = Counter((step >> level, step % apart) for step in range(steps >> level << level))
            for (_node, phase), times in held.items():
                phases[phase] += times**2
        return Fraction(max(phases))
    total = 0
    for level in levels:
        one = min(most, -(-(1 << level) // apart))
        full, rest = divmod(min(most, one * (steps >> level)), one)
        total += full * one**2 + rest**2
    return Fraction(total)


REACHES = {"toeplitz": toeplitz_reach, "lower-triangular": dense_reach, "binary-tree": tree_reach}


# --- schemes/matrices.py ----------------------------------------------------------------------------------------------
# Matrix mechanisms (12), (13), (26).

BINNED = "balls-in-bins"  # the secret one of the participation patterns


class Matrix(Scheme):
    """The rows of C x with independent noise, x being the sums of the steps."""

    kind = "matrix"
    version = 4
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("kind", "matrix", "participation", "groups"), unread),
        **dict.fromkeys(("noise_multiplier", "sample_rate"), positive),
        **dict.fromkeys(("separation", "at_most"), COUNTED_OR_NONE),
        "count": COUNTED,
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Read the matrix; refuse fields that are inconsistent."""
        release["matrix"] = read_matrix(release["matrix"])
        needs = {"single": (False, False), "fixed-order": (True, False), "minimum-separation": (True, False)}
        needs |= {"cyclic-poisson": (True, True), BINNED: (True, False)}
        how, apart, rate = release["participation"], release["separation"], release["sample_rate"]
        if type(how) is not str or how not in needs or (apart is not None, rate is not None) != needs[how]:
            raise Malformed(f"participation {quoted(how)} with its separation and sample_rate")
        if release["at_most"] is not None and how != "minimum-separation":
            raise Malformed("at_most goes with participation minimum-separation only")
        kinds = ("independent",) if how == BINNED else ("position", "independent", "content")
        if release["groups"] not in kinds or (rate is not None and rate > 1):
            raise Malformed(f"groups {quoted(release['groups'])}, sample_rate {quoted(str(rate))}")
        if release["noise_multiplier"] is None:
            raise Malformed("a matrix mechanism needs a noise_multiplier")
        if version < 5 and how == BINNED:
            raise Malformed(f"participation balls-in-bins, which version {version} does not have")

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Return whether bins are drawn."""
        return bool(release["participation"] == BINNED)

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return whether it is attained, by sums of equal terms: all overlaps of columns count in full."""
        given, how = release["matrix"], (release["participation"], release["sample_rate"])
        values = given.get("coefficients") or [value for row in given.get("rows", ()) for value in row]
        return how == ("fixed-order", None) and all(value >= 0 for value in values)

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """(12), or (13) where the record is sampled."""
        if relation == "add-or-remove-one" and release["groups"] == "position":
            raise Malformed("a record's steps by its position have no pair under add-or-remove-one")
        variance, how, rate = release["noise_multiplier"] ** 2, release["participation"], release["sample_rate"]
        steps = steps_in(release["matrix"])
        if rate is not None and rate < 1:
            return Fraction(0), Sampled(
                {(rate, variance / norm): n for norm, n in blocks(release, steps, relation).items()}
            )
        apart = steps if how == "single" else min(release["separation"], steps)
        most = -(-steps // apart)
        if how == "minimum-separation" and release["at_most"] is not None:
            most = min(most, release["at_most"])
        free = how == "minimum-separation" and most > 1
        found = REACHES[release["matrix"]["kind"]](release["matrix"], steps, apart if most > 1 else steps, most, free)
        return found * (4 if relation == "replace-one" else 1) / variance, Sampled()

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the profile of the rows; with balls in bins, strides are hints."""
        if not self.is_drawn(release):
            return super().spent(release, order, relation, aim)
        stride = aim.choice("strides") if aim.waiting.get("strides") else release["separation"]
        if type(stride) is not int:
            raise Malformed(f"a stride of {quoted(stride)}")
        return Spent(steps=of_binned_matrix(release, order, stride, aim))

    def sampling(self, release: dict[str, Any]) -> None:
        """Return None: it has no separate noise."""

    def words(self, release: dict[str, Any]) -> str:
        """Describe the encoder and the participation pattern."""
        return (
            f"{release['count']} x {matrix_in_words(release)}; Gaussian noise in every row, {noise_in_words(release)}"
        )


def matrix_in_words(read: dict[str, Any]) -> str:
    """Describe the encoder and the participation pattern."""
    given, how = read["matrix"], read["participation"]
    which = {
        "lower-triangular": "a lower triangular matrix",
        "binary-tree": "a binary tree",
        "toeplitz": "a Toeplitz matrix",
    }
    bands = "" if given["kind"] == "binary-tree" else f" of {bands_of(given)} bands"
    apart = "" if read["separation"] is None else f", separation {read['separation']}"
    most = "" if read["at_most"] is None else f", at most {read['at_most']} steps"
    rate = "" if read["sample_rate"] is None else f", rate {shown(read['sample_rate'])}"
    what = f"{which[given['kind']]}{bands} over {steps_in(given)} steps"
    return f"{what}, participation {how}{apart}{most}{rate}, groups by {read['groups']}"


# --- schemes/shuffled.py ----------------------------------------------------------------------------------------------
# Shuffled batches, by labels and clones (21).


class Shuffled(Scheme):
    """Batches cut from a uniform permutation, drawn afresh in each epoch."""

    kind = "shuffled"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "batches": MANY,
        "rest": nonnegative,
        "count": COUNTED,
    }
    by_position = True
    halves = True

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse a rest that is a batch."""
        if release["rest"] * (release["batches"] + 1) >= 1:
            raise Malformed("the rest of an epoch is no smaller than a batch")

    def is_attained(self, release: dict[str, Any]) -> bool:
        """The pairs only dominate."""
        return False

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """One epoch; clones are hints."""
        profile, lost = of_shuffled(release, order, aim.choice("clones"), aim)
        return Spent(steps=[(profile, 1)], variation=lost)


class Clones:
    """(21) The choices of one epoch: s, (p, p') and (t, t'), with their conditions."""

    def __init__(self, record: object) -> None:
        self.odds = rational(field(record, "odds", str), 1)
        self.shares = [rational(each, 0) for each in field(record, "shares", list)]
        self.clone_odds = [rational(each, 1) for each in field(record, "clone_odds", list)]
        require(len(self.shares) == len(self.clone_odds) == 2, "there are two kinds of clones")
        require(self.odds > 1, "labels have odds above 1")
        taken = sum((p * t for p, t in zip(self.shares, self.clone_odds, strict=True)), Fraction(0))
        require(0 < taken <= 1, "clones take no more than all of another record")

    def lost(self, squared_shift: Fraction, batches: int, order: str) -> arb:
        """η: the total variation between an epoch and one with labels and clones."""
        own = gaussian_profile(squared_shift)
        other = own if order == "replace" else gaussian_profile(4 * squared_shift)
        found = labels = own(number(self.odds))
        for share, odds, law in zip(self.shares, self.clone_odds, (other, own), strict=True):
            if share:
                found += (batches - 1) * number(share) * (labels + law(number(odds)))
        return found.upper()

    def profile(self, batches: int, order: str, negligible: arb) -> Profile:
        """(21) Distribution of (C, K); numbers of clones in a row count as the least of them, too few as revealed."""
        p, unlike = self.shares
        s, share = number(self.odds), number(p + unlike)
        first = number((p * self.odds + unlike) / ((p + unlike) * (1 + self.odds)))  # θ
        require(order != "replace" or p == unlike, "neither content of a replaced record is special")
        o, few = (1 - first) / first, batches - 1
        if p + unlike < 1:
            mean, log_small = float((few * share).mid()), -float(negligible.log().mid())
            reach = math.sqrt(2 * log_small * mean) + log_small / 3 + 2
            few = max(0, math.floor(mean - reach))
            step, most = max(1, math.floor(mean / 400)), min(batches - 1, math.ceil(mean + reach))
            starts = list(range(few, most + 1, step))
            tails = [chance_of_at_least(batches - 1, share, start) for start in starts] + [arb(0)]
            groups = [(start, a - b) for start, (a, b) in zip(starts, pairwise(tails), strict=True)]
            revealed = 1 - tails[0]
        else:
            groups, revealed = [(few, arb(1))], arb(0)
        effort.spend(sum(clones for clones, _ in groups) / 2, 2 * sum(clones for clones, _ in groups))
        tables = [(clones, weight, *binomial(clones, first)) for clones, weight in groups]
        up, down = s / (1 + s), 1 / (1 + s)

        def at_least(k: int, clones: int, masses: list[arb], tails: list[arb], coin: arb) -> arb:
            if k <= 0 or k > clones + 1:
                return arb(1 if k <= 0 else 0)
            return tails[k] + coin * masses[k - 1]

        def counted(alpha: arb) -> arb:
            effort.spend(len(tables) / 2)
            found = revealed
            low, high = 1 / s < alpha, alpha < s
            if low is False or high is False:
                found += (1 - revealed) * (1 - alpha).max(arb(0))
                require(alpha <= 1 / s or alpha >= s, "α is distinguished from the odds of the labels")
                return found
            cut = (s * alpha - 1) / (s * o - 1 + alpha * (s - o))
            for clones, weight, masses, tails in tables:
                at = (clones + 1) * cut
                ends = [only_whole(end.floor(), "the threshold of counts") for end in (at.lower(), at.upper())]
                require(ends[1] - ends[0] <= 1, "the threshold of the counts is narrow")
                best = arb(0)
                for end in set(ends):
                    p_mass = at_least(end + 1, clones, masses, tails, up)
                    best = best.max(p_mass - alpha * at_least(end + 1, clones, masses, tails, down))
                found += weight * best
            return found

        if order != "add":
            return Profile(counted, exact=False)
        # restored: P and Q change places; what is revealed stays at an infinite loss
        return Profile(
            lambda alpha: revealed + (1 - revealed) * (1 - alpha) + alpha * (counted(1 / alpha) - revealed), exact=False
        )


def binomial(trials: int, chance: arb) -> tuple[list[arb], list[arb]]:
    """P(Bin = k) for k = 0..trials, and P(Bin >= k) for k = 0..trials + 1."""
    masses, odds = [(1 - chance) ** trials], chance / (1 - chance)
    for k in range(trials):
        masses.append(masses[-1] * odds * (trials - k) / (k + 1))
    return masses, list(accumulate(reversed(masses), initial=arb(0)))[::-1]


def of_shuffled(release: dict[str, Any], order: str, clones: object, aim: Aim) -> tuple[Profile, arb]:
    """(21) One epoch, and the total variation that its clones cost; without clones the record's batch is revealed."""
    squared, batches = per_bound(release["mechanism"]) * (4 if order == "replace" else 1), release["batches"]
    base = gaussian_profile(squared)
    if clones is None or batches == 1:
        return base, arb(0)
    choice = Clones(clones)
    key = (order, batches, choice.odds, *choice.shares, ctx.prec)
    if key not in aim.known:
        aim.known[key] = choice.profile(batches, order, aim.negligible)
    counts = aim.known[key]
    return averaged([(release["rest"], base), (1 - release["rest"], counts)]), choice.lost(squared, batches, order)


# --- schemes/truncated.py ---------------------------------------------------------------------------------------------
# Poisson samples of no more records than stated (19).


class TruncatedPoisson(Scheme):
    """A Poisson sample, cut to a uniform choice of B records."""

    kind = "truncated-poisson"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "sample_rate": positive,
        **dict.fromkeys(("max_batch_size", "dataset_size", "count"), COUNTED),
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse a rate above 1."""
        demand_rate(release)

    def is_attained(self, release: dict[str, Any]) -> bool:
        """The pairs only dominate."""
        return False

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Return whether the noise is supported: a record may displace another one, or join as in a Poisson sample."""
        return NOISES[noise["kind"]].truncates and may_displace(noise, relation)

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the loss for the sizes of one class of neighbours; the mass to move is a hint."""
        n = release["dataset_size"]
        low, high = aim.sizes.get(n, (1 if relation == "add-or-remove-one" else n, n))
        amount = rational(aim.moved.pop(0), 0) if aim.moved else Fraction(0)
        return Spent(steps=[(of_truncated(release, order, relation, low, high, amount), 1)])


def of_truncated(
    release: dict[str, Any], order: str, relation: str, low: int, high: int, moved: Fraction = Fraction(0)
) -> Profile:
    """(19) A Poisson sample of at most B records, of datasets of ``low`` to ``high`` records."""
    rate, most, noise = release["sample_rate"], release["max_batch_size"], release["mechanism"]
    if not NOISES[noise["kind"]].truncates:
        raise NotCovered(f"{noise['kind']} noise on truncated samples")
    whole = joining(noise, order, relation, rate)
    if high <= most:
        return whole
    often, _ = cut_chances(rate, most, high)
    seldom, kept = cut_chances(rate, most, low, least=True)
    just = Fraction(0)
    if moved:
        just = min(just_not_cut(rate, most, low), just_not_cut(rate, most, high), 1 - often)
        require(0 < moved < seldom * least_kept(rate, most, high), "no more is moved than is cut and held the record")
        require(just > 0, "something just is not cut")
    by_size = relation == "add-or-remove-one"
    rest, share = often - seldom, moved / seldom if moved and by_size else Fraction(0)
    arrives = moved + share * rest
    parts = [(1 - often - just, 1 - often - just, whole)]
    parts.append((rest * (1 - share), rest, displacing(noise, order, relation, (rate - share) / (1 - share))))
    if seldom:
        chance = (seldom * kept - moved) / (seldom - moved)
        parts.append((seldom - moved, seldom, displacing(noise, order, relation, chance)))
    if moved:
        near = joining(noise, order, relation, (just * rate + arrives) / (just + arrives))
        parts.append((just + arrives, just, near))
    if not by_size:  # the tag has one distribution
        return averaged([(first, profile) for first, _, profile in parts])
    swapped = order == "add"
    return weighed([(second, first, p) if swapped else (first, second, p) for first, second, p in parts])


def just_not_cut(rate: Fraction, most: int, size: int) -> Fraction:
    """(19) Not more than P(Bin(n-1, q) = B-1)."""
    if size <= most or rate == 1:
        return Fraction(0)
    ways = arb(size).lgamma() - arb(most).lgamma() - arb(size - most + 1).lgamma()
    chance = (ways + (most - 1) * number(rate).log() + (size - most) * (1 - number(rate)).log()).exp()
    return Fraction(max(0, only_whole((chance * 2**200).lower().floor(), "the probability of just no cut")), 2**200)


def least_kept(rate: Fraction, most: int, size: int) -> Fraction:
    """(19) Not more than a record's probability to be kept where others fill the batch."""
    if rate == 1:
        return Fraction(most, size)
    q, scale = number(rate), 2**200
    tau, beyond = chance_of_at_least(size - 1, q, most), chance_of_at_least(size, q, most + 1)
    if not tau > arb(2) ** -180:
        return Fraction(0)
    return Fraction(max(0, only_whole((most * beyond / (size * tau) * scale).lower().floor(), "κ")), scale)


def cut_chances(rate: Fraction, most: int, size: int, *, least: bool = False) -> tuple[Fraction, Fraction]:
    """(19) τ from above (or below), and from above a record's probability to be kept where others fill the batch."""
    if size <= most:
        return Fraction(0), rate
    if rate == 1:
        return Fraction(1), Fraction(most, size)
    effort.spend(200)
    q, scale = number(rate), 2**200
    tau, beyond = chance_of_at_least(size - 1, q, most), chance_of_at_least(size, q, most + 1)
    end = (tau * scale).lower().floor() if least else (tau * scale).upper().ceil()
    chance = min(Fraction(1), max(Fraction(0), Fraction(only_whole(end, "the probability of a cut"), scale)))
    if not tau > arb(2) ** -180:
        return (Fraction(0) if least else max(chance, Fraction(1, scale))), rate
    return chance, min(rate, Fraction(rounded_up(most * beyond / (size * tau), 200), scale))


def size_classes(releases: list[dict[str, Any]], relation: str, hints: dict[str, Any]) -> list[Sizes]:
    """(19) Classes of neighbours: a range of sizes of datasets for each of the largest sizes that are promised.

    Releases that promise the same are of one dataset, others may be of another one, so that every choice of ranges is
    a class. The ranges of one promise cover its sizes from 1 on; a hint says where they end, else there is one.
    """
    promised = {release["dataset_size"] for release in releases if release["kind"] == TruncatedPoisson.kind}
    if relation != "add-or-remove-one" or not promised:
        return [{}]
    ranges = {size: [(1, size)] for size in sorted(promised)}
    for ends in ends_of(hints):
        whole = ends and all(type(end) is int for end in ends)
        if not whole or sorted({0, *ends}) != [0, *ends] or ends[-1] not in promised:
            raise Malformed("the ranges of sizes do not end in increasing order, the last at dataset_size")
        ranges[ends[-1]] = [(low + 1, high) for low, high in pairwise((0, *ends))]
    if math.prod(map(len, ranges.values())) > CLASSES:
        raise NotCovered(f"more than {CLASSES} classes of sizes of datasets")
    return [dict(zip(ranges, each, strict=True)) for each in itertools.product(*ranges.values())]


def ends_of(hints: dict[str, Any]) -> list[list[Any]]:
    """Return the ends of ranges of sizes: a list for each promise with several, or this list itself if it is one."""
    if "sizes" not in hints:
        return []
    given = field(hints, "sizes", list)
    return given if given and all(isinstance(each, list) for each in given) else [given]


# --- schemes/table.py -------------------------------------------------------------------------------------------------
# All kinds of releases.

SCHEMES: dict[str, Scheme] = {
    each.kind: each
    for each in (
        *(Gaussian(), LastIterate(), Matrix(), FullBatch(), Poisson(), WithoutReplacement(), TruncatedPoisson()),
        *(Shuffled(), RandomAllocation(), BallsInBins(), WithReplacement()),
    )
}


# --- releases.py ------------------------------------------------------------------------------------------------------
# Releases of every kind.


def read_release(release: object, version: int = VERSION) -> dict[str, Any]:
    """Return a release with its numbers read: fields of its kind, and no others."""
    kind = field(release, "kind", str)
    if kind not in SCHEMES or SCHEMES[kind].version > version:
        raise Malformed(f"a release of kind {quoted(kind)}, which version {version} does not have")
    scheme = SCHEMES[kind]
    found = read_fields(release, kind, scheme.fields)
    if "mechanism" in found:
        found["mechanism"] = read_noise(found["mechanism"], kind, scheme.refused_noises, version)
    scheme.demand(found, version)
    return found


def is_drawn(release: dict[str, Any]) -> bool:
    """Return whether it takes the profiles of version 5."""
    return SCHEMES[release["kind"]].is_drawn(release)


def version_of(release: dict[str, Any]) -> int:
    """Return the first version that has such a release."""
    if not is_drawn(release):
        return SCHEMES[release["kind"]].version
    noise = release.get("mechanism")
    return 5 if noise is None else max(5, NOISES[noise["kind"]].form(noise)[1])


def is_attained(release: dict[str, Any]) -> bool:
    """Return whether some run attains the release's pair, which then shows lower bounds; other pairs only dominate."""
    return SCHEMES[release["kind"]].is_attained(release)


def release_in_words(release: dict[str, Any]) -> str:
    """Equal releases; noise is rounded down, sample rates and distances up."""
    read = read_release(release)
    return SCHEMES[read["kind"]].words(read)


def lowest_terms(value: object) -> object:
    """Exact numbers as text p or p/q, wherever they stand; all else as it is."""
    if isinstance(value, dict):
        return {name: lowest_terms(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [lowest_terms(inner) for inner in value]
    return str(value) if isinstance(value, Fraction) else value


def digest(mechanism: list[Any]) -> str:
    """SHA-256 of the releases: compact JSON with sorted fields, numbers in lowest terms, equal ones in a row as one."""
    entries: list[dict[str, Any]] = []
    for release in map(read_release, mechanism):
        inner = release.get("mechanism", {})
        held = {**inner, **release}
        entry = {
            name: lowest_terms(value)
            for name, value in held.items()
            if value is not None and name not in ("kind", "mechanism")
        }
        entry["mechanism"] = inner.get("kind", release["kind"])
        sampling = SCHEMES[release["kind"]].sampling(release)
        if sampling is not None:
            entry["sampling"] = sampling
        if entries and {**entries[-1], "count": 0} == {**entry, "count": 0}:
            entries[-1]["count"] += entry["count"]
        else:
            entries.append(entry)
    return hashlib.sha256(json.dumps(entries, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


# --- rules/closed_forms.py --------------------------------------------------------------------------------------------
# Closed forms: one pair.


def closed_form(order: str, squared_shift: Fraction, sampled: Sampled) -> Curve:
    """δ(ε) = H_{e^ε} of one pair: the loss is monotone in the observation t, and {L > ε} a half-line."""
    found = gaussian_profile(squared_shift)
    if sampled:
        ((q, variance),) = sampled
        found = sampled_profile(order, q, 1 / variance)

    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        value = found(number(epsilon).exp())
        return value, value

    return curve


# --- rules/moments.py -------------------------------------------------------------------------------------------------
# One sampled release: its moments, and bounds on them for all large frequencies, (3) to (7).


class Law:
    """One sampled release, its P-mass kept on t in [a, b] only and there damped by χ: F(t; s) dt, F = φ χ e^{B + sL}.

    With A(t) = 1-q + q e^{t/z - 1/2z²}:  remove  B = log A, L = log A;  add  B = 0, L = -log A;
    replace  B = log A, L = log A(t) - log A(-t).  χ(t) = erfc((t - edge)/softness)/2 or 1; ψ, the bulk's share, too.
    """

    def __init__(self, order: str, q: Fraction, variance: Fraction, count: int, span: tuple[float, float]) -> None:
        self.order, self.count = order, count
        self.q, self.z = number(q), number(variance).sqrt()
        self.a, self.b = span
        self.cut: tuple[arb, arb] | None = None  # (edge, softness) of χ
        self.bulk: tuple[arb, arb] | None = None  # (edge, softness) of ψ
        self.turn: arb | None = None  # distance from the real line of the line used by (7); None: (6) is used

    def exponents(self, t: Any) -> tuple[Any, Any]:
        """B and L at a real or complex t. For |Im t| < πz, A stays off (-inf, 0] and both are analytic."""
        kappa = 1 / (2 * self.z * self.z)
        log_a = (1 - self.q + self.q * (t / self.z - kappa).exp()).log()
        if self.order == "add":
            return 0 * log_a, -log_a
        if self.order == "remove":
            return log_a, log_a
        return log_a, log_a - (1 - self.q + self.q * (-t / self.z - kappa).exp()).log()

    def soft_edges(self, left: arb, right: arb, of: str) -> list[tuple[arb, arb]]:
        """(distance, softness) of each erfc in the integrand; the distance taken where that erfc is largest."""
        edges = [] if self.cut is None else [(left - self.cut[0], self.cut[1])]
        if self.bulk is not None and of == "bulk":
            edges.append((left - self.bulk[0], self.bulk[1]))
        if self.bulk is not None and of == "jumps":
            edges.append((self.bulk[0] - right, self.bulk[1]))
        return edges

    def density(self, t: arb, tilt: arb, of: str = "all") -> arb:
        """F(t; tilt) (or ψF) at real t."""
        effort.spend(1)
        bias, loss = self.exponents(t)
        value: arb = (-t * t / 2 + bias + tilt * loss).exp() / (2 * arb.pi()).sqrt()
        for distance, softness in self.soft_edges(t, t, of):
            value = value * (distance / softness).erfc() / 2
        return value

    def on_rectangle(self, left: arb, right: arb, height: arb, tilt: arb, of: str) -> tuple[arb, arb]:
        """(3) Upper bound on |F(t; tilt)| (of ψF for "bulk", (1-ψ)F for "jumps"), and a ball around Im L.

        Over Re t in [left, right] and Im t in the ball ``height`` >= 0 (below the real line for the order add, so that
        Im L >= 0 in all three). Not finite where the ball around A touches 0.
        """
        effort.spend(2)
        t = acb(left.union(right), -height if self.order == "add" else height)
        bias, loss = self.exponents(t)
        value = (-t * t / 2 + bias + tilt * loss).real.exp() / (2 * arb.pi()).sqrt()
        for distance, softness in self.soft_edges(left, right, of):  # |erfc(x + iy)| <= e^{y²} erfc(x)
            value = value * (distance / softness).erfc() / 2 * ((height.abs_upper() / softness) ** 2).exp()
        return value.upper(), loss.imag


@lru_cache(maxsize=4)
def gauss_legendre(n: int, precision: int) -> list[tuple[arb, arb]]:
    """Nodes and weights of the n-point rule on [-1, 1]."""
    return [arb.legendre_p_root(n, k, weight=True) for k in range(n)]


def moments(law: Law, tilt: arb, spacing: arb, frequencies: int, bits: int, of: str = "all") -> list[acb]:
    """Balls around M(s) = ∫ F(t; s) dt (of the bulk: ∫ ψF) at s = tilt + i·spacing·k, k = 0..frequencies.

    (4) Gauss-Legendre on panels: an n-point rule on a panel of half-width h errs by at most
    (64/15) h m / ((1 - ρ^-2) ρ^2n), m the maximum of |F| in the ellipse with foci at the panel's ends and half-axes
    h(ρ ± 1/ρ)/2. There |e^{iwL}| <= e^{|w Im L|}, so one bound serves all frequencies. ``bits`` is the accuracy wanted.
    """
    n = (
        16 + bits // 6
    )  # at ρ = 9 the bound falls by 2n log2(9) > bits: without that, ever smaller panels would not help
    a, b = arb(law.a), arb(law.b)
    sizes = [law.density(a + (b - a) * i / 100, tilt, of).mid() for i in range(101)]
    tolerance = max(sizes) * arb(2) ** -bits
    points: list[tuple[arb, arb]] = []
    error, panels, count = arb(0), [(a, b)], 0
    while panels:
        left, right = panels.pop()
        count += 1
        require(count < 5_000, "the integrand can be enclosed with a moderate number of panels")
        middle, half = (left + right) / 2, (right - left) / 2
        flat = law.on_rectangle(left, right, arb(0), tilt, of)[0] * 2 * half
        if flat <= tolerance:  # too little mass: the panel is left out
            error = error + flat
            continue
        for rho in map(arb, (2, 3, 4, 6, 9)):
            high, wide = half * (rho - 1 / rho) / 2, half * (rho + 1 / rho) / 2
            if not high < law.z * 3:  # 3 < π: beyond, log A need not be analytic
                continue
            largest, angle = law.on_rectangle(middle - wide, middle + wide, arb(0).union(high), tilt, of)
            largest = largest * (spacing * frequencies * angle.abs_upper()).exp()
            bound = largest * half * 64 / (15 * (1 - 1 / rho**2) * rho ** (2 * n))
            if bound <= tolerance:
                error = error + bound
                points += [(middle + half * x, half * w) for x, w in gauss_legendre(n, ctx.prec)]
                break
        else:
            panels += [(left, middle), (middle, right)]
    masses = [weight * law.density(t, tilt, of) for t, weight in points]
    losses = [law.exponents(t)[1] for t, _ in points]
    # Σ_j mass_j e^{i k D L_j} for all k at once: k = k1 + size·k2, one matrix product
    size = math.isqrt(frequencies) + 1
    rows = frequencies // size + 1
    waving = (size + rows) * len(losses)
    effort.spend(waving + size * rows * len(losses) / 10, waving)

    def waves(k: int) -> list[acb]:
        return [acb(0, spacing * k * loss).exp() for loss in losses]

    small = acb_mat([[*row] for row in zip(*(waves(k) for k in range(size)), strict=True)])
    large = acb_mat([[m * u for m, u in zip(masses, waves(k * size), strict=True)] for k in range(rows)])
    product, off = large * small, error.upper().union(-error.upper())
    return [product[k // size, k % size] + acb(off, off) for k in range(frequencies + 1)]


def rectangles(law: Law, tilt: arb) -> list[tuple[arb, arb]]:
    """(5) Rectangles (height, length of the base) whose sum lies below the density F/|L'| of the loss L.

    L' = p/z (replace: (p(t) + p(-t))/z), p(t) = 1/(1 + (1-q)/q e^{1/2z² - t/z}); each cell of t takes the lower bound
    over the whole cell. Adjacent cells are joined into horizontal layers: the longer the base, the better in (6).
    """

    def slope(t: arb) -> arb:
        odds = (1 - law.q) / law.q
        p = 1 / (1 + odds * (1 / (2 * law.z * law.z) - t / law.z).exp())
        if law.order == "replace":
            p = p + 1 / (1 + odds * (1 / (2 * law.z * law.z) + t / law.z).exp())
        return p / law.z

    coarse = [law.a + (law.b - law.a) * i / 200 for i in range(201)]
    logs = [float(law.density(arb(t), tilt).log().mid()) for t in coarse]
    heavy = [i for i, value in enumerate(logs) if value > max(logs) - 16]
    first, last = coarse[max(heavy[0] - 1, 0)], coarse[min(heavy[-1] + 1, 200)]
    corners = [arb(first + (last - first) * i / 1000) for i in range(1001)]
    losses = [law.exponents(t)[1] for t in corners]
    heights = []
    for left, right in pairwise(corners):
        cell = left.union(right)
        heights.append(max(arb(0), (law.density(cell, tilt).lower() / slope(cell).upper()).lower()))
    found, stack = [], list[tuple[arb, int]]()  # the stack's heights increase; each with its first cell
    for i, height in enumerate([*heights, arb(0)]):
        start = i
        while stack and stack[-1][0] >= height:
            top, start = stack.pop()
            below = max(height, stack[-1][0]) if stack else height
            if top > below:
                found.append(((top - below).lower(), (losses[i] - losses[start]).abs_lower()))
        if height > 0:
            stack.append((height, start))
    return found


def sinc_bound(x: arb) -> arb:
    """Return a non-increasing upper bound on |sin y / y|, y >= x: max(sin x / x, 1/4) up to 3, then min(1/4, 1/x)."""
    if x <= 3:
        return (x.sin() / x).max(arb(1) / 4)
    return (1 / x).min(arb(1) / 4) if x > 3 else arb(1)


def turned_line(law: Law, tilt: arb, turn: arb) -> list[tuple[arb, arb]]:
    """(7) Cells (bound on ∫ |F(·; tilt)|, least Im L >= 0) of a path from a to b that runs at distance ``turn``.

    By Cauchy's theorem |M(tilt + iw)| <= Σ bound e^{-w Im L}; of the jumps' part alone where there is a bulk.
    """
    require(turn > 0, "the line is turned away from the real one")
    require(turn < law.z * arb.pi(), "and not as far as the branch points of log A")
    of = "jumps" if law.bulk is not None else "all"
    a, b = arb(law.a), arb(law.b)
    cells = []
    for i in range(32):  # the two vertical parts
        end, height = (a if i < 16 else b), (turn * (i % 16) / 16).union(turn * (i % 16 + 1) / 16)
        cells.append(((law.on_rectangle(end, end, height, tilt, of)[0] * turn / 16).upper(), arb(0)))
    for i in range(2000):
        left, right = a + (b - a) * i / 2000, a + (b - a) * (i + 1) / 2000
        size, angle = law.on_rectangle(left, right, turn, tilt, of)
        cells.append(((size * (right - left)).upper(), angle.abs_lower()))
    require(all(size.is_finite() for size, _ in cells), "the integrand is enclosed on the turned line")
    return cells


def at_zero(law: Law, bits: int) -> arb:
    """Return the P-mass that [a, b] and χ keep in one step, M(0)."""
    return moments(law, arb(0), arb(0), 0, bits)[0].real


# --- rules/contour.py -------------------------------------------------------------------------------------------------
# Many releases: the contour integral (1), (2), (8) and (9), and a Chernoff bound.


def contour(
    laws: list[Law], squared_shift: arb, hints: dict[str, Any], finer: float, bits: int, at: tuple[Fraction, Fraction]
) -> Curve:
    """δ(ε) of the composition, near ``at`` = (ε, δ), which only decides how many frequencies are taken.

    With s_k = λ + ikD, G(s) = e^{s(s+1)μ²/2} Π M_i(s)^{T_i} and V(ε) = (D/2π) Σ_k G(s_k) e^{-s_k ε}/(s_k(s_k+1)):
    (1) δ~ <= δ <= δ~ + Σ T_i (1 - M_i(0)),  δ~ the curve of what [a, b] and χ keep;
    (2) V - Σ_{j=1,2} G(σ_j) e^{-σ_j ε} r_j/(1-r_j) <= δ~ <= V,  r_j = e^{-|σ_j - λ| 2π/D},  σ_1 > λ > σ_2 >= 0.
    (8) With a bulk, V is formed with G - G_bulk, and δ~ gains at most c e^{-σε} G_bulk(σ), c = σ^σ/(1+σ)^{1+σ}.
    """
    tilt, spacing = arb(finite(hints, "tilt")), arb(finite(hints, "spacing") * finer)
    sigmas = [arb(finite({"aliases": sigma}, "aliases")) for sigma in field(hints, "aliases", list)]
    require(len(sigmas) == 2, "there are two aliases")
    require(tilt > 0, "the tilt is positive")
    require(spacing > 0, "the spacing is positive")

    def gaussian(s: acb) -> acb:
        return (s * (s + 1) * squared_shift / 2).exp()

    def at_real(s: arb, of: str = "all") -> arb:
        """Upper bound on G(s) or G_bulk(s)."""
        product = gaussian(acb(s)).real
        for law in laws:
            product = product * moments(law, s, arb(0), 0, bits, of)[0].real ** law.count
        return product.upper()

    left_out = sum((law.count * (1 - at_zero(law, bits)) for law in laws), arb(0)).upper()
    aliases = []
    right, left = sigmas
    require(right > tilt, "the first alias lies right of the tilt")
    require(left < tilt, "the second alias lies left of the tilt")
    require(left >= 0, "the second alias is not negative")
    for sigma in (right, left):
        ratio = (-abs(sigma - tilt) * 2 * arb.pi() / spacing).exp()
        require(ratio < 1, "the aliases decay")
        aliases.append((sigma, at_real(sigma) * ratio / (1 - ratio)))
    only_bulk, bulk_tilt = arb(0), arb(0)
    peeled = hints.get("bulk_tilt") is not None
    require(all((law.bulk is not None) == peeled for law in laws), "all distributions are split, or none")
    require(all(law.turn is not None for law in laws) or not peeled, "the jumps are bounded on a turned line")
    if peeled:
        bulk_tilt = arb(finite(hints, "bulk_tilt"))
        require(bulk_tilt > 0, "the bulk's tilt is positive")
        only_bulk = at_real(bulk_tilt, "bulk") * peak(bulk_tilt)

    mass = [moments(law, tilt, arb(0), 0, bits)[0].real.upper() for law in laws]
    lines = [None if law.turn is None else turned_line(law, tilt, law.turn) for law in laws]
    bases = [rectangles(law, tilt) if line is None else [] for law, line in zip(laws, lines, strict=True)]

    def factor(i: int, w: arb) -> arb:
        """Upper bound on |M_i(λ + iw')| for all w' >= w (of the jumps' part where there is a bulk)."""
        line = lines[i]
        effort.spend(len(line or bases[i]))
        if line is not None:
            return sum((size * (-w * angle).exp() for size, angle in line), arb(0)).upper()
        # (6) |∫ e^{iwl} over a base of length J| <= J |sin(wJ/2)/(wJ/2)|: what the rectangles hold is lost
        lost = sum((height * base * (1 - sinc_bound(w * base / 2)) for height, base in bases[i]), arb(0))
        return max((mass[i] - lost).upper(), arb(0))

    def beyond(w: arb) -> arb:
        """Upper bound on |G(λ + iw')| (on |G - G_bulk| with a bulk) for all w' >= w."""
        product = gaussian(acb(tilt)).real * (-w * w * squared_shift / 2).exp()
        for i, law in enumerate(laws):
            product = product * (mass[i] if peeled else factor(i, w)) ** law.count
        if peeled:  # at least one of the factors of each term of G - G_bulk is a jump's
            product = product * sum((law.count * factor(i, w) / mass[i] for i, law in enumerate(laws)), arb(0))
        return product.upper()

    def tail(frequencies: int) -> arb:
        """(9) Upper bound on e^{λε} |the terms beyond|, from |s(s+1)| >= w² and Σ_{k > K} 1/k² <= 1/K."""
        return (beyond(spacing * (frequencies + 1)) / (arb.pi() * spacing * frequencies)).upper()

    near, small = (-tilt * number(at[0])).exp(), number(at[1]) * arb(2) ** -54
    frequencies = most = max(int(finite(hints, "frequencies")), 1)
    require(most < 100_000, "a moderate number of frequencies suffices")
    rest = tail(frequencies)
    while not rest * near < small and 2 * frequencies < 3 * most + 80:
        frequencies += 1 + frequencies // 10
        rest = tail(frequencies)

    columns = [moments(law, tilt, spacing, frequencies, bits) for law in laws]
    bulks = [moments(law, tilt, spacing, frequencies, bits, "bulk") for law in laws] if peeled else []
    terms = []
    effort.spend(frequencies * len(laws))
    for k in range(frequencies + 1):
        s = acb(tilt, spacing * k)
        term = math.prod((column[k] ** law.count for law, column in zip(laws, columns, strict=True)), start=acb(1))
        if peeled:
            term -= math.prod((column[k] ** law.count for law, column in zip(laws, bulks, strict=True)), start=acb(1))
        terms.append(gaussian(s) * term / (s * (s + 1)) / (1 if k else 2))

    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        e = number(epsilon)
        shrink = (-tilt * e).exp()
        waves = ((spacing * (k * e)).sin_cos() for k in range(len(terms)))
        total = sum((c.real * wave[1] + c.imag * wave[0] for c, wave in zip(terms, waves, strict=True)), arb(0))
        value = spacing / arb.pi() * shrink * total
        lower = value - rest * shrink - sum((bound * (-sigma * e).exp() for sigma, bound in aliases), arb(0))
        return lower, value + rest * shrink + left_out + only_bulk * (-bulk_tilt * e).exp()

    return curve


def peak(s: arb) -> arb:
    """Return the maximum over t of (1 - e^{-t}) e^{-st} = s^s / (1+s)^{1+s}."""
    return (s * s.log() - (1 + s) * (1 + s).log()).exp()


def chernoff(laws: list[Law], squared_shift: arb, near: float | None, bits: int, at: tuple[Fraction, Fraction]) -> bool:
    """(8) again: whether δ(ε) <= c e^{-sε} G(s) + Σ T_i (1 - M_i(0)) <= δ for one of many s."""
    e, delta = number(at[0]), number(at[1])
    before, steps = effort.done, sorted(range(-24, 25), key=abs)
    left_out = arb(0)
    for law in laws:
        left_out += law.count * (1 - at_zero(law, bits))
        if near is None and (effort.done - before) * len(steps) > MOST_SEARCH:
            raise NotCovered(TOO_MUCH)
    for step in steps:
        s = arb(1.0 if near is None else near) * arb(2) ** (arb(step) / 4)
        bound = peak(s) * (s * (s + 1) * squared_shift / 2 - s * e).exp()
        for law in laws:
            bound = bound * moments(law, s, arb(0), 0, 96)[0].real ** law.count
        if bound + left_out <= delta:
            return True
    return False


def laws_of(order: str, sampled: Sampled, hints: list[Any], log_delta: float, slack: float, shift: float) -> list[Law]:
    """The distributions, on an interval that leaves out about e^-slack δ of the P-mass; χ, ψ and the turn are hints."""
    reach = math.sqrt(2 * (slack + math.log(sum(sampled.values())) - log_delta))
    by_pair = {(positive(hint, "sample_rate"), positive(hint, "variance")): hint for hint in hints}
    laws = []
    for (q, variance), count in sampled.items():
        low, high = -reach, reach + (0 if order == "add" else 1 / math.sqrt(variance))
        hint = by_pair.get((q, variance))
        if hint is None:
            laws.append(Law(order, q, variance, count, (low, high)))
            continue
        step = finite(hint, "step")  # the recorded nodes show where the tilted mass lies
        low, high = min(low, step * finite(hint, "first") - 1), max(high, step * finite(hint, "last") + 2)
        law = Law(order, q, variance, count, (low, high))
        if order != "add" and hint.get("edge") is not None:
            law.cut = (arb(finite(hint, "edge") + shift), arb(finite(hint, "softness")))
        if hint.get("bulk") is not None:
            law.bulk = (arb(finite(hint["bulk"], "edge")), arb(finite(hint["bulk"], "softness")))
        if hint.get("turn") is not None:
            law.turn = arb(finite(hint, "turn"))
        require(all(soft is None or soft[1] > 0 for soft in (law.cut, law.bulk)), "soft edges have a positive width")
        laws.append(law)
    return laws


# --- rules/lattice.py -------------------------------------------------------------------------------------------------
# Many releases: exact integers on a lattice (10), upper bounds only.

Atoms = tuple[fmpz_poly, int, int]  # masses in units of 2^-bits, the index of the first one, the mass at infinity


def step_atoms(profile: Profile, spacing: Fraction, enough: arb, bits: int) -> Atoms:
    """(10) Connect the dots: δ, as a function of α = e^ε, made linear between the points e^{jh} and constant beyond.

    It grows by that, for δ is convex in α. It is then the curve of a distribution with P-mass α_j (slope after - slope
    before) at the loss jh and the last value of δ at infinity; rounded up. Stops where the last value is below
    ``enough``.
    """
    last, limit = 1, 60_000
    while not profile(number(last * spacing).exp()) <= enough:
        last *= 2
        if last > limit:
            raise NotCovered("a lattice with more than 60000 points in one step")
    for step in (last // 4, last // 8, last // 16):  # the last of them may lie far beyond
        if step and profile(number((last - step) * spacing).exp()) <= enough:
            last -= step
    first = -1  # what is below moves up to it: hardly anything
    while first > -limit and not profile(alpha := number(first * spacing).exp()) + alpha - 1 <= enough * 2**12:
        first *= 2
    effort.spend(4 * (last - first), last - first)
    alphas = [number(j * spacing).exp() for j in range(first, last + 1)]
    values = [profile(alpha) for alpha in alphas]
    slopes = [(values[0] - profile.total) / alphas[0]]
    slopes += [(v - u) / (b - a) for (u, v), (a, b) in zip(pairwise(values), pairwise(alphas), strict=True)] + [arb(0)]
    masses = [alpha * (after - before) for alpha, (before, after) in zip(alphas, pairwise(slopes), strict=True)]
    return fmpz_poly([rounded_up(mass, bits) for mass in masses]), first, rounded_up(values[-1], bits)


def product(first: Atoms, second: Atoms, drop: int, bits: int) -> Atoms:
    """The distribution of a sum, masses rounded up; up to ``drop`` units at either end go to infinity (and raise δ)."""
    (p, start, lost), (r, begin, gone) = first, second
    effort.spend((len(p) + len(r)) / 2, len(p) + len(r))
    coefficients = [int(c) for c in (p * r).coeffs()]
    lost = lost * (int(sum(r.coeffs())) + gone) + gone * int(sum(p.coeffs()))
    low, high, left, right = 0, len(coefficients), 0, 0
    while low < high and left + coefficients[low] <= drop << bits:
        left, low = left + coefficients[low], low + 1
    while low < high and right + coefficients[high - 1] <= drop << bits:
        right, high = right + coefficients[high - 1], high - 1
    kept = fmpz_poly([-(-c >> bits) for c in coefficients[low:high]])
    return kept, start + begin + low, -(-(lost + left + right) >> bits)


def composed(parts: list[tuple[Atoms, int]], delta: Fraction, bits: int) -> Atoms:
    """Return the distribution of a sum of independent losses, with multiplicities."""
    drop = rounded_up(number(delta), bits) >> 30

    def both(one: Atoms, other: Atoms) -> Atoms:
        return product(one, other, drop, bits)

    total: Atoms = reduce(both, [repeated(atoms, count, both) for atoms, count in parts])
    return total


def above(total: Atoms, spacing: Fraction, epsilon: Fraction, bits: int) -> arb:
    """δ(ε) of such a distribution: the mass at infinity + Σ_{jh > ε} mass_j (1 - e^{ε - jh})."""
    atoms, start, lost = total
    bound = arb(lost)
    effort.spend(len(atoms))
    for j, mass in enumerate(atoms.coeffs(), start):
        if j * spacing > epsilon:
            bound = bound - mass * number(epsilon - j * spacing).expm1()
    return (bound * arb(2) ** -bits).upper()


def lattice_at_most(
    order: str, squared_shift: Fraction, sampled: Sampled, spacing: Fraction, at: tuple[Fraction, Fraction]
) -> bool:
    """Return whether δ(ε) <= δ is shown by composing lattice distributions as exact integers."""
    epsilon, delta = at
    releases = sum(sampled.values()) + 1
    bits = math.ceil((math.log(releases) - log(delta)) / math.log(2)) + 60
    with ctx.workprec(2 * bits + 64 + 3 * spacing.denominator.bit_length()):
        steps = [(sampled_profile(order, q, 1 / variance), count) for (q, variance), count in sampled.items()]
        steps += [(gaussian_profile(squared_shift), 1)] if squared_shift else []
        enough = number(delta) / releases / 2**30
        total = composed([(step_atoms(each, spacing, enough, bits), count) for each, count in steps], delta, bits)
        return (above(total, spacing, epsilon, bits) <= number(delta)) is True


# --- pairs.py ---------------------------------------------------------------------------------------------------------
# The pairs of releases up to version 4, and the verdict on each order.

Point = tuple[Fraction, Fraction]  # (ε, δ)
Answer = bool | None  # None: not decided


def products_of(mechanism: list[Any], relation: str) -> list[tuple[str, Fraction, Sampled]]:
    """For each order of the neighbours: its name, μ² of all full-batch releases, and {(q, z²): count} of sampled ones.

    The pairs, with z in units of the per-record bound C and N(m) = N(m, z²):
      full batch           N(Δ/z, 1) against N(0, 1); Δ = 2 (replace) or 1 (else), or the final distance given
      sampled, remove      (1-q) N(0) + q N(1)   against   N(0)                     add or remove, and zero out
      sampled, add         N(0)                  against   (1-q) N(0) + q N(1)      the same
      sampled, replace     (1-q) N(0) + q N(1)   against   (1-q) N(0) + q N(-1)
      last iterate         as full batch, times the cost (11)
      matrix               as full batch, times the squared sensitivity (12), or sampled with the variances of (13)
    """
    if relation not in RELATIONS:
        raise Malformed(f"relation {quoted(relation)}")
    squared_shift, sampled = Fraction(0), Sampled()
    for release in map(read_release, mechanism):
        shift, found = SCHEMES[release["kind"]].product(release, relation)
        squared_shift += release["count"] * shift
        if squared_shift.denominator.bit_length() > SUM_BITS:
            raise NotCovered(f"a sum of squared shifts whose denominator has more than {SUM_BITS} bits")
        for pair, times in found.items():
            sampled[pair] += release["count"] * times
    if not mechanism:
        raise Malformed("the mechanism has no release")
    if (squared_shift and not LEAST_RATE < squared_shift < 1 / LEAST_RATE) or any(
        q < LEAST_RATE or not LEAST_NOISE**2 < variance < 1 / LEAST_NOISE**2 for q, variance in sampled
    ):
        raise OutOfReach("noise or sample rates beyond what doubles hold")
    orders = ["both"] if not sampled else ["replace"] if relation == "replace-one" else ["remove", "add"]
    return [(order, squared_shift, sampled) for order in orders]


def decide(curve: Curve, high: Point, low: Point | None) -> tuple[Answer, Answer]:
    """For one order: is δ(ε) <= δ at ``high``? Is δ(ε) > δ at ``low`` (False if None)?"""

    def compare(point: Point) -> tuple[bool, bool]:
        lower, upper = curve(point[0])
        return (upper <= number(point[1])) is True, (lower > number(point[1])) is True

    below, above = compare(high)
    under, over = (True, False) if low is None else compare(low)
    return (True if below else False if above else None), (True if over else False if under else None)


def check_order(
    order: str, squared_shift: Fraction, sampled: Sampled, proofs: dict[str, Any], high: Point, low: Point | None
) -> tuple[Answer, Answer, str]:
    """Answer ``decide`` for one order: by a closed form, the contour integral, or a Chernoff bound (high end only)."""
    releases = sum(sampled.values()) + (1 if squared_shift else 0)
    reference = min(high[1], Fraction(1, 2)) or Fraction(1, 2)
    if order == "add" and not squared_shift:
        with ctx.workprec(256):
            largest = sum((-count * (-number(q)).log1p() for (q, _), count in sampled.items()), arb(0))
            if largest <= number(high[0]) and (low is None or largest <= number(low[0])):
                return True, False, "no total loss exceeds epsilon"
    below = above = None
    if releases == 1:
        for precision in (128, 512, 2048, 8192, 32768):
            with ctx.workprec(precision):
                try:
                    first, second = decide(closed_form(order, squared_shift, sampled), high, low)
                except Unproven:  # distinguished at more bits
                    continue
            below, above = (first if below is None else below), (second if above is None else above)
            if below is not None and above is not None:
                break
        return below, above, "closed form"
    proof = proofs.get(order, {"route": "none", "parameters": {}})
    hints, route = field(proof, "parameters", dict), field(proof, "route", str)
    if route == "lattice":
        spacing = Fraction(finite(hints, "lattice step")) * Fraction(1, 2)
        if not 0 < spacing < 1 or not high[1] > 0:
            raise NotCovered("a lattice step outside (0, 1), or a claim that delta is 0")
        shown_above = lattice_at_most(order, squared_shift, sampled, spacing, high)
        return (True if shown_above else None), None, "exact integers on a lattice"
    if reference < LEAST_DELTA:
        raise NotCovered("so small a delta of several releases on samples")
    bits = math.ceil((math.log(releases) - log(reference)) / math.log(2)) + 70
    if route != "contour":
        tilts = [finite(p["parameters"], "tilt") for p in proofs.values() if "tilt" in field(p, "parameters", dict)]
        near = tilts[0] if tilts else None
        with ctx.workprec(bits + 64):
            laws = laws_of(order, sampled, [], log(reference), 24, 0.0)
            try:
                done = chernoff(laws, number(squared_shift), near, bits, high)
            except Unproven as reason:
                return None, None, f"Chernoff bound; not shown: {reason}"
        return (True if done else None), None, "Chernoff bound"
    bits = max(bits, min(int(finite(hints, "precision")), 2 * bits))  # no hint makes it work for hours
    how = "contour integral"
    for shift, finer in ((0.25, 0.85), (0.1, 0.9), (0.0, 0.95)):  # a little narrower than what was recorded
        with ctx.workprec(bits + 64):
            try:
                laws = laws_of(order, sampled, field(hints, "parts", list), log(reference), 46, shift)
                curve = contour(laws, number(squared_shift), hints, finer, bits, (high[0], reference))
                first, second = decide(curve, high, low)
            except Unproven as reason:
                how = f"contour integral; not shown: {reason}"
                continue
        below, above = (first if below is None else below), (second if above is None else above)
        if below is not None and above is not None:
            break
    return below, above, how


# --- runs.py ----------------------------------------------------------------------------------------------------------
# Parts of a run of version 5, and its curves.


def steps_of(releases: list[dict[str, Any]], order: str, relation: str, aim: Aim, group: int = 1) -> tuple[Steps, arb]:
    """Return the profiles of a run, with multiplicities, and the total variation to be added for its clones."""
    total = Spent()
    for release in releases:
        if group > 1:
            one = of_group(release, order, relation, group)
        else:
            one = SCHEMES[release["kind"]].spent(release, order, relation, aim)
        total.add(one, release["count"])
    return total.profiles(), total.variation


def of_group(release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
    """(31) Return the profile of ``group`` records at once."""
    return SCHEMES[release["kind"]].of_group(release, order, relation, group)


def curve_of(
    releases: list[dict[str, Any]],
    order: str,
    relation: str,
    hints: dict[str, Any],
    delta: Fraction,
    known: dict[Any, Any],
    group: int = 1,
) -> DrawnCurve:
    """(23) ε -> δ(ε) of one order of the neighbours from above; from below as well where there is one exact pair."""
    total = sum(release["count"] for release in releases)
    spacing = rational(hints["spacing"]) if "spacing" in hints else Fraction(1, 100)
    if not 0 < spacing <= 1 or not delta > LEAST_DELTA:
        raise NotCovered("a spacing outside (0, 1], or so small a delta")
    bits = math.ceil((math.log(total) - log(delta)) / math.log(2)) + 60
    precision = 2 * bits + 128
    runs, shows = [], all(map(is_attained, releases))
    with ctx.workprec(precision):
        classes = size_classes(releases, relation, hints)
        moved = field(hints, "moved", list) if "moved" in hints else [[]] * len(classes)
        if len(moved) != len(classes) or not all(isinstance(each, list) for each in moved):
            raise Malformed("what is moved is a list for each range of sizes")
        for sizes, amounts in zip(classes, moved, strict=True):
            aim = Aim(delta, total, hints, known)
            aim.moved = list(amounts)
            aim.sizes = sizes
            steps, variation = steps_of(releases, order, relation, aim, group)
            one, atoms = (steps[0][0] if [count for _, count in steps] == [1] else None), None
            if one is None:
                enough = number(delta / total) * arb(2) ** -22
                atoms = composed([(step_atoms(p, spacing, enough, bits), n) for p, n in steps], delta, bits)
            runs.append((one, atoms, variation))

    def curve(epsilon: Fraction) -> tuple[arb, arb | None]:
        largest, lower = arb(0), None
        with ctx.workprec(precision):
            alpha = number(epsilon).exp()
            for one, atoms, variation in runs:
                if one is not None:
                    found = one(alpha)
                    if shows and one.exact and not variation > 0:
                        lower = found.lower() if lower is None else max(lower, found.lower())
                else:
                    assert atoms is not None
                    found = above(atoms, spacing, epsilon, bits)
                largest = largest.max((found + (1 + alpha) * variation).upper())
        return largest, lower

    return curve


def demand_places(releases: list[dict[str, Any]], relation: str) -> None:
    """Refuse schemes that depend on positions where positions shift, for any hints."""
    if any(SCHEMES[each["kind"]].by_position for each in releases):
        demand_positions(relation)


def check_drawn(
    releases: list[dict[str, Any]], claim: dict[str, Any], proofs: dict[str, Any]
) -> list[tuple[Answer, Answer, str]]:
    """(14) to (31): for each order, whether δ <= at the upper bound and > at the lower one, and how."""
    relation, given, target, lower, upper = (claim[name] for name in FIELDS["claim"])
    high, low = ((upper, target), (lower, target)) if given == "delta" else ((target, upper), (target, lower))
    group = claim.get("group_size", 1)
    demand_places(releases, relation)
    known: dict[Any, Any] = {}
    answers: list[tuple[Answer, Answer, str]] = []
    for order in RECORD[relation]:
        hints = field(proofs[order], "parameters", dict)
        above_low: Answer = None
        try:
            if "halves" in hints and group == 1:
                require(relation == "replace-one", "halves are for records that are replaced")
                first = rational(field(hints, "first", str), 0)
                found, exact, at = by_halves(*halves_of(releases, hints, *high, known), first, high[0]), None, high[0]
            else:
                curve = curve_of(releases, order, relation, hints, high[1], known, group)
                at = min(high[0], rational(hints["at"], 0)) if "at" in hints else high[0]  # δ(·) does not increase
                found, exact = curve(at)
            suffices: Answer = True if found <= number(high[1]) else None
            if exact is not None and at == high[0] and exact > number(high[1]):
                suffices = False
            if lower > 0 and exact is not None:
                value = curve(low[0])[1]
                above_low = True if value is not None and value > number(low[1]) else None
            answers.append((suffices, above_low, "profiles, exact integers on a lattice"))
        except Unproven as reason:
            answers.append((None, None, f"profiles; not shown: {reason}"))
    return answers


def halves_of(
    releases: list[dict[str, Any]], hints: dict[str, Any], epsilon: Fraction, delta: Fraction, known: dict[Any, Any]
) -> tuple[DrawnCurve, DrawnCurve]:
    """(21) The curves of a record that is zeroed, and of one put back, for shuffled batches under replace-one."""
    require(all(SCHEMES[release["kind"]].halves for release in releases), "halves are for shuffled batches alone")
    there, back = pair if len(pair := field(hints, "halves", list)) == 2 else ({}, {})
    if not isinstance(there, dict) or not isinstance(back, dict):
        raise Malformed("the halves of a proof are two objects")
    smaller = delta / 4 / 2 ** min(300, math.ceil(epsilon))  # a choice: how fine masses are
    return (
        curve_of(releases, "remove", "zero-out-one", there, delta / 4, known),
        curve_of(releases, "add", "zero-out-one", back, smaller, known),
    )


def by_halves(there: DrawnCurve, back: DrawnCurve, first: Fraction, epsilon: Fraction) -> arb:
    """(21) δ(ε' + ε'') <= δ_zero(ε') + e^ε' δ_restore(ε''), ε' = ``first``."""
    require(0 <= first <= epsilon, "the first half spends no more than both")
    with ctx.workprec(512):
        return (there(first)[0] + number(first).exp() * back(epsilon - first)[0]).upper()


# --- accounts.py ------------------------------------------------------------------------------------------------------
# The decision about one claim.


def check_account(account: object) -> tuple[int, str, list[str], dict[str, Any]]:
    """Check one claim; returns the status, the result, its derivation line by line, and the claim."""
    claim = read_claim(account)
    effort.done = 0.0
    relation, given, target, lower, upper = (claim[name] for name in FIELDS["claim"])
    proofs = {field(proof, "order", str).split(" ")[0]: proof for proof in field(account, "proofs", list)}
    high, low = ((upper, target), (lower, target)) if given == "delta" else ((target, upper), (target, lower))
    releases = [read_release(release) for release in field(account, "mechanism", list)]
    drawn, shows = any(map(is_drawn, releases)) or "group_size" in claim, all(map(is_attained, releases))
    if drawn:
        names, products = list(RECORD[relation]), []
    else:
        products = products_of(field(account, "mechanism", list), relation)
        names = [order for order, *_ in products]
    if set(proofs) != set(names):
        needed = " and ".join(names)
        line = f"CONTRADICTED: the orders proven, {sorted(proofs)}, are not those needed, {needed}"
        return WRONG, "NOT confirmed", [line], claim
    if drawn:
        answers = check_drawn(releases, claim, proofs)
    else:
        asked = low if shows and lower > 0 else None  # 0 is always a lower bound
        answers = [check_order(*product, proofs, high, asked) for product in products]
        answers = answers if shows else [(below, None, how) for below, _, how in answers]
    upper_holds = all(below for below, *_ in answers)
    confirmed = upper_holds and (lower == 0 or any(above for _, above, _ in answers))
    refuted = any(below is False for below, *_ in answers) or (
        lower > 0 and all(above is False for _, above, _ in answers)
    )
    verdict = "confirmed" if confirmed else "REFUTED" if refuted else "NOT confirmed"
    status, recorded = CONFIRMED if confirmed else WRONG, proofs[names[0]]["route"]
    if not confirmed and not refuted and upper_holds and (recorded == "lattice" or not shows):
        # what a person relies on, though not all that is claimed
        status = NOT_COVERED
        why = "of a lattice certificate" if shows else "of what is only known to dominate"
        verdict = f"the upper bound is confirmed; the lower bound {why} is not covered"
    elif not confirmed and not refuted and recorded not in ("lattice", "contour", "closed form", "profiles"):
        status, verdict = NOT_COVERED, f"neither confirmed nor refuted; the method {recorded!r} is not covered"
    lines = []
    for order, (below, above, how) in zip(names, answers, strict=True):
        word = {True: "yes", False: "NO", None: "neither shown nor excluded"}[below]
        lines.append(f"order {order}: delta({shown(high[0])}) <= {shown(high[1])}? {word} ({how})")
        if lower > 0:
            word = "yes" if above else "not in this order (one of them is enough)"
            if above is None:
                word = "not needed of this order: another one shows it" if confirmed else "neither shown nor excluded"
            lines.append(f"order {order}: delta({shown(low[0])}) > {shown(low[1])}? {word}")
    return status, verdict, lines, claim


# --- calibrations.py --------------------------------------------------------------------------------------------------
# The claim that one value keeps a budget, and another one does not.


def flat(release: object) -> dict[str, Any]:
    """Return a release with the fields of its noise beside its own."""
    read = read_release(release)
    noise = read.pop("mechanism", {"kind": None})
    return {**read, **noise, "noise": noise["kind"], "kind": read["kind"]}


def substituted(before: list[Any], after: list[Any], names: tuple[str, ...], value: Fraction, other: Fraction) -> bool:
    """Return whether the second mechanism is the first with ``other`` in place of ``value`` in these fields."""
    found = False
    for one, two in zip(map(flat, before), map(flat, after), strict=False):
        if set(one) != set(two) or one["kind"] != two["kind"]:
            return False
        for name in one:
            replaced = name in names and one[name] == value and two[name] == other
            found = found or replaced
            if not replaced and one[name] != two[name]:
                return False
    return found and len(before) == len(after)


def check_calibration(calibration: dict[str, Any], accounts: list[Any], claims: list[dict[str, Any]]) -> list[str]:
    """Return the errors of the claim "value keeps the budget, fails_at does not", given the accounts of both."""
    solve = field(calibration, "solve", str)
    scales = tuple(name for noise in NOISES.values() for name in noise.scales)
    fields = {"noise": scales, "steps": ("count", "epochs")}
    fields |= {"sample-rate": ("sample_rate",), "batches": ("steps", "bins", "batches")}
    budget, delta = (rational(calibration.get(name), 0) for name in ("target_epsilon", "target_delta"))
    value, fails_at = positive(calibration, "value"), positive(calibration, "fails_at")
    if solve not in fields or value is None or len(claims) != (1 if fails_at is None else 2):
        raise Malformed("a calibration needs solve, value, fails_at, and an account of each of the two values")
    wrong = []
    if any(claim["given"] != "delta" or claim["target"] != delta for claim in claims):
        wrong.append("an account is not about the target delta")
    if claims[0]["upper"] > budget:
        wrong.append("the value spends more than the target epsilon")
    second = claims[-1]
    read = [read_release(release) for account in accounts for release in account["mechanism"]]
    shows = all(is_attained(release) and not is_drawn(release) for release in read) and "group_size" not in claims[0]
    if fails_at is None and shows and not (solve == "sample-rate" and value == 1):
        wrong.append("there is no value that fails, and the value is not the largest sample rate")
    alike = all(second.get(name) == claims[0].get(name) for name in ("relation", "group_size"))
    if fails_at is not None and (second["lower"] <= budget or not alike):
        wrong.append("the value said to fail is not shown to spend more than the target epsilon")
    if not substituted(accounts[0]["mechanism"], accounts[-1]["mechanism"], fields[solve], value, fails_at or value):
        wrong.append("the two mechanisms do not differ by the value and the one that fails alone")
    return wrong


# --- sheet.py ---------------------------------------------------------------------------------------------------------
# Readable summary of a certificate.


def sheet(document: dict[str, Any]) -> list[str]:
    """Return a readable summary of a well-formed certificate: claim, relation, mechanism, digest, assumptions."""
    lines = []
    for account in document["accounts"]:
        claim, releases = read_claim(account), account["mechanism"]
        role = {"account": "", "suffices": " of the value", "fails": " of the value that fails"}[account["role"]]
        lines += [
            f"claim{role}: {claim_in_words(claim)}",
            f"  relation: {claim['relation']}: {relation_in_words(claim)}",
            *(f"  mechanism: {release_in_words(release)}" for release in releases[:20]),
            *([f"  mechanism: and {len(releases) - 20} more kinds of releases"] if len(releases) > 20 else []),
            f"  digest of the releases: {digest(releases)}",
        ]
    lines.append("assumptions, which a certificate cannot prove and you have to confirm:")
    return lines + [f"  {number}. {text}" for number, text in enumerate(assumptions_of(document["version"]), 1)]


# --- command.py -------------------------------------------------------------------------------------------------------


def well_formed(document: Any) -> int:
    """Refuse anything outside the format, field by field; returns the version."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Malformed(f"the field 'format' must be {FORMAT!r}")
    version = document.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise Malformed(f"version {quoted(version)} is not known: this checker reads {', '.join(map(str, VERSIONS))}")
    has_fields(document, "certificate")
    if document["assumptions"] != list(assumptions_of(version)):
        raise Malformed("the assumptions are not those of the format: what holds under others is not known here")
    for name, text in has_fields(document["versions"], "versions").items():
        if not isinstance(text, str) or re.fullmatch(r"[0-9][0-9A-Za-z.+!_-]{0,39}", text) is None:
            raise Malformed(f"the version {quoted(text)} of {name}")
    accounts, calibration = field(document, "accounts", list), field(document, "calibration", (dict, type(None)))
    roles = ["account"]
    if calibration is not None:
        has_fields(calibration, "calibration")
        roles = ["suffices", "fails"][: len(accounts)]
    if not accounts or [account.get("role") for account in accounts if isinstance(account, dict)] != roles:
        raise Malformed(f"the accounts have the roles {' and '.join(roles)}, one of each")
    for account in accounts:
        has_fields(account, "account", *(["digest"] if version > 1 else []))
        several = isinstance(account["claim"], dict) and "group_size" in account["claim"]
        has_fields(account["claim"], "claim", *(["group_size"] if several and version > 4 else []))
        releases, proofs = field(account, "mechanism", list), field(account, "proofs", list)
        if len(releases) > RELEASES or len(proofs) > len(ORDERS):
            raise Malformed(f"an account has at most {RELEASES} releases, and one proof of each order")
        for release in releases:
            read_release(release, version)
        for proof in proofs:
            has_fields(proof, "proof")
            label(proof, "route")
            label(proof, "method")
            field(proof, "precision", int), field(proof, "parameters", dict), field(proof, "error_budget", dict)
        orders = [field(proof, "order", str) for proof in proofs]
        if len(set(orders)) < len(orders) or not set(orders) <= set(ORDERS):
            raise Malformed(f"the orders proven are {', '.join(map(quoted, orders))}")
    return version


def check(document: object) -> tuple[int, list[str]]:
    """Check a certificate; returns an exit status and the lines of the report, the verdict first."""
    try:
        version = well_formed(document)
        accounts, calibration = field(document, "accounts", list), field(document, "calibration", (dict, type(None)))
        about, claims = sheet({"accounts": accounts, "version": version}), [read_claim(account) for account in accounts]
        wrong = [] if calibration is None else check_calibration(calibration, accounts, claims)
        wrong += digest_faults(accounts, version)
        results = [check_account(account) for account in accounts]
    except Malformed as reason:
        return MALFORMED, [f"malformed: {reason}"]
    except NotCovered as reason:
        return NOT_COVERED, [f"{VERDICTS[NOT_COVERED]}: {reason}", *about]
    statuses = [status for status, *_ in results]
    status = WRONG if wrong or WRONG in statuses else max(statuses)
    said = [f"{verdict}: {claim_in_words(claim)}" for _, verdict, _, claim in results]
    said += [f"REFUTED: {text}" for text in wrong]
    how = [f"  {line}" for _, _, lines, _ in results for line in lines]
    return status, [VERDICTS[status], *said, *about, "how each inequality was decided:", *how]


def digest_faults(accounts: list[Any], version: int) -> list[str]:
    """Accounts whose digest is not that of their releases; version 1 has none."""
    if version == 1:
        return []
    return [
        f"the digest of the account ({account['role']}) is not that of its releases"
        for account in accounts
        if account["digest"] != digest(field(account, "mechanism", list))
    ]


def main(arguments: list[str]) -> int:
    """Check the file named on the command line."""
    if hasattr(sys.stdout, "reconfigure"):  # a terminal without Greek letters gets question marks
        sys.stdout.reconfigure(errors="replace")
    if arguments in (["--help"], ["-h"]):
        print(__doc__)
        return CONFIRMED
    if len(arguments) != 1 or arguments[0].startswith("--"):
        print("usage: standalone_checker.py CERTIFICATE.json (or --help)", file=sys.stderr)
        return MALFORMED
    try:
        status, lines = check(read(arguments[0]))
    except Malformed as reason:
        status, lines = MALFORMED, [f"malformed: {reason}"]
    print("\n".join(lines), file=sys.stderr if status == MALFORMED else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
