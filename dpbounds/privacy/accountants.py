"""What a mechanism spends: proven ε(δ) and δ(ε), by the first route that can prove it.

Closed forms come first; then the contour integral, good for a dozen digits wherever the loss has an analytic density
and the steps are many; then the lattice with exact integers. Two routes that answer the same question must overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import ctx

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.privacy.inversion import invert
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs import Product, dominating_products
from dpbounds.privacy.profiles import ball, closed_form_delta, has_closed_form
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.relations import Relation, as_relation


def valid_delta(delta: ExactLike, name: str = "delta") -> Fraction:
    """Return δ as an exact number in (0, 1), or raise ``InvalidValue``."""
    number = exact(delta, name)
    if not 0 < number < 1:
        raise InvalidValue(name, delta, "a number greater than 0 and less than 1")
    return number


def valid_epsilon(epsilon: ExactLike, name: str = "epsilon") -> Fraction:
    """Return ε as an exact number >= 0, or raise ``InvalidValue``."""
    number = exact(epsilon, name)
    if number < 0:
        raise InvalidValue(name, epsilon, "a number that is at least 0")
    return number


def epsilon(
    mechanism: Mechanism, delta: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Enclosure:
    """Enclose ε(δ) = inf{ε >= 0 : the mechanism is (ε, δ)-DP} of the dominating pairs.

    Args:
        mechanism: What ran, or will run.
        delta: In (0, 1); text such as ``"1e-6"`` is exact.
        relation: The neighbouring relation.

    Returns:
        Proven ends; publish the upper one. Both are 0 where δ is at least the total variation distance.

    Raises:
        InvalidValue: δ or the relation is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: No route could prove an answer.

    >>> print(epsilon(Gaussian(5), delta="1e-5"))
    [0.72552175075779561, 0.72552175075779605]
    """
    target = valid_delta(delta)
    return _largest(mechanism, relation, lambda product: prove_epsilon(product, target).enclosure)


def delta(
    mechanism: Mechanism, epsilon: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Enclosure:
    """Enclose δ(ε), the smallest δ for which the dominating pairs are (ε, δ)-indistinguishable.

    Args and errors as for :func:`epsilon`, with ``epsilon`` at least 0.
    """
    target = valid_epsilon(epsilon)
    return _largest(mechanism, relation, lambda product: prove_delta(product, target).enclosure)


def _largest(mechanism: Mechanism, relation: str | Relation, prove: Callable[[Product], Enclosure]) -> Enclosure:
    products = dominating_products(mechanism, as_relation(relation))
    first, *others = (prove(product) for product in products)
    for other in others:
        first = first.larger(other)
    return first


def prove_epsilon(product: Product, delta: Fraction) -> Proof:
    """Prove an enclosure of ε(δ) for one product of pairs."""
    pair = product[0][0]
    assert has_closed_form(product)
    precision = 128
    with ctx.workprec(precision):
        low, high = invert(lambda e: (closed_form_delta(pair, e, 100)[0],) * 2, ball(delta), 1.0)
    return Proof(Enclosure(low, high, "closed form", precision), "closed form")


def prove_delta(product: Product, epsilon: Fraction) -> Proof:
    """Prove an enclosure of δ(ε) for one product of pairs."""
    assert has_closed_form(product)
    value, precision = closed_form_delta(product[0][0], epsilon)
    return Proof(Enclosure.from_balls(value, value, "closed form", precision), "closed form")
