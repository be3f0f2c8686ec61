"""Replay checks: a second walk of the same algorithm that has only the releases of the first one.

It walks beside the run, one of the two at a time, on a problem whose records are made up, with streams of its own. Each
question that the run asks it must ask, too, bit for bit; it gets the answer that was released, and made-up exact ones.
Its output must be equal to that of the run. Points and output that are functions of the released answers, the streams
and public numbers are the same for both; so a difference proves that something else had a part in them, and shows at
which step. (That nothing differs proves it for this dataset and this seed.)

Any algorithm can be shadowed whose ``run`` takes a problem and whose answers come from the oracles, from ``run.choose``
or through ``run.released``: composed ones, too, and runs inside of runs. It does not check:

- inside of a mechanism that goes through ``run.released`` (samplers of Gibbs distributions, above-threshold tests):
  there, what is released is the mechanism's own draw, whose distribution is tested elsewhere;
- records that a problem of the user's keeps other than as arrays with a row for each, and shows by methods other than
  those of ``FiniteSum``;
- how long a run takes, and what errors it raises.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from dpbounds.algorithms.guards.blinded import MadeUp, blinded
from dpbounds.algorithms.noise import ENTROPY
from dpbounds.algorithms.oracles.watching import Question, watched_by
from dpbounds.algorithms.run import Run, shadowing
from dpbounds.algorithms.unreleased import Unreleased, closed, opened
from dpbounds.errors import BudgetExceeded


class DataLeaked(BudgetExceeded):
    """A question or an output of a run does not follow from its releases: data leaked past the ledger."""


class _Over(BaseException):
    """Ends a shadow whose run has ended."""


def shadowed(run: Callable[[Any], Run], problem: Any) -> Run:
    """Run an algorithm on a problem with a replay check, and return the run.

    Args:
        run: From a problem to a run, the same whenever it is called: ``partial(algorithm.run, seed=7)``.
        problem: The problem of the first walk; the replay gets it with synthetic records.

    Raises:
        DataLeaked: The shadow asks or returns something else.
    """
    with threadpool_limits(limits=1, user_api="blas"):  # outside of both: the first to leave must not lift it
        shadow = _Shadow(run, problem)
        try:
            shadow.begin()
            with watched_by(shadow), _seeds_from(shadow.seeds()):
                made = run(problem)
            shadow.end(made)
        finally:
            shadow.stop()
    return made


@contextmanager
def _seeds_from(source: Callable[[], int]) -> Iterator[None]:
    token = ENTROPY.set(source)
    try:
        yield
    finally:
        ENTROPY.reset(token)


class _Shadow:
    """The two walks take turns: the run has it until it releases an answer, the shadow until it asks for the next."""

    def __init__(self, run: Callable[[Any], Run], problem: Any) -> None:
        self._run, self._problem, self._made_up = run, problem, MadeUp()
        self._turn_of_shadow, self._turn_of_run = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._walk, daemon=True, name="shadow")
        self._asked: Question | None = None  # by the shadow, that waits for the answer
        self._given: tuple[bytes, Any, list[Any]] | None = None
        self._made: Run | None = None
        self._error: BaseException | None = None
        self._step = 0
        self._seeds: list[int] = []  # from the operating system, in their order: the same for both walks

    def seeds(self) -> Callable[[], int]:
        """Return the source of seeds of one of the walks, in the order in which it asks for them."""
        asked = itertools.count()

        def seed() -> int:
            place = next(asked)
            if place == len(self._seeds):
                self._seeds.append(secrets.randbits(128))
            return self._seeds[place]

        return seed

    # --- in the thread of the run

    def begin(self) -> None:
        """Let the shadow walk up to its first question."""
        self._thread.start()
        self._turn_of_run.acquire()

    def answer(self, question: Question, answer: Callable[[], Any]) -> Any:
        """Pass the run's answer through, and continue the replay with its release."""
        self._step += 1
        asked = _digest(question)
        if self._asked is None:
            raise self._leaked(f"the shadow does not ask ({question.kind}): {self._how_it_ended()}") from self._error
        given = answer()
        states = [generator.bit_generator.state for generator in question.generators]
        self._given = asked, given, states
        self._let_on()
        if isinstance(self._error, DataLeaked):
            raise self._leaked(self._how_it_ended())
        return given  # where the shadow ended with another error, the run may be about to raise the same

    def end(self, made: Run) -> None:
        """Compare the outputs of both."""
        if self._asked is not None:
            self._step += 1
            raise self._leaked(f"the shadow asks for one more answer ({self._asked.kind})")
        if self._made is None:
            raise self._leaked(self._how_it_ended()) from self._error
        for (name, ours), (_, theirs) in zip(_returned(made), _returned(self._made), strict=True):
            if ours != theirs:
                raise DataLeaked(_LEAKED.format(f"in what was returned, after step {self._step}: {name} differs"))

    def stop(self) -> None:
        """End the shadow, wherever it is."""
        if self._thread.is_alive():
            self._given = None
            self._turn_of_shadow.release()
            self._thread.join()

    def _let_on(self) -> None:
        self._turn_of_shadow.release()
        self._turn_of_run.acquire()

    def _leaked(self, how: str) -> DataLeaked:
        return DataLeaked(_LEAKED.format(f"at step {self._step}: {how}"))

    def _how_it_ended(self) -> str:
        if self._error is None:
            return "it has ended"
        return f"{self._error}" if isinstance(self._error, DataLeaked) else f"it ended with {self._error!r}"

    # --- in the thread of the shadow

    def _walk(self) -> None:
        try:
            with watched_by(_Replayed(self)), shadowing(), _seeds_from(self.seeds()), np.errstate(all="ignore"):
                self._made = self._run(blinded(self._problem, self._made_up))
        except _Over:
            pass
        except Exception as error:
            self._error = error
        self._asked = None
        self._turn_of_run.release()

    def replay(self, question: Question) -> Any:
        """Wait for the run's answer, and return its release."""
        self._asked = question
        self._turn_of_run.release()
        self._turn_of_shadow.acquire()
        if self._given is None:
            raise _Over
        (asked, given, states), self._given = self._given, None
        self._made_up.answered()
        if asked != _digest(question):
            raise DataLeaked(f"the shadow run asks a different question ({question.kind})")
        for generator, state in zip(question.generators, states, strict=True):
            generator.bit_generator.state = state
        return _as_released(given, self._made_up)


class _Replayed:
    """Watches the shadow: no oracle of its own is asked."""

    def __init__(self, shadow: _Shadow) -> None:
        self._shadow = shadow

    def answer(self, question: Question, answer: Callable[[], Any]) -> Any:
        """Return the run's answer."""
        return self._shadow.replay(question)


_LEAKED = "data leaked past the ledger, {}; the queries and the output of a run must follow from noisy answers alone"


def _as_released(given: Any, made_up: MadeUp) -> Any:
    """Return an answer as published: the unreleased parts are made up."""
    if isinstance(given, Unreleased):
        return closed(made_up.like(opened(given)))
    if isinstance(given, np.ndarray):
        return given.copy()
    if isinstance(given, tuple):
        return tuple(_as_released(each, made_up) for each in given)
    if dataclasses.is_dataclass(given):
        names = [each.name for each in dataclasses.fields(given)]
        return dataclasses.replace(given, **{name: _as_released(getattr(given, name), made_up) for name in names})  # type: ignore[type-var]
    return given


def _digest(question: Question) -> bytes:
    return _hash((question.kind, len(question.generators), *map(repr, question.terms), *question.points))


def _returned(run: Run) -> list[tuple[str, bytes]]:
    """Return the public output of a run, by name."""
    released = {"output": run.output, "output_step": run.output_step, **dict(sorted(run.outputs.items()))}
    public = {"parameters": sorted(run.parameters.items()), "steps": run.steps, "algorithm": run.algorithm}
    return [(name, _hash((value,))) for name, value in (released | public).items()]


def _hash(values: Iterable[object]) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for value in values:
        if isinstance(value, np.ndarray):
            found.update(f"{value.dtype} {value.shape} ".encode())
            found.update(np.ascontiguousarray(value).tobytes())
        else:
            found.update(f"{value!r} ".encode())
    return found.digest()
