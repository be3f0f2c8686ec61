"""The releases that a ledger holds, and each of them as an object of its file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpbounds.algorithms import ledger_format
from dpbounds.algorithms.sampling import Batch, Truncated
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.mechanisms.descriptions import JsonObject, described
from dpbounds.privacy.mechanisms.parameters import read_number
from dpbounds.privacy.mechanisms.schemes.sampling import OneBatch, Sampling
from dpbounds.privacy.publishing.numerals import rounded

_FIRST = ("mechanism", "noise_stddev", "per_record_bound", "sampling", "count")  # in the order of the text


@dataclass(frozen=True, slots=True)
class Release:
    """A number of equal releases of a sum (or a mean with a public divisor) plus N(0, stddev² I).

    Attributes:
        noise_stddev: Standard deviation of the noise, exact, in the units of the answer.
        per_record_bound: The largest l2 norm of one record's contribution to the answer, in the same units.
        sample_rate: The rate of Poisson sampling, in (0, 1]; None for the full batch or a batch of fixed size.
        count: The number of such releases.
        batch: The fixed-size or truncated batch; None for the full batch or Poisson sampling.
    """

    noise_stddev: Fraction
    per_record_bound: Fraction
    sample_rate: Fraction | None = None
    count: int = 1
    batch: Batch | Truncated | None = None

    def __post_init__(self) -> None:
        for name in ("noise_stddev", "per_record_bound"):
            if getattr(self, name).numerator <= 0:  # without the price of comparing fractions, at every step of a run
                raise InvalidValue(name, getattr(self, name), "greater than 0")
        if self.sample_rate is not None and not 0 < self.sample_rate <= 1:
            raise InvalidValue("sample_rate", self.sample_rate, "greater than 0 and at most 1")
        if self.sample_rate is not None and self.batch is not None:
            raise InvalidValue("batch", self.batch, "None where there is a sample rate", "a release is sampled one way")
        positive_integer(self.count, "count")

    @property
    def noise_multiplier(self) -> Fraction:
        """Standard deviation in units of the per-record bound, exact."""
        return self.noise_stddev / self.per_record_bound

    def mechanism(self) -> Mechanism:
        """Return one of these releases as a mechanism."""
        inner = Gaussian(self.noise_multiplier)
        if self.batch is not None:
            return self.batch.sample(inner)
        return inner if self.sample_rate is None else PoissonSampled(inner, self.sample_rate)

    def __str__(self) -> str:
        sampling = "full batch" if self.batch is None else str(self.batch)
        if self.sample_rate is not None:
            sampling = f"Poisson sample, rate {float(self.sample_rate):g}"
        return (
            f"{self.count} x Gaussian, noise_stddev {float(self.noise_stddev):.6g}, "
            f"per-record bound {float(self.per_record_bound):.6g} "
            f"(noise_multiplier {float(self.noise_multiplier):.6g}), {sampling}"
        )


@dataclass(frozen=True, slots=True)
class DescribedRelease:
    """A number of equal releases of any other kind, known by the mechanism that describes one of them.

    Attributes:
        described: One release, noise per unit of the per-record bound; sampled or not.
        count: The number of such releases.

    Raises:
        UnsupportedMechanism: The mechanism is not a single release: a ledger file could not hold it.
    """

    described: Mechanism
    count: int = 1

    def __post_init__(self) -> None:
        positive_integer(self.count, "count")
        described(self.described, self.count)

    def mechanism(self) -> Mechanism:
        """Return one of these releases as a mechanism."""
        return self.described

    def __str__(self) -> str:
        kind = self.described
        return f"{self.count} x {kind.in_words(rounded)}, {kind.drawn_in_words(rounded)}"


def to_json(release: Release | DescribedRelease) -> JsonObject:
    """Return a release as the object of a ledger file."""
    entry = described(release.mechanism(), release.count)
    if isinstance(release, DescribedRelease):
        return entry
    own = {"noise_stddev": str(release.noise_stddev), "per_record_bound": str(release.per_record_bound)}
    fields = {**entry, **own}
    return {name: fields[name] for name in (*_FIRST, *fields) if name != "noise_multiplier"}


def from_json(entry: JsonObject) -> Release | DescribedRelease:
    """Read the output of ``to_json``, or any object of a ledger file; ``InvalidValue`` if a field is wrong.

    Where no ``Release`` says the same, such as of epochs or of rates that no generator draws at, it is a described one.
    """
    mechanism, count = ledger_format.read_entry(entry)  # checks every field
    if "per_record_bound" not in entry:
        return DescribedRelease(mechanism, count)
    drawn = mechanism.one_batch if isinstance(mechanism, Sampling) else None
    rate, batch = _drawn(drawn, mechanism.known_records or 0) if drawn is not None else (None, None)
    release = Release(
        read_number(entry["noise_stddev"], "noise_stddev"),
        read_number(entry["per_record_bound"], "per_record_bound"),
        rate,
        count,
        batch,
    )
    return release if release.mechanism() == mechanism else DescribedRelease(mechanism, count)


def _drawn(drawn: OneBatch, records: int) -> tuple[Fraction | None, Batch | Truncated | None]:
    """Return the sample rate of a release, or its batch."""
    if drawn.most is None:
        return drawn.rate, None
    if drawn.rate is None:
        return None, Batch(drawn.most, records, drawn.repeats)
    return None, Truncated(drawn.rate, drawn.most, records)
