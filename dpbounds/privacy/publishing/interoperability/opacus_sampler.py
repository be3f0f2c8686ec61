"""The rate that Opacus' Poisson sampler really draws at, and a look at whether the installed one still does.

A record is drawn where ``torch.rand(n) < rate``. On the CPU, PyTorch's uniform numbers of single precision are
k / 2^24, where k is the lowest 24 bits of a word of the Mersenne twister, so uniform on 0, ..., 2^24 - 1. A Python
number that is compared with a tensor of single precision is first rounded to it (to nearest, ties to even): call it r.
Then k / 2^24 < r exactly where k < ⌈2^24 r⌉, as k is whole, so that each record is drawn independently with probability

    ⌈2^24 r⌉ / 2^24        (1 where r rounds to 1)

which may be larger than the rate that was asked for: by up to 2^-24 + 2^-25, and from 10^-6 to 1.0133 10^-6.

``demand_known_sampler`` holds each of these steps against the installed version: the type and place of the numbers, the
grid (bit for bit against the words of the generator), and the sampler's own code, run on numbers on both sides of the
threshold. An implementation that draws in another way is refused, not accounted at the wrong rate.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from types import FunctionType, SimpleNamespace
from typing import Any

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, to_float
from dpbounds.privacy.values import positive_rate

GRID = 2**24
_NUMBERS = 256


def drawn_rate(sample_rate: ExactLike) -> Fraction:
    """Return the probability with which Opacus' sampler draws a record at a sample rate, exact.

    Args:
        sample_rate: In (0, 1], as given to the sampler; numbers that are not a double are rounded up to one.

    Returns:
        A multiple of 2^-24 in (0, 1].

    Raises:
        InvalidValue: The rate is not allowed, or so small that single precision holds it for 0.

    >>> drawn_rate(1 / 24), float(drawn_rate(1e-6))
    (Fraction(699051, 16777216), 1.0132789611816406e-06)
    """
    asked = to_float(positive_rate(sample_rate), "up")
    rounded = Fraction(struct.unpack("f", struct.pack("f", asked))[0])
    if rounded == 0:
        raise InvalidValue(
            "sample_rate", sample_rate, "at least 1e-45", "in single precision it is 0: nothing is drawn"
        )
    return Fraction(-(-rounded * GRID // 1), GRID)


def demand_known_sampler(sample_rate: float) -> None:
    """Raise ``UnsupportedMechanism`` unless the installed Opacus and PyTorch draw at ``drawn_rate(sample_rate)``."""
    import torch
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    numbers = torch.empty(0)
    if numbers.dtype is not torch.float32 or numbers.device.type != "cpu":
        raise _unknown(
            f"torch.rand gives numbers of type {numbers.dtype} on {numbers.device.type} here",
            "call torch.set_default_dtype(torch.float32) and torch.set_default_device('cpu')",
        )
    generator = torch.Generator()
    drawn = torch.rand(_NUMBERS, generator=generator.manual_seed(1))
    words = torch.empty(_NUMBERS, dtype=torch.int64).random_(0, GRID, generator=generator.manual_seed(1))
    if not torch.equal(drawn.double() * GRID, words.double()):
        raise _unknown(f"torch.rand of PyTorch {torch.__version__} does not give the lowest 24 bits of a word")
    demand_threshold(UniformWithReplacementSampler, sample_rate)


def demand_threshold(sampler: Any, sample_rate: float) -> None:
    """Raise ``UnsupportedMechanism`` unless a sampler's own code draws exactly the numbers below ``drawn_rate``.

    Its ``__iter__`` is run with a stand-in for PyTorch that knows ``rand`` alone and answers with chosen numbers: the
    smallest and the largest point of the grid, and both sides of the threshold, in an order that changes from batch to
    batch.

    Args:
        sampler: A class with the constructor of Opacus' ``UniformWithReplacementSampler``.
        sample_rate: In (0, 1].
    """
    import torch

    threshold = int(drawn_rate(sample_rate) * GRID)
    near = {threshold + shift for shift in range(-3, 3)} | {0, GRID // 2, GRID - 1}
    chosen = sorted(k for k in near if 0 <= k < GRID)
    orders = [chosen, chosen[::-1], chosen]
    asked = iter(orders)

    def rand(number: int, *, generator: object) -> object:
        if number != len(chosen) or generator is not None:
            raise TypeError("other numbers than one per record, from the sampler's generator")
        return torch.tensor(next(asked), dtype=torch.float64).div(GRID).float()

    try:
        made = sampler(num_samples=len(chosen), sample_rate=sample_rate, steps=len(orders))
        found = list(_with_other_torch(type(made).__iter__, SimpleNamespace(rand=rand))(made))
    except (AttributeError, TypeError, StopIteration, RuntimeError) as reason:
        raise _unknown(f"its sampler no longer compares torch.rand with the rate ({reason})") from None
    wanted = [[index for index, k in enumerate(order) if k < threshold] for order in orders]
    if found != wanted:
        raise _unknown(f"its sampler draws other records than those below {threshold} / 2^24 at rate {sample_rate}")


def _with_other_torch(function: Any, stand_in: object) -> Callable[..., Any]:
    """A copy of a function for which the global name ``torch`` means something else; the original is not touched."""
    return FunctionType(function.__code__, {**function.__globals__, "torch": stand_in}, closure=function.__closure__)


def _unknown(what: str, advice: str = "use a version of Opacus and PyTorch that was looked at") -> UnsupportedMechanism:
    return UnsupportedMechanism(f"this Opacus draws records in a way that is not supported: {what}; {advice}")
