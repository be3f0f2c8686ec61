"""The tutorials as notebooks, made from their Markdown with the outputs that it shows, which tests hold against runs.

The pages that Sphinx builds offer them. ``python docs/notebooks.py FOLDER`` writes them by hand.
"""

import doctest
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from markdown_it import MarkdownIt
from nbformat import v4

TUTORIALS = sorted((Path(__file__).parent / "tutorials").glob("*.md"))
_RUN = ("console", "python")
_REMARK = re.compile(r"^<!-- .*? -->\n?", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # into the repository: outside of it they lead nowhere
_FILES = "Commands that name files under `docs/` run in a copy of the repository."


def notebook(text: str) -> nbformat.NotebookNode:
    """One cell for each piece of prose, each command, and each Python statement that prints."""
    lines, cells, start = text.splitlines(keepends=True), [], 0
    for token in MarkdownIt().parse(text):
        if token.type == "fence" and token.map is not None and token.info.strip() in _RUN:
            cells += [*_prose(lines[start : token.map[0]]), *_code(token.info.strip(), token.content)]
            start = token.map[1]
    cells += _prose(lines[start:])
    if "docs/" in "".join(cell.source for cell in cells if cell.cell_type == "code"):
        cells.insert(1, v4.new_markdown_cell(_FILES))
    for place, cell in enumerate(cells):
        cell.id = f"cell-{place}"  # the same text is the same file
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def _prose(lines: Sequence[str]) -> list[nbformat.NotebookNode]:
    told = _LINK.sub(r"\1", _REMARK.sub("", "".join(lines))).strip()
    return [v4.new_markdown_cell(told)] if told else []


def _code(language: str, text: str) -> Iterator[nbformat.NotebookNode]:
    if language == "console":
        for example in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, printed = example.replace("\\\n", " ").partition("\n")
            yield _cell("!" + re.sub(r"\s+", " ", command), printed)
        return
    if ">>> " not in text:
        yield _cell(text.rstrip(), "")
        return
    waiting = ""
    for example in doctest.DocTestParser().get_examples(text):
        waiting += example.source
        if example.want:
            yield _cell(waiting.rstrip(), example.want, value=not example.source.startswith("print("))
            waiting = ""
    if waiting:
        yield _cell(waiting.rstrip(), "")


def _cell(source: str, shown: str, *, value: bool = False) -> nbformat.NotebookNode:
    if not shown:
        return v4.new_code_cell(source)
    told = (
        v4.new_output("execute_result", {"text/plain": shown.rstrip()})
        if value
        else v4.new_output("stream", text=shown)
    )
    return v4.new_code_cell(source, outputs=[told])


def write(page: Path, folder: Path) -> Path:
    """Write the notebook of a tutorial, and return its path."""
    path = folder / f"{page.stem}.ipynb"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook(page.read_text(encoding="utf-8")), path)
    return path


def _offered(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """A link to the notebook above a tutorial."""
    page = next((one for one in TUTORIALS if name == f"docs/tutorials/{one.stem}"), None)
    if page is not None:
        path = write(page, Path(app.outdir) / "docs" / "tutorials")
        context["body"] = f'<p><a href="{path.name}" download>Download as a notebook</a></p>\n{context["body"]}'


def setup(app: Any) -> dict[str, object]:
    """Tell Sphinx."""
    app.connect("html-page-context", _offered)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for tutorial in TUTORIALS:
        print(write(tutorial, Path(sys.argv[1])))
