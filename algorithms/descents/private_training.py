"""Training with any optimiser: noisy clipped gradients are released, and the optimiser is post-processing.

Every iterate follows from noisy gradients and public numbers: publishing all of them costs what the ledger says,
whatever the optimiser does with its state (momentum, Adam's moments, schedules): post-processing. The account is that
of *all* releases. It is never one of the last iterate alone: those hold for plain projected steps of a convex loss
(``dpbounds.privacy.mechanisms.LastIterate``), and an optimiser with a state is no such step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
from attrs import field, frozen

from dpbounds.algorithms import fields, planning, progress
from dpbounds.algorithms.checkpoints import Checkpoint, Saved, reseeded
from dpbounds.algorithms.descents.stochastic_gradient_descent import released
from dpbounds.algorithms.iterates import norms, squared_norms
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import QuantileClippedOracle, Scheme, VisitGradientOracle, at_least
from dpbounds.algorithms.oracles.batches import demand_all_records, valid_scheme
from dpbounds.algorithms.planning import ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_no_regulariser, radius_of_domain
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.sampling import Batch, Correlated, Visited
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.mechanisms import Gaussian

_RANGE = 2.0**20  # a norm that adapts stays within this factor of the first


class Optimiser(Protocol):
    """An optimiser: a gradient transformation of Optax."""

    @property
    def init(self) -> Callable[..., Any]:
        """Return the state for some parameters."""

    @property
    def update(self) -> Callable[..., Any]:
        """Return the update of the parameters, and the next state, from gradients, state and parameters."""


@frozen(field_transformer=fields.named)
class GradientSteps:
    """Steps of a fixed size, with momentum: v ← μv + g, x ← x - ηv.

    Attributes:
        step_size: η > 0.
        momentum: μ in [0, 1).
    """

    step_size: float = field(converter=fields.step_size)
    momentum: float = 0.0

    def __attrs_post_init__(self) -> None:
        if self.step_size is None or not 0 <= self.momentum < 1:
            raise InvalidValue("momentum", self.momentum, "at least 0 and less than 1, with a step size")

    def init(self, x: Array) -> Array:
        """Return v = 0."""
        return np.zeros_like(x)

    def update(self, gradient: Array, state: Array, x: Array) -> tuple[Array, Array]:
        """Return -ηv, and v."""
        velocity = self.momentum * state + gradient
        return -float(self.step_size) * velocity, velocity


@frozen(field_transformer=fields.named)
class QuantileClipping:
    """A clipping norm that follows a quantile of gradients' norms: C ← C exp(-η (b̃ - γ)), b̃ the noisy share below C.

    Attributes:
        quantile: γ in (0, 1), the target share of gradients below C.
        share: s in (0, 1), the part of the privacy (of 1/z²) for b̃; the rest is for the gradients.
        rate: η > 0.

    Source: Andrew, Thakkar, McMahan & Ramaswamy 2021.
    """

    quantile: Fraction = field(default=Fraction(1, 2), converter=fields.share)
    share: Fraction = field(default=Fraction(1, 50), converter=fields.share)
    rate: Fraction = field(default=Fraction(1, 5), converter=fields.positive)

    def following(self, clips: Array, below: Array, first: float) -> Array:
        """Return the next norms, shape (R, 1), from noisy shares, shape (R,); within a factor of 2^20 of the first."""
        moved = clips * np.exp(-float(self.rate) * (np.clip(below, -2.0, 3.0) - float(self.quantile)))[:, None]
        kept: Array = np.clip(moved, first / _RANGE, first * _RANGE)
        return kept


def _optimiser(value: Any, name: str = "optimiser") -> Optimiser:
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return GradientSteps(float(value))
    if not callable(getattr(value, "init", None)) or not callable(getattr(value, "update", None)):
        raise InvalidValue(
            name, repr(value), "a step size, or an object with init and update, such as an optimiser of Optax"
        )
    made: Optimiser = value
    return made


Draws = Scheme | Correlated
_DEPENDENT = Visited | Correlated


def _draws(record: object, field: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, Correlated):
        valid_scheme(record, field, value)


def _clipping(_record: object, field: attrs.Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, QuantileClipping):
        raise InvalidValue(field.name, repr(value), "a QuantileClipping, or None for the problem's own norm")


@frozen(field_transformer=fields.named)
class PrivateTraining(Method[FiniteSum]):
    """Training with any optimiser on noisy gradients, for any problem with clipped (or bounded) gradients.

    ::

        for t = 1, ..., T:
            g = the mean gradient at x_t of a batch, or of all records, + N(0, σ² I)
            x_{t+1} = the optimiser's update from g, x_t and its state
        return x_{T+1}

    Measured: squares of the "noise" and of the exact mean gradient ("step") of every step; the distance of the output
    from the start ("moved"), which is public. There is no bound on utility.

    Attributes:
        noise_multiplier: Standard deviation on the sum of a batch's gradients in units of G; with adaptive clipping,
            that of gradients and quantiles together.
        optimiser: An optimiser of Optax, or an object with ``init(parameters)`` and ``update(gradients, state,
            parameters)``; a number is the step size of plain gradient steps.
        sampling: The sampling scheme (with or without replacement, Poisson, or the batches of an epoch in turn), or
            None for all records. ``Correlated`` uses the groups in turn, and its matrix correlates the noise (DP-FTRL):
            then z is that of a row, and T the number of rows.
        clipping: A ``QuantileClipping``, for problems that clip (``Clipped``, ``differentiable``); None for constant G.
    """

    title: ClassVar[str] = "private training"
    metric: ClassVar[str] = "moved"
    activity: ClassVar[str] = "training"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    optimiser: Optimiser = field(converter=_optimiser)
    sampling: Draws = field(default=None, validator=_draws)
    clipping: QuantileClipping | None = field(default=None, validator=_clipping)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    def __attrs_post_init__(self) -> None:
        if self.clipping is not None and isinstance(self.sampling, _DEPENDENT):
            raise InvalidValue(
                "sampling", repr(self.sampling), "batches that do not depend on others, with a norm that adapts"
            )
        if isinstance(self.sampling, Correlated) and self.steps != self.sampling.matrix.steps:
            raise InvalidValue("steps", self.steps, f"{self.sampling.matrix.steps}, the rows of the matrix")

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        *,
        optimiser: Any,
        sampling: Draws = None,
        epochs: ExactLike | None = None,
        clipping: QuantileClipping | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> PrivateTraining:
        """Plan for a budget, see ``Method``.

        - ``steps`` None: the steps of ``epochs`` epochs (None: 1); with ``Correlated``, the rows of its matrix
        - ``optimiser``: see the class
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        demand_no_regulariser(problem)
        if isinstance(sampling, Correlated):
            sampling.divisor(problem.records)  # raises where groups would be empty
            if epochs is not None:
                raise InvalidValue("epochs", epochs, "None: the matrix has a row for each step")
            steps = sampling.matrix.steps if steps is None else steps
        elif sampling is not None:
            demand_all_records(sampling, problem.records)
        if steps is not None and epochs is not None:
            raise InvalidValue("steps", steps, "None where epochs are given")
        passes = fields.positive(1 if epochs is None else epochs, "epochs")
        whole = math.ceil(passes * epoch_of(sampling, problem.records))
        count = whole if steps is None else fields.count(steps, "steps")
        plan = cls(1, count, optimiser, sampling, clipping, budget, noise)
        if sampling is None:
            return attrs.evolve(plan, noise_multiplier=planning.multiplier_of_steps(budget, count))
        z = planning.multiplier_within(budget, lambda multiplier: _released(multiplier, sampling, count))
        return attrs.evolve(plan, noise_multiplier=z)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants: all noisy gradients together."""
        return _released(self.noise_multiplier, self.sampling, self.steps)

    def run(
        self,
        problem: FiniteSum,
        seed: int | None = None,
        repetitions: int = 1,
        *,
        guarded: bool = False,
        checkpoint: str | Path | None = None,
        every: int | None = None,
        report: bool | progress.Tell = False,
    ) -> Run:
        """Train, see ``Method.run``; a run with a checkpoint can be stopped, and resumed by calling it again.

        Args:
            problem: The problem to train on.
            seed: The seed of all streams; None for the operating system. A resumed run always draws from the operating
                system.
            repetitions: The number of repetitions.
            guarded: Whether a replay check accompanies the run; not with a checkpoint.
            checkpoint: A file that is written after every epoch and at the end, with a log beside it
                (``dpbounds.algorithms.checkpoints``). If it exists, the run resumes from it; if it is complete, the
                result is returned again.
            every: Steps between checkpoints and reports; None for an epoch. If batches depend on each other (shuffled,
                cyclic, bins, random allocation), checkpoints are between whole epochs, and the batches of the next one
                are drawn anew. A fixed assignment to bins is stored in a separate file, to be kept as secret as the
                records.
            report: True for a line per epoch with the spent ε and the budget, and a bar on a terminal; or a function of
                ``Progress``.

        Raises:
            InvalidValue: As ``Method.run``, or the checkpoint is another run's.
            BudgetExceeded: As ``Method.run``; or the run was resumed from the checkpoint before.
        """
        between = epoch_of(self.sampling, problem.records) if every is None else positive_integer(every, "every")
        if guarded and checkpoint is not None:
            raise InvalidValue("guarded", guarded, "False with a checkpoint", "the shadow would write it, too")
        place = None if checkpoint is None else self._place(problem, Path(checkpoint), repetitions, between)
        more: dict[str, Any] = {} if place is None else {"place": place, "between": between}
        if not report:
            return self._run(problem, seed, repetitions, guarded, **more)
        if report is True and self.budget is None:
            raise InvalidValue("report", report, "a function where there is no budget", "calibrated plans for one")
        tell = progress.spending(self.budget, between) if report is True and self.budget is not None else report
        assert callable(tell)
        with progress.bar(), progress.followed_by(tell, between):
            return self._run(problem, seed, repetitions, guarded, **more)

    def walk(
        self,
        problem: FiniteSum,
        run: OpenRun,
        place: Checkpoint | None = None,
        between: int = 1,
    ) -> Outcome:
        """Run the pseudo-code above."""
        demand_no_regulariser(problem)
        if radius_of_domain(problem) is not None:
            raise InvalidValue("radius", radius_of_domain(problem), "none", "an optimiser does not stay in a ball")
        begin, step = _steps(problem, self.optimiser)
        x, first = run.repeated(problem.initial_point), float(at_least(problem.lipschitz, "lipschitz"))
        states, clips, done = [begin(row) for row in x], np.full((len(x), 1), first), 0
        gradient = None if self.clipping else self._oracle(run)
        quantile = self._quantile(run)
        saved = None if place is None else place.begin()
        if place is not None:
            reseeded(run.generators, place.attempt)
        if saved is not None:
            done, x, clips = saved.step, saved.arrays["x"], saved.arrays["clips"]
            states = [_unpacked(state, saved.arrays, row) for row, state in enumerate(states)]
            run.ledger.resume(saved.ledger, saved.noise_counted)
            if isinstance(gradient, VisitGradientOracle) and place is not None and done < self.steps:
                keeps, shape = gradient.keeps, (len(x), problem.records)
                gradient.resume(done, place.hidden(shape, gradient.scheme.bins) if keeps else None)
        measure = run.measured_by(_lengths)
        for t in run.steps(self.steps - done, first=done + 1):
            if quantile is not None and self.clipping is not None:
                answer = quantile(x, clips)
                g = quantile.gradients(answer.noisy, clips)
                exact = quantile.gradients(answer.exact, clips)
                following = self.clipping.following(clips, quantile.fractions(answer.noisy), first)
            else:
                assert gradient is not None
                one = gradient(x)
                g, exact, following = one.noisy, one.exact, clips
            measure(g, exact)
            moved = [step(*each) for each in zip(x, g, states, strict=True)]
            x, states, clips = np.array([row for row, _ in moved]), [state for _, state in moved], following
            if place is not None and (t % between == 0 or t == self.steps):
                if isinstance(gradient, VisitGradientOracle) and gradient.keeps and saved is None and t == between:
                    gradient.hand_over(place.hide)
                arrays = {"x": x, "clips": clips, **_packed(states)}
                place.save(Saved(t, arrays, run.ledger.so_far(), run.ledger.noise_counted))
        if place is not None:
            place.demand_alone()
            place.secret.unlink(missing_ok=True)
        away = norms(x - problem.initial_point)
        return Outcome(
            x.copy(), outputs={"clips": clips.copy()} if self.clipping else {}, measured={"moved": away}, parameters={}
        )

    def _oracle(self, run: OpenRun) -> Any:
        if isinstance(self.sampling, Correlated):
            return run.correlated_gradients(self.sampling, self.noise_multiplier)
        return run.batch_gradients(self.sampling, self.noise_multiplier)

    def _quantile(self, run: OpenRun) -> QuantileClippedOracle | None:
        if self.clipping is None or isinstance(self.sampling, _DEPENDENT):
            return None
        return run.quantile_clipped(self.noise_multiplier, self.clipping.share, self.sampling)

    def _place(self, problem: FiniteSum, path: Path, repetitions: int, between: int) -> Checkpoint:
        if isinstance(self.sampling, Correlated):
            advice = "the noise of earlier steps, which later ones take back, is never saved"
            raise InvalidValue("checkpoint", path, "None where noise is correlated", advice)
        if isinstance(self.sampling, Visited):
            advice = "who was in a batch of a part of one is not saved"
            if between % self.sampling.bins:
                allowed = f"whole epochs, of {self.sampling.bins} steps each, where batches depend on each other"
                raise InvalidValue("every", between, allowed, advice)
        about = {
            "method": self.title,
            "planned": repr(self.planned),
            "budget": str(self.budget),
            "clipping": str(self.clipping),
            "noise": self.noise,
            "records": str(problem.records),
            "parameters": str(problem.dimension),
            "norm": str(at_least(problem.lipschitz, "lipschitz")),
            "repetitions": str(repetitions),
        }
        return Checkpoint(path, about)


def _lengths(noisy: Array, exact: Array) -> dict[str, Array]:
    """Return the squared norms of the noise and of the exact gradient of every row."""
    return {"noise": squared_norms(noisy - exact), "step": squared_norms(exact)}


def _released(noise_multiplier: Fraction, sampling: Draws, steps: int) -> Mechanism:
    if isinstance(sampling, Correlated):
        return sampling.visited(Gaussian(noise_multiplier), steps)
    return released(noise_multiplier, sampling, steps)


def epoch_of(sampling: Draws, records: int) -> int:
    """Return the number of steps of an epoch: the batches, of expected size, that hold all records."""
    if sampling is None:
        return 1
    if isinstance(sampling, _DEPENDENT):
        return sampling.bins
    if isinstance(sampling, Batch):
        return math.ceil(Fraction(records, sampling.size))
    rate = sampling.sample_rate  # rounded: what is nearly 1/10 means 10 batches
    whole = round(1 / rate)
    return whole if abs(whole * rate - 1) <= whole * Fraction(1, 2**50) else math.ceil(1 / rate)


def _steps(
    problem: Any, optimiser: Optimiser
) -> tuple[Callable[[Array], Any], Callable[[Array, Array, Any], tuple[Array, Any]]]:
    """State at a point, and the next point and state: on the problem's own parameters, or on points as they are."""
    if hasattr(problem, "optimised") and not isinstance(optimiser, GradientSteps):
        begin, step = problem.optimised(optimiser)
        return begin, step

    def plain(x: Array, gradient: Array, state: Any) -> tuple[Array, Any]:
        updates, after = optimiser.update(gradient, state, x)
        return x + np.asarray(updates, dtype=np.float64), after

    return optimiser.init, plain


def _flat(state: Any) -> tuple[list[Any], Any]:
    if isinstance(state, np.ndarray):
        return [state], None
    import jax

    return jax.tree.flatten(state)


def _packed(states: list[Any]) -> dict[str, Any]:
    return {
        f"state-{row}-{place}": np.asarray(leaf)
        for row, state in enumerate(states)
        for place, leaf in enumerate(_flat(state)[0])
    }


def _unpacked(state: Any, arrays: Any, row: int) -> Any:
    """Return the state as it was saved, in the form of a fresh one."""
    leaves, form = _flat(state)
    own = [arrays.get(f"state-{row}-{place}") for place in range(len(leaves))]
    extra = f"state-{row}-{len(leaves)}" in arrays
    alike = (each is not None and each.shape == np.shape(leaf) for each, leaf in zip(own, leaves, strict=True))
    if extra or not all(alike):
        raise InvalidValue("optimiser", "another state", "an optimiser with the state that was saved")
    if form is None:
        return own[0]
    import jax

    return jax.tree.unflatten(form, [jax.numpy.asarray(each) for each in own])
