"""Pure privacy: ε at δ = 0, the sum of the largest losses (``pairs/largest_losses.md``).

No integral and no search is needed. The sum is exact where every largest loss is an exact number, and infinite where
one loss is unbounded: Gaussian noise, for one, is not pure for any ε.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import sum_of_losses
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Proof

ROUTE = "sum of the largest losses"
NOT_PURE = "unbounded losses: not pure for any ε"
_PRECISION = 256


def pure_epsilon(product: Product, *, attained: bool = False) -> Proof:
    """Prove ε(0) of a product of pairs, which is infinite where a loss is unbounded.

    Args:
        product: The pairs.
        attained: Whether they are an attack: the answer is what the mechanisms that it stands for attain.

    Raises:
        UnsupportedMechanism: What several draws of a record cost together is not proven.
        NotCertified: A largest loss is beyond what can be computed.
    """
    with working(_PRECISION):
        each = ((pair.largest_loss_attained() if attained else pair.largest_loss(), count) for pair, count in product)
        found = sum_of_losses(each)
        if not isinstance(found, Fraction):
            if found.is_finite():
                return Proof(Enclosure.from_balls(found, found, ROUTE, _PRECISION), ROUTE)
            if not found > 0:
                raise NotCertified("the largest loss cannot be computed for these numbers")
            return Proof(Enclosure(math.inf, math.inf, NOT_PURE), ROUTE)
    return Proof(Enclosure.exactly(found, ROUTE), ROUTE)
