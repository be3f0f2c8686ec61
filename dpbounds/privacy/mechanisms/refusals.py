"""What people ask for and we do not have: why not, what can be computed instead, and where to read.

Each ``instead`` that names a mechanism is an upper bound of what the refused one spends; the proofs are in
``refusals.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.mechanisms import Composed, Gaussian, InParallel
from dpbounds.privacy.mechanisms.additive import positive


@dataclass(frozen=True, slots=True)
class Refusal:
    """A mechanism, a sampling scheme or an argument for which no proven analysis is here.

    Attributes:
        name: As a command line would spell it.
        why: What is missing, or what is wrong with the analyses that people use.
        instead: What can be computed: an upper bound where there is one.
        read: Where to read about it.
        aliases: Other names for it.
    """

    name: str
    why: str
    instead: str
    read: str
    aliases: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} is not supported: {self.why}; instead: {self.instead} (read: {self.read})"


REFUSALS = (
    Refusal(
        "truncated-poisson",
        "where a Poisson sample is cut down to a largest size, a further record may push another one out, and no tight "
        "pair is proven here",
        "under add-or-remove-one PoissonSampled(Gaussian(z / 2), sample_rate), under replace-one Gaussian(z) without "
        "amplification",
        "arXiv:2508.15089",
        ("truncated-poisson-sampling",),
    ),
    Refusal(
        "shuffled-batches",
        "batches cut from a shuffled (or fixed) order are no Poisson samples and can spend far more, and under "
        "add-or-remove-one a further record shifts the others from batch to batch",
        "under replace-one shuffled_epochs(z, epochs), one full-batch release per epoch",
        "Chua et al. 2024, How private are DP-SGD implementations?",
        ("shuffled", "shuffle", "shuffling", "cyclic"),
    ),
    Refusal(
        "random-allocation",
        "where each record is put into k randomly chosen steps of an epoch, its steps are dependent, and no pair is "
        "proven here that composes",
        "under either relation Gaussian(z) ** k for each epoch, without amplification",
        "Feldman & Shenfeld 2025, Privacy amplification by random allocation",
        ("balls-in-bins", "balls-and-bins"),
    ),
    Refusal(
        "tree-aggregation",
        "DP-FTRL publishes prefix sums with correlated noise, and no pair is proven here for it",
        "under replace-one, where every record is in one step at most, Gaussian(z) ** s.bit_length() for a tree over s "
        "steps with noise z per node: a record lies in no more nodes than that",
        "Kairouz et al. 2021, Practical and private (deep) learning without sampling or shuffling",
        ("dp-ftrl",),
    ),
    Refusal(
        "matrix-factorisation",
        "the noise of different steps is correlated, and what is spent depends on the factors and on which steps a "
        "record may take part in, neither of which is described here",
        "work out how far one record can move the encoded stream, in the l2 norm over all steps, and give it as one "
        "Gaussian(noise_stddev=..., sensitivity=...); that this covers adaptive streams is proven in the source",
        "Denisov et al. 2022, Improved differential privacy for SGD via optimal private linear operators on adaptive "
        "streams",
        ("matrix-factorization", "matrix-mechanism", "banded-matrix-factorisation"),
    ),
    Refusal(
        "last-iterate",
        "that hiding all iterates but the last helps is proven for convex losses or bounded domains, with their "
        "constants, which are not described here; any other loss may carry every step into the last iterate",
        "count every step, as if all iterates were published",
        "Feldman, Mironov, Talwar & Thakurta 2018, Privacy amplification by iteration; Altschuler & Talwar 2022, "
        "Privacy of noisy stochastic gradient descent",
        ("hidden-state",),
    ),
    Refusal(
        "discrete-gaussian",
        "its exact curve depends on the lattice, and no pair is proven here",
        "for integer answers with noise z per unit of the per-record l2 bound, ZCDP(1 / (2 * z**2), "
        "relation='add-or-remove-one') or ZCDP(2 / z**2, relation='replace-one')",
        "Canonne, Kamath & Steinke 2020, The discrete Gaussian for differential privacy",
    ),
    Refusal(
        "discrete-laplace",
        "its loss lives on a lattice of its own, and no pair is proven here",
        "for integer answers with noise proportional to exp(-a|x|) and l1 bound C per record, PureDP(a * C, "
        "relation='add-or-remove-one') or PureDP(2 * a * C, relation='replace-one')",
        "Ghosh, Roughgarden & Sundararajan 2009, Universally utility-maximizing privacy mechanisms",
        ("geometric",),
    ),
    Refusal(
        "mixture-of-gaussians",
        "a list of shifts and probabilities says nothing about which neighbours and which order they are for, nor that "
        "they dominate",
        "a sampling scheme by its name (PoissonSampled, SampledWithReplacement), or without amplification "
        "Gaussian(noise_stddev=..., sensitivity=the largest shift)",
        "arXiv:2310.15526",
    ),
    Refusal(
        "repeat-and-select",
        "of a random number of runs the best is published: what is proven here bounds the whole tuning, and is no pair "
        "that composes with others",
        "tuned_epsilon(mechanism, RandomRuns(...)) for the whole tuning, or a number k of runs that is fixed in "
        "advance, mechanism ** k",
        "Papernot & Steinke 2021, Hyperparameter tuning with Rényi differential privacy",
        ("private-selection", "hyperparameter-tuning"),
    ),
    Refusal(
        "permute-and-flip",
        "no pair that is sharper than pure differential privacy is proven here",
        "PureDP(epsilon, relation=...) with the relation for which the scores' sensitivity holds",
        "McKenna & Sheldon 2020, Permute-and-flip: a new mechanism for differentially private selection",
    ),
)

_BY_NAME = {name: each for each in REFUSALS for name in (each.name, *each.aliases)}


def refusal(name: str) -> Refusal:
    """Return the record of that name or alias; spaces, underscores and capitals do not matter.

    Raises:
        InvalidValue: There is none.

    >>> refusal("Balls in bins").name
    'random-allocation'
    """
    key = name.strip().lower().replace("_", "-").replace(" ", "-")
    if key not in _BY_NAME:
        raise InvalidValue("refusal", repr(name), "one of " + ", ".join(each.name for each in REFUSALS))
    return _BY_NAME[key]


def refuse(name: str, asked: str = "") -> NoReturn:
    """Raise ``UnsupportedMechanism`` with the reason, the alternative and the source.

    Args:
        name: Of the refusal.
        asked: What was asked for, where it has yet another name.

    Raises:
        UnsupportedMechanism: Always, unless
        InvalidValue: there is no such refusal.
    """
    raise UnsupportedMechanism(f"{asked}: {refusal(name)}" if asked else str(refusal(name)))


def shuffled_epochs(noise_multiplier: ExactLike, epochs: ExactLike) -> Composed:
    """What epochs over shuffled (or fixed) batches spend at most, under replace-one: one full-batch release each.

    In every epoch a record is in one batch at most, whose release then is a full-batch Gaussian one with shift 2/z.
    Nothing is gained from the order being secret. Under add-or-remove-one the result is refused, as it must be.

    Args:
        noise_multiplier: z > 0, the smallest of all steps in these epochs. Where it changes from epoch to epoch, join
            several of these with ``@``.
        epochs: Greater than 0. A part of an epoch counts as a whole one: a record may be in that part.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> from dpbounds.privacy.accountants.certified import epsilon
    >>> epsilon(shuffled_epochs(10, "2.5"), "1e-6", "replace-one").at_most("1.6")
    True
    """
    rounds = math.ceil(positive(epochs, "epochs"))
    return InParallel((Gaussian(noise_multiplier),), partition="index") ** rounds
