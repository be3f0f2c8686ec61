"""A mechanism that runs on a random part of the data.

In every case the mechanism must answer with a sum, or a sum divided by a *public* constant: dividing by the realised
size of a Poisson sample is another mechanism, whose sensitivity depends on the data. Batches cut from a shuffled data
set are none of these schemes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms.additive import positive_rate
from dpbounds.privacy.mechanisms.algebra import Mechanism


def _demand_mechanism(value: object) -> None:
    if not isinstance(value, Mechanism):
        raise InvalidValue("mechanism", value, "a mechanism")


@dataclass(frozen=True, slots=True, init=False)
class PoissonSampled(Mechanism):
    """Run the mechanism on a random subset: each record is in it with probability ``sample_rate``, independently.

    A composition inside sees the same subset in all its steps; ``PoissonSampled(m, q) ** T`` draws a new one each time.

    Args:
        mechanism: What runs on the subset.
        sample_rate: In (0, 1].

    Raises:
        InvalidValue: The sample rate is not in (0, 1].

    >>> from dpbounds.privacy.mechanisms.additive import Gaussian
    >>> PoissonSampled(Gaussian(1), "0.01").sample_rate
    Fraction(1, 100)
    """

    mechanism: Mechanism
    sample_rate: Fraction

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike) -> None:
        _demand_mechanism(mechanism)
        self._hold(mechanism=mechanism, sample_rate=positive_rate(sample_rate))


@dataclass(frozen=True, slots=True, init=False)
class SampledWithoutReplacement(Mechanism):
    """Run the mechanism on a uniformly random subset of exactly ``batch_size`` records.

    ``batch_size`` 1 is one random record.

    Args:
        mechanism: What runs on the batch.
        batch_size: b, a positive whole number.
        dataset_size: n, public: the number of records, or a lower bound on it. Under replace-one, on the size that both
            neighbours have; under add-or-remove-one, on the size of the larger of any two neighbours (so the number of
            records in the data set at hand will do), and the smaller one must still hold a whole batch: b < n.

    Raises:
        InvalidValue: A size is not a positive whole number, or b > n.
    """

    mechanism: Mechanism
    batch_size: int
    dataset_size: int

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        b, n = positive_integer(batch_size, "batch_size"), positive_integer(dataset_size, "dataset_size")
        if b > n:
            raise InvalidValue("batch_size", batch_size, f"at most dataset_size, {n}")
        self._hold(mechanism=mechanism, batch_size=b, dataset_size=n)


@dataclass(frozen=True, slots=True, init=False)
class SampledWithReplacement(Mechanism):
    """Run the mechanism on ``batch_size`` records drawn one by one, uniformly, a record possibly several times.

    Args:
        mechanism: What runs on the batch, in which a record that was drawn k times counts k times.
        batch_size: b, the number of draws.
        dataset_size: n, public, with the same meaning as for :class:`SampledWithoutReplacement`; under
            add-or-remove-one n >= 2, so that the smaller data set is not empty.

    Raises:
        InvalidValue: A size is not a positive whole number.
    """

    mechanism: Mechanism
    batch_size: int
    dataset_size: int

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        self._hold(
            mechanism=mechanism,
            batch_size=positive_integer(batch_size, "batch_size"),
            dataset_size=positive_integer(dataset_size, "dataset_size"),
        )
