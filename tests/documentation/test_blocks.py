"""Every block of the README and of the documentation is run, and prints what is shown. The two lines that make an
environment are run by .ci/run, and what needs a browser by nobody.
"""

import doctest
import shlex
from importlib.util import find_spec

import pytest

from dpbounds.cli import main
from tests.documentation.pages import (
    PAGES,
    ROOT,
    RoundOff,
    assert_same_up_to_round_off,
    commands,
    fences,
    sessions,
)

SESSIONS = [session for page in PAGES for session in sessions(page)]
SCRIPTS = [fence for page in PAGES for fence in fences(page, "python") if ">>> " not in fence.text]
DIRECTIVES = ("{toctree}", "{include}", "{help-of-verbs}", "{literalinclude}", "{eval-rst}")
RUN_ELSEWHERE = {  # a line of a block of shell commands, and the test that runs it
    "python3 -m venv": ".ci/run",
    "sphinx-build -W -n -c docs . build/docs": "test_build.py",
    "python docs/accountants.py": "test_accountants.py",
    "python docs/generated.py": "test_generated.py",
    "python -m benchmarks.classifiers": "benchmarks/test_classifiers.py",
    "python -m benchmarks.regressors": "tests/benchmarks/test_regressors.py",
    "apt-get install --no-install-recommends coq": ".ci/nightly",
    "python3 proofs/kernel/build.py": ".ci/nightly",
}


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """An empty directory in which ``docs`` is that of the repository."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(
    "session",
    [
        pytest.param(session, id=session[0].name, marks=[mark for fence in session for mark in fence.marks])
        for session in SESSIONS
    ],
)
def test_commands_print_what_is_shown(session, capsys):
    for fence in session:
        for command, expected in commands(fence):
            program, *arguments = shlex.split(command)
            assert program == "dpbounds"
            status = main(arguments)
            printed = capsys.readouterr()
            assert status == 1 or (status == 0) == (not printed.err.startswith("dpbounds: ")), printed.err
            assert_same_up_to_round_off(printed.out if status == 0 else printed.out + printed.err, expected)


def run_as_a_session(page, chosen):
    text = "\n".join(fence.text for fence in chosen)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    told: list[str] = []
    results = doctest.DocTestRunner(checker=RoundOff(), verbose=False).run(test, out=told.append)
    assert results.attempted
    assert results.failed == 0, "".join(told)


def interactive(page):
    return [fence for fence in fences(page, "python") if ">>> " in fence.text]


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("page", [page for page in PAGES if interactive(page)], ids=lambda page: page.name)
def test_python_prints_what_is_shown(page):
    quick = [fence for fence in interactive(page) if "seconds" not in fence.remarks]
    assert quick
    run_as_a_session(page, quick)


@pytest.mark.seconds
@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any("seconds" in fence.remarks for fence in interactive(page))],
    ids=lambda page: page.name,
)
def test_python_that_takes_seconds_prints_what_is_shown(page):
    run_as_a_session(page, interactive(page))


@pytest.mark.usefixtures("workplace")
@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize("fence", [pytest.param(fence, id=fence.name, marks=fence.marks) for fence in SCRIPTS])
def test_a_script_runs(fence):
    for remark in fence.remarks:
        if remark.startswith("needs ") and find_spec(remark.removeprefix("needs ")) is None:
            pytest.skip(remark)
    exec(compile(fence.text, fence.name, "exec"), {"__name__": "__main__"})  # noqa: S102


def test_every_block_is_of_a_kind_that_is_run():
    assert len(SESSIONS) > 20
    for page in PAGES:
        for fence in fences(page):
            if fence.language == "sh":
                for line in fence.text.splitlines():
                    assert any(line.startswith(known) for known in RUN_ELSEWHERE), line
            else:
                assert fence.language.split()[0] in ("console", "python", *DIRECTIVES), fence.name


def test_a_wrong_number_would_be_noticed():
    assert_same_up_to_round_off("noise 1.00000000001 of 3", "noise 1.0 of 3")
    assert_same_up_to_round_off("noise 1.00000000001 of 3 and 4, then 5", "noise 1.0 ... then 5")
    for wrong in ("noise 1.001 of 3", "noise 1.0 of 4", "noise 1.0 of three", "noises 1.0 of 3", "noise 1.0"):
        with pytest.raises(AssertionError):
            assert_same_up_to_round_off(wrong, "noise 1.0 of 3")
    for shown in ("noise ... 4", "noise 1.1 ...", "... of 4", "noise ... of three"):
        with pytest.raises(AssertionError):
            assert_same_up_to_round_off("noise 1.0 of 3", shown)
    assert not RoundOff().check_output("[6.9, 6.91]\n", "[6.9, 6.92]\n", 0)
