"""A statement in a file: whatever the file does is an error of that file, told in one line."""

import pytest

from dpbounds.cli import main
from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import Unit, as_expression
from dpbounds.rates.orders import Order
from dpbounds.theorems.registry import from_file

BROKEN = {
    "raise RuntimeError('boom')": "line 1: RuntimeError('boom')",
    "x = 1\nraise SystemExit(7)": "line 2: SystemExit(7)",
    "import sys\n\nsys.exit()": "line 3: SystemExit",
    "x = 1\ndef (": "line 2: SyntaxError",
    "\n\nx = 1 +": "line 3: SyntaxError",
    "def f():\n    return f()\nf()": "line 2: RecursionError",
    "open('nosuch.csv')": "line 1: FileNotFoundError",
    "import nosuch_module": "line 1: ModuleNotFoundError",
    "raise RuntimeError('x' * 100_000)": "line 1: RuntimeError",
    "x = '\\0": "SyntaxError",
    "THEOREM = 1": "a record named THEOREM",
    "": "a record named THEOREM",
}


@pytest.mark.parametrize(("text", "told"), BROKEN.items())
@pytest.mark.parametrize("verb", [["show"], ["evaluate"], ["compare", "wang-xu-2019/theorem-2"]])
def test_a_broken_file_is_bad_input(verb, text, told, tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidValue, match=r"mine\.py"):
        from_file(file)
    assert main([*verb, str(file)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert len(err) <= 501
    assert "mine.py" in err
    assert told in err


def test_a_file_of_bytes_is_bad_input(tmp_path, capsys):
    file = tmp_path / "bytes.py"
    file.write_bytes(b"\xff\xfe\x00x")
    assert main(["show", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("verb", ["show", "evaluate", "compare"])
def test_the_help_says_that_files_are_executed(verb, capsys):
    assert main([verb, "--help"]) == 0
    assert "A FILE.py is executed" in capsys.readouterr().out


def test_text_is_never_read_as_a_formula(tmp_path):
    mark = tmp_path / "ran"
    text = f"__import__('pathlib').Path({str(mark)!r}).write_text('x')"
    with pytest.raises(InvalidValue, match="text is not read as a formula"):
        str(Unit(loss=text))
    for read in (as_expression, Order.of):
        with pytest.raises(InvalidValue, match="text is not read as a formula"):
            read(text)
    assert not mark.exists()
