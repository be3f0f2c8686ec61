"""Generator of ``standalone_checker.py``, the stand-alone checker in one file, from the files in ``checker/``.

``python -m dpbounds.privacy.publishing.amalgamate`` puts the files one after the other, each after those from which it
imports; it leaves out their imports of one another, and gathers the others at the top. Nothing else changes: no name is
replaced, and what would mean something else in one file is refused.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dpbounds import documents

SOURCE = Path(__file__).parent / "checker"
TARGET = Path(__file__).parent / "standalone_checker.py"
_PACKAGE, _LAST = "dpbounds.privacy.publishing.checker", "command"
_MADE = (
    "# Made from the files in dpbounds/privacy/publishing/checker/, whose names are above their parts, by\n"
    "# `python -m dpbounds.privacy.publishing.amalgamate`. Change those files, and not this one.\n"
)
_WIDTH = 120
_OUTSIDE = {*sys.stdlib_module_names, "flint"}


class CannotAmalgamate(Exception):
    """The files do not mean the same in one."""


@dataclass(frozen=True)
class Part:
    """One of the files.

    Attributes:
        name: Its module within the package.
        docstring: The text of its docstring.
        body: Its text below the imports.
        siblings: The names that it imports, by the module within the package.
        outside: The names that it imports from elsewhere, with the module and the name there (``None``: the module).
        defined: The names that it gives a meaning.
        unknown: The names that it looks up without defining or importing them.
    """

    name: str
    docstring: str
    body: str
    siblings: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, tuple[str, str | None]]
    defined: frozenset[str]
    unknown: frozenset[str]


def amalgamated(sources: Mapping[str, str]) -> str:
    """Return the text of the one file.

    Args:
        sources: The text of each file by its module within the package, as ``rules.lattice``.

    Raises:
        CannotAmalgamate: A name has a meaning in two files, or a file is not of the simple form that this needs.
    """
    parts = {name: read(name, text) for name, text in sources.items()}
    for part in parts.values():
        for sibling, names in part.siblings.items():
            missing = set(names) - (parts[sibling].defined if sibling in parts else frozenset())
            _demand(not missing, part.name, f"imports {_listed(missing)} from {sibling}, where that is not defined")
    _demand_one_meaning(parts)
    ordered = _in_order(parts)
    left_over = parts.keys() - {part.name for part in ordered}
    _demand(not left_over, _LAST, f"does not lead to {_listed(left_over)}")
    sections = [_section(part) for part in ordered]
    docstring = f'"""{parts[_LAST].docstring}"""\n'
    head = f"{_MADE}{docstring}\nfrom __future__ import annotations\n\n{_imports(parts)}\n"
    return head + "\n\n".join(sections)


def read(name: str, text: str) -> Part:
    """One file: a docstring, then all of its imports, then the rest."""
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree, clean=False)
    if docstring is None:
        raise CannotAmalgamate(f"{name}: has no docstring")
    header = [node for node in tree.body[1:] if isinstance(node, ast.Import | ast.ImportFrom)]
    _demand(tree.body[1 : len(header) + 1] == header, name, "has imports below the first lines")
    anywhere = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    _demand(len(anywhere) == len(header), name, "has imports within functions")
    end = header[-1].end_lineno if header else tree.body[0].end_lineno
    assert end is not None
    lines = text.splitlines(keepends=True)
    _demand(not any("#" in line for line in lines[tree.body[0].end_lineno : end]), name, "has comments among imports")
    siblings: dict[str, tuple[str, ...]] = {}
    outside: dict[str, tuple[str, str | None]] = {}
    for node in header:
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            plain = alias.asname is None and alias.name != "*" and not getattr(node, "level", 0)
            _demand(plain, name, f"imports {alias.name} under another name, relatively, or with all others")
        names = tuple(alias.name for alias in node.names)
        if module.startswith(f"{_PACKAGE}."):
            siblings[module.removeprefix(f"{_PACKAGE}.")] = names
        elif module != "__future__":
            roots = {(module or each).split(".")[0] for each in names}
            _demand(roots <= _OUTSIDE, name, f"imports {_listed(roots - _OUTSIDE)}, which a lone file may not have")
            _demand(bool(module) or not any("." in each for each in names), name, "imports a module of a package")
            outside |= {each: (module, each) if module else (each, None) for each in names}
    table = symtable.symtable(text, f"{name}.py", "exec")
    imported = {*outside, *(each for names in siblings.values() for each in names), "annotations"}
    defined = {each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_namespace()}
    clash = defined & imported
    _demand(not clash, name, f"defines {_listed(clash)}, which it imports as well")
    unknown = set(_looked_up(table)) - imported - defined
    body = "".join(lines[end:]).strip("\n") + "\n"
    return Part(name, docstring, body, siblings, outside, frozenset(defined), frozenset(unknown))


def _looked_up(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names in a scope and those within it."""
    top = table.get_type() == "module"
    yield from (each.get_name() for each in table.get_symbols() if each.is_referenced() and (top or each.is_global()))
    for inner in table.get_children():
        yield from _looked_up(inner)


def _demand_one_meaning(parts: Mapping[str, Part]) -> None:
    """Refuse names that mean one thing in one file and another one, or nothing, in another."""
    owner: dict[str, str] = {}
    for part in parts.values():
        for name in sorted(part.defined):
            _demand(name not in owner, part.name, f"defines {name}, which {owner.get(name)} does as well")
            owner[name] = part.name
    origin: dict[str, tuple[str, str | None]] = {}
    for part in parts.values():
        for name, source in part.outside.items():
            _demand(name not in owner, part.name, f"imports {name} from elsewhere, which {owner.get(name)} defines")
            _demand(origin.setdefault(name, source) == source, part.name, f"imports another {name} than other files")
        shadowed = part.unknown & owner.keys()
        _demand(not shadowed, part.name, f"uses {_listed(shadowed)} of other files without an import")
        nowhere = part.unknown - set(dir(builtins)) - {"__doc__", "__name__"}
        _demand(not nowhere, part.name, f"uses {_listed(nowhere)}, which nothing defines")


def _in_order(parts: Mapping[str, Part]) -> list[Part]:
    """Return all parts that the last file needs, each after its imports."""
    found: list[Part] = []
    waiting: list[str] = []

    def add(name: str) -> None:
        _demand(name not in waiting, name, "imports from itself, by way of others")
        if parts[name] in found:
            return
        waiting.append(name)
        for sibling in parts[name].siblings:
            add(sibling)
        waiting.remove(name)
        found.append(parts[name])

    _demand(_LAST in parts, _LAST, "is missing")
    add(_LAST)
    return found


def _imports(parts: Mapping[str, Part]) -> str:
    """Return all imports from elsewhere, in the order of Ruff."""
    sources = {source for part in parts.values() for source in part.outside.values()}
    modules = sorted(module for module, name in sources if name is None)
    lines = {False: [f"import {module}\n" for module in modules], True: list[str]()}
    for module in sorted({module for module, name in sources if name is not None}):
        names = sorted((name for of, name in sources if of == module and name is not None), key=_rank)
        line = f"from {module} import {', '.join(names)}\n"
        if len(line) > _WIDTH + 1:
            line = f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"
        lines[module.split(".")[0] not in sys.stdlib_module_names].append(line)
    return "\n".join("".join(group) for group in lines.values() if group)


def _rank(name: str) -> tuple[int, str]:
    """Constants, classes, then all else."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2), name


def _section(part: Part) -> str:
    """The text of a file below its name and its docstring, as comments; the last docstring is that of the whole."""
    lines = part.docstring.strip().splitlines() if part.name != _LAST else []
    head = f"# --- {part.name.replace('.', '/')}.py ".ljust(_WIDTH, "-")
    return "\n".join([head, *(f"# {line}".rstrip() for line in lines)]) + f"\n\n{_gap(part)}{part.body}"


def _gap(part: Part) -> str:
    """Return a second empty line, which Ruff puts before functions and classes."""
    return "\n" if part.body.startswith(("def ", "class ", "@")) else ""


def _demand(condition: bool, name: str, what: str) -> None:
    if not condition:
        raise CannotAmalgamate(f"{name}: {what}")


def _listed(names: set[str] | frozenset[str]) -> str:
    return ", ".join(sorted(names))


def sources() -> dict[str, str]:
    """Return the text of every file but those that make folders packages, which hold a docstring only."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        if path.name == "__init__.py":
            _demand(len(ast.parse(text).body) == 1, path.parent.name, "has an __init__.py with more than a docstring")
        else:
            found[".".join(path.relative_to(SOURCE).with_suffix("").parts)] = text
    return found


if __name__ == "__main__":
    documents.write(TARGET, amalgamated(sources()))
