"""What has to be true of a run for a number to be about it, and who can know whether it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpbounds.privacy.mechanisms import (
    ZCDP,
    AboveThreshold,
    ApproximateDP,
    BallsInBins,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    MixtureOfGaussians,
    PermuteAndFlip,
    PoissonSampled,
    PureDP,
    RandomizedResponse,
    RandomlyAllocated,
    RenyiDP,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
    UniformBall,
    parts_of,
)
from dpbounds.privacy.mechanisms.last_iterate import CONDITION
from dpbounds.privacy.relations import Relation

CODE = "who wrote the code that computes and releases"
LOADER = "who wrote or configured the loading of records"
SETTINGS = "who chose the settings"


_PARTICIPATIONS = {
    "single": "each record takes part in one step at most",
    "fixed-order": "each record takes part in the steps of one group only",
    "minimum-separation": "of each record's steps any two are as far apart as said, and there are no more than said",
    "cyclic-poisson": "each record enters each step of its group independently with exactly the rate given, in secret, "
    "and no other step",
    "balls-in-bins": "each record draws its group on its own, uniformly and in secret, once, and takes part in the "
    "steps of that group only",
}
_GROUPS = {
    "position": "which group or steps these are follows from its public position",
    "independent": "which group or steps these are is drawn apart from what any record says",
    "content": "which group or steps these are follows from its own content alone",
}


@dataclass(frozen=True, slots=True)
class Assumption:
    """One of them, and who confirms it."""

    who: str
    text: str


def assumptions(mechanism: Mechanism, relation: Relation) -> Iterator[Assumption]:
    """All that has to be true of what was run."""
    parts = [part for part, _ in parts_of(mechanism)]
    inner = [inside(part) for part in parts]
    if any(isinstance(each, Gaussian | Laplace | UniformBall) for each in inner):
        yield Assumption(
            CODE,
            "each record adds a vector to a sum, bounded one by one (to the per-record bound), divided by public "
            "constants only; the noise is ideal",
        )
    if any(isinstance(each, DiscreteGaussian | DiscreteLaplace) for each in inner):
        yield Assumption(
            CODE, "each record adds whole numbers to a sum, bounded one by one; the noise is drawn exactly"
        )
    if any(isinstance(each, MixtureOfGaussians) for each in inner):
        yield Assumption(
            CODE, "each record adds a vector whose bound is drawn by its chances, apart from all other records"
        )
    if any(isinstance(each, RandomizedResponse) for each in inner):
        yield Assumption(CODE, "each record's answer is drawn on its own, and nothing else is told of it")
    if any(isinstance(part, MatrixMechanism) for part in parts):
        yield Assumption(
            CODE,
            "each record adds, in the steps that are said and in no others, a vector that is bounded one by one; a "
            "step looks at the rows before its own only, and each row has independent, ideal noise",
        )
    for part in parts:
        if isinstance(part, MatrixMechanism):
            yield Assumption(LOADER, f"{_PARTICIPATIONS[part.participation]}; {_GROUPS[part.groups]}")
    if any(isinstance(part, LastIterate) for part in parts):
        yield Assumption(
            CODE,
            f"{CONDITION}; weight decay times step size is at most 2, and a sum is divided by a batch's size or more",
        )
        yield Assumption(
            LOADER, "each record is in one batch of every epoch, whichever content it has; a random order is secret"
        )
    if any(isinstance(part, PoissonSampled) for part in parts):
        yield Assumption(LOADER, "each record enters each sample independently with exactly the rate given, in secret")
    if any(isinstance(part, SampledWithoutReplacement | SampledWithReplacement) for part in parts):
        lower = " (or a public lower bound on the larger of two neighbours)" if relation.counts_records else ""
        yield Assumption(
            LOADER, f"each batch is drawn afresh and uniformly, in secret, from as many records as said{lower}"
        )
    if any(isinstance(part, TruncatedPoisson) for part in parts):
        many = "as many records as said, or fewer" if relation.counts_records else "exactly as many records as said"
        yield Assumption(
            LOADER,
            "each record is sampled independently with exactly the rate given, a batch that would be too large is a "
            f"uniform choice of the sampled ones, both afresh and in secret, from {many}",
        )
    if any(isinstance(part, Shuffled) for part in parts):
        yield Assumption(
            LOADER,
            "each epoch has a fresh, uniformly random order of all records, which stays secret, and batches of one "
            "size are cut from it; an order that is kept for several epochs gains nothing (shuffled_epochs)",
        )
    if any(isinstance(part, RandomlyAllocated | BallsInBins) for part in parts):
        yield Assumption(
            LOADER,
            "each record draws its steps on its own, uniformly, in secret and whatever the data are; who draws none "
            "displaces nobody, so that batches have random sizes, and no sum is divided by them",
        )
    if any(
        isinstance(
            each,
            PureDP | ApproximateDP | ZCDP | RenyiDP | ExponentialMechanism | PermuteAndFlip | AboveThreshold,
        )
        for each in inner
    ):
        yield Assumption(
            CODE, "black boxes keep their guarantees, and scores their sensitivity, under the relation stated for them"
        )
    if relation is Relation.ZERO_OUT_ONE:
        yield Assumption(
            CODE,
            "a record that contributes nothing changes nothing else: its place, its slot in a batch, the number of "
            "records, and what the other records contribute stay",
        )
    yield Assumption(
        SETTINGS,
        "noise, rates and the number of releases are fixed in advance; what is asked may depend on earlier answers",
    )


def inside(part: Mechanism) -> Mechanism:
    """What runs on a sample, where one is drawn."""
    if isinstance(
        part,
        PoissonSampled
        | SampledWithoutReplacement
        | SampledWithReplacement
        | TruncatedPoisson
        | RandomlyAllocated
        | BallsInBins
        | Shuffled
        | LastIterate,
    ):
        return part.mechanism
    return part
