"""Planted bugs: their lists, and how one is put into the package of a running process."""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import attrs

_PLAIN = (bool, int, float, str, tuple, dict, Fraction)  # constants of a module that are replaced by value
_CACHES_OF = ("dpbounds", "tests", "docs")


class NotPlanted(Exception):
    """A bug is not in the package: its text is not there, or nothing that is in use has changed."""


@dataclass(frozen=True)
class Mutant:
    """A planted bug.

    Attributes:
        id: A short name that stays.
        flaw: What is wrong, in a few words.
        area: The list it stands in.
        module: The module that gets it.
        tests: Where it should be noticed: beginnings of paths, each with an optional ``::pattern``.
        old: A text that stands once in the source of the module,
        new: and what replaces it.
        run: Or: statements that run in the namespace of the module.
    """

    id: str
    flaw: str
    area: str
    module: str
    tests: tuple[str, ...]
    old: str = ""
    new: str = ""
    run: str = ""

    def __post_init__(self) -> None:
        if bool(self.run) == bool(self.old) or self.old == self.new != "":
            raise ValueError(f"{self.id}: either `run`, or `old` and a different `new`")


def read_lists(folder: Path) -> dict[str, Mutant]:
    """All planted bugs by id, in the order of their lists."""
    found: dict[str, Mutant] = {}
    for file in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(file.read_text("utf-8"))["mutant"]:
            mutant = Mutant(area=file.stem, **{**entry, "tests": tuple(entry["tests"])})
            if mutant.id in found:
                raise ValueError(f"{mutant.id} stands in {found[mutant.id].area} and in {mutant.area}")
            found[mutant.id] = mutant
    return found


def broken_source(mutant: Mutant, source: str) -> str:
    """The source of the module with the bug; ``NotPlanted`` unless the old text stands there once."""
    if (count := source.count(mutant.old)) != 1:
        raise NotPlanted(f"found {count} times: {mutant.old!r}")
    return source.replace(mutant.old, mutant.new)


def plant(mutant: Mutant) -> None:
    """Put the bug into this process, for good.

    Functions get the code of the broken ones, wherever they were imported to. Records and plain constants of the module
    get the values of the broken ones. Caches are emptied: what they hold was made by sound code.

    Raises:
        NotPlanted: The bug changes nothing that is in use.
    """
    module = importlib.import_module(mutant.module)
    if mutant.run:
        exec(mutant.run, vars(module))  # noqa: S102 (our own text)
    else:
        source, path = inspect.getsource(module), str(module.__file__)
        sound = compile(source, path, "exec", dont_inherit=True)
        broken = compile(broken_source(mutant, source), path, "exec", dont_inherit=True)
        if not (_swap_functions(path, sound, broken) + _swap_values(module, sound, broken)):
            raise NotPlanted("no function, record or plain constant in use has changed: give `run`")
    for each in gc.get_objects():
        if type(each) is functools._lru_cache_wrapper and (each.__module__ or "").startswith(_CACHES_OF):
            each.cache_clear()


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The code objects within another, in the order of the text."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _functions(each)


def _meaning(code: CodeType) -> tuple[object, ...]:
    """What code does, whatever its lines: comprehensions and functions inside of it are part of that."""
    constants = [_meaning(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return (code.co_code, code.co_names, code.co_varnames, *constants)


def _by_name(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """The code objects of a module by name and place among those of the same name."""
    places: Counter[str] = Counter()
    found = {}
    for each in _functions(code):
        found[each.co_qualname, places[each.co_qualname]] = each
        places[each.co_qualname] += 1
    return found


def _swap_functions(path: str, sound: CodeType, broken: CodeType) -> int:
    """Change all live functions of a file whose code differs; how many."""
    new = _by_name(broken)
    changed = {
        (code.co_qualname, code.co_firstlineno): new[name]
        for name, code in _by_name(sound).items()
        if name in new and _meaning(code) != _meaning(new[name])
    }
    gc.unfreeze()  # frozen objects are not listed
    live = [each for each in gc.get_objects() if type(each) is FunctionType and each.__code__.co_filename == path]
    hit = [each for each in live if (each.__code__.co_qualname, each.__code__.co_firstlineno) in changed]
    for function in hit:
        try:
            function.__code__ = changed[function.__code__.co_qualname, function.__code__.co_firstlineno]
        except ValueError as error:  # other variables of an enclosing function
            raise NotPlanted(str(error)) from error
    return len(hit)


def _swap_values(module: ModuleType, sound: CodeType, broken: CodeType) -> int:
    """Change records and plain constants of a module where its own statements differ; how many."""
    statements = [[each for each in code.co_consts if not isinstance(each, CodeType)] for code in (sound, broken)]
    if sound.co_code == broken.co_code and sound.co_names == broken.co_names and statements[0] == statements[1]:
        return 0
    made: dict[str, Any] = {name: value for name, value in vars(module).items() if name.startswith("__")}
    exec(broken, made)  # noqa: S102 (the package's own text, but for the bug)
    count = 0
    for name, value in made.items():
        old = vars(module).get(name)
        if name.startswith("__") or type(value).__qualname__ != type(old).__qualname__:
            continue
        if attrs.has(type(value)):
            count += _overwrite(old, value)
        elif isinstance(value, _PLAIN) and value != old:
            vars(module)[name] = value
            count += 1
    return count


def _overwrite(old: Any, new: Any) -> int:
    """Give a record the fields of another one; records within it stay the objects that they are. How many changed."""
    count = 0
    for name in (field.name for field in attrs.fields(type(new))):
        was, now = getattr(old, name), getattr(new, name)
        if was == now:
            continue
        ours, theirs = (each if isinstance(each, tuple) else (each,) for each in (was, now))
        pairs = list(zip(ours, theirs, strict=False))
        alike = len(ours) == len(theirs)
        if alike and all(
            attrs.has(type(one)) and type(one).__qualname__ == type(two).__qualname__ for one, two in pairs
        ):
            count += sum(_overwrite(one, two) for one, two in pairs)
        else:
            object.__setattr__(old, name, now)
            count += 1
    return count
