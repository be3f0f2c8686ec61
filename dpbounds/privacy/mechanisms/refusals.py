"""Requests that are not supported: the reason, an alternative, and where to read.

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
from dpbounds.privacy.values import positive


@dataclass(frozen=True, slots=True)
class Refusal:
    """A mechanism, a sampling scheme or an argument for which no proven analysis is here.

    Attributes:
        name: As a command line would spell it.
        why: What is missing, or wrong in common analyses.
        instead: The alternative: an upper bound, if there is one.
        read: A reference.
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
        "fixed-order",
        "batches in an order that is known, or kept for several epochs, hide no record",
        "under replace-one or zero-out-one shuffled_epochs(z, epochs), which is --sampling full-batch --steps EPOCHS; "
        "or --sampling shuffled, where a secret order is drawn anew for each epoch",
        "Chua et al. 2024, How private are DP-SGD implementations?",
        ("cyclic", "shuffled-once"),
    ),
    Refusal(
        "tree-aggregation",
        "DP-FTRL adds correlated noise, and is not a way of drawing batches for single releases",
        "MatrixMechanism(z, BinaryTree(steps), participation) or another matrix, on the command line --tree "
        "(--toeplitz, --matrix) with --participation",
        "Kairouz et al. 2021, Practical and private (deep) learning without sampling or shuffling",
        ("dp-ftrl",),
    ),
    Refusal(
        "matrix-factorisation",
        "what is spent depends on the matrix and on the steps that a record may take part in: it is not a way of "
        "drawing batches for single releases",
        "MatrixMechanism(z, matrix, participation), on the command line --matrix, --toeplitz or --tree with "
        "--participation",
        "Denisov et al. 2022, Improved differential privacy for SGD via optimal private linear operators on adaptive "
        "streams",
        ("matrix-factorization", "matrix-mechanism", "banded-matrix-factorisation"),
    ),
    Refusal(
        "last-iterate",
        "it is not sampling, and what it saves is proven for plain noisy gradient descent over fixed batches, with a "
        "declared smoothness, alone: not for Poisson samples, momentum or averages of iterates",
        "under replace-one or zero-out-one LastIterate(Gaussian(z), batches=..., epochs=..., smoothness_step=...) "
        "(--release last-iterate), where that fits; else count every step, as if all iterates were published",
        "Feldman, Mironov, Talwar & Thakurta 2018, Privacy amplification by iteration; Altschuler & Talwar 2022, "
        "Privacy of noisy stochastic gradient descent",
        ("hidden-state",),
    ),
    Refusal(
        "repeat-and-select",
        "of a random number of runs the best is published: what is proven here bounds the whole tuning, and is not a "
        "pair that composes with others",
        "tuned_epsilon(mechanism, RandomRuns(...)) for the whole tuning, or a number k of runs that is fixed in "
        "advance, mechanism ** k",
        "Papernot & Steinke 2021, Hyperparameter tuning with Rényi differential privacy",
        ("private-selection", "hyperparameter-tuning"),
    ),
)

_BY_NAME = {name: each for each in REFUSALS for name in (each.name, *each.aliases)}


def refusal(name: str) -> Refusal:
    """Return the record of that name or alias; spaces, underscores and capitals do not matter.

    Raises:
        InvalidValue: There is none.

    >>> refusal("Hidden state").name
    'last-iterate'
    """
    key = name.strip().lower().replace("_", "-").replace(" ", "-")
    if key not in _BY_NAME:
        raise InvalidValue("refusal", repr(name), "one of " + ", ".join(each.name for each in REFUSALS))
    return _BY_NAME[key]


def refuse(name: str, asked: str = "") -> NoReturn:
    """Raise ``UnsupportedMechanism`` with the reason, the alternative and the source.

    Args:
        name: The name of the refusal.
        asked: The name in the request, if it is another one.

    Raises:
        UnsupportedMechanism: Always, unless
        InvalidValue: there is no such refusal.
    """
    raise UnsupportedMechanism(f"{asked}: {refusal(name)}" if asked else str(refusal(name)))


def shuffled_epochs(noise_multiplier: ExactLike, epochs: ExactLike) -> Composed:
    """Return an upper bound for epochs over shuffled or fixed batches, records keeping their places: one release each.

    In every epoch a record is in one batch at most, whose release then is a full-batch Gaussian one, with shift 2/z
    under replace-one and 1/z under zero-out-one. If the order is secret and drawn anew for each epoch, ``Shuffled`` has
    the gain. The result is not supported under add-or-remove-one.

    Args:
        noise_multiplier: z > 0, the smallest of all steps in these epochs. If it changes from epoch to epoch, compose
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
