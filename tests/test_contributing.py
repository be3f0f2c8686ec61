"""What CONTRIBUTING.md says about adding a theorem is done: its example, its scaffold, its commands."""

import re
import shlex
from pathlib import Path

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.answers.stubs import KINDS
from dpbounds.theorems.checking import defects

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = str(ROOT / "docs" / "my_theorem.py")


def section():
    return TEXT.split("## Adding a theorem")[1].split("\n## ")[0]


def commands():
    (block,) = re.findall(r"^```sh\n(.*?)^```$", section(), flags=re.DOTALL | re.MULTILINE)
    return block.replace("\\\n", " ").splitlines()


@pytest.mark.seconds
@pytest.mark.parametrize("command", commands())
def test_a_command_works(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    assert program == "dpbounds"
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "my-paper-2026" in out
    assert "Defects found in the file\n  none" in out or arguments[0] != "show"


def test_there_are_commands_of_each_kind():
    assert {shlex.split(command)[1] for command in commands()} == {"show", "evaluate", "compare"}


def test_the_example_has_no_defect_and_keeps_its_promise():
    theorem = dp.theorem(EXAMPLE)
    assert defects(theorem) == ()
    assert dp.spending(theorem, {"rho": "0.1", "steps": 500}).kept is True
    value = theorem.evaluate(smoothness=2, initial_gap=3, dimension=7, steps=5, noise_stddev=1).value
    assert value.lower <= (2 * 2 * 3 / 5 + 7) ** 0.5 <= value.upper


def test_the_scaffold_is_a_statement_without_defects(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```$", section(), flags=re.DOTALL | re.MULTILINE)
    file = tmp_path / "scaffold.py"
    file.write_text(code, encoding="utf-8")
    theorem = dp.theorem(str(file))
    assert defects(theorem) == ()
    assert theorem.evaluate(n=100, d=4, epsilon=1).value.contains("0.02")


def test_no_stub_is_left_in_the_packages():
    """`dpbounds new` marks what is to be filled in; nothing is committed with such a mark."""
    files = [path for room in ("dpbounds", "algorithms") for path in (ROOT / room).rglob("*") if path.is_file()]
    texts = [path for path in files if path.suffix in (".py", ".md")]
    assert len(texts) > 500
    assert [path for path in texts if "TO FILL IN" in path.read_text(encoding="utf-8")] == []


def test_every_section_on_additions_names_the_command_that_begins_one():
    kinds = {"a theorem": "theorem", "a sampling scheme": "scheme", "a noise": "noise", "an algorithm": "algorithm"}
    assert set(kinds.values()) == set(KINDS)
    for addition, kind in kinds.items():
        text = TEXT.split(f"## Adding {addition}\n")[1].split("\n## ")[0]
        assert f"dpbounds new {kind}" in " ".join(text.split())


def test_the_house_names_every_room():
    """Every file and folder that stands directly in one of the packages, and every room of verification."""
    house = TEXT.split("## Package structure")[1].split("\n## ")[0]
    rooms = [ROOT / "dpbounds", ROOT / "dpbounds" / "privacy", ROOT / "algorithms"]
    inside = {path.name for room in rooms for path in room.iterdir() if path.suffix == ".py" or path.is_dir()}
    verification = {path.name for path in (ROOT / "algorithms" / "verification").iterdir() if path.is_dir()}
    unnamed = {name for name in inside - {"__pycache__"} if not name.startswith("__") and name not in house}
    unnamed |= {name for name in verification - {"__pycache__", "studies"} if name not in house}
    assert unnamed == set()
