"""The products of pairs that dominate a mechanism, and the profile of a pair, for tests that look at each of them."""

import numpy as np
from flint import arb, ctx

from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.domination import neighbour_classes
from dpbounds.privacy.pairs.losses import law_of
from dpbounds.privacy.pairs.pairs import Pair, Product
from dpbounds.privacy.relations import Relation


def products_of(mechanism: Mechanism, relation: Relation) -> tuple[Product, ...]:
    """One per class of ordered neighbours."""
    return tuple(each.product for each in neighbour_classes(mechanism, relation).every())


def curve_of(pair: Pair, alphas: np.ndarray) -> np.ndarray:
    """H_α of a pair, as doubles."""
    with ctx.workprec(256):
        law = law_of(pair)
        return np.array([float(law.delta(arb(float(np.log(alpha))))) for alpha in alphas])
