"""What dominates a mechanism, for tests that look at each pair; and mechanisms on the samples of the oracle."""

import inspect

import numpy as np
from flint import arb, ctx

import dpbounds.privacy.mechanisms as dp
import dpbounds.privacy.pairs as package
from dpbounds.privacy.domination.composition import NeighbourClass, neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.losses import law_of
from dpbounds.privacy.pairs.pairs import Pair, Product
from dpbounds.privacy.relations import Order, Relation
from tests.privacy.oracle import samplings

PAIRS = [
    each
    for name, home in {**dict.fromkeys(pairs.__all__, pairs), **dict.fromkeys(package.__all__, package)}.items()
    if isinstance(each := getattr(home, name), type) and issubclass(each, Pair)
]
EVERY_PAIR = [each for each in PAIRS if not inspect.isabstract(each)]


def products_of(mechanism: Mechanism, relation: Relation) -> tuple[Product, ...]:
    """One per class of ordered neighbours."""
    return tuple(each.product for each in neighbour_classes(mechanism, relation).every())


def the_class(mechanism: Mechanism, order: samplings.Order) -> NeighbourClass:
    """The only class of neighbours in that order."""
    asked = Order(order.value)
    (relation,) = (each for each in Relation if asked in each.orders)
    (found,) = neighbour_classes(mechanism, relation).along(asked)
    return found


def sampled(mechanism: Mechanism, sampling: samplings.Sampling, size: int) -> Mechanism:
    """The mechanism on a sample that is drawn in this way from ``size`` records."""
    match sampling:
        case samplings.Full():
            return mechanism
        case samplings.Poisson(rate):
            return dp.PoissonSampled(mechanism, str(rate))
        case samplings.WithoutReplacement(batch):
            return dp.SampledWithoutReplacement(mechanism, batch, size)
        case samplings.WithReplacement(batch):
            return dp.SampledWithReplacement(mechanism, batch, size)
    raise AssertionError(sampling)


def curve_of(pair: Pair, alphas: np.ndarray) -> np.ndarray:
    """H_α of a pair, as doubles."""
    with ctx.workprec(256):
        law = law_of(pair)
        return np.array([float(law.delta(arb(float(np.log(alpha))))) for alpha in alphas])
