"""What a mechanism spends: proven ε(δ) and δ(ε), by the first route that can prove it well.

Closed forms come first; then the contour integral, good for a dozen digits wherever the loss has an analytic density;
then the lattice with exact integers, which covers what the contour declines. Two routes that answer the same question
must overlap.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import NoneType
from typing import Literal, get_args

from flint import arb

from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism, demand_one_of
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, brief, exact, to_float
from dpbounds.expressions.time_limit import TimeIsUp, is_limited, time_limited, without_time_limit
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.limits import SMALLEST_TOLERANCE
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.algebra import listed
from dpbounds.privacy.pairs.domination import NeighbourClasses, neighbour_classes
from dpbounds.privacy.pairs.pairs import FourPoints, GaussianProduct, Product, as_gaussian
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import converted
from dpbounds.privacy.renyi.moments import has_moments_of_its_own
from dpbounds.privacy.routes.beside_gaussian import delta_beside, epsilon_beside, lies_beside
from dpbounds.privacy.routes.closed_forms import (
    ball,
    certainly_infinite,
    closed_form_delta,
    closed_form_epsilon,
    has_closed_form,
)
from dpbounds.privacy.routes.contour import (
    ACCURACY,
    chernoff_bound,
    contour_at_most,
    contour_delta,
    contour_deltas,
    contour_epsilon,
)
from dpbounds.privacy.routes.contour.estimate import quick_log_delta
from dpbounds.privacy.routes.contour.landscape import survey
from dpbounds.privacy.routes.contour.plan import plain_draft
from dpbounds.privacy.routes.drawn_steps import delta_between, epsilon_between, nearly_full_batch, negligible, plannable
from dpbounds.privacy.routes.grouping import between, by_groups
from dpbounds.privacy.routes.lattice import LARGEST_WORK, Work, delta_bounds, delta_bounds_at, epsilon_bounds, resolved
from dpbounds.privacy.routes.outcomes import delta_by_outcomes, epsilon_by_outcomes, has_few_outcomes
from dpbounds.privacy.values import Target, at_least_zero, demand_fields

Named = tuple[tuple[str, Proof], ...]  # proofs by the names of the classes of neighbours
Route = Literal["auto", "closed form", "contour", "lattice"]

DEFAULT_TOLERANCE = 1e-9
_ACCEPTED = 1e-3  # the width, relative, at which the contour's answer is taken even where less was wished for
_LATTICE_AIM = 1e-5  # the same where there is no contour integral, and the lattice is asked first
_BESIDE_AIM = 1e-4  # the same for one law beside a Gaussian, if it is continuous: a few hundred cells
_LOOSE = 10 * _ACCEPTED  # the width at which a lattice's answer is still taken
_WORK = LARGEST_WORK // 2  # of the lattice, for all classes of one question
_WIDE = 0.03  # relative width at which simple bounds are worth a try
_MANY = 32  # distinct pairs, above which it is asked what they take together
_LATTICE_LEVELS, _LATTICE_GROUPS = 100, 48  # distinct pairs for a lattice at ``_ACCEPTED``: once, or for each end
_NODES, _LAW = 250, 70_000  # of a law; and node-frequency products that take as long as what else it takes
_EXACT_WORK, _GROUPED_WORK = 70_000_000, 25_000_000  # products: some ten seconds, and four for both ends of groups
_GROUPED_ACCURACY = 1e-7  # of δ: groups are wider
_FEWEST_GROUPS = 16
_STOPPED = "stopped by the time limit"
_NOT_PLANNABLE = "these numbers lie beyond what this route can plan in doubles; ask with route='auto'"
_CLOSED_FORM_PRECISION = 160
_CLOSED_FORM_WIDTH = 2.0**-52  # relative, of what has a closed form, unless less is asked for


@dataclass(frozen=True, slots=True)
class Account:
    """What a mechanism spends, with the proofs.

    Attributes:
        mechanism: What ran, or will run.
        relation: The neighbouring relation.
        given: Which of the two was given, "delta" or "epsilon"; ``enclosure`` holds the other.
        target: Its value.
        enclosure: The proven ends.
        proofs: For each class of ordered neighbours, how much its dominating pairs spend.
        attacks: For the classes whose dominating pairs are not attained, what explicit attacks attain. Where there are
            any, the lower end of ``enclosure`` is theirs.
        moments: Where Rényi divergences prove a smaller upper end than the pairs, how; else None.
        complete: False where a time limit ended the proofs: what is here was proven by then.
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

    def __post_init__(self) -> None:
        demand_fields(self, mechanism=Mechanism, relation=Relation, given=str, target=Fraction, enclosure=Enclosure)
        demand_fields(self, proofs=tuple, attacks=tuple, moments=(Proof, NoneType), complete=bool)

    @property
    def tight(self) -> bool:
        """Whether what is proven to suffice is, up to the width of the proofs, also what an attack attains."""
        return neighbour_classes(self.mechanism, self.relation).tight

    def __str__(self) -> str:
        lower, upper = self.enclosure.decimals(min(12, self.enclosure.digits + 2))
        wanted = "epsilon" if self.given == "delta" else "delta"
        return f"{wanted} in [{lower}, {upper}] at {self.given} = {brief(self.target)} ({self.relation})"


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
) -> Enclosure:
    """Enclose ε(δ) = inf{ε >= 0 : the mechanism is (ε, δ)-DP}, taken over its dominating pairs.

    Args:
        mechanism: What ran, or will run.
        delta: In (0, 1); text such as ``"1e-6"`` is exact.
        relation: The neighbouring relation.
        tolerance: Relative width aimed at; what is reached is the width of the answer. One below 1e-9 is a demand.
        time_limit: Seconds after which the best that is proven by then is returned (None: no limit).

    Returns:
        Proven ends; publish the upper one. Both are 0 where δ is at least the total variation distance.

    Raises:
        InvalidValue: δ, the tolerance or the relation is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: No route could prove an answer, or not one as narrow as was demanded, or nothing within the time.

    Threads may call this and all of dpbounds at once: they wait for each other, and get the answers that one would get.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> epsilon(Gaussian(5), delta="1e-5").contains("0.72552175085779582692")
    True
    """
    return account(mechanism, delta=delta, relation=relation, tolerance=tolerance, time_limit=time_limit).enclosure


def delta(
    mechanism: Mechanism,
    epsilon: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    time_limit: ExactLike | None = None,
) -> Enclosure:
    """Enclose δ(ε), the smallest δ for which the dominating pairs are (ε, δ)-indistinguishable.

    Arguments and errors as for :func:`epsilon`, with ``epsilon`` at least 0 in place of ``delta``.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> "1.7546333e-8" < delta(Gaussian(5), epsilon=1) < "1.7546334e-8"
    True
    """
    return account(mechanism, epsilon=epsilon, relation=relation, tolerance=tolerance, time_limit=time_limit).enclosure


def account(
    mechanism: Mechanism,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    tolerance: float = DEFAULT_TOLERANCE,
    route: Route = "auto",
    time_limit: ExactLike | None = None,
) -> Account:
    """Prove ε(δ) or δ(ε), whichever was not given, and keep the proofs.

    Arguments and errors as for :func:`epsilon`; exactly one of δ in (0, 1) and ε >= 0 is given, and ``route`` asks for
    one route alone.
    """
    target, tolerance = Target.of(delta, epsilon), _valid_tolerance(tolerance)
    demand_one_of("route", route, get_args(Route))
    return account_at(mechanism, target, as_relation(relation), tolerance, route, time_limit)


@working(OUTER_PRECISION)
def account_at(
    mechanism: Mechanism,
    target: Target,
    relation: Relation,
    tolerance: float = DEFAULT_TOLERANCE,
    route: Route = "auto",
    time_limit: ExactLike | None = None,
) -> Account:
    """The same for values that were checked before."""
    question = _Question(target, tolerance, route, Work(_WORK))
    with time_limited(time_limit) as limit:
        (found,) = _accounted(mechanism, relation, (question,))
    if limit.passed:
        if found.enclosure.exact_upper == math.inf > found.enclosure.exact_lower:
            raise NotCertified("the time limit passed before any ε was proven to suffice; allow more time")
        return replace(found, enclosure=replace(found.enclosure, method=_STOPPED), complete=False)
    return _demand_narrow(found, tolerance)


def _demand_narrow(found: Account, tolerance: float) -> Account:
    if tolerance < DEFAULT_TOLERANCE:
        width = max(_relative_width(proof) for _, proof in found.proofs if proof.route != "dominated")
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
) -> tuple[Enclosure, ...]:
    """Enclose δ(ε) at many ε at once, for little more than one costs: one integral or lattice serves them all.

    Arguments and errors as for :func:`delta`, with any number of ε.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> [ends.decimals(6)[1] for ends in delta_curve(Gaussian(1), [0, 1])]
    ['0.382925', '0.126937']
    """
    tolerance = _valid_tolerance(tolerance)
    targets = [Target("epsilon", at_least_zero(e)) for e in listed(epsilons, "epsilons", "numbers that are at least 0")]
    questions = [_Question(target, tolerance, "auto", Work(_WORK)) for target in targets]
    found = _accounted(mechanism, as_relation(relation), questions)
    return tuple(_demand_narrow(each, tolerance).enclosure for each in found)


def _accounted(mechanism: Mechanism, relation: Relation, questions: Sequence[_Question]) -> list[Account]:
    with without_time_limit():
        classes = neighbour_classes(mechanism, relation)
    proofs = _all_classes(classes, questions)
    attacks = _attacked(classes, questions, proofs)
    found = []
    for asked, known, attacked in zip(questions, proofs, attacks, strict=True):
        enclosure, moments = _together(classes, known, attacked), None
        if asked.route == "auto" and not classes.tight and _moments_may_help(classes, known, enclosure):
            moments = _by_moments(enclosure, mechanism, asked.target, relation)
        best = enclosure if moments is None else moments.enclosure
        found.append(
            Account(mechanism, relation, asked.target.given, asked.target.value, best, known, attacked, moments)
        )
    return found


def _moments_may_help(classes: NeighbourClasses, proofs: Named, enclosure: Enclosure) -> bool:
    """Whether Rényi divergences could give a visibly smaller upper end.

    Converted, the divergences of a pair promise no less than the pair itself spends (``renyi.md``, section 1): where
    they are all that is known, at most the width of the pairs' own proof could be gained.
    """
    if not all(has_moments_of_its_own(pair) for each in classes.every() for pair, _ in each.product):
        return True
    lower, upper = max(proof.enclosure.exact_lower for _, proof in proofs), enclosure.exact_upper
    return not (upper <= lower or (upper < math.inf and upper - lower <= _ACCEPTED * upper))


def _by_moments(enclosure: Enclosure, mechanism: Mechanism, target: Target, relation: Relation) -> Proof | None:
    """A smaller upper end by Rényi divergences; None where the pairs' is smaller, or nothing is proven.

    Where pairs are not attained, adding up divergences can be better than composing the pairs.
    """
    try:
        found = converted(mechanism, target, relation)
    except (UnsupportedMechanism, NotCertified, TimeIsUp):  # the pairs' answer stands
        return None
    if found.enclosure.exact_upper >= enclosure.exact_upper:
        return None
    upper = max(found.enclosure.exact_upper, enclosure.exact_lower)
    better = Enclosure(enclosure.exact_lower, upper, "Rényi divergences", found.enclosure.precision)
    return Proof(better, "Rényi divergences", {} if found.order is None else {"order": found.order})


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of every product, how narrowly, by which route, and with what share of the lattice's work."""

    target: Target
    tolerance: float
    route: Route
    work: Work | None
    accuracy: float = ACCURACY

    def answered(self, product: Product) -> Proof:
        try:
            return _proven(resolved(product), self)
        except TimeIsUp:
            with without_time_limit():
                return self._at_once(resolved(product))

    def _at_once(self, product: Product) -> Proof:
        """What closed forms prove in milliseconds; else what always holds."""
        try:
            return self.between(product, refine=False)
        except (NotCertified, Declined):
            return Proof(
                Enclosure(Fraction(0), math.inf if self.target.for_epsilon else Fraction(1), _STOPPED), "bounds"
            )

    def between(self, product: Product, *, refine: bool = True) -> Proof:
        """What is left where every route declines."""
        return (_epsilon_between if self.target.for_epsilon else _delta_between)(
            product, self.target.value, refine=refine
        )

    def at_most(self, product: Product, least: Fraction) -> bool:
        """Whether a quick bound shows that the product spends no more than ``least``."""
        gaussian = as_gaussian(product)
        if gaussian is None or has_closed_form(product) or not plannable(product, self.target.value):
            return False
        try:
            if self.target.for_epsilon:
                return contour_at_most(gaussian, least, self.target.value)
            return least > 0 and contour_at_most(gaussian, self.target.value, least)
        except TimeIsUp:
            return False


def _all_classes(classes: NeighbourClasses, questions: Sequence[_Question]) -> list[Named]:
    """Prove the first class; prove of each other that it spends no more, or how much it spends."""
    first, *others = classes.every()
    firsts = _answered(first.product, questions)
    proofs: list[Named] = [((first.name, proof),) for proof in firsts]
    for each in others:
        leasts = [proof.enclosure.exact_lower for proof in firsts]
        below = [
            isinstance(least, Fraction) and first.tight and question.at_most(_in_as_few(each.product, proof), least)
            for question, proof, least in zip(questions, firsts, leasts, strict=True)
        ]
        asked = iter(
            _answered(each.product, [q for q, dominated in zip(questions, below, strict=True) if not dominated])
        )
        for index, dominated in enumerate(below):
            least = Enclosure(Fraction(0), leasts[index], "Chernoff bound")
            proofs[index] += ((each.name, Proof(least, "dominated") if dominated else next(asked)),)
    return proofs


def _in_as_few(product: Product, proof: Proof) -> Product:
    """A product that dominates this one, in as few groups as the proof took."""
    groups = proof.parameters.get("groups")
    return between(product, groups).dearer if isinstance(groups, int) else product


def _attacked(classes: NeighbourClasses, questions: Sequence[_Question], proofs: Sequence[Named]) -> list[Named]:
    """What explicit attacks attain in the classes whose pairs are not attained."""
    found: list[Named] = [()] * len(questions)
    for each in classes.every():
        worth = [
            index
            for index, known in enumerate(proofs)
            if any(name == each.name and proof.enclosure.exact_upper > 0 for name, proof in known)
        ]
        for product in () if each.tight else each.attacks:
            for index, proof in zip(worth, _answered(product, [questions[index] for index in worth]), strict=True):
                found[index] += ((each.name, proof),)
    return found


def _answered(product: Product, questions: Sequence[_Question]) -> list[Proof]:
    """One proof per question; where several ask for δ(ε), what they have in common is computed once."""
    known: Mapping[Fraction, Proof] = {}
    if len(questions) > 1:
        with contextlib.suppress(TimeIsUp):
            known = _shared_deltas(resolved(product), [each.target.value for each in questions], questions[0].tolerance)
    return [known.get(each.target.value) or each.answered(product) for each in questions]


def _shared_deltas(product: Product, epsilons: Sequence[Fraction], tolerance: float) -> Mapping[Fraction, Proof]:
    """δ(ε) by the route that :func:`prove_delta` would take, where that one serves many ε at once."""
    if has_closed_form(product) or _infinite_losses(product, Fraction(1)):
        return {}
    if has_few_outcomes(product) or lies_beside(product) or nearly_full_batch(product) or len(product) > _MANY:
        return {}
    able = [epsilon for epsilon in epsilons if plannable(product, epsilon)]
    gaussian = as_gaussian(product)
    if gaussian is None:
        return delta_bounds_at(product, able, tolerance=_enough(tolerance, _lattice_aim(product)), work=_WORK)
    found = contour_deltas(gaussian, [epsilon for epsilon in able if not negligible(gaussian, epsilon)])
    enough = tolerance if tolerance < DEFAULT_TOLERANCE else _enough(tolerance, _ACCEPTED)
    return {epsilon: proof for epsilon, proof in found.items() if _relative_width(proof) <= enough}


def _together(classes: NeighbourClasses, proofs: Named, attacks: Named) -> Enclosure:
    """The maximum over the classes: upper ends from what dominates, lower ends from what is attained."""
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
    """Prove an enclosure of ε(δ) for one product of pairs; the narrowest that the routes tried could reach."""
    return _proven(resolved(product), _Question(Target("delta", delta), tolerance, route, work))


@working(OUTER_PRECISION)
def prove_delta(
    product: Product, epsilon: Fraction, tolerance: float, route: Route = "auto", work: Work | None = None
) -> Proof:
    """Prove an enclosure of δ(ε) for one product of pairs; the narrowest that the routes tried could reach."""
    return _proven(resolved(product), _Question(Target("epsilon", epsilon), tolerance, route, work))


def _proven(product: Product, asked: _Question) -> Proof:
    any_route = asked.route == "auto"
    if asked.route == "closed form" or (any_route and has_closed_form(product)):
        closed_form = _closed_form_epsilon if asked.target.for_epsilon else _closed_form_delta
        return closed_form(product, asked.target.value, asked.tolerance)
    if any_route:
        found = _without_all_levels(product, asked)
        if found is not None:
            return found
    elif not plannable(product, asked.target.value):
        raise NotCertified(_NOT_PLANNABLE)
    try:
        found = _first_good(product, asked)
    except NotCertified:
        if not any_route:
            raise
        return asked.between(product)
    if not any_route or _relative_width(found) <= _WIDE:
        return found
    return min(found, asked.between(product), key=_relative_width)


def _without_all_levels(product: Product, asked: _Question) -> Proof | None:
    """What needs no contour or lattice for all levels: taken where it is narrow, or where these cannot plan."""
    if _infinite_losses(product, asked.target.value if asked.target.for_epsilon else Fraction(1)):
        end = math.inf if asked.target.for_epsilon else Fraction(1)
        return Proof(Enclosure(end, end, "infinite losses"), "closed form")
    summed = _summed(product, asked)
    if summed is not None:
        return summed
    if not asked.target.for_epsilon:
        gaussian = as_gaussian(product)
        if gaussian is not None and negligible(gaussian, asked.target.value):
            return asked.between(product, refine=False)
    if not plannable(product, asked.target.value):
        return asked.between(product)
    if nearly_full_batch(product):
        found = asked.between(product)
        if _relative_width(found) <= max(asked.tolerance, _ACCEPTED):
            return found
    if asked.tolerance < DEFAULT_TOLERANCE or asked.accuracy > ACCURACY:
        return None
    most = _groups_for(product, asked)
    wider = replace(asked, tolerance=max(asked.tolerance, _ACCEPTED), accuracy=_GROUPED_ACCURACY)
    return None if most is None else by_groups(product, most, lambda few: _proven(few, wider))


def _summed(product: Product, asked: _Question) -> Proof | None:
    """The sum over few outcomes, or over one other release's losses beside Gaussian ones, if narrow as a lattice's."""
    by_outcomes, beside = (
        (epsilon_by_outcomes, epsilon_beside) if asked.target.for_epsilon else (delta_by_outcomes, delta_beside)
    )
    try:
        if has_few_outcomes(product):
            found = by_outcomes(product, asked.target.value, asked.tolerance)
        elif lies_beside(product):
            found = beside(product, asked.target.value, max(asked.tolerance, _BESIDE_AIM))
        else:
            return None
    except (Declined, NotCertified):
        return None
    return found if _relative_width(found) <= _ACCEPTED else None


def _infinite_losses(product: Product, delta: Fraction) -> bool:
    """Whether P(some loss is infinite) is proven to exceed δ, or to be 1: then no ε suffices, or δ(ε) = 1."""
    with working(_CLOSED_FORM_PRECISION):
        exponent = arb(0)
        for pair, count in product:
            if has_closed_form(((pair, 1),)):
                one = certainly_infinite(pair)
                if one >= 1:
                    return True
                exponent += count * (-one).log1p()
        return bool(-exponent.expm1() > ball(delta))


def _groups_for(product: Product, asked: _Question) -> int | None:
    """How many groups of levels fit into the time of one question; None where all levels do."""
    if len(product) <= _MANY:
        return None
    gaussian = as_gaussian(product)
    if gaussian is None:
        return None if len(product) <= _LATTICE_LEVELS else _LATTICE_GROUPS
    few = as_gaussian(between(product, _FEWEST_GROUPS).dearer)
    assert few is not None
    try:
        each = _LAW + _NODES * _frequencies(few, asked)
    except Declined:  # no plain contour, and no cheap one
        each = _EXACT_WORK // _MANY
    return None if len(product) * each <= _EXACT_WORK else max(_FEWEST_GROUPS, _GROUPED_WORK // (2 * each))


def _frequencies(few: GaussianProduct, asked: _Question) -> int:
    """How many frequencies a plain contour for few laws takes, roughly."""
    target = asked.target.value
    log_delta = math.log(target.numerator) - math.log(target.denominator) if asked.target.for_epsilon else None
    epsilon = None if asked.target.for_epsilon else float(target)
    landscape, saddle = survey(few, 1.0, math.log(ACCURACY), log_delta, epsilon)
    return plain_draft(few, landscape, saddle, ACCURACY).frequencies


def _epsilon_between(product: Product, delta: Fraction, *, refine: bool = True) -> Proof:
    """Bounds from closed forms and, if doubles can plan it, Chernoff's."""
    gaussian = as_gaussian(product)
    if gaussian is None:
        return _epsilon_by_basic(product, delta)
    found = epsilon_between(gaussian, delta)
    low, high = Fraction(found.exact_lower), Fraction(found.exact_upper)
    method = found.method
    if refine and plannable(product, delta):
        floor = low
        for _ in range(20):
            middle = (floor + high) / 2
            if contour_at_most(gaussian, middle, delta):
                high, method = middle, f"{found.method} and Chernoff bound"
            else:
                floor = middle
    return Proof(Enclosure(low, high, method, found.precision), "bounds")


def _delta_between(product: Product, epsilon: Fraction, *, refine: bool = True) -> Proof:
    """The same for δ(ε)."""
    gaussian = as_gaussian(product)
    if gaussian is None:
        return _delta_by_basic(product, epsilon)
    found = delta_between(gaussian, epsilon)
    high = Fraction(found.exact_upper)
    if refine and plannable(product, epsilon):
        with contextlib.suppress(Declined, NotCertified):  # what there is stands
            high = min(high, chernoff_bound(gaussian, epsilon, quick_log_delta(gaussian, float(epsilon), False)))
    return Proof(Enclosure(min(Fraction(found.exact_lower), high), high, found.method, found.precision), "bounds")


def _epsilon_by_basic(product: Product, delta: Fraction) -> Proof:
    """What is left of other pairs where the lattice declines: the dearest release below, basic composition above.

    Each release at δ/T, T of them: Σ ε_i(δ/T) suffices at δ (Dwork & Roth 2014, Theorem 3.16).
    """
    total = sum(count for _, count in product)
    low, high = Fraction(0), Fraction(0)
    for pair, count in product:
        single: Product = ((pair, 1),)
        lower = _closed_form_epsilon(single, delta).enclosure.exact_lower
        upper = _closed_form_epsilon(single, delta / total).enclosure.exact_upper
        if isinstance(lower, float) or isinstance(upper, float):  # an infinite loss is likelier than δ/T
            raise NotCertified(f"at δ = {brief(delta)} not even basic composition of these releases is finite")
        low, high = max(low, lower), high + count * upper
    return Proof(Enclosure(low, high, "single release and basic composition"), "bounds")


def _delta_by_basic(product: Product, epsilon: Fraction) -> Proof:
    """The same for δ(ε): the dearest release below, each release at ε/T above."""
    total = sum(count for _, count in product)
    low, high = Fraction(0), Fraction(0)
    for pair, count in product:
        if not has_closed_form(((pair, 1),)):
            return Proof(Enclosure(Fraction(0), Fraction(1), "no bound"), "bounds")
        low = max(low, ball_end(closed_form_delta(pair, epsilon)[0], "down"))
        high += count * ball_end(closed_form_delta(pair, epsilon / total)[0], "up")
    return Proof(Enclosure(low, max(low, min(high, Fraction(1))), "single release and basic composition"), "bounds")


def _closed_form_epsilon(product: Product, delta: Fraction, tolerance: float = _CLOSED_FORM_WIDTH) -> Proof:
    _require_closed_form(product)
    pair = product[0][0]
    if isinstance(pair, FourPoints) and pair.delta == delta:  # δ(ε') = δ from ε' = ε on, and more below: a tie, exactly
        return Proof(Enclosure.exactly(pair.epsilon, "closed form"), "closed form")
    with working(_CLOSED_FORM_PRECISION):
        certain = certainly_infinite(pair)
        if certain > ball(delta):
            return Proof(Enclosure(math.inf, math.inf, "closed form", _CLOSED_FORM_PRECISION), "closed form")
        if not certain < ball(delta):
            raise NotCertified(f"δ = {brief(delta)} cannot be told from the probability that the loss is infinite")
    low, high = closed_form_epsilon(pair, delta, min(tolerance, _CLOSED_FORM_WIDTH))
    return Proof(Enclosure(low, high, "closed form", _CLOSED_FORM_PRECISION), "closed form")


def _closed_form_delta(product: Product, epsilon: Fraction, tolerance: float) -> Proof:
    _require_closed_form(product)
    value, precision = closed_form_delta(product[0][0], epsilon, max(64, math.ceil(-math.log2(tolerance)) + 8))
    return Proof(Enclosure.from_balls(value, value, "closed form", precision).within(0, 1), "closed form")


def _require_closed_form(product: Product) -> None:
    if not has_closed_form(product):
        raise NotCertified("there is no closed form for several subsampled releases; use another route")


def _first_good(product: Product, asked: _Question) -> Proof:
    """The contour's answer if it is narrow enough, else the lattice's, else the narrower of the two."""
    gaussian, route = as_gaussian(product), asked.route
    if gaussian is None and route == "contour":
        raise NotCertified("the contour integral needs an analytic density, which these pairs do not have")
    enough = _enough(asked.tolerance, _lattice_aim(product) if gaussian is None else _ACCEPTED)
    found: list[Proof] = []
    reasons: list[str] = []
    if gaussian is not None and route in ("auto", "contour"):
        contour = contour_epsilon if asked.target.for_epsilon else contour_delta
        try:
            found.append(contour(gaussian, asked.target.value, asked.accuracy))
            if _relative_width(found[0]) <= enough or route == "contour":
                return found[0]
        except Declined as reason:
            reasons.append(f"contour: {reason}")
    if route in ("auto", "lattice"):
        bounds = epsilon_bounds if asked.target.for_epsilon else delta_bounds

        def lattice(width: float, left: Work, kept: list[Proof]) -> Proof:
            return bounds(product, asked.target.value, tolerance=width, work=left, kept=kept)

        widths = sorted({enough, max(enough, _ACCEPTED), max(enough, _LOOSE)})
        every = route == "auto" or is_limited()
        found += _by_lattice(widths, lattice, asked.work or Work(), reasons, every=every)
    if not found:
        raise NotCertified("no route could prove an answer (" + "; ".join(reasons) + ")")
    return min(found, key=_relative_width)


def _enough(tolerance: float, accepted: float) -> float:
    """The default tolerance is a wish that only the contour can grant: where it does not, ``accepted`` must do."""
    return tolerance if tolerance > DEFAULT_TOLERANCE else accepted


def _by_lattice(
    widths: list[float],
    lattice: Callable[[float, Work, list[Proof]], Proof],
    work: Work,
    reasons: list[str],
    every: bool,
) -> list[Proof]:
    """What a lattice proves: the first width that it reaches, and what attempts at narrower ones gave (``every`` one).

    Where time is limited, the widest comes first.

    Raises:
        TimeIsUp: The limit passed before anything was proven.
    """
    found: list[Proof] = []
    kept: list[Proof] = []
    for width in reversed(widths) if is_limited() else widths:
        try:
            found.append(lattice(width, work, kept))
        except TimeIsUp:
            if not found + kept:
                raise
            break
        except Declined as reason:
            reasons.append(f"lattice to {width:g}: {reason}")
            if any(_relative_width(each) <= widths[-1] for each in kept):
                break
            work.reserve()
        else:
            if not is_limited():
                break
    return found + [each for each in kept if every or _relative_width(each) <= widths[-1]]


def _lattice_aim(product: Product) -> float:
    """A width that the lattice reaches in about a second; laws of several draws take ten times as long to cut."""
    if len(product) > _MANY:
        return _ACCEPTED
    draws = (getattr(pair, "draws", None) for pair, _ in product)
    return _LATTICE_AIM if all(each is None or each.slots == 1 for each in draws) else 10 * _LATTICE_AIM


def _relative_width(proof: Proof) -> float:
    upper = proof.enclosure.exact_upper
    if upper == 0:
        return 0.0
    return to_float((upper - proof.enclosure.exact_lower) / upper, "up")
