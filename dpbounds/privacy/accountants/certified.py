"""Certified ε(δ) and δ(ε) of a mechanism, over all classes of ordered neighbours.

For each product of pairs a closed form is tried first (``questions``), then the other routes (``routing``).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import NoneType
from typing import Literal, get_args

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism, demand_one_of, shortened
from dpbounds.expressions.enclosure import Enclosure, End
from dpbounds.expressions.exact import ExactLike, as_promised, brief, exact
from dpbounds.expressions.time_limit import TimeIsUp, is_limited, time_limited, without_time_limit
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.limits import SMALLEST_TOLERANCE
from dpbounds.privacy.accountants.pure import pure_epsilon
from dpbounds.privacy.accountants.questions import (
    ACCEPTED,
    DEFAULT_TOLERANCE,
    STOPPED,
    WORK,
    Question,
    Route,
    by_closed_form,
    relative_width,
)
from dpbounds.privacy.accountants.rounding import rounded
from dpbounds.privacy.domination.composition import NeighbourClasses, neighbour_classes
from dpbounds.privacy.domination.many_choices import classes_with_gaussian_choices
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.core import listed
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Moments, Product, holds_allocation, holds_shuffling
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.relations import Order, Relation, as_relation, orders_of
from dpbounds.privacy.routes.closed_forms import has_closed_form
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.routes.lattice.integer_measures import Work
from dpbounds.privacy.values import Target, demand_fields, promised_epsilon

_GLANCE = 1e-2  # relative width at which classes of neighbours are compared first

Named = tuple[tuple[str, Proof], ...]  # proofs by the names of the classes of neighbours


@dataclass(frozen=True, slots=True, repr=False)
class Account(Displayed):
    """The account of a mechanism: proven values, with their proofs.

    Attributes:
        mechanism: The mechanism.
        relation: The neighbouring relation.
        given: The given one of "delta" and "epsilon"; ``enclosure`` holds the other.
        target: The given value.
        enclosure: The certified interval.
        proofs: For each class of ordered neighbours, the proof for its dominating pairs.
        attacks: For the classes whose dominating pairs are not attained, the values of explicit attacks. If there are
            any, they give the lower bound of ``enclosure``.
        moments: The proof by Rényi divergences, if its upper bound is smaller than that of the pairs; else None.
        complete: False if a time limit ended the proofs; the values are proven all the same.
        group_size: The number of records that are protected together.
        order: The only order of neighbours that counts; None for all of the relation, as privacy demands.
    """

    mechanism: Mechanism
    relation: Relation
    given: Literal["delta", "epsilon"]
    target: Fraction
    enclosure: Enclosure
    proofs: Named
    attacks: Named = ()
    moments: Proof | None = None
    complete: bool = True
    group_size: int = 1
    order: Order | None = None

    def __post_init__(self) -> None:
        demand_fields(self, mechanism=Mechanism, relation=Relation, given=str, target=Fraction, enclosure=Enclosure)
        demand_fields(self, proofs=tuple, attacks=tuple, moments=(Proof, NoneType), complete=bool, group_size=int)
        demand_fields(self, order=(Order, NoneType))

    @property
    def classes(self) -> NeighbourClasses:
        """The classes of ordered neighbours that count."""
        return neighbour_classes(self.mechanism, self.relation, self.order)

    @property
    def neighbours(self) -> str:
        """The relation, with the order if only one counts."""
        return str(self.relation) if self.order is None else f"{self.relation}, order {self.order} only"

    @property
    def tight(self) -> bool:
        """Whether the upper bound is also attained by an attack, up to the width of the proofs."""
        return self.classes.tight

    def _sheet(self) -> Sheet:
        wanted = "epsilon" if self.given == "delta" else "delta"
        facts = (
            (wanted, f"{self.enclosure.decimals(10)[1]} (proven, rounded up)"),
            ("proven to lie in" if self.tight else "attained by an attack, and proven to suffice", str(self.enclosure)),
            (self.given, number(self.target)),
            ("relation", self.neighbours),
            *(() if self.group_size == 1 else (("records protected together", str(self.group_size)),)),
            ("mechanism", shortened(repr(self.mechanism))),
            ("method", self.enclosure.method),
            *(() if self.complete else (("time limit", "it ended the proofs: this was proven by then"),)),
        )
        return Sheet("what a mechanism spends", facts)

    def __str__(self) -> str:
        lower, upper = self.enclosure.decimals(min(12, self.enclosure.digits + 2))
        wanted = "epsilon" if self.given == "delta" else "delta"
        return f"{wanted} in [{lower}, {upper}] at {self.given} = {brief(self.target)} ({self.neighbours})"


def _valid_tolerance(tolerance: ExactLike) -> float:
    number = exact(tolerance, "tolerance")
    if not SMALLEST_TOLERANCE <= number < 1:
        raise InvalidValue("tolerance", tolerance, "less than 1 and at least 1e-300")
    return float(number)


def epsilon(
    mechanism: Mechanism,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    time_limit: ExactLike | None = None,
    order: str | Order | None = None,
) -> Enclosure:
    """Enclose ε(δ) = inf{ε >= 0 : the mechanism is (ε, δ)-DP}, taken over its dominating pairs.

    Args:
        mechanism: The mechanism.
        delta: At least 0 and less than 1; text such as ``"1e-6"`` is exact. At 0 the answer is pure ε, which is
            infinite where a loss is unbounded, as that of Gaussian noise is.
        relation: The neighbouring relation.
        tolerance: Target relative width; the answer may be wider, unless the tolerance is below 1e-9.
        time_limit: Seconds after which the best proven value is returned (None: no limit).
        order: The only order of neighbours that counts: "remove" (the first dataset holds the record) or "add" (the
            second does); under zero-out-one "zero" or "restore". None for both, as differential privacy demands.

    Returns:
        A certified interval; publish its upper bound. Both bounds are 0 if δ is at least the total variation distance.

    Raises:
        InvalidValue: δ, the tolerance, the relation or the order is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: No method proves an answer, or none as narrow as the tolerance below 1e-9, or none within the
            time.

    All functions of dpbounds may be called from several threads, which wait for each other.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> epsilon(Gaussian(5), delta="1e-5").contains("0.72552175085779582692")
    True
    """
    found = account(mechanism, delta=delta, relation=relation, tolerance=tolerance, time_limit=time_limit, order=order)
    return found.enclosure


def delta(
    mechanism: Mechanism,
    epsilon: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    time_limit: ExactLike | None = None,
    order: str | Order | None = None,
) -> Enclosure:
    """Enclose δ(ε), the smallest δ for which the dominating pairs are (ε, δ)-indistinguishable.

    Arguments and errors as for :func:`epsilon`, with ``epsilon`` in place of ``delta``. It may be negative:
    H_{1/α}(P, Q) = 1 - 1/α + H_α(Q, P)/α, so that δ(-ε) = 1 - e^-ε + e^-ε δ(ε), with δ(ε) of the other order if only
    one counts.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> "1.7546333e-8" < delta(Gaussian(5), epsilon=1) < "1.7546334e-8"
    True
    >>> delta(Gaussian(5), epsilon=-1).decimals(8)
    ('0.63212056', '0.63212057')
    """
    asked = as_promised(epsilon, "epsilon")
    if asked < 0:
        only = _only(as_relation(relation), order)
        other = None if only is None else only.reversed
        mirrored = delta(mechanism, -asked, relation, tolerance=tolerance, time_limit=time_limit, order=other)
        return _of_reversed_order(mirrored, asked)
    found = account(
        mechanism, epsilon=epsilon, relation=relation, tolerance=tolerance, time_limit=time_limit, order=order
    )
    return found.enclosure


def _only(relation: Relation, order: str | Order | None) -> Order | None:
    """Return the only order that counts; None for all.

    Raises:
        InvalidValue: The relation has no such order.
    """
    orders = orders_of(relation, order)
    return None if order is None else orders[0]


def _of_reversed_order(mirrored: Enclosure, epsilon: Fraction) -> Enclosure:
    """Return δ(ε) for a negative ε, from the enclosure of δ(-ε)."""
    precision = max(mirrored.precision, OUTER_PRECISION)
    with working(precision):
        rest = ball(epsilon).exp()
        lower, upper = (1 - rest * (1 - ball(Fraction(end))) for end in (mirrored.exact_lower, mirrored.exact_upper))
        return Enclosure.from_balls(lower, upper, mirrored.method, precision).within(0, 1)


def account(
    mechanism: Mechanism,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    tolerance: float = DEFAULT_TOLERANCE,
    route: Route = "auto",
    time_limit: ExactLike | None = None,
    order: str | Order | None = None,
) -> Account:
    """Prove ε(δ) or δ(ε), the one that was not given, and keep the proofs.

    Arguments and errors as for :func:`epsilon`; exactly one of δ in [0, 1) and ε >= 0 is given, and ``route`` selects a
    single method.
    """
    target, tolerance = Target.of(delta, epsilon, pure=True), _valid_tolerance(tolerance)
    demand_one_of("route", route, get_args(Route))
    neighbours = as_relation(relation)
    return account_at(mechanism, target, neighbours, tolerance, route, time_limit, _only(neighbours, order))


@working(OUTER_PRECISION)
def account_at(
    mechanism: Mechanism,
    target: Target,
    relation: Relation,
    tolerance: float = DEFAULT_TOLERANCE,
    route: Route = "auto",
    time_limit: ExactLike | None = None,
    order: Order | None = None,
) -> Account:
    """Return the account for values that were checked before."""
    question = Question(target, tolerance, route, Work(WORK))
    with time_limited(time_limit) as limit:
        (found,) = _accounted(mechanism, relation, (question,), order)
    if limit.passed:
        if found.enclosure.exact_upper == math.inf > found.enclosure.exact_lower:
            raise NotCertified("the time limit passed before any ε was proven to suffice; allow more time")
        return replace(found, enclosure=replace(found.enclosure, method=STOPPED), complete=False)
    return _demand_narrow(found, tolerance)


def _demand_narrow(found: Account, tolerance: float) -> Account:
    if tolerance < DEFAULT_TOLERANCE:
        width = max(relative_width(proof) for _, proof in found.proofs if proof.route != "dominated")
        if width > tolerance:
            told = f"the relative width reached is {width:.2g}, not {tolerance:.2g}"
            raise NotCertified(f"{told}; ask for a looser tolerance")
    return found


@working(OUTER_PRECISION)
def delta_curve(
    mechanism: Mechanism,
    epsilons: Iterable[ExactLike],
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    order: str | Order | None = None,
) -> tuple[Enclosure, ...]:
    """Enclose δ(ε) at many ε, for little more time than one takes: one integral or lattice serves all of them.

    Arguments and errors as for :func:`delta`, with any number of ε. For random allocation, the intervals are wider than
    those of ``delta``, unless a tolerance is given.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> [ends.decimals(6)[1] for ends in delta_curve(Gaussian(1), [0, 1])]
    ['0.382925', '0.126937']
    """
    tolerance = _valid_tolerance(tolerance)
    targets = [
        Target("epsilon", promised_epsilon(e)) for e in listed(epsilons, "epsilons", "numbers that are at least 0")
    ]
    questions = [Question(target, tolerance, "auto", Work(WORK), on_curve=len(targets) > 1) for target in targets]
    neighbours = as_relation(relation)
    found = _accounted(mechanism, neighbours, questions, _only(neighbours, order))
    return tuple(_demand_narrow(each, tolerance).enclosure for each in found)


def _accounted(
    mechanism: Mechanism, relation: Relation, questions: Sequence[Question], order: Order | None = None
) -> list[Account]:
    with without_time_limit():
        plain = neighbour_classes(mechanism, relation, order)
    if any(question.target.is_pure for question in questions):
        purely = [_accounted_purely(mechanism, relation, plain, question.target) for question in questions]
        return [replace(each, order=order) for each in purely]
    with without_time_limit():
        classes = classes_with_gaussian_choices(plain)
    proofs = [
        _at_round_ends(classes, known, asked)
        for asked, known in zip(questions, _all_classes(classes, questions), strict=True)
    ]
    attacks = _attacked(classes, questions, proofs)
    found = []
    for asked, known, attacked in zip(questions, proofs, attacks, strict=True):
        enclosure, moments = _together(classes, known, attacked), None
        worth = not classes.tight and (classes is not plain or _moments_may_help(classes, known, enclosure))
        if asked.route == "auto" and worth:
            moments = _by_moments(enclosure, plain, asked.target)
        best = enclosure if moments is None else moments.enclosure
        given, value = asked.target.given, asked.target.value
        found.append(Account(mechanism, relation, given, value, best, known, attacked, moments, order=order))
    return found


def _accounted_purely(mechanism: Mechanism, relation: Relation, classes: NeighbourClasses, target: Target) -> Account:
    """Return the account at δ = 0, which needs no route."""
    proofs = tuple((each.name, pure_epsilon(each.product)) for each in classes.every())
    attacks = tuple(
        (each.name, pure_epsilon(product, attained=True))
        for each in classes.every()
        for product in (() if each.tight else each.attacks)
    )
    enclosure = _together(classes, proofs, attacks)
    return Account(mechanism, relation, target.given, target.value, enclosure, proofs, attacks)


def _moments_may_help(classes: NeighbourClasses, proofs: Named, enclosure: Enclosure) -> bool:
    """Return whether Rényi divergences could give a visibly smaller upper bound.

    The conversion of a pair's divergences gives no less than the pair itself spends (``renyi.md``, section 1): where
    only they are known, at most the width of the pairs' own proof could be gained.
    """
    if not all(Moments.OWN in pair.moments for each in classes.every() for pair, _ in each.product):
        return True
    if any(holds_shuffling(each.product) for each in classes.every()):
        return False
    lower, upper = max(proof.enclosure.exact_lower for _, proof in proofs), enclosure.exact_upper
    return not (upper <= lower or (upper < math.inf and upper - lower <= ACCEPTED * upper))


def _by_moments(enclosure: Enclosure, classes: NeighbourClasses, target: Target) -> Proof | None:
    """Return a smaller upper bound by Rényi divergences; None if the pairs' is smaller, or nothing is proven.

    Where pairs are not attained, adding up divergences can be better than composing the pairs.
    """
    from dpbounds.privacy.renyi.accountant import converted_of

    try:
        found = converted_of(classes, target)
    except (UnsupportedMechanism, NotCertified, TimeIsUp):  # the answer by pairs remains
        return None
    if found.enclosure.exact_upper >= enclosure.exact_upper:
        return None
    upper = max(found.enclosure.exact_upper, enclosure.exact_lower)
    better = Enclosure(enclosure.exact_lower, upper, "Rényi divergences", found.enclosure.precision)
    return Proof(better, "Rényi divergences", {} if found.order is None else {"order": found.order})


def _all_classes(classes: NeighbourClasses, questions: Sequence[Question]) -> list[Named]:
    """Prove the first class; prove of each other that it spends no more, or how much it spends."""
    first, *others = classes.every()
    glances = _at_a_glance(classes, questions) if others and is_limited() else {}
    firsts = _narrowest(glances.get(first.name), _answered(first.product, questions))
    proofs: list[Named] = [((first.name, proof),) for proof in firsts]
    for each in others:
        leasts = [proof.enclosure.exact_lower for proof in firsts]
        below = [
            isinstance(least, Fraction) and first.tight and _at_most(each.product, proof, least, question.target)
            for question, proof, least in zip(questions, firsts, leasts, strict=True)
        ]
        known = {
            index: Proof(Enclosure(Fraction(0), leasts[index], "Chernoff bound"), "dominated")
            for index, dominated in enumerate(below)
            if dominated
        }
        if holds_allocation(each.product) and len(questions) > 1:
            known |= _dominated_by(leasts, _answered_at_a_glance(each.product, questions))
        known |= _dominated_by(leasts, glances.get(each.name, ()))
        asked = iter(_answered(each.product, [q for index, q in enumerate(questions) if index not in known]))
        rest = [known.get(index) or next(asked) for index in range(len(questions))]
        for index, proof in enumerate(_narrowest(glances.get(each.name), rest)):
            proofs[index] += ((each.name, proof),)
    return proofs


def _at_round_ends(classes: NeighbourClasses, known: Named, asked: Question) -> Named:
    """Return proofs of ε(δ) with a short decimal as upper bound, if δ is proven there; not with a time limit."""
    if not asked.target.for_epsilon or asked.route != "auto" or is_limited():
        return known
    products = [each.product for each in classes.every()]

    def delta_at(index: int, epsilon: Fraction) -> Proof:
        return _answered(products[index], [replace(asked, target=Target("epsilon", epsilon), work=Work(WORK))])[0]

    with contextlib.suppress(NotCertified):  # δ is not known there: the bounds remain
        found = rounded([proof for _, proof in known], asked.target.value, delta_at)
        return tuple((name, proof) for (name, _), proof in zip(known, found, strict=True))
    return known


def _at_a_glance(classes: NeighbourClasses, questions: Sequence[Question]) -> dict[str, list[Proof]]:
    """Return wide proofs by the name of the class: with a time limit, it may end before the last class is proven."""
    found = {each.name: _answered_at_a_glance(each.product, questions) for each in classes.every()}
    return {name: proofs for name, proofs in found.items() if proofs}


def _narrowest(glances: Sequence[Proof] | None, proofs: Sequence[Proof]) -> list[Proof]:
    """Return, of two proofs for each question, the one with the smaller upper bound."""
    if glances is None:
        return list(proofs)
    pairs = zip(proofs, glances, strict=True)
    return [
        one if one.route == "dominated" else min(one, other, key=lambda proof: proof.enclosure.exact_upper)
        for one, other in pairs
    ]


def _answered_at_a_glance(product: Product, questions: Sequence[Question]) -> list[Proof]:
    """Return wide proofs; none if there is no proof."""
    wide = [replace(question, tolerance=max(question.tolerance, _GLANCE)) for question in questions]
    try:
        return _answered(product, wide)
    except NotCertified:
        return []


def _dominated_by(leasts: Sequence[End], glances: Sequence[Proof]) -> dict[int, Proof]:
    """Return, by the question's index, the proofs that a product spends no more than ``leasts``."""
    return {
        index: Proof(proof.enclosure, "dominated", proof.parameters)
        for index, (least, proof) in enumerate(zip(leasts, glances, strict=False))
        if proof.enclosure.exact_upper <= least
    }


def _attacked(classes: NeighbourClasses, questions: Sequence[Question], proofs: Sequence[Named]) -> list[Named]:
    """Return the values that explicit attacks attain in the classes whose pairs are not attained."""
    found: list[Named] = [()] * len(questions)
    for each in classes.every():
        worth = [
            index
            for index, known in enumerate(proofs)
            if any(name == each.name and proof.enclosure.exact_upper > 0 for name, proof in known)
        ]
        for product in () if each.tight else each.attacks:
            with contextlib.suppress(
                NotCertified
            ):  # the value of the attack is unknown then; the upper bound remains valid
                for index, proof in zip(worth, _answered(product, [questions[index] for index in worth]), strict=True):
                    found[index] += ((each.name, proof),)
    return found


def _at_most(product: Product, first: Proof, least: Fraction, target: Target) -> bool:
    if has_closed_form(product) or holds_allocation(product):
        return False
    from dpbounds.privacy.accountants import routing

    return routing.at_most(routing.in_as_few(product, first), least, target)


def _answered(product: Product, questions: Sequence[Question]) -> list[Proof]:
    """Return one proof per question; questions about δ(ε) share their common work."""
    known: Mapping[Fraction, Proof] = {}
    if len(questions) > 1:
        with contextlib.suppress(TimeIsUp):
            known = _shared_deltas(resolved(product), questions)
    return [known.get(each.target.value) or _in_time(product, each) for each in questions]


def _shared_deltas(product: Product, questions: Sequence[Question]) -> Mapping[Fraction, Proof]:
    if has_closed_form(product):
        return {}
    from dpbounds.privacy.accountants import routing

    epsilons = [each.target.value for each in questions]
    if holds_allocation(product):
        return dict(zip(epsilons, routing.allocated(product, questions, _proven), strict=True))
    return routing.shared_deltas(product, epsilons, questions[0].tolerance)


def _in_time(product: Product, asked: Question) -> Proof:
    """Return the proof, or a quick proof if the time is up."""
    try:
        return _proven(resolved(product), asked)
    except TimeIsUp:
        from dpbounds.privacy.accountants import routing

        with without_time_limit():
            return routing.at_once(resolved(product), asked)


def _together(classes: NeighbourClasses, proofs: Named, attacks: Named) -> Enclosure:
    """Return the maximum over the classes: upper bounds of dominating pairs, lower bounds of attained ones."""
    found: Enclosure | None = None
    for each, (_, proof) in zip(classes.every(), proofs, strict=True):
        if proof.route == "dominated":
            continue
        enclosure = proof.enclosure
        if not each.tight:
            lowers = [attack.enclosure.exact_lower for name, attack in attacks if name == each.name]
            lowest = min(max([Fraction(0), *lowers]), enclosure.exact_upper)
            enclosure = Enclosure(lowest, enclosure.exact_upper, enclosure.method, enclosure.precision)
        found = enclosure if found is None else found.larger(enclosure)
    assert found is not None
    return found


@working(OUTER_PRECISION)
def prove_epsilon(
    product: Product, delta: Fraction, tolerance: float, route: Route = "auto", work: Work | None = None
) -> Proof:
    """Prove an enclosure of ε(δ) for one product of pairs: the narrowest that the methods reach."""
    return _proven(resolved(product), Question(Target("delta", delta), tolerance, route, work))


@working(OUTER_PRECISION)
def prove_delta(
    product: Product, epsilon: Fraction, tolerance: float, route: Route = "auto", work: Work | None = None
) -> Proof:
    """Prove an enclosure of δ(ε) for one product of pairs: the narrowest that the methods reach."""
    return _proven(resolved(product), Question(Target("epsilon", epsilon), tolerance, route, work))


@working(OUTER_PRECISION)
def prove_deltas(product: Product, epsilons: Sequence[Fraction], tolerance: float) -> list[Proof]:
    """Prove enclosures of δ(ε) at several ε; common parts are computed once."""
    several = len(epsilons) > 1
    targets = [Target("epsilon", epsilon) for epsilon in epsilons]
    return _answered(product, [Question(target, tolerance, "auto", Work(WORK), on_curve=several) for target in targets])


def _proven(product: Product, asked: Question) -> Proof:
    reason: NotCertified | None = None
    try:
        found = by_closed_form(product, asked)
    except NotCertified as why:
        if asked.route != "auto":
            raise
        found, reason = None, why
    if found is not None:
        return found
    from dpbounds.privacy.accountants import (
        routing,
    )  # imported late: a closed form does not need the many files of the routes

    if reason is not None:
        return routing.by_simple_bounds(product, asked, reason)
    if holds_allocation(product):
        return routing.allocated(product, [asked], _proven)[0]
    return routing.proven(product, asked)
