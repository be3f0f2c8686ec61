"""The lattice route: discretise the loss upwards and downwards, tilt, and compose with exact integers.

``discretisation`` moves mass to lattice points so that δ can only rise, or only fall; ``integer_measures`` composes
measures of integers with an exact account of what rounding lost; ``composed`` tilts and adds up; ``saddle`` makes the
choices in floating point; ``bounds`` draws the conclusion. The proof is ``proof.md``.
"""

from dpbounds.privacy.lattice.bounds import delta_bounds, epsilon_bounds, expected_log_delta
from dpbounds.privacy.lattice.combination import resolved
from dpbounds.privacy.lattice.integer_measures import Work

__all__ = ["Work", "delta_bounds", "epsilon_bounds", "expected_log_delta", "resolved"]
