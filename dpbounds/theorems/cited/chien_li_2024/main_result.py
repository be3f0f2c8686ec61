r"""Noisy SGD on a bounded set, of which only the last iterate is released: its Rényi privacy loss stays bounded as the
number of steps grows, for losses that need be neither convex nor smooth, as long as their gradients are Hölder
continuous; for smooth, strongly convex losses the bound is smaller than those known before.
"""

from dpbounds.theorems.assumptions import BOUNDED_SET
from dpbounds.theorems.record import Metric, Note, Read, Side, Status, Theorem

THEOREM = Theorem(
    id="cited/chien-li-2024/main-result",
    statement=__doc__,
    title="the privacy loss of a hidden state converges",
    where="Abstract",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    sampling="mini-batches, last iterate only",
    assumptions=(BOUNDED_SET,),
    notes=(
        Note(
            "The abstract states no formula, so there is nothing to evaluate. The accountants here charge every step: "
            "they are right for whoever sees only the last iterate, but may charge too much."
        ),
        Note("Of the five papers' algorithms it could concern those on a bounded set that release one iterate."),
    ),
)
