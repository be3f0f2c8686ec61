"""Faults that the guards of a run could have found, in the run itself and in more repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbounds.algorithms.run import NoiseTested, Run


@dataclass(frozen=True, slots=True)
class Guarded:
    """The faults that guards, which found none, could have detected.

    Attributes:
        run: In the run.
        repetitions: Number of further repetitions, on public or synthetic records.
        more: In those.
    """

    run: tuple[NoiseTested, ...]
    repetitions: int
    more: tuple[NoiseTested, ...]

    def __str__(self) -> str:
        from dpbounds.algorithms.run import SEEN

        further = f"; in {self.repetitions} repetitions on public or made-up records: {_words(self.more)}"
        return (
            f"no fault found; too little noise of a kind would have been seen with probability {SEEN:g} in this run: "
            f"{_words(self.run)}{further if self.repetitions else ''}"
        )


def _words(tested: tuple[NoiseTested, ...]) -> str:
    return ", ".join(map(_one, tested)) or "none (no noise of a kind that is tested)"


def _one(tested: NoiseTested) -> str:
    heard = f"{tested.kind}: {tested.numbers} numbers"
    if tested.seen_below is None:
        return f"{heard}, tested by their distribution"
    return f"{heard}, a factor below {tested.seen_below:g}" if tested.seen_below else f"{heard}, too few for any factor"


def under_guard(algorithm: Any, made_up: Any, run: Run) -> Guarded:
    """Test the noise of more repetitions of a run that was guarded, where it has too little to see small faults.

    Args:
        algorithm: The algorithm that was run.
        made_up: The problem of the run where its records are public, else the same with made-up records: so a fault is
            found, or not, whatever the private records are.
        run: The run.

    Raises:
        BudgetExceeded: A fault was found.
    """
    from dpbounds.algorithms.guards.guarded import rehearsed

    numbers = sum(each.numbers for each in run.tested) // run.repetitions
    return Guarded(run.tested, *rehearsed(algorithm, made_up, numbers))
