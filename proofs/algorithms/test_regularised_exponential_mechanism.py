"""The bias of the rejection step of the alternating sampler."""

import math

import numpy as np
from scipy import stats


def test_the_bias_of_the_rejection_step_is_bounded():
    # E[(e^W - 2)+] for the steepest W there is, linear losses: W = sqrt(v) N(0, 1)
    for v in (0.05, 0.1, 0.3, 0.6):
        w = np.linspace(math.log(2), 12, 200_001)
        exact = np.trapezoid((np.exp(w) - 2) * stats.norm.pdf(w, scale=math.sqrt(v)), w)
        assert exact <= 2 * math.exp(-(math.log(2) ** 2) / (2 * v))
