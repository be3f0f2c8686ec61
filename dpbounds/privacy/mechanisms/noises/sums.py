"""Common properties of noise on a real sum."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpbounds.errors import InvalidValue, shown
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.mechanisms.core import CODE, ON_SUMS, Assumption, Mechanism, Trait
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive

IDEAL_NOISE = Assumption(
    CODE,
    "each record adds a vector to a sum, bounded one by one (to the per-record bound), divided by public constants "
    "only; the noise is ideal",
)


class RealNoise(Mechanism):
    """Noise on a real sum, given per unit of the per-record bound, or for a final distance."""

    __slots__ = ()

    own_traits: ClassVar[frozenset[Trait]] = frozenset({Trait.NOISY_SUM})  # beside those of noise on sums
    sensitivity: Fraction | None

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties of noise on sums; a final distance does not bound a record that is added or removed alone."""
        some = ON_SUMS if self.sensitivity is None else ON_SUMS - {Trait.PER_RECORD, Trait.PRESENCE}
        return some | self.own_traits

    def records_read(self, records: int) -> Fraction | None:
        """Return all of them."""
        return Fraction(records)

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption that the sum and the noise are as described."""
        return (IDEAL_NOISE,)

    def _distance(self, order: Order) -> Fraction:
        """Return the sensitivity: in units of the clipping norm, or the final distance if given."""
        return self.sensitivity or Fraction(2 if order.moves_twice else 1)


def one_way_of_giving(
    mechanism: str, multiplier: ExactLike | None, absolute: tuple[str, ExactLike | None], sensitivity: ExactLike | None
) -> dict[str, Fraction | None]:
    """Return the noise per unit of the clipping norm, or the absolute noise with the final distance: exactly one."""
    name, amount = absolute
    is_relative = multiplier is not None
    is_absolute = amount is not None and sensitivity is not None
    if is_relative == is_absolute or (is_relative and (amount is not None or sensitivity is not None)):
        told = f"noise_multiplier={shown(multiplier)}, {name}={shown(amount)}, sensitivity={shown(sensitivity)}"
        allowed = f"either noise_multiplier alone, or {name} together with sensitivity"
        raise InvalidValue(f"{mechanism} noise", told, allowed)
    given = {"noise_multiplier": multiplier, name: amount, "sensitivity": sensitivity}
    return {field: None if value is None else positive(value, field) for field, value in given.items()}
