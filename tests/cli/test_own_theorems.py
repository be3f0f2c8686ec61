"""A theorem in a file of one's own stands beside the library's: a copy of a statement fares as the statement does."""

import csv
import io
import json

import pytest

from dpbounds.cli import main
from dpbounds.errors import InvalidValue
from dpbounds.theorems.registry import own_statements

NUMBERS = ["n=1e6", "d=100", "epsilon=1", "delta=1e-6", "lipschitz=1", "smoothness=1", "initial_gap=1"]
SOURCE = """
from dpbounds.theorems.language import Paper
from dpbounds.theorems.registry import theorem

THEOREM = Paper("mine-2026").same_as(theorem("{id}"), id="mine-2026/theorem-1")
"""


@pytest.fixture
def copy_of(tmp_path):
    def write(name):
        path = tmp_path / "mine.py"
        path.write_text(SOURCE.format(id=name))
        return str(path)

    return write


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["lowy-ullman-wright-2024/lemma-3.1/explicit", "cited/arora-et-al-2023/theorem-4.2"])
def test_it_is_ranked_as_its_original(name, copy_of, capsys):
    assert main(["plan", "--metric", "gradient-norm", *NUMBERS, "--with", copy_of(name), "--json"]) == 0
    ranking = {one["id"]: one for one in json.loads(capsys.readouterr().out)["ranking"]}
    same = ("bound", "rate", "rho", "parameters", "gradient_evaluations", "status", "assumes")
    assert [ranking["mine-2026/theorem-1"][key] for key in same] == [ranking[name][key] for key in same]


@pytest.mark.seconds
def test_it_wins_where_its_original_does(copy_of, capsys):
    name = "lowy-ullman-wright-2024/corollary-4.3"
    words = ["--with", copy_of(name), "--with", "kl_exponent=2"]
    assert main(["regimes", "gradient-norm", *words, "--json"]) == 0
    regions = json.loads(capsys.readouterr().out)["regions"]
    winners = [{region["winner"], *region["ties"]} for region in regions]
    assert any(name in one for one in winners)
    assert all((name in one) == ("mine-2026/theorem-1" in one) for one in winners)


@pytest.mark.parametrize("name", ["lowy-ullman-wright-2024/corollary-4.3", "cited/arora-et-al-2023/theorem-4.3"])
def test_it_stands_in_the_table_as_its_original(name, copy_of, capsys):
    assert main(["table", "gradient-norm", "--with", copy_of(name), "--rows", name, "--format", "csv"]) == 0
    rows = {row.pop("statement"): row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert rows["mine-2026/theorem-1"] == rows[name]


def test_an_id_stands_for_one_statement(copy_of, tmp_path):
    first = copy_of("cited/arora-et-al-2023/theorem-4.2")
    assert [one.id for one in own_statements([first])] == ["mine-2026/theorem-1"]
    with pytest.raises(InvalidValue, match="mine-2026/theorem-1 exists already"):
        own_statements([first, first])
    taken = tmp_path / "taken.py"
    taken.write_text('from dpbounds.theorems.registry import theorem\nTHEOREM = theorem("wang-xu-2019/theorem-2")\n')
    with pytest.raises(InvalidValue, match="wang-xu-2019/theorem-2 exists already"):
        own_statements([taken])


def test_a_file_of_another_kind_is_refused(tmp_path, capsys):
    (tmp_path / "c.json").write_text("{}")
    assert main(["plan", "--metric", "gradient-norm", *NUMBERS, "--with", str(tmp_path / "c.json")]) == 2
    assert "an existing Python file" in capsys.readouterr().err
