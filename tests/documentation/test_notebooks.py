"""Notebooks of the tutorials: nothing of a page is lost, and a kernel prints what is shown."""

import os
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location

import pytest

from tests.documentation.pages import ROOT, assert_same_up_to_round_off, commands, fences

nbformat = pytest.importorskip("nbformat")
pytestmark = pytest.mark.minutes
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
IN_SECONDS = [page for page in TUTORIALS if page.stem != "opacus"]  # which trains with other libraries: test_blocks.py


@pytest.fixture(scope="module")
def notebooks():
    specification = spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def shown(cell):
    return "".join(output.get("text") or output["data"]["text/plain"] for output in cell.get("outputs", ()))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_every_block_is_a_cell(notebooks, page):
    made = notebooks.notebook(page.read_text(encoding="utf-8"))
    nbformat.validate(made)
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    expected = [each for fence in fences(page, "console") for each in commands(fence)]
    assert [(cell.source[1:], shown(cell)) for cell in code if cell.source.startswith("!")] == expected
    python = "\n".join(cell.source for cell in code if not cell.source.startswith("!"))
    compile(python, page.name, "exec")
    for fence in fences(page, "python"):
        for line in fence.text.splitlines():
            assert line.removeprefix(">>> ").removeprefix("... ") in python + "\n".join(map(shown, code)) or not line
    prose = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert prose.startswith("# ")
    assert "<!--" not in prose
    assert "](../" not in prose


@pytest.mark.parametrize("page", IN_SECONDS, ids=lambda page: page.stem)
def test_a_kernel_prints_what_is_shown(notebooks, page, tmp_path, monkeypatch):
    pytest.importorskip("ipykernel")
    client = pytest.importorskip("nbclient")
    needed = {remark for fence in fences(page) for remark in fence.remarks if remark.startswith("needs ")}
    if absent := [remark for remark in sorted(needed) if find_spec(remark.removeprefix("needs ")) is None]:
        pytest.skip(", ".join(absent))
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.setenv("PATH", os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made = notebooks.notebook(page.read_text(encoding="utf-8"))
    expected = [shown(cell) for cell in made.cells]
    client.NotebookClient(made, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell, text in zip(made.cells, expected, strict=True):
        if cell.cell_type == "code" and text:
            assert_same_up_to_round_off(shown(cell).replace("\r\n", "\n").rstrip(), text.rstrip())
