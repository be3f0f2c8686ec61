"""Event trees of dp-accounting, read and written.

An event says what ran, but not under which neighbouring relation; its numbers are doubles. Reading is exact wherever
the event's own parameters are ours. Writing rounds what no double holds to the safe side (noise down, rates and ρ up).
The parameters are those that the docstrings of dp-accounting 0.6.0 define; events of other versions, and subclasses,
are refused by name. The table of all events is in ``docs/names.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import exact, positive_integer, to_float
from dpbounds.expressions.working import working
from dpbounds.privacy import mechanisms
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.refusals import refuse
from dpbounds.privacy.pairs.domination import neighbour_classes
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.routes.closed_forms import ball

if TYPE_CHECKING:
    from dp_accounting import DpEvent

_PRECISION = 192

# (0, 0)-DP under add-or-remove-one and hence, a record being removed and another one added, under replace-one.
_NOTHING = mechanisms.ApproximateDP(0, 0, relation=Relation.ADD_OR_REMOVE_ONE)

_REFUSED = {
    "TruncatedSubsampledGaussianDpEvent": "truncated-poisson",
    "SingleEpochTreeAggregationDpEvent": "tree-aggregation",
    "RepeatAndSelectDpEvent": "repeat-and-select",
    "MixtureOfGaussiansDpEvent": "mixture-of-gaussians",
    "DiscreteLaplaceDpEvent": "discrete-laplace",
    # of later versions
    "DiscreteGaussianDpEvent": "discrete-gaussian",
    "PermuteAndFlipDpEvent": "permute-and-flip",
    "RandomAllocationDpEvent": "random-allocation",
}

_UNREADABLE = {
    "NonPrivateDpEvent": "what ran has no guarantee: every ε is exceeded",
    "UnsupportedDpEvent": "the event says that what ran is not described",
    "DpEvent": "the bare base class describes nothing",
    "EpsilonDeltaDpEvent": "not an event of dp-accounting 0.6, which is read here; write ApproximateDP(epsilon, delta, "
    "relation=...) with the relation for which it was established",
    "ExponentialMechanismDpEvent": "not an event of dp-accounting 0.6, which is read here; write "
    "ExponentialMechanism(epsilon, relation=...) for weights exp(ε u / 2Δu), with the relation for which Δu holds",
}

_UNWRITABLE: dict[type[Mechanism], str] = {
    mechanisms.UniformBall: "there is no event with noise on a ball, and none that stands for its (0, δ) guarantee",
    mechanisms.ExponentialMechanism: "there is no event for it; ZCDP(loss_range**2 / 8, relation=...) is what it "
    "satisfies",
    mechanisms.AboveThreshold: "there is no event for it; ZCDP(epsilon**2 / 2, relation=...) is what it satisfies",
    mechanisms.PureDP: "there is no event for it; ZCDP(epsilon**2 / 2, relation=...) is what it satisfies",
    mechanisms.ApproximateDP: "there is no event for an (ε, δ) guarantee",
    mechanisms.RenyiDP: "there is no event for a Rényi guarantee at finitely many orders",
    mechanisms.InParallel: "there is no event for blocks of a partition; under add-or-remove-one write the block that "
    "spends most",
}


def from_dp_event(event: DpEvent, relation: str | Relation | None = None) -> Mechanism:
    """Return the mechanism that an event tree of dp-accounting describes.

    Args:
        event: An event of dp-accounting 0.6, with events of that version inside.
        relation: The relation under which a black box's guarantee (``ZCDpEvent``) was established. Nothing else needs
            it, and events do not carry it.

    Returns:
        The mechanism, with the event's doubles taken as the exact binary numbers that they hold. The ε of randomised
        response, ln(1 + k(1-p)/p), is rounded up to a double. What releases nothing is left out of a composition;
        alone it is ``ApproximateDP(0, 0)``.

    Raises:
        UnsupportedMechanism: No analysis is proven here for one of the events; the message names it, says why, and
            what can be computed instead.
        InvalidValue: A parameter is out of its domain, a black box comes without its relation, or this is no event.
        DpboundsError: dp-accounting is not installed.

    >>> import dp_accounting as dpa
    >>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
    >>> step = dpa.PoissonSampledDpEvent(0.25, dpa.GaussianDpEvent(2.0))
    >>> training = from_dp_event(dpa.SelfComposedDpEvent(step, 1000))
    >>> training == PoissonSampled(Gaussian(2), "1/4") ** 1000
    True
    """
    library = _events_of_dp_accounting()
    if not isinstance(event, library.DpEvent):
        raise InvalidValue("event", event, "an event of dp_accounting")
    declared = None if relation is None else as_relation(relation)
    found = _Reader(library, declared).read(event)
    return _NOTHING if found is None else found


def to_dp_event(mechanism: Mechanism, relation: str | Relation | None = None) -> DpEvent:
    """Return the event tree of dp-accounting that describes a mechanism.

    Args:
        mechanism: Anything that an event exists for.
        relation: The relation under which the event will be accounted for. Needed for a ZCDP, which must have been
            declared under that relation, and for noise that is given with its final sensitivity, because the event
            wants it per unit of the per-record bound. If given, what is not proven under it is refused.

    Returns:
        The event. Noise is rounded down to a double and rates, ρ and what else costs privacy up, so that the event
        never spends less. ``from_dp_event`` gives the mechanism back where its numbers are doubles, except that the
        ε of randomised response may come back a few units in the last place larger, that noise comes back per unit of
        the per-record bound, and that the dimension of Laplace noise, which events do not know, is lost.

    Raises:
        UnsupportedMechanism: There is no such event, or nothing is proven under the relation.
        InvalidValue: The relation is needed and missing, or not the declared one.
        DpboundsError: dp-accounting is not installed.
    """
    library = _events_of_dp_accounting()
    asked = None if relation is None else as_relation(relation)
    if asked is not None:
        neighbour_classes(mechanism, asked)
    return _Writer(library, asked).write(mechanism)


def _events_of_dp_accounting() -> ModuleType:
    try:
        from dp_accounting import dp_event
    except ModuleNotFoundError:
        raise DpboundsError(
            "dp-accounting is not installed; install it with: pip install 'dpbounds[interoperability]'"
        ) from None
    module: ModuleType = dp_event
    return module


class _Reader:
    """One pass over an event tree; None stands for what releases nothing."""

    def __init__(self, library: ModuleType, relation: Relation | None) -> None:
        self.library = library
        self.relation = relation

    def read(self, event: DpEvent) -> Mechanism | None:
        name = type(event).__name__
        if type(event) is not getattr(self.library, name, None):
            raise UnsupportedMechanism(
                f"{name} is not one of dp-accounting's own events, and what it adds to them is not known here; "
                "write it with those, or as a mechanism"
            )
        match name:
            case "NoOpDpEvent":
                return None
            case "GaussianDpEvent":
                return mechanisms.Gaussian(event.noise_multiplier)
            case "LaplaceDpEvent":
                return mechanisms.Laplace(event.noise_multiplier)
            case "RandomizedResponseDpEvent":
                return self._randomized_response(event)
            case "ZCDpEvent":
                return self._zcdp(event)
            case "ComposedDpEvent":
                return _composed((self.read(part), 1) for part in event.events)
            case "SelfComposedDpEvent":
                return _composed([(self.read(event.event), positive_integer(event.count, "count"))])
            case "PoissonSampledDpEvent":
                return self._poisson(event)
            case "SampledWithoutReplacementDpEvent" | "SampledWithReplacementDpEvent":
                return self._fixed_size(event, name)
        if name in _REFUSED:
            refuse(_REFUSED[name], name)
        raise UnsupportedMechanism(f"{name}: {_UNREADABLE.get(name, 'an event that is not known here')}")

    def _randomized_response(self, event: DpEvent) -> Mechanism | None:
        p, k = exact(event.noise_parameter, "noise_parameter"), positive_integer(event.num_buckets, "num_buckets")
        if not 0 <= p <= 1:
            raise InvalidValue("noise_parameter", event.noise_parameter, "a number between 0 and 1")
        if k == 1 or p == 1:  # the answer does not depend on the record
            return None
        if p == 0:
            raise UnsupportedMechanism("RandomizedResponseDpEvent with noise_parameter 0 publishes the record itself")
        with working(_PRECISION):
            epsilon = ball(k * (1 - p) / p).log1p()
            return mechanisms.RandomizedResponse(to_float(ball_end(epsilon, "up"), "up"), k)

    def _zcdp(self, event: DpEvent) -> Mechanism | None:
        rho, xi = exact(event.rho, "rho"), exact(event.xi, "xi")
        if xi < 0 or rho < 0:
            raise InvalidValue("rho, xi", (event.rho, event.xi), "numbers that are at least 0")
        if xi > 0:
            raise UnsupportedMechanism(
                "ZCDpEvent with xi > 0: no pair is proven here for (xi, rho)-zCDP; take it at some orders λ, "
                "RenyiDP({λ: xi + rho * λ, ...}, relation=...)"
            )
        if rho == 0:
            return None
        if self.relation is None:
            raise InvalidValue(
                "relation", None, "the relation under which the guarantee of ZCDpEvent was established", "give it"
            )
        return mechanisms.ZCDP(rho, relation=self.relation)

    def _poisson(self, event: DpEvent) -> Mechanism | None:
        rate, inner = exact(event.sampling_probability, "sampling_probability"), self.read(event.event)
        if not 0 <= rate <= 1:
            raise InvalidValue("sampling_probability", event.sampling_probability, "a number between 0 and 1")
        return None if inner is None or rate == 0 else mechanisms.PoissonSampled(inner, rate)

    def _fixed_size(self, event: DpEvent, name: str) -> Mechanism | None:
        inner = self.read(event.event)
        if inner is None or event.sample_size == 0:
            return None
        scheme = (
            mechanisms.SampledWithoutReplacement
            if name == "SampledWithoutReplacementDpEvent"
            else mechanisms.SampledWithReplacement
        )
        return scheme(inner, event.sample_size, event.source_dataset_size)


def _composed(parts: Iterable[tuple[Mechanism | None, int]]) -> Mechanism | None:
    released = tuple((mechanism, count) for mechanism, count in parts if mechanism is not None)
    return mechanisms.Composed(released) if released else None


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
            case mechanisms.ZCDP(rho=rho, relation=declared):
                if self.relation is not declared:
                    raise InvalidValue(
                        "relation", self.relation, f"{declared}, for which this ZCDP was declared", "events carry none"
                    )
                return events.ZCDpEvent(to_float(rho, "up"))
            case mechanisms.PoissonSampled(mechanism=inner, sample_rate=rate):
                return events.PoissonSampledDpEvent(to_float(rate, "up"), self.write(inner))
            case mechanisms.SampledWithoutReplacement(mechanism=inner, batch_size=b, dataset_size=n):
                return events.SampledWithoutReplacementDpEvent(n, b, self.write(inner))
            case mechanisms.SampledWithReplacement(mechanism=inner, batch_size=b, dataset_size=n):
                return events.SampledWithReplacementDpEvent(n, b, self.write(inner))
            case mechanisms.Composed(parts=((only, count),)):
                return events.SelfComposedDpEvent(self.write(only), count)
            case mechanisms.Composed(parts=parts):
                return events.ComposedDpEvent([self._repeated(part, count) for part, count in parts])
        reason = _UNWRITABLE.get(type(mechanism), "no event is known for it")
        raise UnsupportedMechanism(f"{type(mechanism).__name__} as an event of dp-accounting 0.6: {reason}")

    def _repeated(self, mechanism: Mechanism, count: int) -> DpEvent:
        event = self.write(mechanism)
        return event if count == 1 else self.library.SelfComposedDpEvent(event, count)

    def _per_record(self, multiplier: Fraction | None, noise: Fraction | None, sensitivity: Fraction | None) -> float:
        """The noise per unit of the per-record bound, s/C, rounded down."""
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
