"""Who imports whom, over all files of the project, lazy imports included: no file reaches itself again."""

import ast
from functools import cache
from pathlib import Path

import pytest

import dpbounds
from dpbounds import algorithms

PACKAGES = {package.__name__: Path(package.__file__).parent for package in (dpbounds, algorithms)}


def module_name(package, path):
    parts = [package, *path.relative_to(PACKAGES[package]).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def for_types_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(tree, modules):
    """The modules that a file imports when it is loaded or later; those for the type checker alone do not count."""
    found, waiting = set(), [tree]
    while waiting:
        node = waiting.pop()
        if for_types_only(node):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from room import file` needs the file; `from room import name` needs the room
            found |= inside & modules
            if inside - modules:
                found.add(node.module)
    return found & modules


@cache
def graph():
    files = {module_name(name, path): path for name, root in PACKAGES.items() for path in sorted(root.rglob("*.py"))}
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in files.items()}
    return {name: imports(tree, files.keys()) - {name} for name, tree in trees.items()}


def circles(arrows):
    """Strongly connected groups of more than one module (Tarjan 1972), each sorted."""
    order, low, stack, found = {}, {}, [], []

    def visit(start):
        waiting = [(start, iter(sorted(arrows[start])))]
        order[start] = low[start] = len(order)
        stack.append(start)
        while waiting:
            here, targets = waiting[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    waiting.append((target, iter(sorted(arrows[target]))))
                    break
                if target in stack:
                    low[here] = min(low[here], order[target])
            else:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[here])
                if low[here] == order[here]:
                    group = stack[stack.index(here) :]
                    del stack[stack.index(here) :]
                    if len(group) > 1:
                        found.append(tuple(sorted(group)))

    for name in sorted(arrows):
        if name not in order:
            visit(name)
    return sorted(found)


@pytest.mark.seconds
def test_no_file_reaches_itself_again():
    assert len(graph()) > 600
    assert circles(graph()) == []


def test_circles_are_found():
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": {"f"}, "f": {"d"}, "g": {"a", "d"}}
    assert circles(arrows) == [("b", "c"), ("d", "e", "f")]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_lazy_imports_count_and_those_for_types_do_not():
    source = """
from typing import TYPE_CHECKING
from room import file, name
if TYPE_CHECKING:
    import types_only
else:
    import otherwise
def later():
    import lazy.inner
    from .near import nothing
"""
    modules = {"room", "room.file", "types_only", "otherwise", "lazy.inner", "typing"}
    assert imports(ast.parse(source), modules) == modules - {"types_only"}
