"""Choice of the accounting method for a product of pairs without a closed form: the first one with a good proof.

The contour integral gives a dozen digits if the loss has an analytic density. A Fourier sum on the common lattice gives
as many if all losses lie on lattices. The lattice with exact integers serves where both decline. Two routes that answer
the same question must overlap.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.time_limit import TimeIsUp, is_limited
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.questions import (
    ACCEPTED,
    CLOSED_FORM_PRECISION,
    DEFAULT_TOLERANCE,
    STOPPED,
    WORK,
    Question,
    by_closed_form,
    relative_width,
)
from dpbounds.privacy.accountants.simple_bounds import of_many, of_moments, of_parts, of_releases
from dpbounds.privacy.pairs.pairs import GaussianProduct, Product, Tagged, as_gaussian, holds_shuffling
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.closed_forms import ball, certainly_infinite, has_closed_form
from dpbounds.privacy.routes.common_lattice import MOST_WORK, delta_on_lattice, epsilon_on_lattice
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
from dpbounds.privacy.routes.drawn_steps import (
    METHOD,
    delta_ends,
    epsilon_ends,
    negligible,
    plannable,
)
from dpbounds.privacy.routes.grouping import between as between_groups, by_groups
from dpbounds.privacy.routes.largest_losses import delta_by_largest_losses, epsilon_by_largest_losses
from dpbounds.privacy.routes.lattice import delta_bounds, delta_bounds_at, epsilon_bounds
from dpbounds.privacy.routes.lattice.integer_measures import Work
from dpbounds.privacy.routes.outcomes import delta_by_outcomes, epsilon_by_outcomes, has_few_outcomes
from dpbounds.privacy.values import Target

_LATTICE_AIM = 1e-5  # relative width aimed at where there is no contour integral, so that the lattice is tried first
_CLONES_AIM = 1e-4  # relative width aimed at for clones that hide the record: the parameters of the clones matter more
_ALLOCATED_AIMS = {"delta": 3e-4, "epsilon": 4e-5}  # relative widths aimed at for random allocation, by the given value
_ALLOCATED_FINEST = 1e-5  # smallest relative width aimed at for random allocation
_LOOSE = 10 * ACCEPTED  # relative width up to which a lattice's answer is accepted
_NOTHING = Fraction(1, 2**4000)  # absolute width at which a δ of any size is narrow
_WIDE = 0.03  # relative width from which simple bounds are tried
_CURVE_SHARE = 30  # one of many points on a curve gets this share of the work of one Fourier sum
_MANY = 32  # distinct pairs, above which their joint work is estimated
_LATTICE_LEVELS, _LATTICE_GROUPS = 100, 48  # distinct pairs for a lattice at ``ACCEPTED``: once, or for each end
_NODES, _LAW = 250, 70_000  # nodes of a distribution; node-frequency products that take as long as the rest
_EXACT_WORK, _GROUPED_WORK = 70_000_000, 25_000_000  # products: some ten seconds, and four for both bounds of groups
_GROUPED_ACCURACY = 1e-7  # relative width of δ: groups of levels are wider
_FEWEST_GROUPS = 16
_NOT_PLANNABLE = "these numbers are out of range for this method in double precision; use route='auto'"


def shared_deltas(product: Product, epsilons: Sequence[Fraction], tolerance: float) -> Mapping[Fraction, Proof]:
    """Return δ(ε) by the method of :func:`proven`, if it serves many ε at once."""
    if _infinite_losses(product, Fraction(1)):
        return {}
    if has_few_outcomes(product) or len(product) > _MANY:
        return {}
    able = [epsilon for epsilon in epsilons if plannable(product, epsilon)]
    gaussian = as_gaussian(product)
    if gaussian is None:
        at_once = _deltas_on_lattice(product, epsilons, tolerance)
        rest, width = [epsilon for epsilon in able if epsilon not in at_once], _enough(tolerance, _lattice_aim(product))
        return at_once | (delta_bounds_at(product, rest, tolerance=width, work=WORK) if rest else {})
    found = contour_deltas(gaussian, [epsilon for epsilon in able if not negligible(gaussian, epsilon)])
    enough = tolerance if tolerance < DEFAULT_TOLERANCE else _enough(tolerance, ACCEPTED)
    return {epsilon: proof for epsilon, proof in found.items() if relative_width(proof) <= enough}


def proven(product: Product, asked: Question) -> Proof:
    """Return the narrowest enclosure that the methods reach."""
    if holds_shuffling(product):
        from dpbounds.privacy.routes.shuffling.enclosed import proven as proven_of_shuffled

        return proven_of_shuffled(product, asked.target, lambda few, target: _without_secret(few, target, asked))
    if asked.route != "auto":
        if not plannable(product, asked.target.value):
            raise NotCertified(_NOT_PLANNABLE)
        return _first_good(product, asked)
    try:
        found = _without_all_levels(product, asked) or _first_good(product, asked)
    except NotCertified as reason:
        return by_simple_bounds(product, asked, reason)
    return found if relative_width(found) <= _WIDE else _within_simple_bounds(product, asked, [found])


def by_simple_bounds(product: Product, asked: Question, reason: NotCertified) -> Proof:
    """Return the simple bounds, for use after every method has declined; raise its error if these decline, too."""
    try:
        return _within_simple_bounds(product, asked, [])
    except NotCertified:
        raise reason from None


def _within_simple_bounds(product: Product, asked: Question, found: list[Proof]) -> Proof:
    """Combine as many of the simple bounds as it takes to be narrow; they may take as long again.

    Raises:
        NotCertified: Nothing is found, and no bound either.
    """

    def of_part(part: Product, target: Target) -> Proof:
        few = replace(asked, target=target, tolerance=max(asked.tolerance, ACCEPTED), work=Work(WORK))
        return by_closed_form(part, few) or proven(part, few)

    ways: tuple[Callable[[], Proof], ...] = (
        *(() if any(each.route == "bounds" for each in found) else (lambda: _between(product, asked),)),
        lambda: of_moments(product, asked.target),
        lambda: of_many(product, asked.target),
        lambda: of_parts(product, asked.target, of_part),
    )
    for way in ways:
        try:
            found = [_narrowed([*found, way()])]
        except (NotCertified, Declined):
            continue
        except TimeIsUp:
            if not found:
                raise
            break
        is_nothing = not asked.target.for_epsilon and found[0].enclosure.exact_upper <= _NOTHING
        if is_nothing or relative_width(found[0]) <= _WIDE:
            break
    if not found:
        raise NotCertified("no bound holds without a route")
    return found[0]


def _narrowed(found: Sequence[Proof]) -> Proof:
    """Return the intersection of one or two, by the ways of those that give its ends."""
    above = min(found, key=lambda proof: proof.enclosure.exact_upper)
    below = max(found, key=lambda proof: proof.enclosure.exact_lower)
    if above is below:
        return above
    methods = dict.fromkeys(f"{below.enclosure.method} and {above.enclosure.method}".split(" and "))
    precision = max(proof.enclosure.precision for proof in found)
    ends = Enclosure(below.enclosure.exact_lower, above.enclosure.exact_upper, " and ".join(methods), precision)
    return replace(above, enclosure=ends)


def _without_secret(product: Product, target: Target, asked: Question) -> Proof:
    few = replace(asked, target=target, tolerance=max(asked.tolerance, _CLONES_AIM))
    return by_closed_form(product, few) or proven(product, few)


def allocated(
    product: Product, questions: Sequence[Question], prove: Callable[[Product, Question], Proof]
) -> list[Proof]:
    """Prove ε or δ of a product with random allocation by two products without it, which ``prove`` proves.

    The questions differ in their targets alone, all of which are values of δ, or all of ε: they share the two products.
    """
    from dpbounds.privacy.routes.allocation.engine import enclosed

    asked = questions[0]
    aim = _ALLOCATED_AIMS["delta" if asked.on_curve else asked.target.given]  # δ on a curve may be as wide as an ε
    width = max(asked.tolerance, _ALLOCATED_FINEST) if asked.tolerance > DEFAULT_TOLERANCE else aim

    def proven_at(few: Product, target: Fraction, tolerance: float) -> Proof:
        wanted = replace(asked, target=Target(asked.target.given, target), tolerance=tolerance, work=Work(WORK))
        if has_closed_form(few) or asked.route != "auto":
            return prove(few, wanted)
        try:  # hundreds of atoms are neither listed nor summed over a Gaussian
            return prove(few, replace(wanted, route="lattice"))
        except NotCertified:
            return prove(few, wanted)

    def all_proven(few: Product, targets: Sequence[Fraction], tolerance: float) -> list[Proof]:
        shared: Mapping[Fraction, Proof] = {}
        if len(targets) > 1 and not (asked.target.for_epsilon or has_closed_form(few) or asked.route != "auto"):
            able = [target for target in targets if plannable(few, target)]
            shared = delta_bounds_at(few, able, tolerance=tolerance, work=WORK)
        return [shared.get(target) or proven_at(few, target, tolerance) for target in targets]

    targets = [each.target.value for each in questions]
    try:
        return enclosed(product, targets, asked.target.for_epsilon, width, all_proven)
    except Declined as reason:
        raise NotCertified(f"no method could prove an answer ({reason})") from None


def at_once(product: Product, asked: Question) -> Proof:
    """Return the result of closed forms, which takes milliseconds, or a trivial bound."""
    if holds_shuffling(product):
        from dpbounds.privacy.routes.shuffling.enclosed import in_known_order, upper_end_of

        plain = in_known_order(product)
        return upper_end_of(by_closed_form(plain, asked) or at_once(plain, asked))
    try:
        return _between(product, asked, refine=False)
    except (NotCertified, Declined):
        end = math.inf if asked.target.for_epsilon else Fraction(1)
        return Proof(Enclosure(Fraction(0), end, STOPPED), "bounds")


def at_most(product: Product, least: Fraction, target: Target) -> bool:
    """Return whether a quick bound shows that the product spends no more than ``least`` at the target."""
    gaussian = as_gaussian(product)
    if gaussian is None or has_closed_form(product):
        return False
    if not plannable(product, target.value):
        return (epsilon_ends if target.for_epsilon else delta_ends)(gaussian, target.value)[1] <= least
    try:
        if target.for_epsilon:
            return contour_at_most(gaussian, least, target.value)
        return least > 0 and contour_at_most(gaussian, target.value, least)
    except TimeIsUp:
        return False


def in_as_few(product: Product, proof: Proof) -> Product:
    """Return a product that dominates this one, in as few groups as the proof used."""
    groups = proof.parameters.get("groups")
    return between_groups(product, groups).dearer if isinstance(groups, int) else product


def _between(product: Product, asked: Question, *, refine: bool = True) -> Proof:
    """Return bounds by releases, and of Gaussian pairs by drawn steps, for use after every method has declined.

    Where that is wide and doubles can plan it, Chernoff's bound is tried, too.
    """
    gaussian, target = as_gaussian(product), asked.target
    known = of_releases(product, target)
    if gaussian is None:
        return known
    low, high = (epsilon_ends if target.for_epsilon else delta_ends)(gaussian, target.value)
    known = _narrowed([known, Proof(Enclosure(low, high, METHOD), "bounds")])
    if not refine or relative_width(known) <= _WIDE or not plannable(product, target.value):
        return known
    return (_refined_epsilon if target.for_epsilon else _refined_delta)(gaussian, target.value, known)


def _without_all_levels(product: Product, asked: Question) -> Proof | None:
    """Enclose a product without a contour or lattice for all levels, if that is narrow or they cannot plan."""
    if _infinite_losses(product, asked.target.value if asked.target.for_epsilon else Fraction(1)):
        end = math.inf if asked.target.for_epsilon else Fraction(1)
        return Proof(Enclosure(end, end, "infinite losses"), "closed form")
    found = _by_largest_losses(product, asked, asked.tolerance) or _summed(product, asked)
    found = found or _on_lattice(product, asked.target, asked.tolerance) or _of_random_signs(product, asked)
    if found is None and not asked.target.for_epsilon:
        found = _by_largest_losses(product, asked, _LATTICE_AIM / 10)  # narrower than a lattice's answer, and immediate
    if found is not None:
        return found
    if not asked.target.for_epsilon:
        gaussian = as_gaussian(product)
        if gaussian is not None and negligible(gaussian, asked.target.value):
            return _between(product, asked, refine=False)
    if not plannable(product, asked.target.value):
        return _between(product, asked)
    if asked.tolerance < DEFAULT_TOLERANCE or asked.grouped:
        return None
    most = _groups_for(product, asked)
    wider = replace(asked, tolerance=max(asked.tolerance, ACCEPTED), grouped=True)
    return (
        None if most is None else by_groups(product, most, lambda few: by_closed_form(few, wider) or proven(few, wider))
    )


def _by_largest_losses(product: Product, asked: Question, tolerance: float) -> Proof | None:
    """Return bounds by the largest losses: ε near their sum for tiny δ, or δ for ε near it."""
    by_largest_losses = epsilon_by_largest_losses if asked.target.for_epsilon else delta_by_largest_losses
    try:
        found = by_largest_losses(product, asked.target.value)
    except (Declined, NotCertified):
        return None
    ends = found.enclosure
    at_the_edge = not asked.target.for_epsilon and ends.exact_upper - ends.exact_lower <= _NOTHING
    return found if at_the_edge or relative_width(found) <= tolerance else None


def _summed(product: Product, asked: Question) -> Proof | None:
    """Return the sum over few outcomes, if as narrow as a lattice's answer."""
    if not has_few_outcomes(product):
        return None
    by_outcomes = epsilon_by_outcomes if asked.target.for_epsilon else delta_by_outcomes
    try:
        found = by_outcomes(product, asked.target.value, asked.tolerance)
    except (Declined, NotCertified):
        return None
    return found if relative_width(found) <= ACCEPTED else None


def _on_lattice(product: Product, target: Target, tolerance: float, most_work: int = MOST_WORK) -> Proof | None:
    """Return the Fourier sum on the common lattice of all losses, if narrower than the other lattice's answer."""
    on_lattice = epsilon_on_lattice if target.for_epsilon else delta_on_lattice
    try:
        found = on_lattice(product, target.value, tolerance, _lattice_aim(product), most_work)
    except (Declined, NotCertified):
        return None
    return found if relative_width(found) <= _lattice_aim(product) else None


def _of_random_signs(product: Product, asked: Question) -> Proof | None:
    """Return the optimal composition of unlike responses, if narrower than the lattice's answer."""
    parts = [(pair.worst_of, count) for pair, count in product]
    if any(worst is None for worst, _ in parts):
        return None
    from dpbounds.privacy.notions.composition_theorems import OPTIMAL, EpsilonDelta
    from dpbounds.privacy.notions.optimal_composition import optimal_delta, optimal_epsilon

    known = tuple((EpsilonDelta(*worst), count) for worst, count in parts if worst is not None)
    optimal = optimal_epsilon if asked.target.for_epsilon else optimal_delta
    aim = _lattice_aim(product)
    try:
        found = Proof(optimal(known, asked.target.value, aim), OPTIMAL.name)
    except (Declined, NotCertified):
        return None
    return found if relative_width(found) <= aim else None


def _deltas_on_lattice(product: Product, epsilons: Sequence[Fraction], tolerance: float) -> dict[Fraction, Proof]:
    """Return δ(ε) on the common lattice, until one takes long."""
    proofs: dict[Fraction, Proof] = {}
    for epsilon in epsilons:
        found = _on_lattice(product, Target("epsilon", epsilon), tolerance, MOST_WORK // _CURVE_SHARE)
        if found is None:
            break
        proofs[epsilon] = found
    return proofs


def _infinite_losses(product: Product, delta: Fraction) -> bool:
    """Return whether P(some loss is infinite) is proven to exceed δ, or to be 1: then no ε suffices, or δ(ε) = 1."""
    with working(CLOSED_FORM_PRECISION):
        exponent = arb(0)
        for pair, count in product:
            if has_closed_form(((pair, 1),)):
                one = certainly_infinite(pair)
                if one >= 1:
                    return True
                exponent += count * (-one).log1p()
        return bool(-exponent.expm1() > ball(delta))


def _groups_for(product: Product, asked: Question) -> int | None:
    """Return the number of groups of levels for the time of one question; None if all levels fit."""
    if len(product) <= _MANY:
        return None
    gaussian = as_gaussian(product)
    if gaussian is None:
        return None if len(product) <= _LATTICE_LEVELS else _LATTICE_GROUPS
    few = as_gaussian(between_groups(product, _FEWEST_GROUPS).dearer)
    assert few is not None
    try:
        each = _LAW + _NODES * _frequencies(few, asked)
    except Declined:  # no plain contour, and no cheap one
        each = _EXACT_WORK // _MANY
    return None if len(product) * each <= _EXACT_WORK else max(_FEWEST_GROUPS, _GROUPED_WORK // (2 * each))


def _frequencies(few: GaussianProduct, asked: Question) -> int:
    """Estimate the number of frequencies of a plain contour for few distributions."""
    target = asked.target.value
    log_delta = math.log(target.numerator) - math.log(target.denominator) if asked.target.for_epsilon else None
    epsilon = None if asked.target.for_epsilon else float(target)
    landscape, saddle = survey(few, 1.0, math.log(ACCURACY), log_delta, epsilon)
    return plain_draft(few, landscape, saddle, ACCURACY).frequencies


def _refined_epsilon(product: GaussianProduct, delta: Fraction, known: Proof) -> Proof:
    """Lower the upper bound on ε(δ) by Chernoff's bound, where doubles can plan it."""
    low, high = Fraction(known.enclosure.exact_lower), Fraction(known.enclosure.exact_upper)
    floor, method = low, known.enclosure.method
    for _ in range(20):
        middle = (floor + high) / 2
        if contour_at_most(product, middle, delta):
            high, method = middle, f"{known.enclosure.method} and Chernoff bound"
        else:
            floor = middle
    return Proof(Enclosure(min(low, high), high, method), "bounds")


def _refined_delta(product: GaussianProduct, epsilon: Fraction, known: Proof) -> Proof:
    """Return the same for δ(ε)."""
    low, high = Fraction(known.enclosure.exact_lower), Fraction(known.enclosure.exact_upper)
    method = known.enclosure.method
    with contextlib.suppress(Declined, NotCertified):  # the present bound remains
        bound = chernoff_bound(product, epsilon, quick_log_delta(product, float(epsilon), False))
        if bound < high:
            high, method = bound, f"{method} and Chernoff bound"
    return Proof(Enclosure(min(low, high), high, method), "bounds")


def _first_good(product: Product, asked: Question) -> Proof:
    """Return the contour's answer if it is narrow enough, else the lattice's, else the narrower of the two."""
    gaussian, route = as_gaussian(product), asked.route
    if gaussian is None and route == "contour":
        raise NotCertified("the contour integral needs an analytic density, which these pairs do not have")
    enough = _enough(asked.tolerance, _lattice_aim(product) if gaussian is None else ACCEPTED)
    found: list[Proof] = []
    reasons: list[str] = []
    if gaussian is not None and route in ("auto", "contour"):
        contour = contour_epsilon if asked.target.for_epsilon else contour_delta
        try:
            found.append(contour(gaussian, asked.target.value, _GROUPED_ACCURACY if asked.grouped else ACCURACY))
            if relative_width(found[0]) <= enough or route == "contour":
                return found[0]
        except Declined as reason:
            reasons.append(f"contour: {reason}")
    if route in ("auto", "lattice"):
        bounds = epsilon_bounds if asked.target.for_epsilon else delta_bounds

        def lattice(width: float, left: Work, kept: list[Proof]) -> Proof:
            return bounds(product, asked.target.value, tolerance=width, work=left, kept=kept)

        widths = sorted({enough, max(enough, ACCEPTED), max(enough, _LOOSE)})
        every = route == "auto" or is_limited()
        found += _by_lattice(widths, lattice, asked.work or Work(), reasons, every=every)
    if not found:
        raise NotCertified("no method could prove an answer (" + "; ".join(reasons) + ")")
    return min(found, key=relative_width)


def _enough(tolerance: float, accepted: float) -> float:
    """Return the width that is enough: ``accepted`` for the default tolerance, which only the contour can reach."""
    return tolerance if tolerance > DEFAULT_TOLERANCE else accepted


def _by_lattice(
    widths: list[float],
    lattice: Callable[[float, Work, list[Proof]], Proof],
    work: Work,
    reasons: list[str],
    every: bool,
) -> list[Proof]:
    """Return the proofs of a lattice: the first width that it reaches, and those of narrower attempts (``every`` one).

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
            if any(relative_width(each) <= widths[-1] for each in kept):
                break
            work.reserve()
        else:
            if not is_limited():
                break
    return found + [each for each in kept if every or relative_width(each) <= widths[-1]]


def _lattice_aim(product: Product) -> float:
    """Return a width that the lattice reaches in about a second.

    Where sizes of datasets are classes, there are several such products.
    """
    if len(product) > _MANY:
        return ACCEPTED
    if any(isinstance(pair, Tagged) for pair, _ in product):
        return 10 * _LATTICE_AIM
    draws = (getattr(pair, "draws", None) for pair, _ in product)
    return _LATTICE_AIM if all(each is None or each.slots == 1 for each in draws) else 10 * _LATTICE_AIM
