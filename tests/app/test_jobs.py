"""Jobs: asked once, stopped, dropped when nobody looks; and the processes that answer."""

import asyncio
import importlib.util
import json
import os
import time

import pytest

from dpbounds.app import work
from dpbounds.app.jobs import KEPT, Forked, Jobs, Spawned

QUESTION = ("epsilon", "--delta", "1e-6", "--noise-multiplier", "1", "--steps", "2")
LONG = ("audit", "dp-pgd", "--runs", "100000", "--enough", "0.9999")


def ends(process):
    """Whether a process that was stopped is gone before long."""
    for _ in range(1000):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


@pytest.fixture
def jobs(inline, clock):
    made = Jobs(inline, 2, clock)
    yield made
    made.close()


def test_a_question_is_asked_once(jobs, inline):
    for _ in range(2):
        job = jobs.of(QUESTION)
        jobs.begin(job)
        jobs.look()
    assert job.state == "done"
    assert job.answer.status == 0
    assert job.answer.out.startswith("epsilon ")
    assert len(inline.asked) == 1
    assert jobs.of(QUESTION, "code") is not job


def test_a_new_job_waits_for_a_place_and_a_stopped_one_gives_it_up(jobs, inline):
    inline.stuck = True
    first, second, third = (jobs.of((str(number),)) for number in range(3))
    for job in (first, second, third):
        jobs.begin(job, kept=True)
    assert [job.state for job in (first, second, third)] == ["running", "running", "waiting"]
    jobs.stop(first)
    assert [job.state for job in (first, second, third)] == ["stopped", "running", "running"]
    assert inline.stopped == [first.folder]
    jobs.stop(first)
    assert len(inline.stopped) == 1
    jobs.begin(first)
    assert first.state == "waiting"


def test_what_nobody_looks_at_is_dropped_unless_it_is_kept(jobs, inline, clock):
    inline.stuck = True
    left, kept = jobs.of(("left",)), jobs.of(("kept",))
    jobs.begin(left)
    jobs.begin(kept, kept=True)
    clock.now = 11.0
    jobs.look()
    assert (left.state, kept.state) == ("new", "running")
    assert inline.stopped == [left.folder]


def test_looking_keeps_it(jobs, inline, clock):
    inline.stuck = True
    job = jobs.of(("seen",))
    jobs.begin(job)
    clock.now = 9.0
    asyncio.run(jobs.wait(job, 0))
    clock.now = 18.0
    jobs.look()
    assert job.state == "running"


def test_a_process_that_dies_is_told(jobs, inline):
    inline.stuck = True
    job = jobs.of(("dies",))
    jobs.begin(job)
    inline.stuck = False
    jobs.look()
    assert job.state == "done"
    assert job.answer.status == 3
    assert "without an answer" in job.answer.err


def test_the_newest_answers_are_kept(jobs):
    for number in range(KEPT + 3):
        jobs.of((str(number),))
    first = jobs.of(("0",))
    jobs.look()
    assert jobs.get(first.task.id) is first
    assert jobs.get(jobs.of(("2",)).task.id).answer is None
    assert len(jobs._jobs) <= KEPT + 1


def test_a_refusal_and_a_defect_leave_a_status(tmp_path, monkeypatch):
    (tmp_path / "task.json").write_text(json.dumps({"argv": ["epsilon"], "extra": ""}))
    work.perform(tmp_path)
    assert (tmp_path / "status").read_text() == "2"
    assert "--delta is missing" in (tmp_path / "err").read_text()
    (tmp_path / "task.json").write_text(json.dumps({"argv": list(QUESTION), "extra": "none_such"}))
    work.perform(tmp_path)
    assert (tmp_path / "status").read_text() == "3"


def test_progress_is_told(tmp_path, monkeypatch):
    from dpbounds.cli.printing.progress import progress_bar

    def main(argv):
        with progress_bar("checks", shown=False) as progress:
            progress(3, 7)
        return 0

    monkeypatch.setattr("dpbounds.cli.main", main)
    (tmp_path / "task.json").write_text(json.dumps({"argv": [], "extra": ""}))
    work.perform(tmp_path)
    assert (tmp_path / "progress").read_text() == "3 7 checks"
    with progress_bar("checks", shown=False) as progress:
        assert progress is None


def test_the_time_that_is_left_follows_from_the_progress(jobs, inline):
    inline.stuck = True
    job = jobs.of(("counts",))
    jobs.begin(job)
    assert job.remaining is None
    (job.folder / "progress").write_text("0 4 checks")
    assert job.remaining is None
    job.begun = time.monotonic() - 10
    (job.folder / "progress").write_text("1 4 checks")
    assert job.remaining in (30, 31)


def test_what_is_imported_early_exists():
    for name in (*work.FIRST, *work.LATER):
        if name not in ("dp_accounting",):
            assert importlib.util.find_spec(name), name


@pytest.mark.seconds
@pytest.mark.parametrize("kind", [Forked, Spawned])
def test_real_processes_answer_and_stop(kind):
    jobs = Jobs(kind(), 2)
    try:
        quick, long = jobs.of(QUESTION), jobs.of(LONG)
        jobs.begin(quick, kept=True)
        jobs.begin(long, kept=True)
        asyncio.run(jobs.wait(quick, 120))
        assert quick.answer.out.startswith("epsilon ")
        if kind is Forked:
            while not (long.folder / "pid").exists():
                time.sleep(0.01)
            process = int((long.folder / "pid").read_text())
            os.kill(process, 0)
            jobs.stop(long)
            assert ends(process)
        else:
            child = jobs._start._children[long.folder]
            jobs.stop(long)
            assert child.poll() is not None
        assert long.state == "stopped"
    finally:
        jobs.close()


@pytest.mark.seconds
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_what_is_stopped_before_it_began_does_nothing_and_may_be_begun_again(capfd):
    jobs = Jobs(Forked(), 2)  # whose process is importing still: the questions wait for it
    try:
        job, folders = jobs.of(QUESTION), set()
        for _ in range(5):
            jobs.begin(job, kept=True)
            folders.add(job.folder)
            jobs.stop(job)
        jobs.begin(job, kept=True)
        asyncio.run(jobs.wait(job, 120))
        assert job.answer.out.startswith("epsilon ")
        assert len(folders) == 5
        assert not any(folder.exists() for folder in folders)
        assert "Traceback" not in capfd.readouterr().err
    finally:
        jobs.close()


@pytest.mark.seconds
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_closing_ends_what_runs_and_a_dead_parent_is_replaced():
    start = Forked()
    jobs = Jobs(start, 2)
    start._parent.kill()
    start._parent.wait()
    job = jobs.of(LONG)
    jobs.begin(job, kept=True)
    while not (job.folder / "pid").exists():
        time.sleep(0.01)
    process = int((job.folder / "pid").read_text())
    jobs.close()
    assert ends(process)
    assert not job.folder.parent.exists()
