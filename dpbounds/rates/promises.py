"""The library's orders of growth, as they can be laid side by side: per metric, with what each of them assumes.

A statement that bounds a stronger quantity bounds a weaker one, too: the α of a second-order stationary point is a
bound on the gradient's norm. Upper bounds that need a special shape of the risk (PL, quasar-convex, linear models, ...)
are left out unless that shape is assumed; a lower bound counts where its hard examples belong to the class in question.
Who is left out is listed with the reason, so that nothing vanishes silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from sympy import Pow, Rational, Symbol

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import delta, failure_probability, quantity
from dpbounds.rates.orders import ONE, Order
from dpbounds.rates.spaces import Space, standard
from dpbounds.theorems import assumptions as known
from dpbounds.theorems.assumptions import Assumption
from dpbounds.theorems.record import Metric, Rate, Side, Status, Theorem
from dpbounds.theorems.registry import library
from dpbounds.theorems.standing import standing

# Metric -> the metrics whose upper bounds bound it, too.
STRONGER = {
    Metric.GRADIENT_NORM: (Metric.SOSP,),
    Metric.POPULATION_GRADIENT_NORM: (Metric.POPULATION_SOSP,),
}
# Assumptions that single out a special class of problems; all others are regularity that is taken for granted.
_SPECIAL = (
    known.KL,
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
ACCEPTED = (Status.PROVED, Status.PROVED_HERE, Status.REPAIRED, Status.CLAIMED)


@dataclass(frozen=True, slots=True)
class Promise:
    """One order of growth of the library.

    Attributes:
        id: The statement's id.
        order: The order, with the quantities that print hides set to 1.
        standing: What is known of the statement, and of what it rests on.
        shape: The special class of problems it is for, if any.
    """

    id: str
    order: Order
    standing: Status
    shape: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Promises:
    """What can be compared, and what cannot.

    Attributes:
        metric: What is bounded.
        uppers: Upper bounds.
        lowers: Lower bounds.
        left_out: (id, reason) of every other statement about the metric.
    """

    metric: Metric
    uppers: tuple[Promise, ...]
    lowers: tuple[Promise, ...]
    left_out: tuple[tuple[str, str], ...]


@cache
def shapes() -> dict[str, Assumption]:
    """The special classes that can be assumed, by name."""
    every = [value for value in vars(known).values() if isinstance(value, Assumption)]
    return {one.name: one for one in every if _is_special(one)}


def _is_special(assumption: Assumption) -> bool:
    return any(assumption.implies(special) for special in _SPECIAL)


def promises(
    metric: str | Metric,
    *,
    space: Space | None = None,
    statuses: Iterable[str | Status] = ACCEPTED,
    assuming: Sequence[str] = (),
    values: Mapping[str, Fraction] | None = None,
) -> Promises:
    """The orders of growth for a metric.

    Args:
        metric: What is bounded.
        space: The axes on which they are to be compared.
        statuses: Which statements count, by what is known of them and of what they rest on.
        assuming: Names of special classes of problems that are assumed (see ``shapes``).
        values: Values of quantities that stand in exponents, such as ``kl_exponent``.

    Raises:
        InvalidValue: There is no such metric, status, class or quantity.
    """
    wanted = as_metric(metric)
    accepted = {as_status(one) for one in statuses}
    given = tuple(as_shape(name) for name in assuming)
    fixed = dict(_fixed(name, value, space or standard()) for name, value in (values or {}).items())
    uppers: list[Promise] = []
    lowers: list[Promise] = []
    left_out: list[tuple[str, str]] = []
    for theorem in library():
        sides = sides_of(theorem, wanted)
        rate = theorem.rate
        if not sides or rate is None:
            continue
        obstacle = _unfit(theorem, rate, accepted, space or standard(), fixed)
        reasons = {side: obstacle or elsewhere(theorem, side, given) for side in sides}
        left_out += [(theorem.id, reason) for reason in dict.fromkeys(reasons.values()) if reason]
        fit = {side for side, reason in reasons.items() if not reason}
        if not fit:
            continue
        promise = Promise(theorem.id, order_of(rate, fixed), standing(theorem), _shape_names(theorem))
        if Side.UPPER in fit:
            uppers.append(promise)
        if Side.LOWER in fit:  # 1 is always reached: no lower bound is above it
            lowers.append(replace(promise, order=promise.order.minimum(Order.single(ONE))))
    return Promises(wanted, tuple(uppers), tuple(lowers), tuple(left_out))


def _fixed(name: str, value: Fraction, space: Space) -> tuple[Symbol, Fraction]:
    """A quantity with the value that it is to have everywhere."""
    record = quantity(name)
    if record.symbol in space.axes:
        raise InvalidValue(name, value, f"no value: {record.name} is an axis of the regions")
    if not record.domain.contains(value):
        raise InvalidValue(name, value, str(record.domain))
    return record.symbol, value


def as_metric(name: str | Metric) -> Metric:
    """The metric of that name, if the library has an upper bound for it; else ``InvalidValue``."""
    try:
        return Metric(name)
    except ValueError:
        raise InvalidValue("metric", name, "one of " + ", ".join(sorted(metrics()))) from None


def as_status(name: str | Status) -> Status:
    """The status of that name, or ``InvalidValue``."""
    try:
        return Status(name)
    except ValueError:
        raise InvalidValue("status", name, "one of " + ", ".join(Status)) from None


def as_shape(name: str) -> Assumption:
    """The special class of problems of that name, or ``InvalidValue``."""
    if not isinstance(name, str) or name not in shapes():
        raise InvalidValue("assuming", name, "one of " + ", ".join(sorted(shapes())))
    return shapes()[name]


@cache
def metrics() -> tuple[str, ...]:
    """The metrics for which the library has an upper bound's order of growth."""
    return tuple(
        sorted({str(one.metric) for one in library() if one.rate is not None and one.side in (Side.UPPER, Side.TIGHT)})
    )


def order_of(rate: Rate, values: Mapping[Symbol, Fraction] | None = None) -> Order:
    """A rate as an order of growth in n, d, ε and logarithms; what print hides is 1; ``values`` are put in."""
    expression = rate.expression.subs(
        {symbol: Rational(value.numerator, value.denominator) for symbol, value in (values or {}).items()}
    )
    hidden = [symbol for symbol in rate.hides if symbol not in (delta, failure_probability)]
    return Order.of(expression, logs_hidden=rate.logs_hidden or len(hidden) < len(rate.hides)).without(hidden)


def sides_of(theorem: Theorem, metric: Metric) -> set[Side]:
    """On which sides a statement bounds a metric, its own or a weaker one; on none if it quotes others."""
    if theorem.id.split("/")[-1].startswith(("table-", "figure-")):
        return set()  # they quote other statements
    own: set[Side] = {theorem.side} if theorem.side else set()
    if theorem.side is Side.TIGHT:
        own = {Side.UPPER, Side.LOWER}
    if theorem.metric is metric:
        return own
    return own & {Side.UPPER} if theorem.metric in STRONGER.get(metric, ()) else set()


def _shape_names(theorem: Theorem) -> tuple[str, ...]:
    return tuple(one.name for one in theorem.assumptions if _is_special(one))


def elsewhere(theorem: Theorem, side: Side, given: tuple[Assumption, ...]) -> str:
    """Why a statement says nothing about the problems in question; empty if it does."""
    special = [one for one in theorem.assumptions if _is_special(one)]
    if side is Side.UPPER:
        missing = [one.name for one in special if not any(other.implies(one) for other in given)]
        return "assumes " + ", ".join(missing) if missing else ""
    unknown = [other.name for other in given if not any(one.implies(other) for one in special)]
    return "as a lower bound: its hard examples are not known to be " + ", ".join(unknown) if unknown else ""


def _unfit(theorem: Theorem, rate: Rate, accepted: set[Status], space: Space, fixed: Mapping[Symbol, Fraction]) -> str:
    """Why a statement cannot be laid beside others at all; empty if it can."""
    known_of_it = standing(theorem)
    if known_of_it not in accepted:
        own = "" if known_of_it is theorem.status else " (through what it relies on)"
        return f"{known_of_it}{own}"
    tied = {symbol for symbol, monomial in space.tied if monomial.powers}
    hidden = [symbol.name for symbol in rate.hides if symbol in space.axes or symbol in tied]
    if hidden:
        return "print hides how it depends on " + ", ".join(hidden)
    unknown = {symbol for power in rate.expression.atoms(Pow) for symbol in power.exp.free_symbols} - set(fixed)
    if unknown:
        return (
            "needs a value of " + ", ".join(sorted(symbol.name for symbol in unknown)) + ", which stands in exponents"
        )
    try:
        order = order_of(rate, fixed)
        for monomial in order.monomials:
            space.form(monomial)
    except InvalidValue as error:
        return str(error)
    bound = {symbol.name for symbol in (*space.axes, *(symbol for symbol, _ in space.tied))}
    local = {record.name for record in theorem.local}
    free = sorted(symbol.name for symbol in order.symbols if symbol.name in (_GROWING | local) - bound)
    return f"depends on {', '.join(free)}, which is no axis here" if free else ""


_GROWING = {"dataset_size", "dimension", "epsilon", "rank", "gaussian_width", "steps", "batch_size", "candidates",
            "excess_risk", "inverse_temperature", "step_size", "stationarity", "kl_exponent",
            "dual_norm_square",
            "step_epsilon", "rho"}  # fmt: skip
