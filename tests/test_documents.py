"""Files are read strictly (regular ones, limited, of one meaning) and written whole: a full disk leaves what was."""

import ast
import errno
import json
import os
import re
import stat
import subprocess
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dpbounds import documents, limits
from dpbounds.algorithms.ledger_format import write_releases
from dpbounds.cli import main
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms import Gaussian

ROOT = Path(__file__).parent.parent
POSIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")


# --- reading ----------------------------------------------------------------------------------------------------------


def no_regular_files(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    (folder / "link").symlink_to(pipe)
    devices = [path for path in map(Path, ("/dev/full", "/dev/zero", "/dev/null")) if path.exists()]
    return [pipe, folder / "link", folder, *devices]


@POSIX
def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    for path in no_regular_files(tmp_path):
        for read in (documents.read_json, documents.read_text):
            with pytest.raises(InvalidValue, match=r"what must be .*this is a (pipe|device|directory)"):
                read(path, "what")


def test_what_cannot_be_read_is_one_error(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "nothing", tmp_path / "loop", tmp_path / ("x" * 6000), Path("a\0b"), tmp_path / "a" / "b"):
        with pytest.raises(InvalidValue, match="a file that can be read"):
            documents.read_text(path, "what")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe{\x00")
    with pytest.raises(InvalidValue, match="UTF-8"):
        documents.read_json(binary, "what")


def test_sizes_have_a_limit(tmp_path, monkeypatch):
    file = tmp_path / "large"
    file.write_bytes(b"[" + b" " * 98 + b"]")
    assert documents.read_bytes(file, "what", 100) == file.read_bytes()
    with pytest.raises(InvalidValue, match="at most 99 bytes"):
        documents.read_bytes(file, "what", 99)
    monkeypatch.setattr(limits, "JSON_BYTES", 50)
    with pytest.raises(InvalidValue, match="at most 50"):
        documents.read_json(file, "what")


def test_a_byte_order_mark_is_no_text(tmp_path):
    file = tmp_path / "marked"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert documents.read_json(file, "what") == {"a": 1}


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**900), 10**900)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.seconds
@settings(max_examples=30)
@given(plain, st.booleans())
def test_what_json_writes_is_read_as_it_was(value, escaped):
    assert documents.parsed(json.dumps(value, ensure_ascii=escaped), "what") == value


@settings(max_examples=100)
@given(st.text(alphabet='[]{}",:\\ua0eE+-.1NInfity \n\x1b', max_size=60))
def test_any_text_is_read_as_json_reads_it_or_refused(text):
    try:
        found = documents.parsed(text, "what")
    except InvalidValue as error:
        told = str(error)
    else:
        told = ""
        assert found == json.loads(text)
    assert not told or told.isprintable()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 1}', "field a of .* given once"),
        ('[{"b": {"a": 1, "\\u0061": 2}}]', "field a of .* given once"),
        ("[NaN]", "NaN"),
        ("[-Infinity]", "-Infinity"),
        ("[1e999]", "1e999"),
        ("1" * 1001, "1001 characters"),
        ("1." + "1" * 1001, "1003 characters"),
        ("[" * 33 + "]" * 33, "nested"),
        ('"' + "[" * 99 + '"' + "[" * 33, "nested"),
        ("[" * 100_000, "nested"),
        ('{"a":' * 100_000, "nested"),
        ('"\\' * 100_000 + "[" * 100, "JSON text"),  # nothing here takes longer than one pass
        ("", "JSON text"),
        ("[1] 2", "JSON text"),
    ],
    ids=lambda text: text[:24],
)
def test_json_with_two_meanings_or_without_bounds_is_refused(text, message):
    with pytest.raises(InvalidValue, match=message) as told:
        documents.parsed(text, "what")
    assert len(str(told.value)) < 300


def test_brackets_within_strings_are_no_nesting():
    text = json.dumps([["[" * 50, '"' + "{" * 50, "\\"], "]"])
    assert documents.parsed(text, "what") == json.loads(text)


def test_versions_are_whole_numbers():
    assert documents.demand_version(2, "version", (1, 2)) == 2
    for wrong in (True, 2.0, "2", None, [2], 3):
        with pytest.raises(InvalidValue, match="version must be "):
            documents.demand_version(wrong, "version", (1, 2))


def test_what_is_quoted_commands_no_terminal():
    for value in ("\x1b[2J", "\u202eabc", "\n", "x" * 10**6, {"\x1b": 1}, ["\x1b"], None, True, 10**999, 0.5, ""):
        text = documents.quoted(value)
        assert text.isascii()
        assert text.isprintable()
        assert 0 < len(text) < 80


# --- writing ----------------------------------------------------------------------------------------------------------


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes_arrive_as_they_are(tmp_path):
    for content, wanted in (("δ\n", "δ\n".encode()), (b"\r\n\xff", b"\r\n\xff"), ("", b"")):
        documents.write(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == wanted
    assert names(tmp_path) == ["file"]


@POSIX
def test_permissions_are_kept_and_the_umask_respected(tmp_path):
    before = os.umask(0o027)
    try:
        documents.write(tmp_path / "new", "a")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
        for mode in (0o600, 0o664, 0o755):
            (tmp_path / "new").chmod(mode)
            documents.write(tmp_path / "new", "b")
            assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode
    finally:
        os.umask(before)


@POSIX
def test_links_stay_links(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/file")
    for content in ("made", "replaced"):  # the first time, the target is not there
        documents.write(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "folder" / "file").read_text() == content
    assert names(tmp_path / "folder") == ["file"]


@POSIX
def test_streams_are_written_to_and_pipes_without_a_reader_refused(tmp_path):
    documents.write("/dev/null", "a")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="pipe") as told:
        documents.write(pipe, "a")
    assert told.value.errno == errno.ENXIO
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        documents.write(pipe, "through")
        assert os.read(reader, 99) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(IsADirectoryError):
        documents.write(tmp_path, "a")
    with pytest.raises(FileNotFoundError):
        documents.write(tmp_path / "no" / "place", "a")


@POSIX
def test_standard_output_is_not_replaced_by_a_file(tmp_path):
    """`--curve /dev/stdout > file`: both what is printed and what is written are there, in order."""
    code = "from dpbounds import documents\nprint('one')\ndocuments.write('/dev/stdout', 'two\\n')\nprint('three')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, cwd=ROOT)
    assert (tmp_path / "out").read_text().split() == ["one", "two", "three"]


def fails_after(monkeypatch, name, calls, number=errno.ENOSPC):
    """From the given call on, a function of ``os`` fails as it does on a full disk."""
    real, done = getattr(os, name), []

    def failing(*arguments, **others):
        done.append(name)
        if len(done) > calls:
            raise OSError(number, os.strerror(number), "the name of a temporary file")
        return real(*arguments, **others)

    monkeypatch.setattr(documents.os, name, failing)


@pytest.mark.parametrize(("name", "calls"), [("write", 0), ("fsync", 0), ("replace", 0)])
@pytest.mark.parametrize("existing", [True, False])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, name, calls, existing):
    file = tmp_path / "evidence.json"
    if existing:
        file.write_text("old")
    with monkeypatch.context() as patched:
        fails_after(patched, name, calls)
        with pytest.raises(OSError, match="space") as told:
            documents.write(file, "new")
    assert told.value.filename == str(file)
    assert names(tmp_path) == (["evidence.json"] if existing else [])
    assert not existing or file.read_text() == "old"


def test_a_disk_that_fills_midway_leaves_what_was_there(tmp_path, monkeypatch):
    file = tmp_path / "evidence.json"
    file.write_text("old")
    real = os.write

    def slowly(descriptor, data):
        if os.fstat(descriptor).st_size >= 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data[:2])

    with monkeypatch.context() as patched:
        patched.setattr(documents.os, "write", slowly)
        with pytest.raises(OSError, match="space"):
            documents.write(file, "longer than that")
        documents.write(file, "four")  # in two pieces
    assert file.read_text() == "four"
    assert names(tmp_path) == ["evidence.json"]


FIRST, LAST = ("ledger.json", "statement.txt", "certificate.json"), ("point.csv", "run.json")


def released(folder, text="new", between=None):
    """Write evidence and what it is about."""
    first, last = ({folder / name: f"{text} {name}" for name in listed} for listed in (FIRST, LAST))
    documents.write_before(first, last, between)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_evidence_and_its_release_are_written_in_this_order(tmp_path, monkeypatch):
    placed, real = [], os.replace
    monkeypatch.setattr(
        documents.os, "replace", lambda draft, target: placed.append(target.name) or real(draft, target)
    )
    seen = []
    released(tmp_path, between=lambda: seen.extend(contents(tmp_path)))
    assert placed == [*FIRST, *LAST]
    assert contents(tmp_path) == {name: f"new {name}" for name in (*FIRST, *LAST)}
    assert set(seen) > set(FIRST)
    assert not set(seen) & set(LAST)


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("name", ["write", "fsync", "open"])
@pytest.mark.parametrize("calls", range(len(FIRST + LAST)))
def test_a_disk_without_room_for_all_files_keeps_those_of_before(tmp_path, monkeypatch, name, calls, existing):
    if existing:
        released(tmp_path, "old")
    before = contents(tmp_path)
    with monkeypatch.context() as patched:
        fails_after(patched, name, calls)
        with pytest.raises(OSError, match="space") as told:
            released(tmp_path)
    assert told.value.filename == str(tmp_path / (FIRST + LAST)[calls])
    assert contents(tmp_path) == before


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()], ids=["full", "stopped"])
@pytest.mark.parametrize("name", ["write", "fsync", "replace", "unlink", "open"])
def test_nothing_is_released_without_its_evidence_whenever_it_fails(tmp_path, monkeypatch, name, failure, existing):
    """At every call of the system: what stands there is whole, and a point has the evidence of its own run."""
    real, failed, done = getattr(os, name), 0, []

    def failing(*arguments, **others):
        done.append(name)
        if len(done) == fatal:
            raise failure
        return real(*arguments, **others)

    for fatal in range(1, 20):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        if existing:
            released(folder, "old")
        done.clear()
        with monkeypatch.context() as patched, suppress(OSError, KeyboardInterrupt):
            patched.setattr(documents.os, name, failing)
            released(folder)
        failed += len(done) >= fatal
        found = {name: text for name, text in contents(folder).items() if not name.startswith(".dpbounds-")}
        assert all(text in (f"old {name}", f"new {name}") for name, text in found.items())
        for release in set(LAST) & set(found):
            run = found[release].split()[0]
            assert {name: found.get(name) for name in FIRST} == {name: f"{run} {name}" for name in FIRST}
    assert failed >= len(FIRST + LAST)


def test_evidence_of_an_earlier_release_does_not_stay(tmp_path):
    released(tmp_path, "old")
    outdated = [tmp_path / "certificate.json", tmp_path / "never there.json"]
    documents.write_before({tmp_path / "ledger.json": "new"}, {tmp_path / "point.csv": "new"}, outdated=outdated)
    assert names(tmp_path) == ["ledger.json", "point.csv", "run.json", "statement.txt"]


@pytest.mark.parametrize("calls", range(1, 1 + len(FIRST + LAST)))
def test_nothing_is_released_by_a_process_that_ends_before_its_evidence_stands(tmp_path, monkeypatch, calls):
    """Nobody cleans up behind it: the point is not in a temporary file either."""
    real, done = os.replace, []

    def killed(draft, target):
        done.append(target)
        if len(done) == calls:
            os._exit(9)
        real(draft, target)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX has threads, which a fork does not have; no file needs them
        child = os.fork()
    if not child:
        os.replace = killed
        released(tmp_path, "released")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    complete = calls > len(FIRST)
    assert all((tmp_path / name).exists() for name in FIRST) is complete
    assert any(f"released {name}" in contents(tmp_path).values() for name in LAST) is complete


def test_what_cannot_be_made_of_the_evidence_keeps_back_the_release(tmp_path):
    def unreadable():
        raise InvalidValue("--report", "page.html", "a file that can be written")

    with pytest.raises(InvalidValue, match="--report"):
        released(tmp_path, between=unreadable)
    assert names(tmp_path) == sorted(FIRST)


# --- every writer, every reader ---------------------------------------------------------------------------------------

_WRITES = {
    "write_text",
    "write_bytes",
    "savefig",
    "to_csv",
    "to_parquet",
    "write_table",
    "tofile",
    "save",
    "savetxt",
    "dump",
}
_MODES = set("wax+")


@cache
def calls():
    """Every call in both packages: (file, call)."""
    files = [path for package in ("dpbounds", "dpbounds/algorithms") for path in sorted((ROOT / package).rglob("*.py"))]
    texts = [(path, path.read_text(encoding="utf-8")) for path in files]
    of_files = re.compile(r"open\(|json\.|" + "|".join(rf"\b{name}\(" for name in _WRITES))  # most files have none
    trees = [(path, ast.parse(text)) for path, text in texts if of_files.search(text)]
    return [(path, node) for path, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]


def called(node):
    """The name of what is called, with that of the module before it."""
    if isinstance(node.func, ast.Attribute):
        before = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        return before, node.func.attr
    return "", node.func.id if isinstance(node.func, ast.Name) else ""


def opens_for_writing(node):
    before, name = called(node)
    if name != "open" or before in ("os", "webbrowser"):
        return False
    texts = [
        value.value for value in ast.walk(node) if isinstance(value, ast.Constant) and isinstance(value.value, str)
    ]
    return any(text and set(text) <= set("rwxabt+") and set(text) & _MODES for text in texts)


@pytest.mark.seconds
def test_nothing_is_written_but_by_the_one_writer():
    """Every call that could write a file in place stands in ``documents.py``, or writes into memory.

    Results of sweeps are written by joblib, also whole or not at all: see ``test_sweeps.py``.
    """
    found = []
    for path, node in calls():
        before, name = called(node)
        if path.name == "documents.py" or (before, name) == ("json", "dump"):
            continue
        alone = path.name == "standalone_checker.py" or path.parent.name == "checker"  # it reads only
        opened = (before, name) == ("os", "open") and not alone
        if opens_for_writing(node) or name in _WRITES or opened:
            what = ast.unparse(node.args[0]) if node.args and not opened else ""
            found.append((str(path.relative_to(ROOT)), before, name, what))
    memory = {"drawn", "content", "text"}  # io.BytesIO and io.StringIO of the callers
    own = {
        ("", "save"),
        ("place", "save"),
    }  # the map's and the checkpoint's, which end in write()
    apart = {  # answers and their progress, in a temporary folder of the app's own; and a log, which only grows
        *("dpbounds/app/jobs.py", "dpbounds/app/work.py", "dpbounds/algorithms/checkpoints.py"),
    }
    wrong = [one for one in found if one[3] not in memory and one[1:3] not in own and one[2] != "write_table"]
    wrong = [one for one in wrong if one[0] not in apart]
    assert wrong == [("dpbounds/cli/__init__.py", "os", "open", "")]  # the null device, where nobody reads
    assert found != wrong  # the scan sees something


OF_OUR_CHILDREN = {(f"{name}.py", "loads") for name in ("server", "jobs", "work")}  # the app's: what they have written


@pytest.mark.seconds
def test_json_is_read_by_the_strict_readers_alone():
    read = [
        (path.name, called(node)[1])
        for path, node in calls()
        if called(node)[0] == "json" and called(node)[1] != "dumps"
    ]
    of_the_checker = {("standalone_checker.py", "loads"), ("reading.py", "loads")}
    assert set(read) - OF_OUR_CHILDREN == {("documents.py", "loads"), *of_the_checker}


# --- on the command line ----------------------------------------------------------------------------------------------

RUN = ["--noise-multiplier", "5", "--steps", "3", "--delta", "1e-5"]


def refused(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = [line for line in captured.err.splitlines() if not line.startswith("note: ")]
    assert len(line) <= 500
    assert line.isprintable()
    return line


@POSIX
def test_no_file_option_waits_for_a_pipe_or_reads_a_device(tmp_path, capsys):
    """Each option that names a file, with a pipe that nobody else opens, a device without an end, a directory."""
    for path in no_regular_files(tmp_path):
        for command in (
            ["check", path],
            ["check", ROOT / "docs" / "ledger.json", "--ledger", path],
            ["epsilon", "--delta", "1e-5", "--ledger", path],
            ["delta", "--epsilon", "1", "--ledger", path],
            ["remaining", "--target-epsilon", "1", "--target-delta", "1e-5", "--ledger", path],
            ["demo", "--output", tmp_path / "out", "--data", path],
            ["verify", "tholeti-kalyani-2020/equation-6", "--store", path],
        ):
            refused(capsys, *command)
    for option in ("--certificate", "--curve", "--trade-off"):
        refused(capsys, "epsilon", *RUN, option, tmp_path / "pipe")
        refused(capsys, "epsilon", *RUN, option, tmp_path)
        if Path("/dev/full").exists():
            assert "space" in refused(capsys, "epsilon", *RUN, option, "/dev/full")
    assert names(tmp_path) == ["link", "pipe"]


@pytest.mark.parametrize("option", ["--certificate", "--curve", "--trade-off"])
def test_a_full_disk_is_one_line_and_keeps_the_file(tmp_path, monkeypatch, capsys, option):
    file = tmp_path / "old.csv"
    file.write_text("old")
    with monkeypatch.context() as patched:
        fails_after(patched, "fsync", 0)
        assert "old.csv" in refused(capsys, "epsilon", *RUN, option, file)
    assert file.read_text() == "old"
    assert names(tmp_path) == ["old.csv"]


def test_a_ledger_cannot_command_the_terminal(tmp_path, capsys):
    file = tmp_path / "ledger.json"
    text = write_releases(Gaussian(2))
    for old, new in (
        ("gaussian", "\\u001b[2J"),
        ("2", "2\\u001b[2J"),
        ("full-batch", "\\u001b]0;x\\u0007"),
        ('"count"', '"\\u001b"'),
    ):
        file.write_text(text.replace(old, new, 1))
        assert "\x1b" not in refused(capsys, "epsilon", "--delta", "1e-5", "--ledger", file)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("ending", "begins"),
    [("csv", b"epsilon,"), ("json", b"{"), ("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")],
)
def test_a_curve_is_what_its_file_name_says(tmp_path, capsys, ending, begins):
    files = [tmp_path / f"curve.{ending}", tmp_path / f"errors.{ending.upper()}"]
    assert main(["epsilon", *RUN, "--curve", str(files[0]), "--trade-off", str(files[1])]) == 0
    assert files[0].read_bytes().startswith(begins)
    assert files[1].read_bytes().startswith(b"type_one_error," if ending == "csv" else begins)
    if ending == "json":
        curve = json.loads(files[0].read_text())
        assert set(curve) == {"epsilon", "delta_lower", "delta_upper"}
        assert all(low <= high for low, high in zip(curve["delta_lower"], curve["delta_upper"], strict=True))


@pytest.mark.parametrize("name", ["curve.txt", "curve", "curve.csv.gz"])
def test_a_curve_of_no_known_kind_is_refused(tmp_path, capsys, name):
    for option in ("--curve", "--trade-off"):
        assert ".csv or .json" in refused(capsys, "epsilon", *RUN, option, tmp_path / name)
    assert names(tmp_path) == []
