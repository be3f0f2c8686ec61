"""Runs of the exponential mechanisms on a landscape with known minima, and their privacy losses, computed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from algorithms.problems.landscapes import DOUBLE_WELL, WAVY, Landscape, landscape
from algorithms.selection.net_exponential_mechanism import NetExponentialMechanism, WhichVariant
from algorithms.selection.nets import grid
from algorithms.selection.regularised_exponential_mechanism import RegularisedExponentialMechanism

_DELTA = Fraction(1, 10**6)
_RADIUS = Fraction(3, 2)


def double_well(records: int, dimension: int) -> Landscape:
    """Σ_j w_j⁴/4 - w_j²/2 on the ball of radius 3/2: its minimum, -p/4, lies within for p <= 2."""
    return landscape(DOUBLE_WELL, records, [0.0] * dimension, _RADIUS)


def planned_net(records: int, dimension: int, epsilon: float, variant: WhichVariant) -> NetExponentialMechanism:
    """The exponential mechanism on the net of Definition 4.1."""
    problem = double_well(records, dimension)
    return NetExponentialMechanism.calibrated(problem, Fraction(epsilon), _DELTA, variant=variant)


def planned_gibbs(records: int, dimension: int, epsilon: float) -> RegularisedExponentialMechanism:
    """The regularised exponential mechanism with its exact sampler."""
    return RegularisedExponentialMechanism.calibrated(double_well(records, dimension), Fraction(epsilon), _DELTA)


def net_choice(
    records: int, dimension: int, epsilon: float, variant: WhichVariant, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """Excess empirical risk of the choice on a net, one per repetition; the ε that was spent (at δ = 1e-6)."""
    problem = double_well(records, dimension)
    run = planned_net(records, dimension, epsilon, variant).run(problem, seed % 2**63, repetitions)
    spent = run.ledger.spent(_DELTA)
    return {
        "excess": (run.measured["objective"] - float(problem.minimum)).tolist(),
        "spent_lower": spent.lower,
        "spent_upper": spent.upper,
    }


def gibbs_sample(
    records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """Excess empirical risk of a regularised Gibbs sample, one per repetition; the ε that was spent."""
    problem = double_well(records, dimension)
    run = planned_gibbs(records, dimension, epsilon).run(problem, seed % 2**63, repetitions)
    spent = run.ledger.spent(_DELTA)
    return {
        "excess": (run.measured["objective"] - float(problem.minimum)).tolist(),
        "spent_lower": spent.lower,
        "spent_upper": spent.upper,
    }


def net_loss(records: int, epsilon: float, variant: WhichVariant, seed: int) -> dict[str, float]:
    """The largest privacy loss over a net, in double precision: linear records, of which one changes its sign.

    Records are f(x, z) = h(x) + zx with |z| <= B and a steep B beside a flat h, so that G is nearly B. All z = B puts
    the choice at the left end; one record's -B moves it by what two records can do at most.
    """
    steep = Fraction(1000)
    problem = landscape(WAVY, records, [0.0], "0.1", shift_bound=steep)
    mechanism = NetExponentialMechanism(Fraction(epsilon), grid(1, "0.1", "0.001"), variant=variant)
    x = mechanism.net.points[:, 0]
    beta = float(mechanism.inverse_temperature(problem))
    flat, tilt = problem.objective(mechanism.net.points), float(steep)
    first, second = (_law(-beta * (flat + slope * x)) for slope in (tilt, tilt * (1 - 2 / records)))
    return {"loss": float(np.abs(first - second).max())}


def gibbs_loss(records: int, epsilon: float, seed: int) -> dict[str, float]:
    """The same for densities on an interval, by quadrature."""
    steep, radius = Fraction(1000), Fraction(1, 10)
    problem = landscape(WAVY, records, [0.0], radius, shift_bound=steep)
    target = RegularisedExponentialMechanism(Fraction(epsilon), radius).target(problem)
    x = np.linspace(-float(radius), float(radius), 40_001)
    beta, flat, tilt = float(target.inverse_temperature), problem.objective(x[:, None]), float(steep)
    regulariser = float(target.precision) / 2 * x**2
    first, second = (_law(-beta * (flat + slope * x) - regulariser) for slope in (tilt, tilt * (1 - 2 / records)))
    return {"loss": float(np.abs(first - second).max())}


def _law(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of probabilities proportional to exp(exponents)."""
    law: NDArray[np.float64] = exponents - np.logaddexp.reduce(exponents)
    return law
