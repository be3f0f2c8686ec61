"""Progress of a run, and its ε so far: reported to a function, as lines of text, or as a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec

from dpbounds.algorithms.ledger import Ledger, OpenLedger, PrivacyBudget
from dpbounds.expressions.enclosure import Enclosure


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """A run between two steps. All of it is public: the number of steps, and the ledger.

    Attributes:
        step: The number of steps so far.
        steps: The largest number of steps.
    """

    step: int
    steps: int
    _ledger: OpenLedger

    @property
    def ledger(self) -> Ledger:
        """The releases of one repetition so far."""
        return self._ledger.so_far()

    def spent(self, budget: PrivacyBudget) -> Enclosure:
        """Enclose the ε that was spent so far at a budget's δ and relation; errors as ``Ledger.spent``."""
        return self.ledger.spent(budget.delta, budget.relation)


Tell = Callable[[Progress], None]
_LISTENERS: ContextVar[tuple[tuple[Tell, int], ...]] = ContextVar("listeners", default=())


@contextmanager
def followed_by(tell: Tell, every: int = 1) -> Iterator[None]:
    """Call ``tell`` every ``every`` steps of runs inside the ``with`` block, and after the last step.

    >>> from dpbounds.algorithms import GradientDescent, problems
    >>> problem = problems.sigmoid_loss([[0.5, 0], [0, 0.5]], [1, -1], l1=0, feature_bound=1)
    >>> with followed_by(lambda made: print(made.step, "of", made.steps), every=2):
    ...     _ = GradientDescent(10, 3).run(problem, repetitions=1)
    2 of 3
    3 of 3
    """
    token = _LISTENERS.set((*_LISTENERS.get(), (tell, every)))
    try:
        yield
    finally:
        _LISTENERS.reset(token)


def told(step: int, steps: int, ledger: OpenLedger) -> None:
    """Notify the listener of a step."""
    for tell, every in _LISTENERS.get():
        if step % every == 0 or step == steps:
            tell(Progress(step, steps, ledger))


def spending(budget: PrivacyBudget, steps_per_epoch: int) -> Tell:
    """Return a reporter that prints a line for each epoch: the ε spent, proven and rounded up, and the budget."""

    def tell(made: Progress) -> None:
        epoch = -(-made.step // steps_per_epoch)
        spent, whole = made.spent(budget).upper, float(budget.epsilon)
        print(f"epoch {epoch}: step {made.step} of {made.steps}, epsilon {spent:.4g} of {whole:g} spent (proven)")

    return tell


@contextmanager
def bar(what: str = "steps") -> Iterator[None]:
    """Show a progress bar on standard error for runs inside the ``with`` block, by Rich if installed."""
    if find_spec("rich") is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        with followed_by(lambda made: shown.update(task, completed=made.step, total=made.steps)):
            yield
