"""The paragraph that a person publishes about a run: what is protected, how well, and what must stay unpublished."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpbounds.errors import CertificateError
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.budgets.calibration import Calibration
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    MixtureOfGaussians,
    PoissonSampled,
    RandomizedResponse,
    RandomlyAllocated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
    UniformBall,
    parts_of,
)
from dpbounds.privacy.mechanisms.descriptions import digest
from dpbounds.privacy.mechanisms.last_iterate import CONDITION
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.certificates import demand_one_record, finite_ends, release_of, versions
from dpbounds.privacy.publishing.numerals import rounded, typed
from dpbounds.privacy.relations import Relation

IDEAL_NOISE = "pseudo-random numbers in double precision, standing for ideal Gaussian noise"
_PRINTED_DIGITS = 6

_ALL = "every answer, and all that is computed from the answers alone (so every iterate)"
_BATCHES = "which records were in which batch, and how many"


def statement(
    subject: Account | Calibration,
    *,
    noise_drawn: str = IDEAL_NOISE,
    outside: Sequence[str] = (),
    chosen: str = "",
) -> str:
    """One paragraph fit to publish: what is protected, how well, under which assumptions, and what is not protected.

    Args:
        subject: An account, or a calibration (then the statement is about its value that suffices).
        noise_drawn: How the noise was really drawn.
        outside: Further things that depended on the data and are not counted, each a short phrase.
        chosen: Of releases that were chosen as the run went: how many there may be, at most, in a sentence without a
            full stop. What the subject accounts for are then the most that were reserved, and no list of what happened.

    Returns:
        The paragraph. ε, δ and sample rates are rounded up to the digits printed, noise down.

    Raises:
        CertificateError: The proven upper end is not finite, so there is nothing to state; it is for groups; or there
            are no words for a release.

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
    plain = all(isinstance(_noise_of(part), Gaussian) and type(part) in (Gaussian, PoissonSampled) for part, _ in parts)
    described = "; ".join(_described(*part, subject.relation, "" if plain else " release") for part in parts)
    takes = f"It takes {steps} step{'' if steps == 1 else 's'}: " if plain else "It consists of: "
    if chosen:
        takes = f"{chosen}. Accounted for are: "
    subject_is = "release is" if steps == 1 and not chosen else "sequence of releases is"
    fixed = "fixed in advance, or by earlier answers" if chosen else "fixed in advance"
    draws = list(dict.fromkeys(told for part, _ in parts if (told := _draws(part, subject.relation))))
    hidden = f"; that {CONDITION}" if any(isinstance(part, LastIterate) for part, _ in parts) else ""
    rates = any(getattr(part, "sample_rate", None) not in (None, 1) for part, _ in parts)
    if noise_drawn == IDEAL_NOISE and not all(isinstance(_noise_of(part), Gaussian) for part, _ in parts):
        noise_drawn = IDEAL_NOISE.replace("ideal Gaussian", "the ideal")
    named = ", ".join(f"{name} {text}" for name, text in versions().items())
    return " ".join(
        (
            f"The {subject_is} ({epsilon}, {delta})-differentially "
            f"private under {subject.relation} ({neighbours}): epsilon = {epsilon}, delta = {delta}.",
            f"{takes}{described}.",
            f"The analysis assumes {', and '.join(draws) or 'no sampling'}, bounds and divisors that are public "
            f"constants, and noise{' and rates' if rates else ''} {fixed}{hidden}.",
            *([] if plain else [_published([part for part, _ in parts])]),
            f"The noise drawn was: {noise_drawn}.",
            f"Protected: {protected} any single record, against whoever sees every release and knows all others.",
            f"Not protected: {'; '.join(excluded)}.",
            f"{'Epsilon' if is_delta else 'Delta'} is proven to lie in [{lower}, {upper}] and rounded up (method: "
            f"{enclosure.method}, in ball arithmetic and exact numbers; {named}).",
            f"The releases, as a ledger or a certificate describes them, have the SHA-256 digest "
            f"{digest(subject.mechanism)}.",
        )
    )


def why_no_statement(mechanism: Mechanism, relation: Relation) -> str | None:
    """Why a statement has no words for a mechanism, and what to do; None where it has."""
    try:
        for part, count in parts_of(mechanism):
            _described(part, count, relation)
    except CertificateError as reason:
        return str(reason).split(": ", 1)[1]
    return None


_Drawn = (
    PoissonSampled
    | SampledWithoutReplacement
    | SampledWithReplacement
    | TruncatedPoisson
    | Shuffled
    | RandomlyAllocated
    | BallsInBins
)


def _noise_of(part: Mechanism) -> Mechanism:
    """What is drawn, whatever it is added to (a matrix adds Gaussian noise)."""
    if isinstance(part, MatrixMechanism):
        return Gaussian(part.noise_multiplier)
    return part.mechanism if isinstance(part, _Drawn | LastIterate) else part


def _described(part: Mechanism, count: int, relation: Relation, unit: str = "") -> str:
    """Equal releases (in units that are said or not), numbers rounded so that what is said spends no less."""
    if isinstance(part, LastIterate | MatrixMechanism):
        return standalone_checker.release_in_words(release_of(part, count, relation))
    many = f"{count}{unit and f'{unit}s'[: -1 if count == 1 else None]}"
    return f"{_records(part, count, many)} with {_noise_in_words(_noise_of(part))}"


def _records(part: Mechanism, count: int, many: str) -> str:
    """What the answers are about."""
    match part:
        case PoissonSampled(sample_rate=rate) if rate < 1:
            return f"{many} on Poisson samples at rate {rounded(rate, 'up')}"
        case SampledWithoutReplacement(batch_size=b, dataset_size=n):
            return f"{many} on batches of {b} of {n} records, drawn without replacement"
        case SampledWithReplacement(batch_size=b, dataset_size=n):
            return f"{many} on {b} draws from {n} records, with replacement"
        case TruncatedPoisson(sample_rate=rate, max_batch_size=most, dataset_size=n):
            return f"{many} on Poisson samples at rate {rounded(rate, 'up')}, cut to at most {most} of {n} records"
        case Shuffled(batches=batches, rest=rest):
            more = f" and a smaller one of {rounded(rest, 'down')} of the records" if rest else ""
            return f"{_times(count, 'epoch')} of {batches} shuffled batches of one size{more}"
        case RandomlyAllocated(steps=steps, participations=k):
            return f"{_times(count, 'epoch')} of {steps} steps, each record taking part in {k} of them"
        case BallsInBins(bins=bins, epochs=epochs, redraw=redraw):
            runs = f"{count} independent runs of " if count > 1 else ""
            kept = "drawn anew in every epoch" if redraw else "drawn once and kept"
            return f"{runs}{rounded(epochs, 'up')} epochs over {bins} bins, {kept},"
    return f"{many} on the full data"


def _times(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _noise_in_words(noise: Mechanism) -> str:
    match noise:
        case Gaussian(noise_multiplier=Fraction() as multiplier):
            return f"Gaussian noise, noise multiplier {rounded(multiplier, 'down')} (stddev per per-record bound)"
        case Gaussian(noise_stddev=Fraction() as stddev, sensitivity=Fraction() as distance):
            at = f"at sensitivity {rounded(distance, 'up')}"
            return f"Gaussian noise, standard deviation {rounded(stddev, 'down')} {at}"
        case Laplace(noise_multiplier=Fraction() as multiplier):
            return f"Laplace noise, noise multiplier {rounded(multiplier, 'down')} (scale per per-record l1 bound)"
        case Laplace(noise_scale=Fraction() as scale, sensitivity=Fraction() as distance):
            return f"Laplace noise, scale {rounded(scale, 'down')} at l1 sensitivity {rounded(distance, 'up')}"
        case DiscreteLaplace(noise_scale=scale, bound=bound):
            return f"discrete Laplace noise, scale {rounded(scale, 'down')}, per-record l1 bound {bound}"
        case DiscreteGaussian(noise_stddev=stddev, bound=bound):
            at = f"per-record l2 bound {rounded(bound, 'up')}"
            return f"discrete Gaussian noise, standard deviation {rounded(stddev, 'down')}, {at}"
        case MixtureOfGaussians(noise_stddev=stddev, norms=norms):
            told = ", ".join(f"{rounded(norm, 'up')} with probability {rounded(p, 'up')}" for norm, p in norms)
            return f"Gaussian noise, standard deviation {rounded(stddev, 'down')}, a record's bound drawn as {told}"
        case UniformBall(radius=radius, dimension=d, sensitivity=distance):
            at = "per per-record bound" if distance is None else f"at sensitivity {rounded(distance, 'up')}"
            return f"noise uniform on a ball of {d} dimensions, radius {rounded(radius, 'down')} {at}"
        case RandomizedResponse(epsilon=epsilon, options=options):
            return f"randomised response, epsilon {rounded(epsilon, 'up')} and {options} options"
    raise CertificateError(
        f"no statement: there are no words for {noise!r}, only for noise on sums; publish the command and what it says"
    )


def _draws(part: Mechanism, relation: Relation) -> str | None:
    """What has to be true of how records come into batches."""
    match part:
        case PoissonSampled(sample_rate=rate):
            told = "Poisson sampling (each record enters each step's sample independently, and the samples stay secret)"
            return told if rate < 1 else None
        case SampledWithoutReplacement() | SampledWithReplacement():
            how = "without" if isinstance(part, SampledWithoutReplacement) else "with"
            return f"batches drawn uniformly, {how} replacement, afresh in every step, from at least so many records"
        case TruncatedPoisson():
            many = "at most so many records" if relation is Relation.ADD_OR_REMOVE_ONE else "so many records"
            return f"Poisson samples of {many}, each cut, where it is too large, to a uniform choice of that size"
        case Shuffled():
            return "a uniformly random order of the records in every epoch, drawn afresh, cut into batches of one size"
        case RandomlyAllocated():
            return (
                "that every record draws its steps by itself, afresh in every epoch and all choices equally likely, so "
                "that batches differ in size and nobody is displaced"
            )
        case BallsInBins(redraw=redraw):
            often = "afresh in every epoch" if redraw else "once"
            return f"that every record draws its bin by itself, uniformly, {often}, and nobody is displaced"
        case LastIterate(order=order):
            return {
                "fixed": "batches cut by public positions",
                "shuffled": "a uniformly random order of the records in every epoch, drawn afresh",
                "secret": "a uniformly random order of the records, drawn once",
            }[order]
        case MatrixMechanism(participation="balls-in-bins"):
            return "that every record draws its group by itself, uniformly and once"
        case MatrixMechanism():
            return "that records take part as stated (where there is a rate, by draws that stay secret)"
    return None


def _published(parts: Sequence[Mechanism]) -> str:
    """What may be published, and what must not be."""
    last = [part for part in parts if isinstance(part, LastIterate)]
    also = " and the checkpoints named" if any(part.checkpoints for part in last) else ""
    may = [*([f"the last iterate{also}, and nothing else of that run"] if last else [])]
    may += [_ALL] if len(last) < len(parts) else []
    hidden = list(dict.fromkeys(each for part in parts if (each := _hidden(part))))
    hidden += ["seeds and generators of noise and draws"]
    return f"May be published: {'; and of the rest '.join(may)}. Must not be published: {'; '.join(hidden)}."


def _hidden(part: Mechanism) -> str | None:
    match part:
        case PoissonSampled(sample_rate=rate):
            return _BATCHES if rate < 1 else None
        case SampledWithoutReplacement() | SampledWithReplacement():
            return "which records were in which batch"
        case TruncatedPoisson() | RandomlyAllocated() | BallsInBins():
            return _BATCHES
        case Shuffled():
            return "the orders of the records"
        case LastIterate(order=order):
            kept = "" if order == "fixed" else ", and the orders of the records"
            return f"any other iterate, losses or averages on the way, the optimiser's state{kept}"
        case MatrixMechanism(participation="balls-in-bins" | "cyclic-poisson"):
            return "which records took part in which step, and how many"
    return None
