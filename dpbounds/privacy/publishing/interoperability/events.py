"""Event trees of dp-accounting, read and written.

An event says what ran, but not under which neighbouring relation; its numbers are doubles. Reading is exact wherever
the event's own parameters are ours. Writing rounds what no double holds to the safe side (noise down, rates and ρ up).
The parameters are those that the docstrings of dp-accounting define, in 0.6.0 and in its repository in August 2026,
which has four events more; events of other versions, and subclasses, are refused by name. The table of all events is in
``docs/names.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import exact, positive_integer, to_float
from dpbounds.expressions.working import working
from dpbounds.privacy import mechanisms
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.core import listed
from dpbounds.privacy.mechanisms.refusals import refuse
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.values import at_least_zero, positive, probability

if TYPE_CHECKING:
    from dp_accounting import DpEvent, NeighboringRelation

_PRECISION = 192
_ROUNDING = Fraction(1, 2**40)  # largest distance from 1 of the sum of an event's probabilities, in doubles

# of dp-accounting's ``NeighboringRelation``: what each is called here
_RELATIONS = {
    "ADD_OR_REMOVE_ONE": Relation.ADD_OR_REMOVE_ONE,
    "REPLACE_ONE": Relation.REPLACE_ONE,
    "REPLACE_SPECIAL": Relation.ZERO_OUT_ONE,
}

_REFUSED = {
    "SingleEpochTreeAggregationDpEvent": "tree-aggregation",
    "RepeatAndSelectDpEvent": "repeat-and-select",
}

_UNREADABLE = {
    "UnsupportedDpEvent": "the event says that what ran is not described",
    "DpEvent": "the bare base class describes nothing",
    "RandomAllocationDpEvent": "write RandomlyAllocated(mechanism, steps, participations) for each epoch",
}

_UNWRITABLE: dict[type[Mechanism], str] = {
    mechanisms.UniformBall: "there is no event with noise on a ball, and none that stands for its (0, δ) guarantee",
    mechanisms.AboveThreshold: "there is no event for it; it satisfies ZCDP(epsilon**2 / 2, relation=...)",
    mechanisms.RenyiDP: "there is no event for a Rényi guarantee at finitely many orders",
    mechanisms.GaussianDP: "there is no event for it; Gaussian(noise_stddev=1, sensitivity=mu) spends the same",
    mechanisms.ProfileDP: "there is no event for points of a profile; to_privacy_loss_distribution writes them",
    mechanisms.MatrixMechanism: "there is no event for correlated noise; without samples it spends what one Gaussian "
    "release does, with the noise divided by its sensitivity",
    mechanisms.TruncatedPoisson: "the event for truncated samples knows one Gaussian release only",
    mechanisms.RandomlyAllocated: "there is no event for steps that are allocated in secret",
    mechanisms.BallsInBins: "there is no event for steps that are allocated in secret",
    mechanisms.InParallel: "there is no event for blocks of a partition; under add-or-remove-one write the block that "
    "spends most",
}


def from_dp_event(event: DpEvent, relation: str | Relation | NeighboringRelation | None = None) -> Mechanism:
    """Return the mechanism that an event of dp-accounting describes.

    Args:
        event: An event of dp-accounting, with its events inside.
        relation: The relation under which a given guarantee (``ZCDpEvent``, ``EpsilonDeltaDpEvent``), or the
            sensitivity of scores (``ExponentialMechanismDpEvent``), holds, or dp-accounting's name of it
            (REPLACE_SPECIAL is ``zero-out-one``). Other events do not need it, and no event contains it.

    Returns:
        The mechanism, with the event's doubles taken as the exact binary numbers that they hold. The ε of randomised
        response, ln(1 + k(1-p)/p), is rounded up to a double. An event without a release is left out of a composition;
        alone it is ``ApproximateDP(0, 0)``, under the relation or else under add-or-remove-one.

    Raises:
        UnsupportedMechanism: One of the events has no proven analysis, or no guarantee (no noise, or non-private); the
            message names it, with the reason and an alternative.
        InvalidValue: A parameter is out of its domain, the relation of a given guarantee is missing, or this is not an
            event.
        DpboundsError: dp-accounting is not installed.

    >>> import dp_accounting as dpa
    >>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
    >>> step = dpa.PoissonSampledDpEvent(0.25, dpa.GaussianDpEvent(2.0))
    >>> training = from_dp_event(dpa.SelfComposedDpEvent(step, 1000))
    >>> training == PoissonSampled(Gaussian(2), "1/4") ** 1000
    True
    """
    declared = None if relation is None else as_our_relation(relation)
    found = read_event(event, declared)
    if found is None:  # under add-or-remove-one, and hence, a record being removed and another one added, replace-one
        return mechanisms.ApproximateDP(0, 0, relation=declared or Relation.ADD_OR_REMOVE_ONE)
    if isinstance(found, Unprotected):
        raise UnsupportedMechanism(f"{found.reason}: it has no guarantee, and every ε is exceeded")
    return found


def to_dp_event(mechanism: Mechanism, relation: str | Relation | NeighboringRelation | None = None) -> DpEvent:
    """Return the event of dp-accounting that describes a mechanism.

    Args:
        mechanism: A mechanism for which there is an event.
        relation: The relation under which the event will be accounted for, or dp-accounting's name of it. Needed for a
            guarantee (ZCDP, PureDP, ApproximateDP, ExponentialMechanism), which must have been declared under that
            relation, and for noise that is given with its final sensitivity, because the event has a noise multiplier.
            If given, mechanisms without a proven analysis under it raise an error.

    Returns:
        The event. Noise is rounded down to a double, and rates, ρ and other privacy parameters up, so that the event
        never spends less (for the rate of a truncated Poisson sample this is not proven: use a double).
        ``from_dp_event`` returns the same mechanism if its numbers are doubles, except that the ε of randomised
        response may be a few units in the last place larger, that noise has a noise multiplier, and that the dimension
        of Laplace noise is lost.

    Raises:
        UnsupportedMechanism: There is no such event, or nothing is proven under the relation.
        InvalidValue: The relation is needed and missing, or not the declared one.
        DpboundsError: dp-accounting is not installed.
    """
    library = _events_of_dp_accounting()
    asked = None if relation is None else as_our_relation(relation)
    if asked is not None:
        neighbour_classes(mechanism, asked)
    return _Writer(library, asked).write(mechanism)


def as_our_relation(relation: str | Relation | NeighboringRelation) -> Relation:
    """Our relation of that name, or of dp-accounting's; ``InvalidValue`` where there is none."""
    from dp_accounting import NeighboringRelation

    if isinstance(relation, NeighboringRelation):
        if relation.name not in _RELATIONS:
            raise InvalidValue("relation", relation.name, "one of " + ", ".join(_RELATIONS))
        return _RELATIONS[relation.name]
    return as_relation(relation)


def as_their_relation(relation: Relation) -> NeighboringRelation:
    """Return the relation as dp-accounting has it."""
    from dp_accounting import NeighboringRelation

    return next(NeighboringRelation[name] for name, ours in _RELATIONS.items() if ours is relation)


@dataclass(frozen=True, slots=True)
class Unprotected:
    """The reading of an event without a guarantee: every ε is exceeded, for each δ below 1."""

    reason: str


def read_event(event: DpEvent, relation: Relation | None) -> Mechanism | Unprotected | None:
    """Return the mechanism that an event describes; None if its release does not depend on the records.

    The rule is one for all events. A step on no records (rate 0, batches of size 0) releases nothing, whatever runs on
    them, and so does an answer that no record moves. Any other step without noise is unprotected.

    Raises:
        UnsupportedMechanism: No analysis is proven here for one of the events.
        InvalidValue: A parameter is out of its domain, a black box comes without its relation, or this is not an event.
        DpboundsError: dp-accounting is not installed.
    """
    library = _events_of_dp_accounting()
    if not isinstance(event, library.DpEvent):
        raise InvalidValue("event", event, "an event of dp_accounting")
    return _Reader(library, relation).read(event)


def _events_of_dp_accounting() -> ModuleType:
    try:
        from dp_accounting import dp_event
    except ModuleNotFoundError:
        raise DpboundsError(
            "dp-accounting is not installed; install it with: pip install 'dpbounds[interoperability]'"
        ) from None
    module: ModuleType = dp_event
    return module


_NOISES: dict[str, type[mechanisms.Gaussian | mechanisms.Laplace]] = {
    "GaussianDpEvent": mechanisms.Gaussian,
    "LaplaceDpEvent": mechanisms.Laplace,
}


class _Reader:
    """One pass over an event tree; None stands for an event without a release."""

    def __init__(self, library: ModuleType, relation: Relation | None) -> None:
        self.library = library
        self.relation = relation

    def read(self, event: DpEvent) -> Mechanism | Unprotected | None:
        name = type(event).__name__
        if type(event) is not getattr(self.library, name, None):
            raise UnsupportedMechanism(
                f"{name} is not one of dp-accounting's own events, and is not supported; use those, or a mechanism "
                "of dpbounds"
            )
        match name:
            case "NoOpDpEvent":
                return None
            case "NonPrivateDpEvent":
                return Unprotected(name)
            case "GaussianDpEvent" | "LaplaceDpEvent":
                kind = _NOISES[name]
                return _noisy(event, event.noise_multiplier == 0, lambda: kind(event.noise_multiplier))
            case "RandomizedResponseDpEvent":
                return self._randomized_response(event)
            case "ZCDpEvent":
                return self._zcdp(event)
            case "EpsilonDeltaDpEvent":
                return self._epsilon_delta(event)
            case "ExponentialMechanismDpEvent":
                # losses span ε, as where the weights are exp(ε u / 2Δu) for scores of sensitivity Δu
                return self._selection(event, mechanisms.ExponentialMechanism)
            case "PermuteAndFlipDpEvent":
                return self._selection(event, mechanisms.PermuteAndFlip)
            case "DiscreteLaplaceDpEvent":
                return _discrete_laplace(event)
            case "DiscreteGaussianDpEvent":
                return _discrete_gaussian(event)
            case "MixtureOfGaussiansDpEvent":
                return _mixture(event)
            case "ComposedDpEvent":
                return _composed((self.read(part), 1) for part in event.events)
            case "SelfComposedDpEvent":
                return _composed([(self.read(event.event), positive_integer(event.count, "count"))])
            case "PoissonSampledDpEvent":
                return self._poisson(event)
            case "SampledWithoutReplacementDpEvent" | "SampledWithReplacementDpEvent":
                return self._fixed_size(event, name)
            case "TruncatedSubsampledGaussianDpEvent":
                return _truncated(event)
            case "SingleEpochTreeAggregationDpEvent" if event.noise_multiplier == 0:
                return _without_noise(event)
        if name in _REFUSED:
            refuse(_REFUSED[name], name)
        raise UnsupportedMechanism(f"{name}: {_UNREADABLE.get(name, 'an unknown event')}")

    def _randomized_response(self, event: DpEvent) -> Mechanism | Unprotected | None:
        p, k = exact(event.noise_parameter, "noise_parameter"), positive_integer(event.num_buckets, "num_buckets")
        if not 0 <= p <= 1:
            raise InvalidValue("noise_parameter", event.noise_parameter, "a number between 0 and 1")
        if k == 1 or p == 1:  # the answer does not depend on the record
            return None
        if p == 0:
            return Unprotected("RandomizedResponseDpEvent with noise_parameter 0 publishes the record itself")
        with working(_PRECISION):
            epsilon = ball(k * (1 - p) / p).log1p()
            return mechanisms.RandomizedResponse(to_float(ball_end(epsilon, "up"), "up"), k)

    def _zcdp(self, event: DpEvent) -> Mechanism | Unprotected | None:
        if math.inf in (event.rho, event.xi):
            return Unprotected(f"ZCDpEvent with rho {event.rho} and xi {event.xi}")
        rho, xi = exact(event.rho, "rho"), exact(event.xi, "xi")
        if xi < 0 or rho < 0:
            raise InvalidValue("rho, xi", (event.rho, event.xi), "at least 0, both of them")
        if rho == 0:
            return (
                None if xi == 0 else mechanisms.PureDP(xi, relation=self._declared("ZCDpEvent"))
            )  # D_λ <= ξ for all λ
        return mechanisms.ZCDP(rho, relation=self._declared("ZCDpEvent"), xi=xi)

    def _epsilon_delta(self, event: DpEvent) -> Mechanism | Unprotected | None:
        delta = probability(event.delta, "delta")
        if delta == 1 or event.epsilon == math.inf:
            return Unprotected(f"EpsilonDeltaDpEvent with epsilon {event.epsilon} and delta {event.delta}")
        epsilon = at_least_zero(event.epsilon)
        if epsilon == delta == 0:
            return None
        return mechanisms.ApproximateDP(epsilon, delta, relation=self._declared("EpsilonDeltaDpEvent"))

    def _selection(
        self, event: DpEvent, kind: type[mechanisms.ExponentialMechanism | mechanisms.PermuteAndFlip]
    ) -> Mechanism | Unprotected | None:
        name = type(event).__name__
        if event.epsilon == math.inf:
            return Unprotected(f"{name} with epsilon inf")
        epsilon = at_least_zero(event.epsilon)
        return None if epsilon == 0 else kind(epsilon, relation=self._declared(name))

    def _declared(self, name: str) -> Relation:
        if self.relation is None:
            raise InvalidValue(
                "relation", None, f"the relation under which the guarantee of {name} was established", "give it"
            )
        return self.relation

    def _poisson(self, event: DpEvent) -> Mechanism | Unprotected | None:
        rate, inner = _rate(event), self.read(event.event)
        if inner is None or rate == 0:
            return None
        return inner if isinstance(inner, Unprotected) else mechanisms.PoissonSampled(inner, rate)

    def _fixed_size(self, event: DpEvent, name: str) -> Mechanism | Unprotected | None:
        inner = self.read(event.event)
        if inner is None or event.sample_size == 0:
            return None
        if isinstance(inner, Unprotected):
            return inner
        scheme = (
            mechanisms.SampledWithoutReplacement
            if name == "SampledWithoutReplacementDpEvent"
            else mechanisms.SampledWithReplacement
        )
        return scheme(inner, event.sample_size, event.source_dataset_size)


def _without_noise(event: DpEvent) -> Unprotected:
    return Unprotected(f"{type(event).__name__} without noise")


def _noisy(
    event: DpEvent, without: bool, mechanism: Callable[[], Mechanism], *, moved: bool = True
) -> Mechanism | Unprotected | None:
    """Return the mechanism that adds noise to a sum; None if no record moves it, unprotected without noise."""
    if not moved:
        return None
    return _without_noise(event) if without else mechanism()


def _rate(event: DpEvent) -> Fraction:
    rate = exact(event.sampling_probability, "sampling_probability")
    if not 0 <= rate <= 1:
        raise InvalidValue("sampling_probability", event.sampling_probability, "a number between 0 and 1")
    return rate


def _truncated(event: DpEvent) -> Mechanism | Unprotected | None:
    rate, most = _rate(event), event.truncated_batch_size
    return _noisy(
        event,
        event.noise_multiplier == 0,
        lambda: mechanisms.TruncatedPoisson(
            mechanisms.Gaussian(event.noise_multiplier), rate, most, event.dataset_size
        ),
        moved=rate > 0 and most != 0,
    )


def _discrete_laplace(event: DpEvent) -> Mechanism | Unprotected | None:
    """The noise parameter is 1/b: at infinity there is no noise. At 0 there is no such distribution, nor a proof."""
    parameter = event.noise_parameter
    return _noisy(
        event,
        parameter in (0, math.inf),
        lambda: mechanisms.DiscreteLaplace(1 / positive(parameter, "noise_parameter"), event.sensitivity),
        moved=event.sensitivity != 0,
    )


def _discrete_gaussian(event: DpEvent) -> Mechanism | Unprotected | None:
    return _noisy(
        event,
        event.sigma == 0,
        lambda: mechanisms.DiscreteGaussian(event.sigma, event.sensitivity, dimension=event.dimension),
        moved=event.sensitivity != 0,
    )


def _mixture(event: DpEvent) -> Mechanism | Unprotected | None:
    """The mixture; if the doubles' sum is not 1, the largest norm gets the rest, or the smallest loses the surplus."""
    norms, chances = (
        listed(event.sensitivities, "sensitivities", "numbers"),
        listed(event.sampling_probs, "sampling_probs", "numbers"),
    )
    if len(norms) != len(chances) or not norms:
        raise InvalidValue("sampling_probs", event.sampling_probs, "as many numbers as sensitivities, one at least")
    read = sorted(
        (at_least_zero(norm, "sensitivity"), probability(chance, "sampling_prob"))
        for norm, chance in zip(norms, chances, strict=True)
    )
    lacking = 1 - sum((chance for _, chance in read), Fraction(0))
    if abs(lacking) > _ROUNDING:
        raise InvalidValue("sampling_probs", event.sampling_probs, "numbers that sum to 1")
    kept = [*read, (read[-1][0], max(lacking, Fraction(0)))]
    surplus = max(-lacking, Fraction(0))
    for index, (norm, chance) in enumerate(kept):
        taken = min(chance, surplus)
        kept[index], surplus = (norm, chance - taken), surplus - taken
    return _noisy(
        event,
        event.standard_deviation == 0,
        lambda: mechanisms.MixtureOfGaussians(event.standard_deviation, kept),
        moved=any(norm > 0 for norm, chance in kept if chance),
    )


def _composed(
    parts: Iterable[tuple[Mechanism | Unprotected | None, int]],
) -> Mechanism | Unprotected | None:
    released: list[tuple[Mechanism, int]] = []
    unprotected: Unprotected | None = None
    for found, count in parts:
        if isinstance(found, Unprotected):
            unprotected = unprotected or found
        elif found is not None:
            released.append((found, count))
    return unprotected or (mechanisms.Composed(tuple(released)) if released else None)


class _Writer:
    """One pass over a mechanism."""

    def __init__(self, library: ModuleType, relation: Relation | None) -> None:
        self.library = library
        self.relation = relation

    def write(self, mechanism: Mechanism) -> DpEvent:
        events = self.library
        match mechanism:
            case mechanisms.Gaussian(noise_multiplier=multiplier, noise_stddev=noise, sensitivity=sensitivity):
                return events.GaussianDpEvent(self._per_record(multiplier, noise, sensitivity))
            case mechanisms.Laplace(noise_multiplier=multiplier, noise_scale=noise, sensitivity=sensitivity):
                return events.LaplaceDpEvent(self._per_record(multiplier, noise, sensitivity))
            case mechanisms.RandomizedResponse(epsilon=epsilon, options=k):
                with working(_PRECISION):
                    p = k / (ball(epsilon).exp() + k - 1)
                    return events.RandomizedResponseDpEvent(to_float(ball_end(p, "down"), "down"), k)
            case mechanisms.ZCDP(rho=rho, xi=xi):
                self._demand_declared(mechanism)
                return events.ZCDpEvent(to_float(rho, "up"), to_float(xi or Fraction(0), "up"))
            case mechanisms.PureDP(epsilon=epsilon):
                return self._black_box(mechanism, epsilon, Fraction(0))
            case mechanisms.ApproximateDP(epsilon=epsilon, delta=delta):
                return self._black_box(mechanism, epsilon, delta)
            case mechanisms.ExponentialMechanism(loss_range=loss_range):
                event = self._newer("ExponentialMechanismDpEvent", mechanism)
                self._demand_declared(mechanism)
                return event(to_float(loss_range, "up"))
            case mechanisms.PermuteAndFlip(largest_loss=largest_loss):
                event = self._newer("PermuteAndFlipDpEvent", mechanism)
                self._demand_declared(mechanism)
                return event(to_float(largest_loss, "up"))
            case mechanisms.DiscreteLaplace(noise_scale=scale, bound=bound):
                return events.DiscreteLaplaceDpEvent(to_float(1 / scale, "up"), bound)
            case mechanisms.DiscreteGaussian():
                return self._discrete_gaussian(mechanism)
            case mechanisms.MixtureOfGaussians(noise_stddev=stddev, norms=norms):
                return self._mixture(stddev, norms)
            case mechanisms.PoissonSampled(mechanism=inner, sample_rate=rate):
                self._demand_bounds(inner)
                return events.PoissonSampledDpEvent(to_float(rate, "up"), self.write(inner))
            case mechanisms.SampledWithoutReplacement(mechanism=inner, batch_size=b, dataset_size=n):
                return events.SampledWithoutReplacementDpEvent(n, b, self.write(inner))
            case mechanisms.SampledWithReplacement(mechanism=inner, batch_size=b, dataset_size=n):
                return events.SampledWithReplacementDpEvent(n, b, self.write(inner))
            case mechanisms.TruncatedPoisson(
                mechanism=mechanisms.Gaussian(noise_multiplier=multiplier, sensitivity=None),
                sample_rate=rate,
                max_batch_size=b,
                dataset_size=n,
            ):
                return events.TruncatedSubsampledGaussianDpEvent(
                    n, to_float(rate, "up"), b, self._per_record(multiplier, None, None)
                )
            case mechanisms.Composed(parts=((only, count),)):
                return events.SelfComposedDpEvent(self.write(only), count)
            case mechanisms.Composed(parts=parts):
                return events.ComposedDpEvent([self._repeated(part, count) for part, count in parts])
        reason = _UNWRITABLE.get(type(mechanism), "no event is known for it")
        raise UnsupportedMechanism(f"{type(mechanism).__name__} as an event of dp-accounting: {reason}")

    def _demand_bounds(self, inner: Mechanism) -> None:
        """A final distance under replace-one bounds no record by itself, as noise of an event on a sample does."""
        if self.relation is not None and self.relation.sensitivity_factor > 1:
            for part in inner.nested():
                if getattr(part, "sensitivity", None) is not None:
                    raise UnsupportedMechanism(
                        f"{type(part).__name__} with its final distance on a Poisson sample under replace-one has no "
                        "event: an event's noise is per unit of the per-record bound; give noise_multiplier"
                    )

    def _black_box(self, mechanism: Mechanism, epsilon: Fraction, delta: Fraction) -> DpEvent:
        event = self._newer("EpsilonDeltaDpEvent", mechanism)
        self._demand_declared(mechanism)
        return event(to_float(epsilon, "up"), to_float(delta, "up"))

    def _discrete_gaussian(self, mechanism: mechanisms.DiscreteGaussian) -> DpEvent:
        """Smaller σ is not proven to spend more: it must be a double."""
        event = self._newer("DiscreteGaussianDpEvent", mechanism)
        given = mechanism.noise_stddev
        near = math.sqrt(mechanism.variance) if given is None else to_float(given, "up")
        if exact(near) ** 2 != mechanism.variance:
            what = f"the square root of {mechanism.variance}" if given is None else str(given)
            raise UnsupportedMechanism(
                f"DiscreteGaussian as an event: noise_stddev, {what}, is not a double, and its neighbours are other "
                f"distributions; take {near!r}"
            )
        return event(near, to_float(mechanism.bound, "up"), mechanism.dimension)

    def _mixture(self, stddev: Fraction, norms: Sequence[tuple[Fraction, Fraction]]) -> DpEvent:
        """Probabilities rounded down, except that of the largest norm, which gets the rest."""
        below = [to_float(chance, "down") for _, chance in norms[:-1]]
        last = to_float(1 - sum(map(exact, below), Fraction(0)), "up")
        event = self.library.MixtureOfGaussiansDpEvent
        return event(to_float(stddev, "down"), [to_float(norm, "up") for norm, _ in norms], [*below, last])

    def _demand_declared(self, mechanism: Any) -> None:
        """Events do not carry the relation for which a guarantee was declared: it must be the one asked for."""
        if self.relation is not mechanism.relation:
            kind = type(mechanism).__name__
            allowed = f"{mechanism.relation}, for which this {kind} was declared"
            raise InvalidValue("relation", self.relation, allowed, "events carry none")

    def _newer(self, name: str, mechanism: Mechanism) -> Any:
        """Return an event that dp-accounting 0.6.0 does not have."""
        if not hasattr(self.library, name):
            raise UnsupportedMechanism(
                f"{type(mechanism).__name__} as an event: the installed dp-accounting has no {name}, as its repository "
                "has since 2026; install a newer one"
            )
        return getattr(self.library, name)

    def _repeated(self, mechanism: Mechanism, count: int) -> DpEvent:
        event = self.write(mechanism)
        return event if count == 1 else self.library.SelfComposedDpEvent(event, count)

    def _per_record(self, multiplier: Fraction | None, noise: Fraction | None, sensitivity: Fraction | None) -> float:
        """Return the noise per unit of the per-record bound, s/C, rounded down."""
        if multiplier is None:
            assert noise is not None
            assert sensitivity is not None
            if self.relation is None:
                raise InvalidValue(
                    "relation",
                    None,
                    "the relation under which the sensitivity is the final distance",
                    "an event wants the noise per unit of the per-record bound",
                )
            multiplier = self.relation.sensitivity_factor * noise / sensitivity
        return to_float(multiplier, "down")
