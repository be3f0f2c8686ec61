"""Public names that are imported when first used (PEP 562), so that a package loads only the modules in use.

A package names them once, in the imports under its ``if TYPE_CHECKING:``, which type checkers, editors and this module
read alike (scikit-image and others keep the same list in a stub, Scientific Python's SPEC 1).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def names_by_need(room: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from the imports in its ``if TYPE_CHECKING:``.

    >>> sorted(names_by_need("dpbounds.privacy.routes.contour")[2])[:2]
    ['ACCURACY', 'chernoff_bound']
    """
    package = sys.modules[room]
    tree = ast.parse(Path(str(package.__file__)).read_text("utf-8"))
    homes = {
        alias.name: line.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for line in block.body
        if isinstance(line, ast.ImportFrom) and line.module
        for alias in line.names
    }

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home = homes[name]
        value = import_module(f"{home}.{name}") if home == room else getattr(import_module(home), name)
        setattr(package, name, value)
        return value

    return found, lambda: sorted(homes), sorted(homes)
