"""Twenty planted bugs that lose privacy, and what notices each: the run itself, a guard, an audit, a check.

A bug is a replacement in the source of one function, which must be found there. ``python -m tests.algorithms.mutants``
measures everything and writes the table of ``docs/tutorials/audit.md``. The list of planted bugs in ``tests/mutants``
says which tests notice them.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from dpbounds.algorithms.guards.guarded import examined
from dpbounds.algorithms.guards.residuals import NoiseWrong, Residuals
from dpbounds.algorithms.guards.shadow import DataLeaked, shadowed
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.errors import DpboundsError

ROOT = Path(__file__).parents[2]
DEFENCES = ("run", "shadow", "residuals", "audit", "verify")
_PGD = "algorithms.descents.projected_gradient_descent:ProjectedGradientDescent.walk"


@dataclass(frozen=True)
class Mutant:
    """A planted bug.

    Attributes:
        name: M01 ... M20.
        flaw: In words.
        where: Module below ``dpbounds`` and the function in it.
        changes: What is replaced by what, once each.
        example: Which example shows it; ``verify`` is asked about its first statement.
    """

    name: str
    flaw: str
    where: str
    changes: tuple[tuple[str, str], ...]
    example: str


def _pgd(name: str, flaw: str, where: str, *changes: tuple[str, str]) -> Mutant:
    return Mutant(name, flaw, where, changes, "dp-pgd")


def _poisson(name: str, flaw: str, where: str, *changes: tuple[str, str]) -> Mutant:
    return Mutant(name, flaw, where, changes, "dp-sgd-poisson")


MUTANTS = (
    _pgd(
        "M01",
        "Gaussian noise x 0.97",
        "algorithms.noise:gaussian",
        ("noise *= noise_stddev", "noise *= 0.97 * noise_stddev"),
    ),
    _pgd(
        "M02",
        "exact gradient at step 2",
        _PGD,
        ("problem.proximal_step(x, g.noisy, gamma)", "problem.proximal_step(x, g.exact if k == 2 else g.noisy, gamma)"),
    ),
    _pgd(
        "M03",
        "per-record bound halved, the ledger agrees",
        "algorithms.oracles.gradients:GradientOracle._bound",
        ("/ self.problem.records", "/ (2 * self.problem.records)"),
    ),
    _poisson(
        "M04",
        "Poisson samples at 1.5 times the rate of the ledger",
        "privacy.mechanisms.schemes.drawing:Generator.coins",
        ("< float(rate)", "< 1.5 * float(rate)"),
    ),
    _pgd(
        "M05",
        "records clipped by another norm",
        "algorithms.problems.problem:clip_rows",
        ("np.sqrt((direction * direction).sum(axis=1, keepdims=True))", "np.abs(direction).max(axis=1, keepdims=True)"),
    ),
    _pgd(
        "M06",
        "one stream for all repetitions",
        "algorithms.noise:streams",
        ("in root.spawn(count)", "in [root.spawn(1)[0]] * count"),
    ),
    _pgd(
        "M07",
        "every second noise is minus the last",
        "algorithms.noise:standard_gaussian",
        (
            "    for generator, row in zip(",
            "    key = (tuple(map(id, generators)), dimension)\n"
            "    last = streams.__dict__.setdefault('last', {})\n"
            "    if key in last:\n"
            "        return -last.pop(key)\n"
            "    for generator, row in zip(",
        ),
        ("    return noise\n", "    last[key] = noise.copy()\n    return noise\n"),
    ),
    _poisson(
        "M08",
        "batches of a fixed size, accounted as Poisson samples",
        "privacy.mechanisms.schemes.drawing:Generator.coins",
        (
            "np.flatnonzero(self._generator.random(count) < float(rate))",
            "np.sort(self._generator.choice(count, round(float(rate) * count), replace=False))",
        ),
    ),
    Mutant(
        "M09",
        "bound of a difference halved",
        "algorithms.oracles.differences:GradientDifferenceOracle.per_record_bounds",
        (("np.minimum(apart * L,", "np.minimum(apart * L * 0.5,"),),
        "dp-spider",
    ),
    Mutant(
        "M10",
        "noise of a threshold drawn, not used",
        "algorithms.selection.above_threshold:AboveThresholdSelection.select",
        (("values + each <= threshold +", "values + each <= 0 * threshold +"),),
        "above-threshold",
    ),
    _poisson(
        "M11",
        "mean over the size that a sample happens to have",
        "algorithms.oracles.batches:batch_means",
        ("here[0] * (len(each) / float(by))", "here[0]"),
    ),
    _pgd(
        "M12",
        "the iterate with the smallest exact gradient is returned",
        _PGD,
        (
            "            g = gradient(x)\n",
            "            g = gradient(x)\n"
            "            size = squared_norms(g.exact)\n"
            "            better = size < (np.inf if k == 1 else best)\n"
            "            best = np.minimum(size, np.inf if k == 1 else best)\n"
            "            returned.point[better] = x[better]\n",
        ),
    ),
    Mutant(
        "M13",
        "scores doubled in the exponential mechanism",
        "algorithms.oracles.choices:_chosen",
        (("(used + scores).argmax()", "(used + 2 * scores).argmax()"),),
        "dp-fw-l1",
    ),
    _pgd(
        "M14",
        "a second query with a throw-away ledger, averaged",
        _PGD,
        (
            "            g = gradient(x)\n",
            "            g = gradient(x)\n"
            "            spare = dataclasses.replace(gradient, ledger=type(run.ledger)())(x)\n"
            "            g = dataclasses.replace(g, noisy=(g.noisy + spare.noisy) / 2)\n",
        ),
    ),
    _pgd(
        "M15",
        "step size from the largest record",
        _PGD,
        (
            "self.step_size_for(problem), run",
            "self.step_size_for(problem) / float((problem.signed_features**2).sum(axis=1).max()), run",
        ),
    ),
    Mutant(
        "M16",
        "pools overlap: records used twice",
        "algorithms.spider.population_stochastic_spider:PopulationStochasticSpider.pools",
        (("Pool(first.end, self.second_batch", "Pool(0, self.second_batch"),),
        "stochastic-spider-population",
    ),
    _pgd(
        "M17",
        "noise x 0.9 after it was counted",
        "algorithms.oracles.perturbation:perturbed",
        ("    return drawn\n", "    return values + 0.9 * (drawn - values)\n"),
    ),
    _poisson(
        "M18",
        "every Poisson sample is used for two steps",
        "privacy.mechanisms.schemes.drawing:Generator.coins",
        (
            "        return np.flatnonzero(self._generator.random(count) < float(rate))\n",
            "        kept, stream = drawable_rate.__dict__, str(id(self._generator))\n"
            "        if stream in kept:\n"
            "            return kept.pop(stream)\n"
            "        kept[stream] = np.flatnonzero(self._generator.random(count) < float(rate))\n"
            "        return kept[stream]\n",
        ),
    ),
    Mutant(
        "M19",
        "the second point of a difference sees another batch",
        "algorithms.oracles.differences:GradientDifferenceOracle._difference",
        (("batch_means(self.problem, previous, rows, by)", "batch_means(self.problem, previous, self._rows(), by)"),),
        "dp-storm-batches",
    ),
    Mutant(
        "M20",
        "the second point of a difference sees all records, not the batch",
        "algorithms.oracles.differences:GradientDifferenceOracle._difference",
        (("batch_means(self.problem, previous, rows, by)", "self.gradients.known(previous)[1]"),),
        "dp-storm-batches",
    ),
)


@contextlib.contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """The bug is in the package inside the ``with`` block, wherever the function was imported to."""
    module_name, _, path = mutant.where.partition(":")
    module = importlib.import_module(f"dpbounds.{module_name}")
    *owners, name = path.split(".")
    owner = getattr(module, owners[0]) if owners else module
    sound = vars(owner)[name]
    function = getattr(sound, "func", sound)  # of a cached property
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in mutant.changes:
        old, new = (
            text if not owners else textwrap.dedent(text) if "\n" not in text else _out(text) for text in (old, new)
        )
        if source.count(old) != 1:
            raise LookupError(f"{mutant.name}: {old!r} occurs {source.count(old)} times in {mutant.where}")
        source = source.replace(old, new)
    names = {
        **vars(module),
        **{each: importlib.import_module(each) for each in ("dataclasses",)},
        "np": importlib.import_module("numpy"),
    }
    made: dict[str, Any] = {}
    exec(compile(source, f"<{mutant.name}>", "exec"), names, made)  # noqa: S102 (our own text)
    broken = made[name]
    if hasattr(broken, "__set_name__"):
        broken.__set_name__(owner, name)
    holders = [(owner, name)]
    if not owners:  # a function: also where it was imported by name
        packages = [each for each in sys.modules.values() if getattr(each, "__name__", "").startswith("dpbounds.")]
        holders = [(each, key) for each in packages for key, value in list(vars(each).items()) if value is sound]
    for holder, key in holders:
        setattr(holder, key, broken)
    _forget_problems()
    try:
        yield
    finally:
        _forget_problems()
        for holder, key in holders:
            setattr(holder, key, sound)


def _out(text: str) -> str:
    """Lines of a method's body, as they stand when the method is dedented by one level."""
    return "".join(line.removeprefix("    ") for line in text.splitlines(keepends=True))


def _forget_problems() -> None:
    """Studies keep their problems, which were made by sound code, or by broken."""
    for name, module in list(sys.modules.items()):
        if name.startswith("dpbounds.algorithms.verification.studies."):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


BUDGET = PrivacyBudget.of(1, "1e-5")


def posed(mutant: Mutant) -> tuple[Any, Any]:
    """The algorithm and the problem of its example."""
    algorithm, problem = example(mutant.example).calibrated(BUDGET)
    if mutant.name == "M16":  # the example's one step takes records from one pool only
        sizes = {"steps": 4, "fresh_estimates": 2, "first_batch": 4000, "second_batch": 3000}
        algorithm = attrs.evolve(algorithm, **sizes)
    return algorithm, problem


def noticed(mutant: Mutant, defence: str) -> str | None:
    """What a defence says of the bug; None where it says nothing, or another one has spoken before."""
    with planted(mutant):
        try:
            return _asked(mutant, defence)
        except DpboundsError as error:
            if defence == "shadow" and not isinstance(error, DataLeaked):
                return None
            if defence == "residuals" and not isinstance(error, NoiseWrong) and _refuses_itself(mutant):
                return None
            return f"{type(error).__name__}: {error}"


def _refuses_itself(mutant: Mutant) -> bool:
    try:
        return _asked(mutant, "run") is not None
    except DpboundsError:
        return True


def _asked(mutant: Mutant, defence: str) -> str | None:
    algorithm, problem = posed(mutant)
    if defence == "run":
        algorithm.run(problem, seed=0, repetitions=32)
    elif defence == "shadow":
        shadowed(partial(algorithm.run, seed=0, repetitions=4), problem)
    elif defence == "residuals":
        for repetitions in (32, 512):
            residuals = Residuals()
            with watched_by(residuals):
                made = algorithm.run(problem, seed=1, repetitions=repetitions)
            residuals.demand_right(made.ledger)
    elif defence == "guards":
        examined(algorithm, problem)
    elif defence == "audit":
        from dpbounds.algorithms.verification.attacks.experiments import audit_example

        found = audit_example(mutant.example, BUDGET, runs=4000)
        return None if found.sound else f"at least {found.audit.epsilon:.3g}"
    else:
        return _verified(mutant)
    return None


def _verified(mutant: Mutant) -> str | None:
    from dpbounds.algorithms.verification.judging.planned_checks import Size
    from dpbounds.algorithms.verification.suite import failed, run_suite
    from dpbounds.algorithms.verification.sweeping.store import Store

    statement = example(mutant.example).theorems[0].removesuffix("/explicit")
    wrong = failed(run_suite(Size.QUICK, Store(), theorems=[statement]))
    return wrong[0].check.reason if wrong else None


# --- The table

PAGE = ROOT / "docs" / "tutorials" / "audit.md"
BEGIN, END = "<!-- measured: python -m tests.algorithms.mutants -->\n", "<!-- end -->\n"


def table(found: dict[str, dict[str, bool | None]]) -> str:
    """The outcome as Markdown, with a score for each defence."""
    lines = ["| planted bug | " + " | ".join(DEFENCES) + " |", "| --- " * (1 + len(DEFENCES)) + "|"]
    for mutant in MUTANTS:
        words = {True: "yes", False: "", None: "not measured"}
        cells = [words[found[mutant.name].get(defence)] for defence in DEFENCES]
        lines.append(f"| {mutant.name} {mutant.flaw} | " + " | ".join(cells) + " |")
    scores = [str(sum(bool(each.get(defence)) for each in found.values())) for defence in DEFENCES]
    lines.append(f"| of {len(MUTANTS)} | " + " | ".join(scores) + " |")
    return "\n".join(lines) + "\n"


def write(found: dict[str, dict[str, bool | None]]) -> None:
    """Put the table on the page of audits."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(before + BEGIN + table(found) + END + rest.partition(END)[2], encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Measure, print as it goes, and write the table (where all bugs were measured)."""
    found: dict[str, dict[str, bool | None]] = {}
    for mutant in MUTANTS:
        if arguments and mutant.name not in arguments:
            continue
        found[mutant.name] = {}
        for defence in DEFENCES:
            said = noticed(mutant, defence)
            found[mutant.name][defence] = said is not None
            print(f"{mutant.name} {defence:<13} {said and said[:160]}", flush=True)
    if not arguments:
        write(found)


if __name__ == "__main__":
    main(sys.argv[1:])
