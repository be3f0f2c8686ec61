"""The contour route: δ(ε) as a contour integral of the loss's moment generating function, in ball arithmetic.

In floating point, ``landscape`` finds the saddle point, ``spectrum`` how far to go in the frequency, ``nodes`` how
finely to sum; ``plan`` puts the ``choices`` together and ``estimate`` tries them out. In balls, ``moments`` encloses
the moment generating function (``power_sums`` sums at many frequencies at once), ``tails`` bounds what lies beyond the
last frequency, ``curve`` adds up the pieces and inverts. The proof is ``proof.md``: every condition it needs is
asserted in code, every free choice is sound.
"""

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:
    from dpbounds.privacy.routes.contour.curve import (
        ACCURACY as ACCURACY,
        chernoff_bound as chernoff_bound,
        contour_at_most as contour_at_most,
        contour_delta as contour_delta,
        contour_deltas as contour_deltas,
        contour_epsilon as contour_epsilon,
    )

__getattr__, __dir__, __all__ = names_by_need(__name__)
