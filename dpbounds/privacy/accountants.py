"""What a mechanism spends: proven ε(δ) and δ(ε), by the first route that can prove it well.

Closed forms come first; then the contour integral, good for a dozen digits wherever the loss has an analytic density;
then the lattice with exact integers, which covers what the contour declines. Two routes that answer the same question
must overlap.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from flint import ctx

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.privacy.contour import chernoff_bound, contour_at_most, contour_delta, contour_epsilon
from dpbounds.privacy.contour.estimate import quick_log_delta
from dpbounds.privacy.domination import dominating_products
from dpbounds.privacy.inversion import invert
from dpbounds.privacy.lattice import Work, delta_bounds, epsilon_bounds
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs import Order, Product, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.profiles import ball, closed_form_delta, has_closed_form
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.relations import Relation, as_relation

Route = Literal["auto", "closed form", "contour", "lattice"]

DEFAULT_TOLERANCE = 1e-9
_ACCEPTED = 1e-3  # the width, relative, at which the contour's answer is taken even where less was wished for
_WIDE = 0.03  # relative width at which simple bounds are worth a try
_CLOSED_FORM_PRECISION = 160
_LARGEST_EPSILON = 10**12


@dataclass(frozen=True, slots=True)
class Account:
    """What a mechanism spends, with the proofs.

    Attributes:
        mechanism: What ran, or will run.
        relation: The neighbouring relation.
        given: Which of the two was given, "delta" or "epsilon"; ``enclosure`` holds the other.
        target: Its value.
        enclosure: The proven ends.
        proofs: For each order of the neighbours, how it was proven.
    """

    mechanism: Mechanism
    relation: Relation
    given: Literal["delta", "epsilon"]
    target: Fraction
    enclosure: Enclosure
    proofs: tuple[tuple[str, Proof], ...]

    def __str__(self) -> str:
        lower, upper = self.enclosure.decimals(min(12, self.enclosure.digits + 2))
        wanted = "epsilon" if self.given == "delta" else "delta"
        return f"{wanted} in [{lower}, {upper}] at {self.given} = {float(self.target):g} ({self.relation})"


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
    mechanism: Mechanism,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Enclosure:
    """Enclose ε(δ) = inf{ε >= 0 : the mechanism is (ε, δ)-DP}, taken over its dominating pairs.

    Args:
        mechanism: What ran, or will run.
        delta: In (0, 1); text such as ``"1e-6"`` is exact.
        relation: The neighbouring relation.
        tolerance: Relative width aimed at; what is reached is the width of the answer.

    Returns:
        Proven ends; publish the upper one. Both are 0 where δ is at least the total variation distance.

    Raises:
        InvalidValue: δ, the tolerance or the relation is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: No route could prove an answer.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> epsilon(Gaussian(5), delta="1e-5").contains("0.72552175085779582692")
    True
    """
    return account(mechanism, delta=delta, relation=relation, tolerance=tolerance).enclosure


def delta(
    mechanism: Mechanism,
    epsilon: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Enclosure:
    """Enclose δ(ε), the smallest δ for which the dominating pairs are (ε, δ)-indistinguishable.

    Arguments and errors as for :func:`epsilon`, with ``epsilon`` at least 0 in place of ``delta``.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> "1.7546333e-8" < delta(Gaussian(5), epsilon=1) < "1.7546334e-8"
    True
    """
    return account(mechanism, epsilon=epsilon, relation=relation, tolerance=tolerance).enclosure


def account(
    mechanism: Mechanism,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    tolerance: float = DEFAULT_TOLERANCE,
    route: Route = "auto",
) -> Account:
    """Prove ε(δ) or δ(ε), whichever was not given, and keep the proofs.

    Args:
        mechanism: What ran, or will run.
        delta: In (0, 1), or None.
        epsilon: At least 0, or None; exactly one of the two is given.
        relation: The neighbouring relation.
        tolerance: Relative width aimed at.
        route: One route alone, or "auto".

    Raises:
        InvalidValue: Both or neither of δ and ε, or a value (or a route) that is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: No route could prove an answer.
    """
    if (delta is None) == (epsilon is None):
        raise InvalidValue("delta, epsilon", (delta, epsilon), "exactly one of the two")
    if not 0 < exact(tolerance, "tolerance") < 1:
        raise InvalidValue("tolerance", tolerance, "a number greater than 0 and less than 1")
    tolerance = float(exact(tolerance, "tolerance"))
    if route not in get_args(Route):
        raise InvalidValue("route", repr(route), " or ".join(get_args(Route)))
    neighbours = as_relation(relation)
    products = dominating_products(mechanism, neighbours)
    if delta is not None:
        target = valid_delta(delta)
        proofs = _all_orders(
            products,
            lambda product: prove_epsilon(product, target, tolerance, route),
            lambda product, least: contour_at_most(product, least, target),
        )
        given: Literal["delta", "epsilon"] = "delta"
    else:
        assert epsilon is not None
        target, given = valid_epsilon(epsilon), "epsilon"
        proofs = _all_orders(
            products,
            lambda product: prove_delta(product, target, tolerance, route),
            lambda product, least: least > 0 and contour_at_most(product, target, least),
        )
    enclosure = proofs[0][1].enclosure
    for _, proof in proofs[1:]:
        enclosure = enclosure.larger(proof.enclosure) if proof.route != "dominated" else enclosure
    return Account(mechanism, neighbours, given, target, enclosure, proofs)


def _all_orders(
    products: tuple[Product, ...],
    prove: Callable[[Product], Proof],
    dominated: Callable[[Product, Fraction], bool],
) -> tuple[tuple[str, Proof], ...]:
    """Prove the first order; prove of each other that it spends no more, or how much it spends."""
    first = prove(products[0])
    proofs = [(_order(products[0]), first)]
    least = first.enclosure.exact_lower
    for product in products[1:]:
        cheap = not has_closed_form(product) and isinstance(least, Fraction) and dominated(product, least)
        if cheap:
            below = Enclosure(Fraction(0), least, "Chernoff bound")
            proofs.append((_order(product), Proof(below, "dominated")))
        else:
            proofs.append((_order(product), prove(product)))
    return tuple(proofs)


def _order(product: Product) -> str:
    orders = {str(pair.order) for pair, _ in product if isinstance(pair, SampledGaussians)}
    return orders.pop() if orders else "both orders"


def prove_epsilon(product: Product, delta: Fraction, tolerance: float, route: Route = "auto") -> Proof:
    """Prove an enclosure of ε(δ) for one product of pairs; the narrowest that the routes tried could reach."""
    if route == "closed form" or (route == "auto" and has_closed_form(product)):
        return _closed_form_epsilon(product, delta)
    found: Proof | None = None
    try:
        found = _first_good(
            tolerance,
            route,
            lambda: contour_epsilon(product, delta),
            lambda width, work: epsilon_bounds(product, delta, tolerance=width, work=work),
        )
    except NotCertified:
        if route != "auto":
            raise
    if found is not None and (_relative_width(found) <= _WIDE or route != "auto"):
        return found
    between = _epsilon_between(product, delta)
    return between if found is None or _relative_width(between) < _relative_width(found) else found


def prove_delta(product: Product, epsilon: Fraction, tolerance: float, route: Route = "auto") -> Proof:
    """Prove an enclosure of δ(ε) for one product of pairs; the narrowest that the routes tried could reach."""
    if route == "closed form" or (route == "auto" and has_closed_form(product)):
        _require_closed_form(product)
        value, precision = closed_form_delta(product[0][0], epsilon)
        return Proof(Enclosure.from_balls(value, value, "closed form", precision).within(0, 1), "closed form")
    try:
        return _first_good(
            tolerance,
            route,
            lambda: contour_delta(product, epsilon),
            lambda width, work: delta_bounds(product, epsilon, tolerance=width, work=work),
        )
    except NotCertified:
        if route != "auto":
            raise
    return _upper_bound_only(product, epsilon)


def _epsilon_between(product: Product, delta: Fraction) -> Proof:
    """What is left where every route declines: the cost of the dearest single release below, a Chernoff bound above.

    Dropping all releases but one is post-processing, so that one alone spends no more than all of them.
    """
    singles = [_closed_form_epsilon(((pair, 1),), delta).enclosure.exact_lower for pair, _ in product]
    low = max(Fraction(single) for single in singles)
    high = 2 * max(low, Fraction(1, 1 << 40))
    while not contour_at_most(product, high, delta):
        high *= 2
        if high > _LARGEST_EPSILON:
            raise NotCertified(f"no ε below {_LARGEST_EPSILON} could be proven to suffice at δ = {float(delta):g}")
    floor = low
    for _ in range(20):
        middle = (floor + high) / 2
        floor, high = (floor, middle) if contour_at_most(product, middle, delta) else (middle, high)
    return Proof(Enclosure(low, high, "single release and Chernoff bound"), "bounds")


def _upper_bound_only(product: Product, epsilon: Fraction) -> Proof:
    """What is left where δ(ε) is too small for every route: a proven upper bound, and 0 below.

    The closed form of the same releases without sampling always is one, because δ grows with the sample rate
    (``pairs.md``); a Chernoff bound is smaller where it can be had.
    """
    shift = Fraction(0)
    for pair, count in product:
        if isinstance(pair, ShiftedGaussians):
            shift += count * pair.squared_shift
        else:
            shift += count * (2 if pair.order is Order.REPLACE else 1) ** 2 / pair.variance
    value, precision = closed_form_delta(ShiftedGaussians(shift), epsilon)
    bound = ball_end(value, "up")
    with contextlib.suppress(Declined):  # the closed form stands
        bound = min(bound, chernoff_bound(product, epsilon, quick_log_delta(product, float(epsilon), False)))
    return Proof(Enclosure(Fraction(0), bound, "upper bound", precision), "upper bound")


def _closed_form_epsilon(product: Product, delta: Fraction) -> Proof:
    _require_closed_form(product)
    pair = product[0][0]
    with ctx.workprec(_CLOSED_FORM_PRECISION):
        low, high = invert(lambda e: (closed_form_delta(pair, e, 120)[0],) * 2, ball(delta), 1.0)
    return Proof(Enclosure(low, high, "closed form", _CLOSED_FORM_PRECISION), "closed form")


def _require_closed_form(product: Product) -> None:
    if not has_closed_form(product):
        raise NotCertified("there is no closed form for several subsampled releases; use another route")


def _first_good(
    tolerance: float, route: Route, contour: Callable[[], Proof], lattice: Callable[[float, Work], Proof]
) -> Proof:
    """The contour's answer if it is narrow enough, else the lattice's, else the narrower of the two.

    The default tolerance is a wish that only the contour can grant: where it does not, ``_ACCEPTED`` must do.
    """
    enough = tolerance if tolerance > DEFAULT_TOLERANCE else _ACCEPTED
    found: list[Proof] = []
    reasons: list[str] = []
    if route in ("auto", "contour"):
        try:
            found.append(contour())
            if _relative_width(found[0]) <= enough or route == "contour":
                return found[0]
        except Declined as reason:
            reasons.append(f"contour: {reason}")
    if route in ("auto", "lattice"):
        work = Work()
        for width in sorted({enough, max(enough, _ACCEPTED), max(enough, 10 * _ACCEPTED)}):
            try:
                found.append(lattice(width, work))
                break
            except Declined as reason:
                reasons.append(f"lattice to {width:g}: {reason}")
                work.reserve()
    if not found:
        raise NotCertified("no route could prove an answer (" + "; ".join(reasons) + ")")
    return min(found, key=_relative_width)


def _relative_width(proof: Proof) -> float:
    upper = proof.enclosure.exact_upper
    if upper == 0:
        return 0.0
    return float((upper - proof.enclosure.exact_lower) / upper)
