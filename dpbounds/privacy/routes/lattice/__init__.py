"""The lattice route: discretise the loss upwards and downwards, tilt, compose by one of two engines.

``discretisation`` moves mass to lattice points so that δ can only rise, or only fall; ``composed`` tilts. Then either
``fourier`` composes in float64 with a proven bound on its round-off (``transform``: the transform itself; ``window``:
what wraps around; ``spectra``: powers; ``weighted_sums``: δ), or ``integer_measures`` does in exact integers. The
choices (``saddle``) are made in floating point; ``bounds`` draws the conclusion. The proofs are ``proof.md`` and
``fourier.md``.
"""

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:
    from dpbounds.privacy.routes.lattice.bounds import (
        delta_bounds as delta_bounds,
        delta_bounds_at as delta_bounds_at,
        epsilon_bounds as epsilon_bounds,
    )
    from dpbounds.privacy.routes.lattice.estimates import (
        estimated_profile as estimated_profile,
        expected_log_delta as expected_log_delta,
    )
    from dpbounds.privacy.routes.lattice.integer_measures import LARGEST_WORK as LARGEST_WORK, Work as Work

__getattr__, __dir__, __all__ = names_by_need(__name__)
