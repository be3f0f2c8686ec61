"""Theorem 3: a double well on which its constant is exponential in β.

U(w) = 0.1w² - 1.2 exp(-(w-1)²/2s²) - exp(-(w+1)²/2s²), s = 0.35, every record with the same loss U - 0.1w², λ = 0.2:
Assumption 1 holds. As T grows the chain of DP-GLD becomes the diffusion dW = -U' dt + √(2/β) dB at times up to
t = ηT = n²ε²/(c₂²βG² ln(1/δ)), and any t is reached by a suitable n. It starts in the shallower well.

Let τ be the exit from (a, b), b the top of the barrier, u(x) = E_x τ. As E_x τ <= t + P(τ > t) sup u (Markov property),
so P_x(τ > t) >= (u(x) - t)/sup u; within (a, b) the excess is at least g, the difference of the two minima.
"""

import numpy as np
import pytest

WIDTH = 0.35


def potential(w):
    return 0.1 * w**2 - 1.2 * np.exp(-((w - 1) ** 2) / (2 * WIDTH**2)) - np.exp(-((w + 1) ** 2) / (2 * WIDTH**2))


GRID = np.linspace(-2.0, 2.0, 40_001)

VALUES = potential(GRID)

SHALLOW = int(np.argmin(np.where(GRID < -0.5, VALUES, np.inf)))

DEEP = int(np.argmin(VALUES))

TOP = SHALLOW + int(np.argmax(VALUES[SHALLOW:DEEP]))

GAP = VALUES[SHALLOW] - VALUES[DEEP]

HEIGHT = VALUES[TOP] - VALUES[SHALLOW]


def _running(values, step):
    return np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) * step / 2)])


def logarithm_of_exit_times(beta):
    """ln E_x τ on the grid of (a, b), by the Green function of the exit problem: a sum of positive terms.

    u(x) = (s(b) - s(x))/s(b) ∫_a^x s m + s(x)/s(b) ∫_x^b (s(b) - s) m, s' = exp(βU), m = β exp(-βU).
    """
    step, part = GRID[1] - GRID[0], slice(0, TOP + 1)
    rise = np.exp(beta * (VALUES[part] - VALUES[TOP]))
    weight = beta * np.exp(-beta * (VALUES[part] - VALUES[SHALLOW]))
    before, after = _running(rise, step), _running(rise[::-1], step)[::-1]  # s(x) and s(b) - s(x), without cancellation
    left, right = _running(before * weight, step), _running((after * weight)[::-1], step)[::-1]
    with np.errstate(divide="ignore"):
        return beta * HEIGHT + np.log((after * left + before * right) / before[-1])


def probability_of_staying(beta, log_time):
    times = logarithm_of_exit_times(beta)
    top = times.max()
    return np.exp(times[SHALLOW] - top) - np.exp(log_time - top)


def test_the_example_satisfies_the_assumption():
    far = np.linspace(-6, 6, 60_001)
    loss = potential(far) - 0.1 * far**2
    slope = np.gradient(loss, far)
    assert np.abs(slope).max() < 2.08
    assert np.abs(np.gradient(slope, far)).max() < 9.8
    assert loss[30_000] <= 1
    assert pytest.approx(0.1996, abs=1e-4) == GAP
    assert pytest.approx(0.8654, abs=1e-4) == HEIGHT
    assert (VALUES[: TOP + 1] >= VALUES[SHALLOW] - 1e-12).all()  # so the excess there is at least the gap


def constant_needed(beta, factor=1.0):
    """The smallest C with (mean excess) <= factor (C β/t + ln(β)/β) at t = exp(βh/2), T -> ∞; its logarithm."""
    log_time = beta * HEIGHT / 2
    mean_excess = GAP * probability_of_staying(beta, log_time)
    return np.log(mean_excess / factor - np.log(beta) / beta) + log_time - np.log(beta)


@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_the_constant_is_not_polynomial(factor):
    temperatures = [160.0, 320.0, 640.0, 1280.0]
    logs = [constant_needed(beta, factor) for beta in temperatures]
    degrees = np.diff(logs) / np.log(2)  # what the degree of a polynomial would have to be between β and 2β
    assert degrees[0] > 40
    assert (degrees[1:] > 1.8 * degrees[:-1]).all()
    for beta, value in zip(temperatures, logs, strict=True):
        assert value >= beta * HEIGHT / 2 - np.log(beta) + np.log(GAP / factor) - 3


def test_at_moderate_temperatures_too():
    # about 9.9e4, 4.4e8 and 2.0e12 at β = 40, 60, 80
    found = [np.exp(constant_needed(beta)) for beta in (40.0, 60.0, 80.0)]
    assert found[0] > 8e4
    assert found[1] > 4e8
    assert found[2] > 1.9e12


@pytest.mark.parametrize("kappa", [0.1, 0.3, 0.9])
def test_no_power_of_n_is_reached(kappa):
    # β = n^κ and t = n²/β (other constants 1), T -> ∞: at every time up to t the excess is at least g P(τ > t)
    for beta in (400.0, 1200.0):
        log_time = 2 * np.log(beta) / kappa - np.log(beta)
        assert GAP * probability_of_staying(beta, log_time) > 0.95 * GAP
