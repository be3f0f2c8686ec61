"""One run of an algorithm: its problem, its parameters, its releases, and the output that may be printed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpbounds.cli.answers.demo_training import L1, made_up, prepared
from dpbounds.cli.answers.guarding import Guarded, under_guard
from dpbounds.cli.questions.options import unfit
from dpbounds.errors import MISSING, DpboundsError, InvalidValue
from dpbounds.expressions.exact import positive_integer

if TYPE_CHECKING:
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.run import Run
    from dpbounds.expressions.enclosure import Enclosure
    from dpbounds.privacy.accountants.certified import Account

# The constants of synthetic records, and what ``problems.with_constants`` calls them.
CONSTANTS = {
    "dataset_size": "records",
    "dimension": "dimension",
    **{name: name for name in ("lipschitz", "smoothness", "initial_gap", "loss_range", "hessian_lipschitz")},
}
SQUARES = ("mean_square", "exact", "noisy")  # metrics that are squares of norms
PROXIMAL = "dp-pgd"  # the descent with a proximal step: on a person's records it has the demo's regulariser
# Those that differ from another name's algorithm by what is not a number: they run as their examples do.
VARIANTS = (
    *("dp-pmd-l1", "dp-pmd-simplex", "clipped-gd-poisson", "dp-sgd-poisson"),
    *("dp-sgd-shuffled", "dp-sgd-last-iterate", "dp-ftrl-tree"),
    *("above-threshold-doubled", "alternate-sample", "sgd-warm-spider", "training-quantile"),
)
_INSTEAD = {  # what such a name does, on other records
    "dp-sgd-poisson": "take dp-sgd --sampling poisson",
    "dp-sgd-shuffled": "take dp-sgd --sampling shuffled",
    "dp-sgd-last-iterate": "take dp-sgd --sampling cyclic --release last-iterate",
    "dp-ftrl-tree": "take dp-ftrl --tree",
}
_NUMBERS = ("int", "float", "ExactLike")  # annotations of what words may give
_OTHERWISE = ("problem", "epsilon", "delta", "relation", "noise")  # given in other ways


class Records(NamedTuple):
    """Options for reading the user's own records, as for ``dpbounds demo``."""

    data: Path | None = None
    label: str | None = None
    positive: str | None = None
    ranges: Path | None = None
    centre: Fraction | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """An algorithm and the problem that it runs on.

    Attributes:
        private: Whether the records are the user's own: then no measurement on them may be printed.
        names: Names of the coordinates of a point, if they have names.
        notes: The preprocessing of the records, in words.
        made_up: The same problem with made-up records, for tests of the noise; the problem itself where it is public.
    """

    name: str
    algorithm: Any
    problem: Any
    private: bool
    names: tuple[str, ...]
    notes: tuple[str, ...]
    made_up: Any


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """A run, with its ε and its bound.

    Attributes:
        account: The account of one repetition, for its published part: at the budget's δ, or at its ε if an enclosure
            of ε is slightly too wide to show that the budget is kept.
        bounds: On the means of what is measured, by its name: the run's metric first.
        why: Why there is none.
        alone: The account of the last iterate alone, if the ledger has it and all iterates are counted; else None.
        guarded: The power of the guards, if there were any.
    """

    subject: Subject
    run: Run
    account: Account
    bounds: Mapping[str, Enclosure]
    why: str
    alone: Account | None = None
    guarded: Guarded | None = None

    @property
    def budget(self) -> PrivacyBudget:
        """Return the budget that the run was calibrated to."""
        found = self.run.budget
        assert found is not None
        return found

    @property
    def spent(self) -> Enclosure:
        """ε at the budget's δ, as certified by the run: within the budget even if an account is slightly wide."""
        found = self.run.spent
        assert found is not None
        return found

    def measured(self, name: str) -> float | None:
        """Mean of the bounded quantity; None if the records are private, or nothing was found."""
        samples = self.run.samples if name == self.run.metric else self.run.trace[name].per_repetition
        found = math.nan if self.subject.private else float(samples.mean())
        return found if math.isfinite(found) else None


def ran(subject: Subject, seed: int | None, repetitions: int, guarded: bool, checkpoint: Path | None = None) -> Ran:
    """Run it, or go on from a checkpoint; account for the ledger of one repetition, and look for a bound."""
    from dpbounds.privacy.accountants.certified import account

    more = {} if checkpoint is None else {"checkpoint": checkpoint}
    run = subject.algorithm.run(subject.problem, seed=seed, repetitions=repetitions, guarded=guarded, **more)
    watched = under_guard(subject.algorithm, subject.made_up, run) if guarded else None
    budget = run.budget
    assert budget is not None  # it is calibrated to one
    published = run.ledger.published(run.release)
    spent = account(published, delta=budget.delta, relation=budget.relation)
    if not spent.enclosure.at_most(budget.epsilon):  # tied up to the width of the proof, as the run has settled
        spent = account(published, epsilon=budget.epsilon, relation=budget.relation)
    alone = None
    if run.release == "every-iterate" and run.ledger.descent is not None:
        alone = account(run.ledger.last_iterate(), delta=budget.delta, relation=budget.relation)
    bounds: dict[str, Enclosure] = {}
    why = f"none is known of {subject.name}"
    if hasattr(subject.algorithm, "bound"):
        try:
            bounds[run.metric] = subject.algorithm.bound(subject.problem)
            if subject.name == PROXIMAL:  # it bounds both mappings
                bounds["exact"] = subject.algorithm.bound(subject.problem, "exact")
        except DpboundsError as error:
            why = str(error)
    return Ran(subject, run, spent, bounds, why, alone, watched)


def subject_of(
    name: str,
    words: Mapping[str, Fraction],
    budget: PrivacyBudget,
    noise: str,
    records: Records,
    draws: Mapping[str, Any] | None = None,
) -> Subject:
    """Return the algorithm, calibrated to a budget, and its problem.

    That is made of a person's records, of synthetic ones where their number is among the words, and else it is the
    algorithm's example. ``draws`` are the values of ``DRAWING_OPTIONS`` where one of them was given.

    Raises:
        InvalidValue: There is no such algorithm, parameter or constant, or it is out of range.
    """
    from dpbounds.algorithms.verification.catalogue import example
    from dpbounds.expressions.symbols import by_name

    found = example(name)
    if found.printed:
        raise InvalidValue("ALGORITHM", name, "a repaired one", "the published version may spend more than its budget")
    algorithm: Any
    algorithm, problem = found.calibrated(budget)
    given = {by_name()[word].name if word in by_name() else word: value for word, value in words.items()}
    synthetic = any(word in given for word in ("dataset_size", "dimension"))
    private = records.data is not None
    if private and synthetic:
        raise unfit("n, d", "are those of --data")
    notes: tuple[str, ...] = getattr(problem, "notes", ())
    if not (private or given or noise != "gaussian" or draws is not None):
        return Subject(name, algorithm, problem, False, (), notes, problem)

    parameters = inspect.signature(type(algorithm).calibrated).parameters
    known = [each for each, one in parameters.items() if _is_number(one)]
    if name in VARIANTS or "problem" not in parameters:
        told = " ".join(words) or ("--data" if private else "--sampling")
        raise unfit(told, f"does not go with {name}, which runs on its own example", _INSTEAD.get(name, "leave it out"))
    names: tuple[str, ...] = ()
    if private:
        dataset, problem, notes = prepared(*records, L1 if name == PROXIMAL else "0")
        names = dataset.feature_names
    elif synthetic:
        problem = _synthetic({word: given.pop(word) for word in CONSTANTS if word in given})
        notes = problem.notes
    chosen: dict[str, Any] = {}
    if "optimiser" in parameters and (private or synthetic or "step_size" in given):
        chosen["optimiser"] = _gradient_steps(given)
    if draws is not None:
        chosen |= _drawn(name, parameters, problem, budget, given, draws)
        notes = (*notes, *chosen.pop("notes"))
    if unknown := [word for word in given if word not in known]:
        rule = f"a parameter of {name} ({', '.join(known) or 'none'}), or, with n and d, a constant of records"
        raise InvalidValue(unknown[0], given[unknown[0]], rule)
    chosen |= {word: _number(parameters[word], value) for word, value in given.items()}
    if noise != "gaussian":
        if "noise" not in parameters:
            raise unfit(f"--noise {noise}", f"is not an option of {name}")
        chosen["noise"] = noise
    for each in parameters.values():
        if each.default is inspect.Parameter.empty and each.name not in (*chosen, *_OTHERWISE):
            if not (private or synthetic):
                chosen[each.name] = getattr(algorithm, each.name)
            elif not _is_number(each):
                raise unfit(name, f"needs its {each.name}, and runs on its own example")
            else:
                raise InvalidValue(each.name, MISSING, f"a value, {each.name}=VALUE", f"{name} needs it")
    spend = {"epsilon": budget.epsilon, "delta": budget.delta, "relation": budget.relation}
    made = type(algorithm).calibrated(problem, **spend, **chosen)
    like = made_up(problem, L1 if name == PROXIMAL else "0") if private else problem
    return Subject(name, made, problem, private, names, notes, like)


def _gradient_steps(given: dict[str, Fraction]) -> Any:
    """Take step_size and momentum out of the words, and return steps of a fixed size."""
    from dpbounds.algorithms.descents.private_training import GradientSteps

    if "step_size" not in given:
        raise InvalidValue("step_size", MISSING, "a value, step_size=VALUE", "training needs it")
    return GradientSteps(float(given.pop("step_size")), float(given.pop("momentum", Fraction(0))))


def _drawn(
    name: str,
    parameters: Mapping[str, inspect.Parameter],
    problem: Any,
    budget: PrivacyBudget,
    given: dict[str, Fraction],
    draws: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments for the sampling and the release, with ``notes``."""
    from dpbounds.algorithms.sampling import Bins, Correlated, Truncated, Visited
    from dpbounds.cli.questions.drawing import is_drawn, read_drawing

    found: dict[str, Any] = {"notes": ()}
    if draws["release"] is not None:
        if "release" not in parameters:
            raise unfit(f"--release {draws['release']}", f"is not an option of {name}", "take dp-sgd or dp-gld")
        found["release"] = draws["release"]
    hidden = found.get("release") == "last-iterate"
    if hidden and "output" in parameters:
        found["output"] = "last"
    if not is_drawn(draws):
        return found
    steps = positive_integer(given.pop("steps"), "steps") if "steps" in given else None
    drawing = read_drawing(draws, problem.records, budget.relation, steps)
    scheme = drawing.scheme
    found["notes"] = drawing.notes
    if drawing.steps is not None:
        found["steps"] = drawing.steps
    if isinstance(scheme, Correlated) and "optimiser" not in parameters:
        if "draws" not in parameters:
            raise unfit("correlated noise", f"is not an option of {name}", "take dp-ftrl or training")
        matrix = {"matrix": scheme.matrix, "batches": scheme.bins, "draws": scheme.draws}
        return {**found, **matrix, "sample_rate": scheme.sample_rate}
    if "sampling" not in parameters:
        told = f"--sampling {draws['sampling']}"
        raise unfit(told, f"is not an option of {name}", "take training or dp-sgd, which allow every sampling")
    if "output" in parameters and isinstance(scheme, Bins | Truncated | Visited):
        found["output"] = "last"  # no bound is known on a random iterate either
    return {**found, "sampling": scheme}


def _synthetic(given: Mapping[str, Fraction]) -> Any:
    from dpbounds.algorithms.problems import with_constants

    for letter, name in (("n", "dataset_size"), ("d", "dimension")):
        if name not in given:
            raise InvalidValue(letter, MISSING, f"a value, {letter}=VALUE", "synthetic records need it")
    named: dict[str, Any] = {CONSTANTS[name]: value for name, value in given.items()}
    return with_constants(**named)


def _number(parameter: inspect.Parameter, value: Fraction) -> int | float | Fraction:
    """Return a word's value as the parameter takes it."""
    kind = str(parameter.annotation)
    if kind.startswith("int"):
        return positive_integer(value, parameter.name)
    return float(value) if kind.startswith("float") else value


def _is_number(parameter: inspect.Parameter) -> bool:
    return parameter.name not in _OTHERWISE and str(parameter.annotation).startswith(_NUMBERS)
