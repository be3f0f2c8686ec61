"""Advice: Poisson sampling in place of the given scheme, if the same training then spends less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.cli.answers.methods import Question
from dpbounds.cli.printing import output
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.mechanisms import Composed, Mechanism, PoissonSampled, parts_of

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.calibration import Calibration
    from dpbounds.privacy.relations import Relation

SECONDS = Fraction(5)  # limit of the search for unrequested advice
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Cheaper:
    """A smaller number for Poisson samples of the same expected size.

    Attributes:
        name: "noise_multiplier" or "epsilon".
        value: Proven to suffice.
        rate: The sample rate.
        relation: The neighbouring relation, that of the question.
    """

    name: str
    value: Fraction
    rate: Fraction
    relation: Relation

    def in_words(self) -> str:
        """Return the number, and how to draw such samples, in words."""
        number = f"{self.name.replace('_', ' ')} {to_decimal(self.value, _DIGITS, 'up')}"
        rate = output.plain(self.rate)
        return (
            f"{number} with Poisson samples of the same expected size: --sampling poisson --sample-rate {rate} "
            f"--relation {self.relation}; with dpbounds.opacus.PrivacyEngine, sampling='poisson'; "
            f"in your own PyTorch loop, opacus.data_loader.DPDataLoader(dataset, sample_rate={rate})"
        )

    def as_json(self) -> dict[str, object]:
        """Return the scheme, its rate and the number for programs."""
        return {
            "sampling": PoissonSampled.name,
            "sample_rate": output.json_given(self.rate),
            "relation": str(self.relation),
            self.name: output.json_number(self.value, "up"),
        }


def poisson_in_place_of(mechanism: Mechanism) -> tuple[Mechanism, Fraction] | None:
    """Return the mechanism on Poisson samples and their rate; None where not all parts have batches of one rate."""
    found = [(part.as_poisson(), count) for part, count in parts_of(mechanism)]
    parts = [(*instead, count) for instead, count in found if instead is not None]
    rates = {sampled.sample_rate for sampled, _, _ in parts}
    if len(parts) < len(found) or len(rates) > 1:
        return None
    return Composed(tuple((sampled, times * count) for sampled, times, count in parts)), rates.pop()


def cheaper_noise(found: Calibration, factory: Callable[[Fraction], Mechanism]) -> Cheaper | None:
    """Return the noise multiplier that Poisson samples need for the same budget, where it is smaller."""
    known = poisson_in_place_of(found.mechanism)
    if found.solve != "noise" or found.group_size > 1 or not found.complete or known is None:
        return None
    from dpbounds.privacy.budgets import cheaper

    def instead(noise: Fraction) -> Mechanism:
        poisson = poisson_in_place_of(factory(noise))
        assert poisson is not None
        return poisson[0]

    value = cheaper.cheaper_noise(found, instead, SECONDS)
    return None if value is None else Cheaper("noise_multiplier", value, known[1], found.relation)


def cheaper_epsilon(question: Question, spent: Fraction | float) -> Cheaper | None:
    """Return the ε that Poisson samples spend, where it is smaller."""
    known = poisson_in_place_of(question.mechanism)
    if question.wanted != "epsilon" or question.group_size > 1 or known is None:
        return None
    from dpbounds.privacy.budgets import cheaper

    value = cheaper.cheaper_epsilon(spent, known[0], question.target, question.relation, SECONDS)
    return None if value is None else Cheaper("epsilon", value, known[1], question.relation)
