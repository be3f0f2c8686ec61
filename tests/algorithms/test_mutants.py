"""Planted bugs are noticed: by the run itself or its guards; the table in the docs says what else notices them."""

import pytest

from tests.algorithms.mutants import BEGIN, DEFENCES, END, MUTANTS, PAGE, noticed, planted, table

GUARDS = ("run", "shadow", "residuals")
every = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


def in_the_docs():
    """What the table says, by bug and defence."""
    said = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in said.splitlines()[2:-1]]
    found = {row[0].split()[0]: {} for row in rows}
    for line, row in zip(said.splitlines()[2:-1], rows, strict=True):
        cells = [cell.strip() for cell in line.split("|")[2:-1]]
        known = {"yes": True, "": False, "not measured": None}
        found[row[0].split()[0]] = dict(zip(DEFENCES, map(known.__getitem__, cells), strict=True))
    return found, said


@pytest.mark.one_in(4)
@every
def test_a_bug_is_found_in_the_source_and_taken_out_again(mutant):
    for _ in range(2):  # found again: it was taken out
        with planted(mutant):
            pass


def test_the_table_keeps_its_promises():
    """Runs and guards notice all bugs but one, and with audits and checks all; the tests below measure each cell."""
    found, said = in_the_docs()
    assert said == table(found)
    assert list(found) == [mutant.name for mutant in MUTANTS]
    assert sum(any(each[defence] for defence in GUARDS) for each in found.values()) >= 16
    assert all(any(each.values()) for each in found.values())


@pytest.mark.seconds
@every
def test_what_runs_and_guards_notice_is_what_the_table_says(mutant):
    found, _ = in_the_docs()
    assert {defence: noticed(mutant, defence) is not None for defence in GUARDS} == {
        defence: found[mutant.name][defence] for defence in GUARDS
    }


@pytest.mark.seconds
@every
@pytest.mark.parametrize("defence", ["audit", "verify"])
@pytest.mark.minutes_cases("verify-M10")
def test_what_audits_and_checks_notice_is_what_the_table_says(mutant, defence):
    assert (noticed(mutant, defence) is not None) == in_the_docs()[0][mutant.name][defence]
