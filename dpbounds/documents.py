"""Files of evidence: ledgers and certificates are read strictly, and files are written completely or not at all.

*Reading.* Regular files only: a pipe or a device would block, or never end. JSON means one thing: no field occurs
twice, every number is finite, and size, nesting and digits have limits (``dpbounds.limits``).

*Writing.* The content is written to a temporary file beside its place, is forced to the disk, and is then renamed. A
full disk or a killed process leaves the file that was there. Stored runs of ``dpbounds verify`` are written by joblib.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from dpbounds import limits
from dpbounds.errors import InvalidValue

_WORD = re.compile(rf"[\w.+*/:-]{{1,{limits.QUOTED}}}", re.ASCII)
# a string (its closing quotation mark may be missing), or anything else but brackets: read once from left to right
_NO_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[^\[\]{}"]+', re.DOTALL)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_bytes(path: str | Path, name: str, most: int) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file, or a symbolic link to one.
        name: The name for errors.
        most: Bytes that it may have.

    Raises:
        InvalidValue: It cannot be read, is not a regular file (a pipe, a device, a directory), or is larger.
    """
    with _regular(path, name) as descriptor:
        content = _read(descriptor, most + 1)
    if len(content) > most:
        raise InvalidValue(name, path, f"a file of at most {most} bytes")
    return content


def read_text(path: str | Path, name: str, most: int = limits.TEXT_BYTES) -> str:
    """Return the text of a regular file in UTF-8, without a byte order mark; errors as ``read_bytes``."""
    try:
        return read_bytes(path, name, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidValue(name, path, "a text file in UTF-8") from None


def read_json(path: str | Path, name: str) -> Any:
    """Return the JSON document in a regular file; errors as ``read_bytes`` and ``parsed``."""
    text = read_text(path, name, limits.JSON_BYTES)
    try:
        return parsed(text, "the content")
    except InvalidValue as error:
        raise InvalidValue(name, path, "a JSON file that means one thing", str(error)) from None


def parsed(text: str, name: str) -> Any:
    """A JSON document.

    Args:
        text: The document.
        name: The name for errors.

    Raises:
        InvalidValue: Not JSON, a field that occurs twice, a number that is not finite or too long, too much nesting.

    >>> parsed('{"a": [1, 0.5, null]}', "example")
    {'a': [1, 0.5, None]}
    """
    if len(text) > limits.JSON_BYTES:
        raise InvalidValue(name, f"{len(text)} characters", f"at most {limits.JSON_BYTES}")
    if _depth(text) > limits.NESTING:
        raise InvalidValue(name, "too deeply nested", f"at most {limits.NESTING} brackets in one another")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for field, value in pairs:
            if field in found:
                raise InvalidValue(f"field {quoted(field)} of {name}", "twice", "given once in one object")
            found[field] = value
        return found

    def refused(word: str) -> NoReturn:
        raise InvalidValue(name, quoted(word), "finite numbers only")

    def whole(digits: str) -> int:
        return int(_short(digits, name))

    def real(digits: str) -> float:
        value = float(_short(digits, name))
        return value if math.isfinite(value) else refused(digits)

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refused, parse_int=whole, parse_float=real)
    except json.JSONDecodeError as error:
        raise InvalidValue(name, f"line {error.lineno}", "JSON text", error.msg) from None


def _short(digits: str, name: str) -> str:
    if len(digits) > limits.JSON_DIGITS:
        raise InvalidValue(name, f"a number of {len(digits)} characters", f"at most {limits.JSON_DIGITS}")
    return digits


def _depth(text: str) -> int:
    """Return the largest depth of open brackets (up to the limit)."""
    depth = deepest = 0
    for bracket in _NO_BRACKETS.sub("", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
        if deepest > limits.NESTING:
            break
    return deepest


@contextmanager
def _regular(path: str | Path, name: str) -> Iterator[int]:
    """Return a descriptor of a regular file, opened without blocking."""
    try:
        demand_regular(os.stat(path), path, name)  # before it is opened: opening some devices does something
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:  # (a path with a NUL is a ValueError)
        raise _unreadable(path, name, error) from None
    try:
        demand_regular(os.fstat(descriptor), path, name)
        yield descriptor
    except OSError as error:
        raise _unreadable(path, name, error) from None
    finally:
        os.close(descriptor)


def demand_regular(found: os.stat_result, path: str | Path, name: str) -> None:
    """Raise ``InvalidValue`` unless this is the status of a regular file."""
    if not stat.S_ISREG(found.st_mode):
        what = {
            stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"
        }.get(stat.S_IFMT(found.st_mode), "something else")  # fmt: skip
        raise InvalidValue(name, path, "a file that can be read", f"this is {what}: save its content to a file")


def _unreadable(path: str | Path, name: str, error: OSError | ValueError) -> InvalidValue:
    if isinstance(error, InvalidValue):
        return error
    reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
    return InvalidValue(name, path, "a file that can be read", reason)


def _read(descriptor: int, most: int) -> bytes:
    pieces, left = [], most
    while left > 0 and (piece := os.read(descriptor, min(left, 2**20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


# --- fields -----------------------------------------------------------------------------------------------------------


def quoted(value: object) -> str:
    r"""Quote a value of a file in an error: on one line, short, without terminal control characters.

    >>> print(quoted("\x1b[2J"), quoted("poisson"), quoted(True), quoted([1]), len(quoted("x" * 10**6)) < 80)
    '\x1b[2J' poisson true a list True
    """
    if isinstance(value, str):
        if _WORD.fullmatch(value):
            return value
        return ascii(value if len(value) <= limits.QUOTED else value[: limits.QUOTED] + "...")
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return json.dumps(value) if value is None or isinstance(value, bool) else ascii(value)[: limits.QUOTED]


def demand_object(
    value: object, name: str, required: Collection[str], optional: Collection[str] = ()
) -> Mapping[str, Any]:
    """Return an object with all required fields, and no others than the optional ones; else ``InvalidValue``."""
    if not isinstance(value, Mapping):
        raise InvalidValue(name, quoted(value), "an object")
    allowed = ", ".join(sorted({*required, *optional}))
    unknown = sorted(quoted(field) for field in value if field not in required and field not in optional)
    missing = sorted(field for field in required if field not in value)
    if unknown or missing:
        wrong = ", ".join(missing + unknown[:5])
        raise InvalidValue(name, f"fields missing or unknown: {wrong}", allowed)
    return value


def demand_version(value: object, name: str, known: Collection[int]) -> int:
    """Return a known version, as a whole number (``true`` and 2.0 are refused); else ``InvalidValue``."""
    if type(value) is not int or value not in known:
        raise InvalidValue(name, quoted(value), " or ".join(map(str, known)), "update dpbounds to read a later one")
    return value


# --- writing ----------------------------------------------------------------------------------------------------------


def write(path: str | Path, content: str | bytes) -> None:
    """Write a file atomically.

    Where a regular file is replaced, the new one has its permissions (and its owner, where that is allowed); else the
    usual ones. A symbolic link stays one, and its target is written. A pipe, a terminal or ``/dev/null`` is written to
    as it is; a pipe without a reader is refused at once.

    Args:
        path: The file. Its directory has to exist, and to have room for a second file.
        content: Text is written in UTF-8, with the line ends that it has.

    Raises:
        OSError: It cannot be written; a file that was there is as it was.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    with _named(path):
        _write(path, data)


def write_before(
    first: Mapping[Path, str | bytes],
    last: Mapping[Path, str | bytes],
    between: Callable[[], None] | None = None,
    outdated: Iterable[Path] = (),
) -> None:
    """Write the evidence of a release, and only then the release: no failure leaves the second without the first.

    Room for all files is taken beside their places first, so that a full disk changes nothing. Then earlier files at
    the places of ``last`` are removed, as they would be beside evidence about something else; ``first`` is put in
    place, ``between`` called, and only now ``last`` is written. A process that is killed at any moment leaves nothing
    of ``last``, not in a temporary file either, or all of ``first`` beside it.

    Args:
        first: Evidence, by path.
        last: The subject of the evidence, by path.
        between: Reads the evidence; its result has to be written before the release, too.
        outdated: Files of an earlier release that this one does not write: they are removed, too.

    Raises:
        OSError: A file cannot be written; nothing of ``last`` is there, or all files are as they were.
    """
    drafts: dict[Path, Callable[[], None]] = {}
    beside: list[Path] = []
    try:
        for contents, later in ((first, False), (last, True)):
            for path, content in contents.items():
                data = content.encode("utf-8") if isinstance(content, str) else content
                with _named(path):
                    drafts[path] = _draft(path, data, beside, later)
        earlier = (*last, *(path for path in outdated if path not in first))
        for path in earlier:
            with _named(path), suppress(FileNotFoundError):
                if stat.S_ISREG(os.stat(path).st_mode):
                    os.unlink(os.path.realpath(path))
        _flush_directories(earlier)
        for path in first:
            with _named(path):
                drafts[path]()
        _flush_directories(first)
        if between is not None:
            between()
        for path in last:
            with _named(path):
                drafts[path]()
        _flush_directories(last)
    finally:
        for each in beside:
            with suppress(OSError):
                os.unlink(each)


def _draft(path: Path, data: bytes, beside: list[Path], later: bool) -> Callable[[], None]:
    """Write a regular file beside its place, and return its move into place; for any other kind, return its writer.

    Where it is to be written later, zeros keep the room for it.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        found = None
    if found is not None and not stat.S_ISREG(found.st_mode):
        return partial(_write, path, data)
    target = Path(os.path.realpath(path))
    draft = _beside_with(target, bytes(len(data)) if later else data, found)
    beside.append(draft)

    def place() -> None:
        if later:
            descriptor = os.open(draft, os.O_WRONLY | getattr(os, "O_BINARY", 0))
            try:
                _write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        os.replace(draft, target)

    return place


def _flush_directories(paths: Iterable[Path]) -> None:
    for directory in {Path(os.path.realpath(path)).parent for path in paths}:
        _flush_directory(directory)


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """An error has the name that was given, not that of the temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def probe(path: str | Path) -> None:
    """Raise ``OSError`` if :func:`write` would, for lack of a directory or of permission; the file is unchanged."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a pipe, say: to open it would be seen at the other end
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    descriptor, beside = _beside(target)
    os.close(descriptor)
    os.unlink(beside)


def _write(path: str | Path, data: bytes) -> None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        found = None
    stream = None if found is None else _own_stream(found)
    if stream is not None:
        _write_all(stream, data)
    elif found is None or stat.S_ISREG(found.st_mode):
        _replace(Path(os.path.realpath(path)), data, found)
    else:
        _write_through(path, data)


def _own_stream(found: os.stat_result) -> int | None:
    """The descriptor of standard output or standard error, where that is the file: to replace it would lose output."""
    for stream in (sys.stdout, sys.stderr):
        try:
            descriptor = stream.fileno()
            same = os.path.samestat(os.fstat(descriptor), found)
        except (AttributeError, OSError, ValueError):  # closed, or no file at all
            continue
        if same and not os.path.samestat(found, os.stat(os.devnull)):
            stream.flush()
            return descriptor
    return None


def _replace(target: Path, data: bytes, found: os.stat_result | None) -> None:
    beside = _beside_with(target, data, found)
    try:
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    _flush_directory(target.parent)


def _beside_with(target: Path, data: bytes, found: os.stat_result | None) -> Path:
    """Return a new file in the same directory with that content, forced to the disk."""
    if found is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    descriptor, beside = _beside(target)
    try:
        try:
            _write_all(descriptor, data)
            if found is not None:
                _take_over(descriptor, found)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    return beside


def _beside(target: Path) -> tuple[int, Path]:
    """Return a new file in the same directory."""
    beside = target.parent / f".dpbounds-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(beside, flags, 0o666), beside  # less what the umask takes away


def _take_over(descriptor: int, found: os.stat_result) -> None:
    """Permissions, and as far as it is allowed the owner, of the file that is replaced."""
    if hasattr(os, "fchown"):
        now = os.fstat(descriptor)
        if (now.st_uid, now.st_gid) != (found.st_uid, found.st_gid):
            with suppress(PermissionError):
                os.fchown(descriptor, found.st_uid, found.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(found.st_mode))


def _flush_directory(directory: Path) -> None:
    """Let the new name survive a power cut; where a system cannot do that, the file is there all the same."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_through(path: str | Path, data: bytes) -> None:
    """Write into a file that is not regular; a pipe without a reader is an error (ENXIO), and so is a directory."""
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        if hasattr(os, "set_blocking"):
            os.set_blocking(descriptor, True)
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
