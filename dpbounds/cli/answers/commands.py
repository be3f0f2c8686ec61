"""The command that runs a row of a plan, at the plan's rounded parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.cli.answers.running import CONSTANTS
from dpbounds.expressions.exact import to_decimal

if TYPE_CHECKING:
    from dpbounds.privacy.values import Budget
    from dpbounds.rates.guarantees import Guarantee

_PATH, _SMALL = "dpbounds/second-order-path-noise", "dpbounds/population-path-noise"
_OF_PATH = ("stationarity", "failure_probability", "curvature_kept", "curvature_length", "gradient_error", "window")
_OF_GRADIENTS = ("stationarity", "failure_probability", "gradient_error", "window")
_OF_SEARCHES = (
    *(*_OF_PATH, "small_ball", "overgrowth", "power_noise"),
    *("selection_error", "check_error", "restart_ratio"),
)
# Statements whose value is what the algorithm's own ``bound`` says at the same parameters, or its root; of second-order
# points the α that is missed with at most the probability of ``bound``. For the population, α is that of the records:
# it is missed with at most half of the probability, and the statement says what that is worth.
ALGORITHMS = {
    f"{_PATH}/warm-start": ("warm-path-noise", _OF_PATH),
    f"{_PATH}/population": ("warm-path-noise", _OF_PATH),
    f"{_PATH}/warm-start/iterative": ("warm-iterative-path-noise", _OF_SEARCHES),
    f"{_PATH}/population/iterative": ("warm-iterative-path-noise", _OF_SEARCHES),
    _SMALL: ("gradient-path-noise", _OF_GRADIENTS),
    f"{_SMALL}/warm-start": ("warm-gradient-path-noise", _OF_GRADIENTS),
    _PATH: ("path-noise", _OF_PATH),
    f"{_PATH}/iterative": ("iterative-path-noise", _OF_SEARCHES),
    "dpbounds/noisy-descent-batches": ("dp-sgd-weighted", ("steps", "step_size", "sample_rate")),
    "dpbounds/noisy-descent-exact": ("dp-gd-weighted", ("steps", "step_size")),
    "dpbounds/storm": ("dp-storm", ("steps", "step_size", "momentum", "first_share")),
    "dpbounds/storm/batches": (
        "dp-storm-batches",
        ("steps", "step_size", "momentum", "sample_rate", "first_ratio"),
    ),
    "lowy-ullman-wright-2024/lemma-3.1/explicit": ("dp-spider", ("steps", "anchor_period")),
    "wang-chen-xu-2019/algorithm-4/explicit": ("dp-gd", ("steps", "step_size")),
    "wang-xu-2019/theorem-2/explicit": ("dp-pgd", ("steps", "step_size")),
}
_LETTERS = {"dataset_size": "n", "dimension": "d"}
_LARGEST_NET = 10**6
_DIGITS = 60  # digits of a decimal number, more than a parameter has


def command_of(
    one: Guarantee, given: Mapping[str, Fraction], budget: Budget, records: Sequence[str] = ()
) -> list[str] | None:
    """Return the words of the command, or None where no algorithm has this bound.

    Args:
        one: A row of a plan.
        given: The plan's values: constants of the synthetic records that it runs on.
        budget: The budget to satisfy.
        records: Options that name a person's own records, in place of synthetic ones.
    """
    if one.bound is None or one.id not in ALGORITHMS:
        return None
    name, parameters = ALGORITHMS[one.id]
    settled = {**given, **{each.name: each.value for each in one.parameters}}
    wanted = (*(() if records else CONSTANTS), *parameters)
    if name.startswith("warm-"):
        if (net := _net(settled)) is None:
            return None
        wanted = (*wanted, *net)
        settled |= net
    if one.id.startswith((f"{_PATH}/population", _SMALL)):
        settled["failure_probability"] /= 2
    words = [f"{_LETTERS.get(each, each)}={exactly(settled[each])}" for each in wanted if each in settled]
    spend = ("--epsilon", exactly(budget.epsilon), "--delta", exactly(budget.delta), "--relation", str(budget.relation))
    return ["dpbounds", "run", name, *words, *records, *spend]


def _net(settled: Mapping[str, Fraction]) -> dict[str, Fraction] | None:
    """The net of the statement, r = Dd/(ε_E n), and by how much its ball may miss the infimum; None if it is too large.

    A grid has no more than (2 + D√d/(2r))^d points; one that is a little finer has a smaller ψ.
    """
    n, d = (settled[each] for each in ("dataset_size", "dimension"))
    radius = settled["diameter"] * d / (settled["epsilon"] * n)
    if (2 + float(settled["epsilon"] * n) / (2 * float(d) ** 0.5)) ** float(d) > _LARGEST_NET:
        return None
    finer, missed = to_decimal(radius, 6, "down"), to_decimal(settled["lipschitz"] * radius, 6, "up")
    return {"radius": settled["diameter"] / 2, "covering_radius": Fraction(finer), "outside": Fraction(missed)}


def exactly(number: Fraction) -> str:
    """Return a number as text that a command reads back exactly, of any length.

    >>> exactly(Fraction(1, 8)), exactly(Fraction(1, 3)), exactly(Fraction(10**6))
    ('0.125', '1/3', '1000000')
    """
    decimal = to_decimal(number, _DIGITS, "down")
    return decimal if Fraction(decimal) == number else str(number)
