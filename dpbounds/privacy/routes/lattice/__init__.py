"""The lattice route: discretise the loss upwards and downwards, tilt, compose by one of two engines.

``discretisation`` moves mass to lattice points so that δ can only rise, or only fall; ``composed`` tilts. Then either
``fourier`` composes in float64 with a proven bound on its round-off (``transform``: the transform itself; ``window``:
what wraps around; ``spectra``: powers; ``weighted_sums``: δ), or ``integer_measures`` does in exact integers. The
choices (``saddle``) are made in floating point; ``bounds`` draws the conclusion. The proofs are ``proof.md`` and
``fourier.md``.
"""

from dpbounds.privacy.routes.lattice.bounds import (
    delta_bounds,
    delta_bounds_at,
    epsilon_bounds,
    estimated_profile,
    expected_log_delta,
)
from dpbounds.privacy.routes.lattice.combination import resolved
from dpbounds.privacy.routes.lattice.integer_measures import LARGEST_WORK, Work

__all__ = [
    "LARGEST_WORK",
    "Work",
    "delta_bounds",
    "delta_bounds_at",
    "epsilon_bounds",
    "estimated_profile",
    "expected_log_delta",
    "resolved",
]
