"""The catalogue: its index is derived, tasks keep their names, and one statement costs its own study."""

import fractions
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpbounds.algorithms.verification import catalogue
from dpbounds.algorithms.verification.attacks import every_example
from dpbounds.algorithms.verification.experiments import runs
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.studies import descents, population
from dpbounds.algorithms.verification.suite import planned
from dpbounds.algorithms.verification.sweeping.cells import Cell, name_of, task_named
from dpbounds.errors import InvalidValue

HERE = Path(catalogue.__file__).parent
ENTERED = """
import json, sys
entered = set()
sys.setprofile(lambda frame, event, argument: event == "call" and entered.add(frame.f_code.co_filename))
from dpbounds.cli import main
sys.argv = ["dpbounds", "verify", sys.argv[1], "--json"]
status = main(sys.argv[1:])
sys.setprofile(None)
print(json.dumps([status, sorted(entered)]), file=sys.stderr)
"""


def test_the_index_is_what_the_studies_hold():
    """After a change: ``python -m dpbounds.algorithms.verification``."""
    assert catalogue.derived_index() == catalogue._index()


def test_the_checks_of_a_statement_are_the_same_alone_and_among_all():
    for theorem in catalogue.checked_statements():
        alone = [check.name for check in planned((theorem,))]
        assert alone == [check.name for check in planned() if check.theorem == theorem]


def test_names_are_unique():
    names = [example.name for example in catalogue.all_examples()]
    assert len(set(names)) == len(names)
    assert set(names) == {example.name for example in map(catalogue.example, names)}


@pytest.mark.seconds
def test_one_statement_enters_few_files():
    """Its study, what this needs and nothing of the others; imports count, too."""
    command = [sys.executable, "-c", ENTERED, "wang-xu-2019/algorithm-2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    status, entered = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    here = {Path(file).relative_to(HERE).as_posix() for file in entered if Path(file).is_relative_to(HERE)}
    studies = {file for file in here if file.startswith("studies/")}
    assert studies == {f"studies/{name}.py" for name in ("__init__", "problems", "running", "frank_wolfe")}
    assert len(here) <= 27  # attacks among them: its example is attacked


# --- names of tasks

# Random numbers start from a task's name: with another one, the same seeds would give other numbers.
NAMES = {
    "algorithms.verification.tasks.descents:projected_gradient": descents.projected_gradient,
    "algorithms.verification.tasks.descents:ball_budget": descents.ball_budget,
    "algorithms.verification.tasks.population:net_tail": population.net_tail,
    "algorithms.verification.tasks.examples:ledger": every_example.ledger,
    "algorithms.verification.tasks.experiments:projected_gradient": runs.projected_gradient,
    "fractions:Fraction": fractions.Fraction,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_task_keeps_its_name_wherever_it_lives(name):
    assert name_of(NAMES[name]) == name
    assert task_named(name) is NAMES[name]


def test_the_random_numbers_of_a_cell_are_those_of_earlier_versions():
    cell = Cell.of(descents.projected_gradient, records=500, dimension=5, epsilon=1.0, repetitions=16)
    assert cell.entropy == ENTROPY


ENTROPY = 52481819828447740471150751264853514011


@pytest.mark.parametrize(
    "name", ["algorithms.verification.tasks.nobody:run", "algorithms.verification.tasks.spider:no"]
)
def test_a_task_that_is_gone_is_refused(name):
    with pytest.raises(InvalidValue, match="a function that can be imported"):
        task_named(name)


def test_every_planned_task_has_a_name_that_finds_it():
    cells = {cell.task: cell for check in planned() for size in Size for cell in check.cells(size)}
    assert len(cells) > 35
    for name in cells:
        assert name_of(task_named(name)) == name
