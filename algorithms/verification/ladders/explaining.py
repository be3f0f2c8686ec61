"""Proof traces: ``explain`` measures both sides of every line of a bound's proof in one run.

Nothing of this is private: it looks at exact answers and at the records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpbounds.algorithms.run import Run
from dpbounds.algorithms.verification.judging.checks import Verdict, ends_as_json, valid_share
from dpbounds.algorithms.verification.ladders import derivations
from dpbounds.algorithms.verification.ladders.lines import Due, Line, lines
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure


@dataclass(frozen=True, slots=True)
class Explanation:
    """A proof trace: the lines of a bound's proof between a measurement and the bound.

    Attributes:
        algorithm: The title of the algorithm.
        quantity: The bounded quantity, in words.
        repetitions: R, over which means are taken.
        steps: T.
        lines: The proof: the right side of each is the left side of the next, the first left side is measured, and the
            last right side is the bound.
        bound: The algorithm's enclosure of the bound.
        subtracted: The lowest value found, which is subtracted from the metric if the bound is on an excess.
        curvature: The largest eigenvalue of the mean Hessian along the run, and the public constant of the bound; None
            if the proof has none.
        output_rule: The measured quantity for an output drawn among all steps, as in the theorem, at the last and at
            the best one; empty if it is measured at the output alone.
        regime: Dimensionless numbers, by name: if they are small, rates of growth cannot be observed yet.
    """

    algorithm: str
    quantity: str
    repetitions: int
    steps: int
    lines: tuple[Line, ...]
    bound: Enclosure
    subtracted: float
    curvature: tuple[float, float] | None
    output_rule: Mapping[str, float]
    regime: Mapping[str, float]

    @property
    def measured(self) -> float:
        """The first left side."""
        return self.lines[0].left

    @property
    def broken(self) -> tuple[Line, ...]:
        """The lines that do not hold: there the proof, the constants or the code are wrong."""
        return tuple(line for line in self.lines if line.verdict is Verdict.FAILS)

    def factors(self) -> dict[Due, float]:
        """Return the factor of each cause, the largest first; their product is bound over measurement."""
        found: dict[Due, float] = {}
        for line in self.lines:
            found[line.due] = found.get(line.due, 1.0) * line.factor
        return dict(sorted(found.items(), key=lambda each: -each[1] if not math.isnan(each[1]) else math.inf))

    def as_json(self) -> dict[str, object]:
        """Return plain data for ``json.dumps``; numbers that are not finite are text."""
        return {
            "algorithm": self.algorithm,
            "quantity": self.quantity,
            "repetitions": self.repetitions,
            "steps": self.steps,
            "measured": plain(self.measured),
            "bound": ends_as_json(self.bound),
            "subtracted": plain(self.subtracted),
            "lines": [
                {
                    "claim": line.claim,
                    "due_to": str(line.due),
                    "left": plain(line.left),
                    "right": plain(line.right),
                    "relation": line.relation,
                    "factor": plain(line.factor),
                    "error": plain(line.error),
                    "verdict": str(line.verdict),
                }
                for line in self.lines
            ],
            "factors": {str(due): plain(factor) for due, factor in self.factors().items()},
            "curvature": None
            if self.curvature is None
            else {"measured": plain(self.curvature[0]), "public": plain(self.curvature[1])},
            "output_rule": {name: plain(value) for name, value in self.output_rule.items()},
            "regime": {name: plain(value) for name, value in self.regime.items()},
        }


def plain(value: float) -> float | str:
    """Return a number for JSON."""
    return value if math.isfinite(value) else str(value)


def demand_ladder(algorithm: Any, name: str = "") -> None:
    """Raise ``InvalidValue`` with the reason where an algorithm (by this name) has no ladder."""
    kind = type(algorithm)
    if derivations.ladder.dispatch(kind) is derivations.ladder.dispatch(object):
        called = name or kind.__name__
        reason = derivations.REASONS.get(kind.__name__, "it is not written yet")
        raise InvalidValue("algorithm", called, f"one with a ladder; {called} has none: {reason}")


def explain(
    algorithm: Any, problem: Any, run: Run, *, mapping: str = "noisy", confidence: float = 0.999
) -> Explanation:
    """Measure every line of the proof of an algorithm's bound in a run of it. Not private.

    Args:
        algorithm: The algorithm of the run.
        problem: The problem of the run.
        run: At least 2 repetitions, so that errors are known.
        mapping: For projected and mirror descent: "noisy" or "exact", as for their ``bound``.
        confidence: The probability that no valid line is reported as broken.

    Raises:
        InvalidValue: There is no proof trace for this algorithm (with the reason), or its bound does not hold here.
    """
    valid_share("confidence", confidence)
    demand_ladder(algorithm)
    ladder = derivations.ladder(algorithm, problem, run, mapping)
    return Explanation(
        algorithm=run.algorithm,
        quantity=ladder.quantity,
        repetitions=run.repetitions,
        steps=run.steps,
        lines=lines(ladder.rungs, confidence),
        bound=ladder.bound,
        subtracted=ladder.subtracted,
        curvature=ladder.curvature,
        output_rule=ladder.output_rule,
        regime=ladder.regime,
    )
