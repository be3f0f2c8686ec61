"""Privacy statements: the guarantee of a run, its assumptions, and the parts that must stay unpublished."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from dpbounds.errors import CertificateError, shortened
from dpbounds.expressions.exact import Direction
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.budgets.calibration import Calibration
from dpbounds.privacy.mechanisms import Gaussian, LastIterate, Mechanism, PoissonSampled, parts_of
from dpbounds.privacy.mechanisms.descriptions import MECHANISMS, digest
from dpbounds.privacy.mechanisms.guarantees import Declared
from dpbounds.privacy.mechanisms.schemes.last_iterate import CONDITION
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.numerals import as_double, rounded, typed
from dpbounds.privacy.publishing.publishable import demand_one_record, finite_ends, versions
from dpbounds.privacy.publishing.short_statements import short_statement
from dpbounds.privacy.relations import Relation

Form = Literal["full", "paper", "latex", "assessment"]
IDEAL_NOISE = "pseudo-random numbers in double precision, standing for ideal Gaussian noise"
_IDEAL_NOISES = IDEAL_NOISE.replace("ideal Gaussian", "the ideal")
_PRINTED_DIGITS = 6

_BOUNDS = (
    "per-record bounds that are public constants or follow from earlier answers, divisors that are public constants"
)
_UNLESS_SAID = ", where nothing else is said above"
_ALL = "every answer, and all that is computed from the answers alone (so every iterate)"


def statement(
    subject: Account | Calibration,
    *,
    noise_drawn: str = IDEAL_NOISE,
    outside: Sequence[str] = (),
    chosen: str = "",
    form: Form = "full",
) -> str:
    """Return a privacy statement to publish: a paragraph with its assumptions and exclusions, or a short form.

    Args:
        subject: An account, or a calibration (then the statement is about its value that suffices).
        noise_drawn: How the noise was drawn.
        outside: Further things that depended on the data and are not counted, each a short phrase.
        chosen: For adaptive releases: their largest number, in a sentence without a full stop. The subject then
            accounts for the reserved releases, and is not a list of the actual ones.
        form: "full" for a paragraph that states assumptions and exclusions, "paper" for two sentences, "latex" for the
            same in LaTeX, "assessment" for what an attacker can do, as a data-protection impact assessment asks it.

    Returns:
        The paragraph. ε, δ and sample rates are rounded up to the digits printed, noise down. A noise or a rate that
        is a double is printed as the decimal that names it, and the paragraph says so.

    Raises:
        CertificateError: The proven upper bound is not finite, so there is nothing to state; it is for groups; or there
            are not words for a release.

    >>> from dpbounds.privacy.accountants.certified import account
    >>> statement(account(Gaussian(5), delta="1e-5"))[:85]
    'The release is (0.725522, 1e-05)-differentially private under add-or-remove-one (two '
    """
    demand_one_record(subject, "statement")
    if isinstance(subject, Account):
        enclosure, target, is_delta = subject.enclosure, subject.target, subject.given == "delta"
    else:
        enclosure, target, is_delta = subject.epsilon, subject.target_delta, True
    proven = typed(finite_ends(enclosure)[1], "up", _PRINTED_DIGITS)
    epsilon, delta = (proven, typed(target, "up")) if is_delta else (typed(target, "up"), proven)
    lower, upper = enclosure.decimals(max(_PRINTED_DIGITS, min(15, enclosure.digits + 2)))
    parts = parts_of(subject.mechanism)
    steps = sum(count for _, count in parts)
    neighbours = standalone_checker.RELATIONS[str(subject.relation)]
    protected = "the presence and the content of" if subject.relation.counts_records else "the content of"
    excluded = (
        "groups of records beyond what the definition gives them",
        "what is true of the population and can be learnt without the record",
        "the number of records",
        "anything else that was computed from the data (preprocessing, clipping bounds, hyperparameters, stopping "
        "rules, reported metrics)",
        *outside,
    )
    plain = all(isinstance(part.noise, Gaussian) and type(part) in (Gaussian, PoissonSampled) for part, _ in parts)
    numbers = _Numbers()
    described = [_described(*part, numbers) for part in parts]
    takes = f"It takes {steps} step{'' if steps == 1 else 's'}: " if plain else "It consists of: "
    if chosen:
        takes = f"{chosen}. Accounted for are: "
    subject_is = "release is" if steps == 1 and not chosen else "sequence of releases is"
    draws = list(dict.fromkeys(told for part, _ in parts if (told := part.resolved().draws(subject.relation))))
    last = any(isinstance(part, LastIterate) for part, _ in parts)
    hidden = f"; that {CONDITION}" if last else ""
    # an earlier answer may set the bound of a later release only if it is published
    bounds = "bounds and divisors that are public constants" if last else _BOUNDS
    rates = any(getattr(part, "sample_rate", None) not in (None, 1) for part, _ in parts)
    if noise_drawn == IDEAL_NOISE and not all(isinstance(part.noise, Gaussian) for part, _ in parts):
        noise_drawn = _IDEAL_NOISES
    if form != "full":
        conditions = [
            *([f"Accounted for are the most that were reserved: {chosen}."] if chosen else []),
            *([f"It is assumed that {CONDITION}."] if last else []),
            *([f"The noise drawn was: {noise_drawn}."] if noise_drawn not in (IDEAL_NOISE, _IDEAL_NOISES) else []),
            *([f"Not counted: {'; '.join(outside)}."] if outside else []),
            *([numbers.note] if numbers.note and form != "assessment" else []),
        ]
        whole = digest(subject.mechanism)
        return short_statement(form, (epsilon, delta), subject.relation, described, whole, conditions)
    named = ", ".join(f"{name} {text}" for name, text in versions().items())
    return " ".join(
        (
            f"The {subject_is} ({epsilon}, {delta})-differentially "
            f"private under {subject.relation} ({neighbours}): epsilon = {epsilon}, delta = {delta}.",
            f"{takes}{'; '.join(described)}.",
            f"The analysis assumes {', and '.join(draws) or 'no sampling'}, {bounds}, and noise per unit of these "
            f"bounds{' and rates' if rates else ''} fixed in advance{_UNLESS_SAID if chosen else ''}{hidden}.",
            *([] if plain else [_published([part for part, _ in parts])]),
            f"The noise drawn was: {noise_drawn}.",
            f"Protected: {protected} any single record, against an attacker who sees every release and knows all "
            "others.",
            f"Not protected: {'; '.join(excluded)}.",
            f"{'Epsilon' if is_delta else 'Delta'} is proven to lie in [{lower}, {upper}] and rounded up (method: "
            f"{enclosure.method}, in ball arithmetic and exact numbers; {named}).",
            *([numbers.note] if numbers.note else []),
            f"The releases, as a ledger or a certificate describes them, have the SHA-256 digest "
            f"{digest(subject.mechanism)}.",
        )
    )


def why_no_statement(mechanism: Mechanism, relation: Relation) -> str | None:
    """Return why a mechanism has no privacy statement, and an alternative; None if it has one."""
    try:
        for part, count in parts_of(mechanism):
            _described(part, count, _Numbers())
    except CertificateError as reason:
        return str(reason).split(": ", 1)[1]
    return None


class _Numbers:
    """A writer of numbers that knows whether any of them was a double, printed as the decimal that names it."""

    def __init__(self) -> None:
        self.note = ""

    def __call__(self, value: Fraction, direction: Direction) -> str:
        text = rounded(value, direction)
        if text == as_double(value) and Fraction(text) != value:
            self.note = "Decimals that are not exact in binary stand for the double-precision numbers nearest to them."
        return text


def _described(part: Mechanism, count: int, numbers: _Numbers) -> str:
    """Equal releases, numbers rounded so that the stated release spends no less."""
    inner = part.mechanism if isinstance(part, Sampling) else part
    if inner.name not in MECHANISMS or isinstance(inner, Declared) or (inner.whole and inner is not part):
        raise CertificateError(
            f"no privacy statement for {shortened(repr(inner))}: only noise on sums is supported; publish the command "
            "and its output"
        )
    simply = part.resolved()
    unit = f" ({part.noise.unit})" if part.noise.unit else ""
    return f"{simply.releases_in_words(count, numbers)}, {simply.in_words(numbers)}{unit}"


def _published(parts: Sequence[Mechanism]) -> str:
    """Describe the outputs that may be published, and those that must not be."""
    last = [part for part in parts if isinstance(part, LastIterate)]
    also = " and the checkpoints named" if any(part.checkpoints for part in last) else ""
    may = [*([f"the last iterate{also}, and nothing else of that run"] if last else [])]
    may += [_ALL] if len(last) < len(parts) else []
    hidden = [*_secrets(parts), "seeds and generators of noise and draws"]
    return f"May be published: {'; and of the rest '.join(may)}. Must not be published: {'; '.join(hidden)}."


def _secrets(parts: Sequence[Mechanism]) -> list[str]:
    return list(dict.fromkeys(secret for part in parts if (secret := part.resolved().secret)))
