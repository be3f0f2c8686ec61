"""Noisy gradient descent that publishes only the last iterate, or a few checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Literal, get_args

from dpbounds.errors import InvalidValue, demand, demand_one_of
from dpbounds.expressions.exact import ExactLike, exact, positive_integer, practical
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import CODE, LOADER, Assumption, Mechanism, Trait, Writer, listed
from dpbounds.privacy.mechanisms.demands import refuse_without_positions
from dpbounds.privacy.mechanisms.noises.gaussian import Gaussian
from dpbounds.privacy.mechanisms.parameters import COUNT, COUNTS, NUMBER, NUMBER_OR_NUMBERS, WORD, parameter
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive

_MOST = 10**9  # batches and epochs
_MOST_SCHEDULED = 2_000, 400  # limits where the step size changes
CONDITION = (
    "nothing else is published (no other iterate, no loss or average on the way), training is plain noisy gradient "
    "descent (no momentum, adaptive steps or early stopping), and every record's loss is as smooth as declared"
)

BatchOrder = Literal["fixed", "shuffled", "secret"]
_ORDERS = {  # orders in words, and as assumptions of a statement
    "fixed": ("in a fixed order", "batches cut by public positions"),
    "shuffled": ("freshly shuffled", "a uniformly random order of the records in every epoch, drawn afresh"),
    "secret": ("in a secret order that is kept", "a uniformly random order of the records, drawn once"),
}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LastIterate(Mechanism):
    """Run x <- Π(x - η (gradient of the batch + noise)) over fixed batches, and publish only the last x.

    The proof (``last_iterate.md``) assumes plain noisy gradient descent: the next iterate depends on the present one
    and on public numbers alone, so no momentum, no adaptive or data-dependent step sizes, no averaging, no early
    stopping; noise in every step, all of the same standard deviation; a gradient that is the sum over a batch of
    per-record gradients, each clipped to the per-record bound (scaled down to it where it is longer), divided by a
    public number, at least that of the records in any batch; Π the projection to a public convex set, or nothing;
    weight decay λ with ηλ <= 2. Each record is in one batch of every epoch, and which one does not depend on what it
    contains. **Nothing else may be published** that depends on the data: no other iterate, no loss or accuracy along
    the way, no state of the optimiser.

    Args:
        mechanism: The noise of one step, :class:`Gaussian`.
        batches: m, the number of batches of an epoch; with 1, the full batch, there is no gain.
        epochs: Whole passes over the data.
        smoothness_step: ηβ > 0, the step size times a Lipschitz constant of each record's gradient (β-smooth losses,
            convex or not). It is declared and cannot be checked here; for most networks no β is known. Where the step
            size changes, one number per epoch, or one per step: *all* with the same β, because they also say how step
            sizes compare.
        weight_decay_step: ηλ from 0 to 1, step size times weight decay: public, and exactly this. 0, the default,
            covers any weight decay with ηλ <= 2. Above ηβ, steps contract, and long runs forget early steps. Not where
            step sizes change.
        order: How records are assigned to batches: "fixed" by public positions, the same in each epoch; "shuffled" by a
            fresh, uniformly random and secret permutation of the positions in each epoch; "secret" by one such
            permutation, kept.
        checkpoints: The epochs after which the iterate is published, too, in increasing order; the last one always is.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> from dpbounds.privacy.accountants.certified import epsilon
    >>> run = LastIterate(Gaussian(4), batches=100, epochs=10, smoothness_step="0.01")
    >>> epsilon(run, "1e-5", "replace-one").at_most("2.2127")
    True
    """

    name = "last-iterate"
    whole = True

    mechanism: Gaussian
    batches: int = field(metadata=parameter(COUNT))
    epochs: int = field(metadata=parameter(COUNT))
    smoothness_step: Fraction | tuple[Fraction, ...] = field(metadata=parameter(NUMBER_OR_NUMBERS))
    order: BatchOrder = field(metadata=parameter(WORD))
    checkpoints: tuple[int, ...] = field(metadata=parameter(COUNTS))
    weight_decay_step: Fraction = field(metadata=parameter(NUMBER))

    def __init__(
        self,
        mechanism: Gaussian,
        *,
        batches: int,
        epochs: int = 1,
        smoothness_step: ExactLike | Sequence[ExactLike],
        order: BatchOrder = "fixed",
        checkpoints: Iterable[int] = (),
        weight_decay_step: ExactLike = 0,
    ) -> None:
        demand("mechanism", mechanism, Gaussian)
        demand_one_of("order", order, get_args(BatchOrder))
        rounds = positive_integer(epochs, "epochs", _MOST)
        released = tuple(positive_integer(each, "checkpoints") for each in listed(checkpoints, "checkpoints", "epochs"))
        if any(second <= first for first, second in pairwise((*released, rounds))):
            raise InvalidValue("checkpoints", released, f"epochs in increasing order, each before the last, {rounds}")
        parts = positive_integer(batches, "batches", _MOST)
        self._hold(
            mechanism=mechanism,
            batches=parts,
            epochs=rounds,
            smoothness_step=_steps(smoothness_step, parts, rounds),
            order=order,
            checkpoints=released,
            weight_decay_step=exact(weight_decay_step, "weight_decay_step"),
        )
        if not 0 <= self.weight_decay_step <= 1:
            raise InvalidValue("weight_decay_step", weight_decay_step, "between 0 and 1")
        if self.weight_decay_step and self.schedule:
            raise InvalidValue("weight_decay_step", weight_decay_step, "0 where smoothness_step is a list")

    @property
    def noise(self) -> Gaussian:
        """The noise of one step."""
        return self.mechanism

    @property
    def traits(self) -> frozenset[Trait]:
        """Its batches are made of all records by their places."""
        return frozenset((Trait.PUBLIC_RATE, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return a Gaussian pair; where batches are random, its shift depends on a draw that counts as revealed."""
        from dpbounds.privacy.mechanisms.schemes import last_iterate_costs as costs  # arrays and enclosures

        if order.counts_records:
            refuse_without_positions("batches by position, of which only the last iterate is published,")
        step = self.mechanism.dominated_by(order).pair
        assert isinstance(step, pairs.ShiftedGaussians)
        one = step.squared_shift
        attained = one * costs.attained_cost(self)
        attacks = (pairs.ShiftedGaussians(attained),) if attained > 0 else ()
        if self.order == "fixed" or self.batches == 1:
            return pairs.StepBound(pairs.ShiftedGaussians(one * costs.fixed_cost(self)), attacks)
        law = costs.kept_law(self) if self.order == "secret" else costs.shuffled_law(self, one)
        return pairs.StepBound(pairs.TaggedGaussians(tuple((one * cost, weight) for cost, weight in law)), attacks)

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumptions on training and on the batches."""
        return (
            *self.mechanism.assumptions(relation),
            Assumption(
                CODE,
                f"{CONDITION}; weight decay times step size is at most 2, and a sum is divided by a batch's size or "
                "more",
            ),
            Assumption(
                LOADER,
                "each record is in one batch of every epoch, whichever content it has; a random order is secret",
            ),
        )

    def in_words(self, write: Writer) -> str:
        """Return the noise of one step."""
        return self.mechanism.in_words(write)

    def drawn_in_words(self, write: Writer) -> str:
        """Return the epochs, the batches, and the steps."""
        rounds = "one epoch" if self.epochs == 1 else f"{self.epochs} epochs"
        parts = "the full batch" if self.batches == 1 else f"{self.batches} batches {_ORDERS[self.order][0]}"
        beside = "" if not self.checkpoints else f" (published after {', '.join(map(str, self.checkpoints))}, too)"
        steps = self.smoothness_step if isinstance(self.smoothness_step, tuple) else (self.smoothness_step,)
        least, most = write(min(steps), "down"), write(max(steps), "up")
        sizes = write(steps[0], "up") if len(steps) == 1 else f"from {least} to {most}"
        decay = f", weight decay step {write(self.weight_decay_step, 'up')}" if self.weight_decay_step else ""
        return f"{rounds} of {parts}{beside}, smoothness step {sizes}{decay}"

    def releases_in_words(self, count: int, write: Writer) -> str:
        """Describe the run, or ``count`` independent runs."""
        return f"{'the' if count == 1 else f'{count} times the'} last iterate of {self.drawn_in_words(write)}"

    def draws(self, relation: Relation) -> str:
        """Describe the batches."""
        return _ORDERS[self.order][1]

    @property
    def secret(self) -> str:
        """All other results of training, and the orders if they are random."""
        kept = "" if self.order == "fixed" else ", and the orders of the records"
        return f"any other iterate, losses or averages on the way, the optimiser's state{kept}"

    @property
    def schedule(self) -> tuple[Fraction, ...]:
        """ηβ of each step, where it changes; () where it does not."""
        if isinstance(self.smoothness_step, Fraction):
            return ()
        times = self.epochs * self.batches // len(self.smoothness_step)
        return tuple(each for each in self.smoothness_step for _ in range(times))

    @property
    def stretch(self) -> Fraction:
        """c, by which a step may move two points apart, where all steps are alike; less than 1 where they contract."""
        assert isinstance(self.smoothness_step, Fraction)
        return 1 - self.weight_decay_step + self.smoothness_step

    @property
    def segments(self) -> tuple[int, ...]:
        """Return the numbers of epochs between published iterates."""
        return tuple(second - first for first, second in pairwise((0, *self.checkpoints, self.epochs)))


def _steps(given: ExactLike | Sequence[ExactLike], batches: int, epochs: int) -> Fraction | tuple[Fraction, ...]:
    """Return one number, or one for each epoch or step if they differ."""
    if isinstance(given, bytes | bytearray):
        raise InvalidValue("smoothness_step", given, "a number")
    if isinstance(given, str) or not isinstance(given, Sequence):
        return positive(given, "smoothness_step")
    found = tuple(positive(practical(each, "smoothness_step"), "smoothness_step") for each in given)
    if len(found) not in (epochs, epochs * batches):
        allowed = f"one number, or one per epoch ({epochs}), or one per step ({epochs * batches})"
        raise InvalidValue("smoothness_step", f"{len(found)} numbers", allowed)
    if len(set(found)) == 1:
        return found[0]
    if batches > _MOST_SCHEDULED[0] or epochs > _MOST_SCHEDULED[1]:
        allowed = "one number beyond {} batches or {} epochs".format(*_MOST_SCHEDULED)
        raise InvalidValue("smoothness_step", f"{len(found)} numbers", allowed)
    return found
