"""The library's orders of growth in comparable form: per metric, with their assumptions.

Orders are those that the paper states, and those that follow from bounds with constants (``growth``). A statement that
bounds a stronger quantity bounds a weaker one, too: the α of a second-order stationary point is a bound on the
gradient's norm. Upper bounds that need a special shape of the risk (PL, quasar-convex, linear models, ...) are left out
unless that shape is assumed; a lower bound counts where its hard examples belong to the class in question. Conditions
on n, d and ε are regions; outside of them there is no guarantee. Omitted bounds are listed with the reason, so that
nothing vanishes silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce

from sympy import And, Ge, Gt, Le, Lt, Max as Larger, Or, Pow, Rational, Symbol, ceiling, floor
from sympy.logic.boolalg import Boolean

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import (
    by_name,
    dataset_size as records,
    delta,
    dimension as parameters,
    epsilon as privacy_loss,
    failure_probability,
    quantity,
)
from dpbounds.rates.cones import Cone, outside
from dpbounds.rates.growth import Prescriptions, growth
from dpbounds.rates.orders import ONE, Order
from dpbounds.rates.prescriptions import BUDGET, sources
from dpbounds.rates.regimes import Regimes, Restricted, compare, regimes
from dpbounds.rates.spaces import Space, standard
from dpbounds.theorems import assumptions as known
from dpbounds.theorems.assumptions import Assumption
from dpbounds.theorems.record import Bound, Claim, Metric, Parameter, Part, Rate, Side, Status, Theorem
from dpbounds.theorems.registry import library, on_metrics
from dpbounds.theorems.standing import standing, standing_in_words

# What an algorithm is for; about other metrics there is nothing to compare.
GOALS = (
    Metric.GRADIENT_NORM,
    Metric.POPULATION_GRADIENT_NORM,
    Metric.PROJECTED_GRADIENT_NORM,
    Metric.FRANK_WOLFE_GAP,
    Metric.SOSP,
    Metric.POPULATION_SOSP,
    Metric.EXCESS_EMPIRICAL_RISK,
    Metric.EXCESS_POPULATION_RISK,
)
GRADIENTS = (Metric.GRADIENT_NORM, Metric.POPULATION_GRADIENT_NORM, Metric.SOSP, Metric.POPULATION_SOSP)
RISKS = (Metric.EXCESS_EMPIRICAL_RISK, Metric.EXCESS_POPULATION_RISK)
# Metric -> the metrics whose upper bounds bound it, too.
STRONGER = {
    Metric.GRADIENT_NORM: (Metric.SOSP,),
    Metric.POPULATION_GRADIENT_NORM: (Metric.POPULATION_SOSP,),
}
# Assumptions that single out a special class of problems; all others are regularity that is taken for granted.
_SPECIAL = (
    known.KL,
    known.PL_NEAR_THE_START,
    known.QUASAR_CONVEX,
    known.DISSIPATIVE,
    known.STRICT_SADDLES,
    known.REALISABLE,
    known.SYMMETRIC_SET,
    known.POLYTOPE,
    known.LIPSCHITZ_L1,
    known.GENERALISED_LINEAR,
    known.MINIMAX,
)
# Assumptions in which lengths are measured otherwise: what is hard at unit scale there need not be hard at unit scale
# elsewhere, so that such a lower bound does not pass on to a larger class.
OTHER_NORMS = (known.LIPSCHITZ_L1, known.SMOOTH_L1, known.L1_GEOMETRY)
ACCEPTED = (Status.PROVED, Status.PROVED_HERE, Status.REPAIRED, Status.CLAIMED)
DECIDING = (records, parameters, privacy_loss, delta, quantity("rho").symbol)  # a floor may not hide them
# The names that records give to bounds on what the algorithm returns; other bounds are about something on the way.
FINAL = ("bound", "tuned", "prescribed", "private", "simple")
# What another private step has to reach first; its budget would come on top.
FROM_ELSEWHERE = ("excess_risk", "stationarity")
ON_THE_WAY = "it bounds something on the way, not what an algorithm returns"
NO_FORMULA = "it has no formula"
COUNTED = "it says how many records suffice"
# Algorithms whose bounds are about the best of all iterates, which they do not choose.
SEARCHES = ("ganesh-liu-oh-thakurta-2023/algorithm-1",)
BEST_ITERATE = "a building block: about iterates among which it does not choose; that takes budget on top"


@dataclass(frozen=True, slots=True)
class Promise:
    """One order of growth of the library.

    Attributes:
        id: The statement's id; with the part's name, if that is not the main one.
        order: The order, with the quantities that the paper hides set to 1, and where it holds.
        standing: The status of the statement, including those that it relies on.
        shape: The special class of problems it is for, if any.
        pure: Reached with (or, for a lower bound, binding for) ε-DP alone.
        explicit: Derived from a bound with constants.
    """

    id: str
    order: Restricted
    standing: Status
    shape: tuple[str, ...]
    pure: bool
    explicit: bool


@dataclass(frozen=True, slots=True)
class Promises:
    """The orders that can be compared, and those that cannot.

    Attributes:
        lowers: Lower bounds for every (ε, δ)-DP algorithm.
        pure_lowers: Lower bounds for ε-DP algorithms only.
        left_out: (id, reason) of every other statement about the metric.
    """

    metric: Metric
    uppers: tuple[Promise, ...]
    lowers: tuple[Promise, ...]
    pure_lowers: tuple[Promise, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def advice(self) -> tuple[str, ...]:
        """Options that would make some of the omitted bounds comparable."""
        found = []
        for _, reason in self.left_out:
            if reason.startswith("assumes "):
                found += [f"--assuming '{name}'" for name in [reason.removeprefix("assumes ").replace(", ", ",")]]
            elif reason == "depends on gaussian_width, which is not an axis here":
                found.append("--axis width")
            elif reason == "depends on rank, which is not an axis here":
                found.append("--axis rank")
            elif reason.startswith("needs a value of "):
                name = reason.removeprefix("needs a value of ").split(",")[0]
                found.append(f"--with {name}=...")
            elif reason.split()[0] in (Status.DISPUTED, Status.CONJECTURED):
                found.append(f"--status {','.join((*ACCEPTED, reason.split()[0]))}")
        return tuple(dict.fromkeys(found))


@cache
def shapes() -> dict[str, Assumption]:
    """Return the special classes that can be assumed, by name."""
    every = [value for value in vars(known).values() if isinstance(value, Assumption)]
    every += [one for theorem in library() for one in theorem.assumptions]
    return {one.name: one for one in every if is_special(one)}


def is_special(assumption: Assumption) -> bool:
    """Return whether an assumption singles out a special class of problems."""
    return any(assumption.implies(special) for special in _SPECIAL)


def promises(
    metric: str | Metric,
    *,
    space: Space | None = None,
    statuses: Iterable[str | Status] = ACCEPTED,
    assuming: Sequence[str] = (),
    values: Mapping[str, Fraction] | None = None,
    statements: Sequence[Theorem] | None = None,
) -> Promises:
    """Return the orders of growth for a metric.

    Args:
        metric: The bounded quantity.
        space: The axes on which they are to be compared.
        statuses: The allowed statuses, including those of statements that it relies on.
        assuming: Names of special classes of problems that are assumed (see ``shapes``).
        values: Values of quantities in exponents, such as ``kl_exponent``.
        statements: The statements to compare; by default the library.

    Raises:
        InvalidValue: There is no such metric, status, class or quantity.
    """
    wanted = as_metric(metric)
    accepted = {as_status(one) for one in statuses}
    given = tuple(as_shape(name) for name in assuming)
    where = space or standard()
    fixed = dict(_fixed(name, value, where) for name, value in (values or {}).items())
    uppers: list[Promise] = []
    lowers: list[Promise] = []
    pure_lowers: list[Promise] = []
    left_out: list[tuple[str, str]] = []
    every = candidates(wanted) if statements is None else statements
    for theorem in every:
        if theorem.metric is wanted and not claims_of(theorem, wanted) and theorem.side and not quotes(theorem):
            left_out.append((theorem.id, ON_THE_WAY if _has_formula(theorem) else NO_FORMULA))
        if theorem.reaches is not None and theorem.reaches in (wanted, *STRONGER.get(wanted, ())):
            left_out.append((theorem.id, _counted(theorem, every)))
        found: dict[Side, list[Promise]] = {Side.UPPER: [], Side.LOWER: []}
        reasons: list[str] = []
        for part, side in claims_of(theorem, wanted):
            reason = obstacle(theorem, part, side, accepted) or elsewhere(theorem, part, side, given)
            if not reason:
                try:
                    found[side].append(_promise(theorem, part, side, order_in(theorem, part, side, where, fixed)))
                except NotComparable as error:
                    reason = str(error)
                except InvalidValue as error:
                    reason = str(error) if isinstance(part, Rate) else "no order of growth follows from its constants"
            reasons += [reason] if reason else []
        if found[Side.UPPER]:
            uppers.append(_joined(found[Side.UPPER]))
        for one in found[Side.LOWER]:
            (pure_lowers if one.pure else lowers).append(one)
        if not found[Side.UPPER] and not found[Side.LOWER]:
            left_out += [(theorem.id, reason) for reason in dict.fromkeys(reasons)]
        elif any(isinstance(part, Rate) for part, _ in claims_of(theorem, wanted)):
            left_out += [(theorem.id, f"in part: {reason}") for reason in dict.fromkeys(reasons)]
    return Promises(wanted, tuple(uppers), tuple(lowers), tuple(pure_lowers), tuple(left_out))


def compared(known: Promises, space: Space | None = None) -> Regimes:
    """Return the regions in which each promise is best; none where there is nothing to compare."""
    if not known.uppers:
        return Regimes((), space or standard())
    return regimes(
        {one.id: one.order for one in known.uppers},
        {one.id: one.order for one in known.lowers},
        space,
        pure=[one.id for one in known.uppers if one.pure],
        pure_lowers={one.id: one.order for one in known.pure_lowers},
    )


class NotComparable(Exception):
    """Why a statement cannot be laid beside others."""


def _fixed(name: str, value: Fraction, space: Space) -> tuple[Symbol, Fraction]:
    """Return a quantity with the value that it is to have everywhere."""
    record = quantity(name)
    if record.symbol in space.axes:
        raise InvalidValue(name, value, f"free, as {record.name} is an axis of the regions")
    if not record.domain.contains(value):
        raise InvalidValue(name, value, str(record.domain))
    return record.symbol, value


def as_metric(name: str | Metric) -> Metric:
    """Return the metric of that name, if results about it can be compared; else ``InvalidValue``."""
    wanted = next((one for one in GOALS if one == name), None)
    if wanted is None or not any(claims_of(theorem, wanted) for theorem in candidates(wanted)):
        raise InvalidValue("metric", name, "one of " + ", ".join(metrics()), "about others there is nothing to compare")
    return wanted


def as_status(name: str | Status) -> Status:
    """Return the status of that name, or ``InvalidValue``."""
    try:
        return Status(name)
    except ValueError:
        raise InvalidValue("status", name, "one of " + ", ".join(Status)) from None


def as_shape(name: str) -> Assumption:
    """Return the special class of problems of that name, or ``InvalidValue``."""
    if not isinstance(name, str) or name not in shapes():
        raise InvalidValue("assuming", name, "one of " + ", ".join(sorted(shapes())))
    return shapes()[name]


@cache
def metrics() -> tuple[str, ...]:
    """Return the metrics about which the library has upper bounds that can be compared."""
    claimed = {one for theorem in library() for one in GOALS if claims_of(theorem, one)}
    return tuple(sorted(map(str, claimed)))


# --- Which parts of a statement bound a metric ------------------------------------------------------------------------


def candidates(metric: Metric) -> tuple[Theorem, ...]:
    """Return the library's statements on a metric, on stronger ones, and on numbers of records that reach them."""
    return on_metrics(metric, *STRONGER.get(metric, ()), Metric.SAMPLE_SIZE)


def claims_of(theorem: Theorem, metric: Metric) -> tuple[tuple[Part, Side], ...]:
    """Return the parts that bound a metric, the statement's own or a weaker one, and on which side.

    Of orders the main one, and those that declare a side of their own; of bounds with constants those on what the
    algorithm returns, and all lower bounds that are measured as the metric is. None of a table: it quotes others.
    """
    if quotes(theorem):
        return ()
    if theorem.metric is not metric and theorem.metric not in STRONGER.get(metric, ()):
        return ()
    found = []
    for part in theorem.parts:
        side = theorem.side_of(part)
        if side is None or isinstance(part, Parameter):
            continue
        if isinstance(part, Rate) and part is not theorem.rate and part.side is None:
            continue
        if isinstance(part, Bound) and not measures(part, theorem.metric):
            continue
        sides = (Side.UPPER, Side.LOWER) if side is Side.TIGHT else (side,)
        for one in sides:
            if one is Side.LOWER and not (theorem.metric is metric and is_of(part, metric)):
                continue
            if one is Side.UPPER and isinstance(part, Bound) and part.name not in FINAL:
                continue
            found.append((part, one))
    return tuple(found)


def quotes(theorem: Theorem) -> bool:
    """Return whether a statement is a table or a figure: they repeat other statements."""
    return theorem.id.split("/")[-1].startswith(("table-", "figure-"))


def _has_formula(theorem: Theorem) -> bool:
    return any(isinstance(one, Bound | Rate) for one in theorem.parts)


def _counted(theorem: Theorem, statements: Sequence[Theorem]) -> str:
    """Why a number of records is not laid beside orders in n, and which statement has its order, if one does."""
    orders = [one.id for one in statements if one.metric is theorem.reaches and theorem.id in one.relies_on]
    return f"{COUNTED}; its order in n is {', '.join(orders)}" if orders else f"{COUNTED}; no order in n is stated"


def measures(part: Part, metric: Metric) -> bool:
    """Return whether a part is measured as the metric is."""
    unit = (part.unit.loss, part.unit.length)  # a bound at a fixed δ scales otherwise with the samples
    if metric in GRADIENTS:
        return unit == (1, -1)
    return unit == (1, 0) if metric in (*RISKS, Metric.FRANK_WOLFE_GAP) else True


def is_of(part: Part, metric: Metric) -> bool:
    """Whether a part is about the metric itself: a printed rate that takes a unit as 1 is, as far as can be seen."""
    return (isinstance(part, Rate) and bool(part.hides)) or measures(part, metric)


def sides_of(theorem: Theorem, metric: Metric) -> set[Side]:
    """On which sides a statement bounds a metric, its own or a weaker one; on none if it quotes others."""
    return {side for _, side in claims_of(theorem, metric)}


def elsewhere(theorem: Theorem, part: Part, side: Side, given: tuple[Assumption, ...]) -> str:
    """Why a part does not apply to the problems in question; empty if it does."""
    assumed = theorem.assumptions_of(part)
    special = [one for one in assumed if is_special(one)]
    if side is Side.UPPER:
        missing = [one.name for one in special if not any(other.implies(one) for other in given)]
        return "assumes " + ", ".join(missing) if missing else ""
    measured = [one for one in assumed if any(one.implies(norm) for norm in OTHER_NORMS)]
    foreign = [one.name for one in measured if not any(other.implies(one) for other in given)]
    if foreign:
        return "as a lower bound: its scale is that of " + ", ".join(foreign)
    unknown = [other.name for other in given if not any(one.implies(other) for one in special)]
    return "as a lower bound: its hard examples are not known to be " + ", ".join(unknown) if unknown else ""


def obstacle(theorem: Theorem, part: Part, side: Side, accepted: set[Status]) -> str:
    """Why a part counts for nothing, for any problems: its standing, or the quantity it bounds; empty if it counts."""
    if standing(theorem, part) not in accepted:
        return standing_in_words(theorem, part)
    if isinstance(part, Bound) and side is Side.UPPER:
        if theorem.algorithm in SEARCHES:
            return BEST_ITERATE
        if theorem.privacy is None and not _needs(theorem, part) & set(BUDGET):
            return "a building block: no privacy budget is tied to it"
    return ""


def needs_another(theorem: Theorem, part: Part) -> bool:
    """Return whether a part assumes a result that another private step has to reach first."""
    return not _needs(theorem, part).isdisjoint(FROM_ELSEWHERE)


def _needs(theorem: Theorem, part: Part) -> set[str]:
    """Return the names that a part needs after substitution of all prescriptions."""
    return sources(part.expression, {symbol.name: formula for symbol, formula in prescriptions(theorem).items()})


def prescriptions(theorem: Theorem) -> Prescriptions:
    """Return the formulas that a statement prescribes with constants, rounded as it says, by the quantity's symbol."""
    own = {one.name: one for one in theorem.local}
    found = {}
    for part in theorem.parts:
        record = own.get(part.name) or by_name().get(part.name)
        if not isinstance(part, Parameter) or part.up_to_constant or record is None or part.name in BUDGET:
            continue
        formula = part.expression
        if record.domain.whole:
            formula = Larger(1, floor(formula)) if "round down" in part.meaning else ceiling(formula)
        found[record.symbol] = formula
    return found


# --- Orders, and where they hold ----------------------------------------------------------------------------------


def order_of(rate: Rate, values: Mapping[Symbol, Fraction] | None = None) -> Order:
    """A rate as an order of growth in n, d, ε and logarithms, with ``values`` put in; hidden quantities are 1."""
    expression = rate.expression.subs(
        {symbol: Rational(value.numerator, value.denominator) for symbol, value in (values or {}).items()}
    )
    hidden = [symbol for symbol in rate.hides if symbol not in (delta, failure_probability)]
    return Order.of(expression, logs_hidden=rate.logs_hidden or len(hidden) < len(rate.hides)).without(hidden)


def order_in(
    theorem: Theorem,
    part: Part,
    side: Side,
    space: Space,
    fixed: Mapping[Symbol, Fraction],
    *,
    at_face_value: bool = False,
) -> Restricted:
    """Return a part's order in a space, and where it holds; at face value, hidden quantities are 1, even axes.

    Raises:
        InvalidValue: Its formula, or a condition, has no order of growth.
        NotComparable: It depends on what is not an axis, or hides how it depends on one.
    """
    hidden = _hidden_in(part, space)
    if hidden and not at_face_value:
        raise NotComparable("the published order hides how it depends on " + ", ".join(hidden))
    unknown = {symbol for power in part.expression.atoms(Pow) for symbol in power.exp.free_symbols} - set(fixed)
    if unknown and isinstance(part, Rate):
        names = ", ".join(sorted(symbol.name for symbol in unknown))
        raise NotComparable(f"needs a value of {names}, which is in an exponent")
    inner = prescriptions(theorem)
    order = order_of(part, fixed) if isinstance(part, Rate) else growth(part.expression, side, inner)
    for monomial in order.monomials:
        space.form(monomial)
    axes = {symbol.name for symbol in (*space.axes, *(symbol for symbol, _ in space.tied))}
    local = {record.name for record in theorem.local}
    free = sorted(symbol.name for symbol in order.symbols if symbol.name in (_GROWING | local) - axes)
    if free:
        raise NotComparable(f"depends on {', '.join(free)}, which is not an axis here")
    if side is Side.LOWER:  # 1 is always reached: no lower bound is above it
        order = order.minimum(Order.single(ONE))
    conditions = [one.holds for one in (*theorem.conditions, *part.conditions)]
    region = region_of(conditions, space, inner if isinstance(part, Bound) else {})
    if not region:
        raise NotComparable("its conditions leave no room here")
    return Restricted(order, region)


def _hidden_in(part: Part, space: Space) -> list[str]:
    if not isinstance(part, Rate):
        return []
    tied = {symbol for symbol, monomial in space.tied if monomial.powers}
    return [symbol.name for symbol in part.hides if symbol in space.axes or symbol in tied]


def region_of(conditions: Iterable[Boolean | bool], space: Space, prescribed: Prescriptions) -> tuple[Cone, ...]:
    """Convex regions that do not overlap, in which conditions hold up to constants, logarithms, and δ small enough.

    Raises:
        InvalidValue: A condition is not a comparison of orders of growth.
    """
    region: tuple[Cone, ...] = (space.whole,)
    for one in conditions:
        wanted = _where(one, space, prescribed)
        region = tuple(both for left in region for right in wanted if (both := left.meet(right)) is not None)
    return region


def _where(condition: Boolean | bool, space: Space, prescribed: Prescriptions) -> tuple[Cone, ...]:
    match condition:
        case And():
            return region_of(condition.args, space, prescribed)
        case Or():
            found: list[Cone] = []
            for one in condition.args:
                for cone in _where(one, space, prescribed):
                    found += outside(cone, found)
            return tuple(found)
        case Le() | Lt():
            small, large = condition.args
        case Ge() | Gt():
            large, small = condition.args
        case _:
            return (space.whole,) if bool(condition) else ()
    axes = {*space.axes, *(symbol for symbol, _ in space.tied), *prescribed}
    if small == delta or not (small.free_symbols | large.free_symbols) & axes:
        return (space.whole,)  # δ is small; constants are what they are
    verdict = compare(growth(small, Side.UPPER, prescribed), growth(large, Side.LOWER, prescribed), space)
    return (*verdict.smaller, *verdict.equal)


def is_pure(theorem: Theorem, part: Part, side: Side) -> bool:
    """Return whether a part is reached with ε-DP alone; for a lower bound, whether it binds ε-DP algorithms only."""
    promised = theorem.privacy is not None and theorem.privacy.claim is Claim.PURE
    return part.under is Claim.PURE or (promised and side is Side.UPPER)


def _promise(theorem: Theorem, part: Part, side: Side, order: Restricted) -> Promise:
    return Promise(
        theorem.name_of(part),
        order,
        standing(theorem, part),
        tuple(one.name for one in theorem.assumptions_of(part) if is_special(one)),
        is_pure(theorem, part, side),
        isinstance(part, Bound),
    )


def _joined(found: Sequence[Promise]) -> Promise:
    """One statement's upper bounds as one: the main order; of several bounds with constants the least.

    In place of the main order one for a class of problems that is asked about, and more special than the statement's.
    """
    rates = [one for one in found if not one.explicit]
    if rates:
        return next((one for one in rates if set(one.shape) > set(rates[0].shape)), rates[0])
    first = found[0]
    same = [one.order.order for one in found if one.order.region == first.order.region]
    least = Restricted(reduce(Order.minimum, same), first.order.region)
    return replace(first, id=first.id.split(": ")[0], order=least)


# Quantities that are chosen, or grow with the data: an order that contains one of them cannot be compared with others.
_GROWING = {
    "dataset_size", "dimension", "epsilon", "rank", "gaussian_width", "steps", "batch_size", "candidates",
    "excess_risk", "inverse_temperature", "step_size", "stationarity", "kl_exponent", "dual_norm_square",
    "step_epsilon", "rho", "net_radius", "noise_stddev", "hessian_noise_stddev", "difference_noise_stddev", "radius",
    "noise_multiplier", "anchor_period", "drift_threshold", "sample_rate",
}  # fmt: skip
