"""Requirements on a loss, its parameters and its records, and on the platform of JAX."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dpbounds.errors import InvalidValue, UnsupportedMechanism

_PLATFORMS = ("cpu", "gpu")  # platforms with IEEE doubles


def demand_doubles(platform: str) -> None:
    """Raise ``UnsupportedMechanism`` where JAX computes in doubles that are not IEEE's."""
    if platform not in _PLATFORMS:
        raise UnsupportedMechanism(f"sums are proven for IEEE doubles: run JAX on one of {_PLATFORMS}, not {platform}")
    if "fast_math=true" in os.environ.get("XLA_FLAGS", ""):
        raise UnsupportedMechanism("sums are proven for IEEE doubles: take fast_math out of XLA_FLAGS")


def demand_floating(index: int, leaf: Any, kept: Any) -> None:
    """Raise ``InvalidValue`` if a leaf is not of a floating-point type, or of one that JAX would narrow to ``kept``."""
    given = getattr(leaf, "dtype", kept)
    import jax

    if not jax.numpy.issubdtype(kept, jax.numpy.floating):
        raise InvalidValue(f"parameters[{index}].dtype", str(given), "a floating-point type")
    if given != kept:
        advice = "cast it, or switch jax_enable_x64 on yourself"
        raise InvalidValue(f"parameters[{index}].dtype", str(given), f"one that JAX keeps, such as {kept}", advice)


def read_only(leaf: Any, records: int, index: int) -> np.ndarray[Any, Any]:
    """Return the records' leaf as a read-only array: a copy, or a file mapped with mode "r" as it is.

    Raises:
        InvalidValue: It has not a row for each record, or a mapped file may be written to.
    """
    mapped = isinstance(leaf, np.memmap)
    rows = leaf if mapped else np.array(leaf)
    if rows.ndim < 1 or not len(rows) or len(rows) != records:
        raise InvalidValue(f"records[{index}].shape", rows.shape, "(n, ...) with the same n >= 1 for every leaf")
    if mapped and rows.flags.writeable:
        raise InvalidValue(f"records[{index}].mode", leaf.mode, "'r'", "what is mapped must not change during a run")
    if mapped:
        return rows
    rows.flags.writeable = False
    return rows
