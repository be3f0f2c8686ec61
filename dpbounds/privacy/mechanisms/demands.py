"""Demands of sampling schemes and partitions on the mechanisms inside them, and their refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.mechanisms.core import Mechanism, Trait


def has(trait: Trait, mechanism: Mechanism) -> bool:
    """Return whether a mechanism and all that it runs have a trait."""
    return all(trait in part.traits for part in mechanism.nested())


def _demand(trait: Trait, mechanism: Mechanism, says: Callable[[Mechanism], str]) -> None:
    """Refuse a mechanism if one of its parts lacks a trait, with the reason for that part."""
    for part in mechanism.nested():
        if not part.traits:
            raise UnsupportedMechanism(
                f"{type(part).__name__} inside another mechanism: nothing is proven here of a sample, an allocation or "
                f"a partition of it; {part.alone}"
            )
        if trait not in part.traits:
            raise UnsupportedMechanism(says(part))


def demand_no_fixed_size(mechanism: Mechanism, where: str, instead: str) -> None:
    """Refuse batches whose rate or records depend on the whole dataset, with an alternative."""
    _demand(
        Trait.PUBLIC_RATE,
        mechanism,
        lambda part: (
            f"{type(part).__name__} inside {where}: its rate is not public; use Poisson samples inside, or {instead}"
        ),
    )
    _demand(
        Trait.ANY_RECORDS,
        mechanism,
        lambda part: (
            f"{type(part).__name__} inside {where}: it needs all records of the dataset, or all records of "
            "a user, which a sample does not keep; run it on the whole dataset"
        ),
    )


def demand_no_final_distance(mechanism: Mechanism, because: str) -> None:
    """Refuse noise that is given for a final distance."""
    _demand(
        Trait.PER_RECORD,
        mechanism,
        lambda part: (
            f"{because}, so that the sensitivity given for {type(part).__name__} is not enough: it needs "
            "the per-record bound C; give the noise per unit of C (noise_multiplier, or radius), no sensitivity"
        ),
    )


def demand_blind(mechanism: Mechanism, where: str) -> None:
    """Refuse mechanisms that may detect a null record."""
    _demand(
        Trait.BLIND,
        mechanism,
        lambda part: (
            f"{part!r} under zero-out-one {where}, may tell whether the record is there: if it does not, the two "
            "relations are the same, so ask under add-or-remove-one"
        ),
    )


def demand_noise_on_sums(inner: Mechanism) -> None:
    """Refuse all but noise on a sum, in which each record's term stays within its own bound."""
    _demand(
        Trait.NOISY_SUM,
        inner,
        lambda part: (
            f"{part!r} on a truncated Poisson sample has no proven pair here: only noise on sums (Gaussian, Laplace, "
            "UniformBall) has one; draw batches of a fixed size (SampledWithoutReplacement)"
        ),
    )
    demand_no_final_distance(inner, "a record of a truncated Poisson sample joins it alone, or displaces another one")


def demand_no_blocks(mechanism: Mechanism, where: str) -> None:
    """Refuse mechanisms that divide their records among blocks or steps."""
    _demand(
        Trait.UNDIVIDED,
        mechanism,
        lambda part: (
            f"a matrix mechanism inside {where} is not supported, as it has its own participation pattern and "
            "sampling; use it alone, with participation cyclic-poisson if its batches are drawn"
            if part.whole
            else f"blocks in parallel inside {where} have no proven pair here: sample inside the blocks with Poisson "
            "sampling, or run the blocks one after the other"
        ),
    )


def demand_no_allocation(mechanism: Mechanism, where: str) -> None:
    """Refuse steps that records draw in secret."""
    _demand(
        Trait.UNALLOCATED,
        mechanism,
        lambda _: (
            f"steps allocated in secret inside {where} have no proven pair here: allocate the records of the dataset "
            "itself, and let what runs at each step be a single release, a composition or a Poisson sample"
        ),
    )


def refuse_without_positions(what: str) -> NoReturn:
    """Raise ``UnsupportedMechanism`` for mechanisms that use the records' positions, under add-or-remove-one.

    Args:
        what: In the plural, such as "blocks by position".
    """
    raise UnsupportedMechanism(
        f"{what} under add-or-remove-one: removing one record shifts all later ones, and nothing is proven; ask under "
        "replace-one or zero-out-one, which keep every place (--relation replace-one or --relation zero-out-one)"
    )
