"""The contour route: δ(ε) as a contour integral of the loss's moment generating function, in ball arithmetic.

In floating point, ``landscape`` finds the saddle point, ``spectrum`` how far to go in the frequency, ``nodes`` how
finely to sum; ``plan`` puts the ``choices`` together and ``estimate`` tries them out. In balls, ``moments`` encloses
the moment generating function (``power_sums`` sums at many frequencies at once), ``tails`` bounds what lies beyond the
last frequency, ``curve`` adds up the pieces and inverts. The proof is ``proof.md``: every condition it needs is
asserted in code, every free choice is sound.
"""

from dpbounds.privacy.routes.contour.curve import (
    ACCURACY,
    chernoff_bound,
    contour_at_most,
    contour_delta,
    contour_deltas,
    contour_epsilon,
)

__all__ = ["ACCURACY", "chernoff_bound", "contour_at_most", "contour_delta", "contour_deltas", "contour_epsilon"]
