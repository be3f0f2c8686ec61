"""A quantity against the number of records n: measured with 95 % intervals, beside the explicit bound on it.

Exponents are compared with that of the bound *at the same n*, not with the one of its leading term: constants,
logarithms and whole numbers of steps all bend a bound, and what is measured bends with them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from dpbounds.algorithms.verification.judging.checks import Measured, mean_interval
from dpbounds.algorithms.verification.judging.planned_checks import OWN_BOUND, Promise
from dpbounds.algorithms.verification.judging.slopes import fit
from dpbounds.algorithms.verification.sweeping.cells import Result, parameter, vector
from dpbounds.render.curves import Line, Panel

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measured quantity, and the bound on its mean.

    Attributes:
        label: In the legend and in sentences.
        name: The name of the repetitions among a cell's numbers.
        bound: The explicit bound for the cell of a result.
        source: The source of the bound, for the legend.
        printed: The published rate, such as "n^(-2/3)"; empty if there is none.
        axis: In a picture of its own, where that differs from the label.
    """

    label: str
    name: str
    bound: Promise = OWN_BOUND
    source: str = "bound"
    printed: str = ""
    axis: str = ""

    def curves(self, results: Sequence[Result]) -> tuple[Line, Line]:
        """Return the measured means with their intervals, and the bound."""
        n = records(results)
        measured = curve_of(f"{self.label}, measured", n, self.measured(results))
        return measured, Line(f"{self.label}, {self.source}", n, self.bounds(results), promised=True)

    def panel(self, title: str, results: Sequence[Result]) -> Panel:
        """Return the two alone."""
        return Panel(title, "records n", self.axis or self.label, self.curves(results), log_x=True)

    def measured(self, results: Sequence[Result]) -> list[Measured]:
        """Return means and intervals, in the order of the results."""
        return [mean_interval(vector(result, self.name), CONFIDENCE) for result in results]

    def bounds(self, results: Sequence[Result]) -> tuple[float, ...]:
        """Return the bounds, in the order of the results."""
        return tuple(float(self.bound(result).upper) for result in results)

    def told(self, results: Sequence[Result]) -> str:
        """Return a sentence: the means, how they relate to the bound, both exponents."""
        measured, bounds = self.measured(results), self.bounds(results)
        n = ", ".join(f"{count:g}" for count in records(results))
        means = ", ".join(f"{mean.mean:.3g}" for mean in measured)
        return f"{self.label}: {means} for n = {n}; {held(measured, bounds)}; {self._exponents(results, bounds)}."

    def _exponents(self, results: Sequence[Result], bounds: Sequence[float]) -> str:
        """Return part of a sentence: how fast the measured quantity falls, and how fast its bound does."""
        n = records(results)
        slope = fit(n, [vector(result, self.name) for result in results], CONFIDENCE)
        promised = exponent(n, bounds)
        how = "faster than" if slope.high < promised else "more slowly than" if slope.low > promised else "as fast as"
        printed = f" and the paper's {self.printed}" if self.printed else ""
        return (
            f"like n^{slope.value:.2f} (exponent in [{slope.low:.2f}, {slope.high:.2f}]), the bound at these n like "
            f"n^{promised:.2f}{printed}: it falls {how} its bound"
        )


def curve_of(label: str, x: Sequence[float], means: Sequence[Measured]) -> Line:
    """Return means with their intervals."""
    y, low, high = zip(*((mean.mean, mean.low, mean.high) for mean in means), strict=True)
    return Line(label, tuple(x), y, low, high)


def held(means: Sequence[Measured], bounds: Sequence[float]) -> str:
    """Return part of a sentence: whether means lie below their bounds with their whole intervals, and how far."""
    ratios = [bound / mean.mean for mean, bound in zip(means, bounds, strict=True)]
    far = f"{min(ratios):.3g} to {max(ratios):.3g} times the mean"
    if all(mean.high <= bound for mean, bound in zip(means, bounds, strict=True)):
        return f"the bound holds at every n and is {far}"
    if any(mean.low > bound for mean, bound in zip(means, bounds, strict=True)):
        return f"the bound fails somewhere: it is {far}"
    return f"whether the bound holds everywhere is open at so few repetitions: it is {far}"


def compared(first: Sequence[Measured], second: Sequence[Measured], names: tuple[str, str], n: Sequence[float]) -> str:
    """Return a sentence: which of two is smaller at which n, where their intervals lie apart."""
    found: dict[str, list[str]] = {"smaller": [], "larger": [], "not distinguished": []}
    for count, a, b in zip(n, first, second, strict=True):
        word = "smaller" if a.high < b.low else "larger" if a.low > b.high else "not distinguished"
        found[word].append(f"{count:g}")
    ratios = ", ".join(f"{b.mean / a.mean:.3g}" for a, b in zip(first, second, strict=True))
    factors = f"{names[1]} over {names[0]} is {ratios}"
    for word in ("smaller", "larger"):
        if len(found[word]) == len(n):
            return f"{names[0]} is {word} than {names[1]} at every n: {factors}."
    told = ", ".join(f"{word} at n = {', '.join(counts)}" for word, counts in found.items() if counts)
    return f"{names[0]} against {names[1]}: {told}; {factors}."


def records(results: Sequence[Result]) -> tuple[float, ...]:
    """Return the number of records of every result."""
    return tuple(parameter(result, "records") for result in results)


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent by least squares in logarithms, for the text only; no check uses it."""
    return statistics.linear_regression([math.log(a) for a in x], [math.log(b) for b in y]).slope
