"""DP-SPIDER in plain NumPy, many runs at once."""

import numpy as np


def spider(gradient, here, draw, *, noise, difference_noise, step, period, steps):
    """The mean over runs and over w₀, ..., w_{T-1} of the gradient's norm."""
    before, estimate, total = here, here, 0.0
    for t in range(steps):
        now = gradient(here)
        total += float(np.linalg.norm(now, axis=1).mean())
        if t % period == 0:
            estimate = now + noise * draw.normal(size=here.shape)
        else:
            scale = difference_noise * np.linalg.norm(here - before, axis=1, keepdims=True)
            estimate = estimate + now - gradient(before) + scale * draw.normal(size=here.shape)
        before, here = here, here - step * estimate
    return total / steps
