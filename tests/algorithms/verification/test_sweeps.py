"""Sweeps: the same numbers with any number of workers and on a cluster, and nothing lost or repeated by kills."""

import csv
import errno
import itertools
import os
import random
import signal
import subprocess
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info

from dpbounds.algorithms.verification.sweeping import exports, store as stores
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, number, run
from dpbounds.algorithms.verification.sweeping.store import Store, fingerprint
from dpbounds.algorithms.verification.sweeping.sweeps import run_same, sweep
from dpbounds.errors import BudgetExceeded, InvalidValue, NotCertified

TASKS = """
import pathlib
import time
import numpy as np
from dpbounds.errors import BudgetExceeded, NotCertified

def means(size, spread, seed, pause=0.0):
    draw = np.random.default_rng(seed)
    time.sleep(pause)
    samples = spread * draw.normal(size=(8, size))
    products = samples @ samples.T  # BLAS: the same on one thread, whatever the machine has
    return {"mean": samples.mean(axis=1), "norm": products.trace(), "infinite": np.inf,
            "undefined": np.nan}

def broken(seed):
    raise ValueError("no such data")

def nothing(seed):
    return 3

def refused(size, seed):
    if size == 50:
        raise BudgetExceeded("too little noise\\n5 x Gaussian")
    return {"size": size}

def unproven(size, path, seed):
    if size == 50 and not pathlib.Path(path).exists():
        raise NotCertified("the tail did not close\\nwithin 10 digits")
    return {"size": size}
"""
SWEEP = """
import sys
from pathlib import Path
from dpbounds.algorithms.verification.sweeping.cells import Cell
from dpbounds.algorithms.verification.sweeping.store import Store
from dpbounds.algorithms.verification.sweeping.sweeps import sweep

if __name__ == "__main__":
    cells = [Cell.of(task, seed, **parameters) for task, seed, parameters in eval(sys.argv[3])]
    sweep(cells, Store(Path(sys.argv[1])), jobs=int(sys.argv[2]))
"""


@pytest.fixture(autouse=True)
def tasks(tmp_path, monkeypatch):
    (tmp_path / "tasks_of_a_test.py").write_text(TASKS)
    (tmp_path / "sweep_of_a_test.py").write_text(SWEEP)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    yield
    sys.modules.pop("tasks_of_a_test", None)


def cells(pause=0.0):
    sizes = itertools.product((5, 50, 500), (1.0, 2.0), range(4))
    return [
        Cell.of("tasks_of_a_test:means", seed, size=size, spread=spread, pause=pause) for size, spread, seed in sizes
    ]


REFUSED = [Cell.of("tasks_of_a_test:refused", size=size) for size in (5, 50, 500)]


def numbers(path, cells):
    """What a directory holds of these cells: nothing is run."""
    store = Store(path)
    store.missing(cells)
    return {key: dict(result.numbers) for key, result in store.results.items()}


def bits(found):
    """NaN is not equal to itself, but its text is."""
    return {key: repr(sorted(numbers.items())) for key, numbers in found.items()}


@pytest.fixture
def uninterrupted(tmp_path):
    path = tmp_path / "whole"
    assert sweep(cells(0.02), Store(path)) == 24
    return numbers(path, cells(0.02))


@pytest.mark.one_in(4)
def test_numbers_do_not_depend_on_the_number_of_workers(tmp_path, uninterrupted):
    every = [REFUSED[1], *cells(0.02)]
    for jobs in (2, 4):
        store = Store(tmp_path / str(jobs))
        assert sweep(every, store, jobs=jobs) == 25
        assert store.results[REFUSED[1].key].refused == "too little noise\n5 x Gaussian"
        found = numbers(tmp_path / str(jobs), every)
        assert bits(found) == bits(uninterrupted | {REFUSED[1].key: {}})


@pytest.mark.parametrize("directory", ["store", None])
def test_what_is_there_is_not_run_again(tmp_path, directory):
    first = again = Store()
    if directory is not None:
        first, again = Store(tmp_path / directory), Store(tmp_path / directory)
    assert sweep(cells()[:5], first) == 5
    seen = []
    assert sweep([*cells(), *cells()], again, progress=lambda done, total: seen.append((done, total))) == 19
    assert seen == [(number, 24) for number in range(6, 25)]
    assert sweep(cells(), again, jobs=2) == 0
    assert set(again.results) == {cell.key for cell in cells()}


def test_without_a_directory_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.rglob("*"))
    sweep(cells()[:2], Store())
    assert {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts} == before


def started(path, jobs):
    given = [(cell.task, cell.seed, dict(cell.parameters)) for cell in cells(0.02)]
    command = [sys.executable, "-m", "sweep_of_a_test", str(path), str(jobs), repr(given)]
    return subprocess.Popen(command, start_new_session=True)


@pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.seconds), pytest.param(20, marks=pytest.mark.minutes)]
)
def test_killed_at_random_moments(tmp_path, uninterrupted, kills):
    path, draw = tmp_path / "killed", random.Random(kills)
    before = {}
    for kill in range(kills):
        process = started(path, 1 + kill % 2)
        time.sleep(draw.uniform(0.2, 2.5))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = bits(numbers(path, cells(0.02)))
        assert found.items() >= before.items()  # nothing is lost
        before = found
    process = started(path, 2)
    assert process.wait(timeout=120) == 0
    assert bits(numbers(path, cells(0.02))) == bits(uninterrupted)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.seconds)])
def test_a_failing_task_leaves_what_is_finished(tmp_path, jobs):
    few = [*cells()[:2], Cell.of("tasks_of_a_test:broken"), *cells(0.02)]
    with pytest.raises(ValueError, match="no such data"):
        sweep(few, Store(tmp_path / "store"), jobs=jobs)
    assert jobs > 1 or len(numbers(tmp_path / "store", few)) == 2
    assert sweep(cells(0.02), Store(tmp_path / "store"), jobs=jobs) > 0  # another sweep goes on


def test_a_refused_run_is_a_result(tmp_path):
    path = tmp_path / "store"
    assert sweep(REFUSED, Store(path)) == 3  # the others are run
    store = Store(path)
    assert sweep(REFUSED, store) == 0
    found = [store.results[cell.key] for cell in REFUSED]
    assert [one.refused for one in found] == [None, "too little noise\n5 x Gaussian", None]
    assert [dict(one.numbers) for one in found] == [{"size": 5}, {}, {"size": 500}]
    with pytest.raises(BudgetExceeded, match="too little noise"):
        number(found[1], "size")
    assert len(exported(tmp_path / "store.csv", store)) == 3


@pytest.mark.seconds
def test_what_nothing_could_be_proven_of_is_tried_again(tmp_path):
    path, proof = tmp_path / "store", tmp_path / "proof"
    sizes = [Cell.of("tasks_of_a_test:unproven", size=size, path=str(proof)) for size in (5, 50, 500)]
    for ran in (3, 1):
        store = Store(path)
        assert sweep(sizes, store, jobs=2) == ran  # the others are run, and once
        found = [store.results[cell.key] for cell in sizes]
        assert [one.unproven for one in found] == [None, "the tail did not close\nwithin 10 digits", None]
        assert store.missing(sizes) == sizes[1:2]
        assert len(exported(tmp_path / "store.csv", store)) == 2
        with pytest.raises(NotCertified, match="did not close"):
            number(found[1], "size")
    proof.touch()
    assert sweep(sizes, store) == 1
    assert [number(store.results[cell.key], "size") for cell in sizes] == [5, 50, 500]
    assert Store(path).missing(sizes) == []


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_no_store_is_refused_and_left_as_it_is(tmp_path):
    """A file (an SQLite store of earlier versions, too), and a directory of something else."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.tex").write_text("years of work")
    (tmp_path / "old.db").write_bytes(b"SQLite format 3\0")
    (tmp_path / "empty").touch()
    before = files(tmp_path)
    for name, why in (("theirs", "holds thesis.tex, and was left as it is"), ("old.db", "File exists"),
                      ("empty", "File exists"), ("no/where", "No such file"), ("a\0b", "null byte")):  # fmt: skip
        with pytest.raises(InvalidValue, match=f"a directory of finished runs.*{why}"):
            Store(tmp_path / name)
    assert files(tmp_path) == before
    (tmp_path / "new").mkdir()
    sweep(cells()[:1], Store(tmp_path / "new"))
    (tmp_path / "new" / ".DS_Store").touch()  # a store with something beside it stays one
    assert sweep(cells()[:1], Store(tmp_path / "new")) == 0


def test_results_of_other_code_are_kept_and_not_used(tmp_path, monkeypatch):
    path, few = tmp_path / "store", [*cells()[:3], REFUSED[1]]
    with monkeypatch.context() as before:
        before.setattr(stores, "fingerprint", lambda: "0" * 64)
        store = Store(path)
        for cell in few:
            store.keep(Result(cell, {"mean": 1.0}, 0.0))
        assert not Store(path).other_versions
    kept = files(path)
    store = Store(path)
    assert store.other_versions
    assert store.missing(few) == few
    assert sweep(few, store) == 4
    assert store.results[few[0].key].numbers != {"mean": 1.0}
    assert files(path).items() > kept.items()


DAMAGE = {
    "short": lambda whole: whole[:-9],
    "empty": lambda whole: b"",
    "other": lambda whole: b"no pickle",
    "bit": lambda whole: whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_result_is_computed_again(tmp_path, damage):
    path, few = tmp_path / "store", cells()[:3]
    sweep(few, Store(path))
    whole = bits(numbers(path, few))
    (file, *_) = path.rglob("output.pkl")
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    store = Store(path)
    assert sweep(few, store) == 1
    assert store.damaged == 1
    assert bits(numbers(path, few)) == whole
    assert Store(path).missing(few) == []


@pytest.mark.parametrize("left", [b"", b"# first line: 1\n    def kept(key", b"\x93"], ids=["empty", "half", "no text"])
def test_results_outlive_damage_to_the_source_that_stands_beside_them(tmp_path, left):
    """Where the source of the keeper changed, joblib deletes all results of it."""
    path, few = tmp_path / "store", cells()[:3]
    sweep(few, Store(path))
    (file,) = path.rglob("func_code.py")
    whole = file.read_bytes()
    file.write_bytes(left)
    assert Store(path).missing(few) == []
    assert file.read_bytes() == whole


def test_a_half_written_result_is_none(tmp_path):
    path, few = tmp_path / "store", cells()[:2]
    sweep(few, Store(path))
    (file, *_) = path.rglob("output.pkl")
    file.rename(file.with_name(f"{file.name}.half"))
    store = Store(path)
    assert (len(store.missing(few)), store.damaged) == (1, 0)


def test_a_full_disk_is_one_error_and_keeps_what_is_finished(tmp_path, monkeypatch):
    path, few = tmp_path / "store", cells()[:3]
    sweep(few[:1], Store(path))

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = Store(path)
    with monkeypatch.context() as patched:
        patched.setattr("joblib.numpy_pickle.dump", full)
        with pytest.raises(InvalidValue, match=r"No space left on device.*was finished before is kept"):
            sweep(few, store)
    assert len(Store(path).missing(few)) == 2


def package(folder):
    made = types.ModuleType(folder.name)
    made.__file__ = str(folder / "__init__.py")
    return made


def test_the_fingerprint_follows_the_code(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "_PACKAGES", (package(tmp_path / "some_package"),))
    file = tmp_path / "some_package" / "room" / "one.py"
    file.parent.mkdir(parents=True)
    found = []
    for change in (lambda: file.write_text("x = 1"), lambda: file.write_text("x = 2"),
                   lambda: file.rename(file.with_name("two.py")),
                   lambda: monkeypatch.setattr(stores.np, "__version__", "0")):  # fmt: skip
        change()
        found.append(fingerprint.__wrapped__())
        assert fingerprint.__wrapped__() == found[-1]
    assert len(set(found)) == 4


def test_the_fingerprint_is_that_of_the_text_wherever_a_package_lies(tmp_path, monkeypatch):
    """One package inside another, as a folder (installed) or as a link (a checkout)."""
    found = []
    for kind in ("folder", "link"):
        outer, elsewhere = tmp_path / kind / "outer", tmp_path / kind / "elsewhere" / "inner"
        inner = outer / "inner"
        for folder in (outer, elsewhere if kind == "link" else inner):
            folder.mkdir(parents=True)
        if kind == "link":
            inner.symlink_to(elsewhere)
        for folder in (outer, inner):
            (folder / "__init__.py").write_text(f"x = {len(folder.name)}")
        monkeypatch.setattr(stores, "_PACKAGES", [package(inner), package(outer)])
        found.append(fingerprint.__wrapped__())
    assert found[0] == found[1]


def test_a_worker_with_other_code_is_refused(monkeypatch):
    cell = cells()[0]
    assert bits({0: run_same(cell, fingerprint()).numbers}) == bits({0: run(cell).numbers})
    with pytest.raises(InvalidValue, match="install the same"):
        run_same(cell, "0" * 64)


def exported(path, store):
    exports.write(path, store.results.values())
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_an_export(tmp_path):
    store = Store()
    sweep(cells()[:3], store)
    lines = exported(tmp_path / "store.csv", store)
    assert len(lines) == 24
    first = run(cells()[0]).numbers
    chosen = [line for line in lines if (line["size"], line["spread"], line["seed"]) == ("5", "1.0", "0")]
    assert [float(line["mean"]) for line in chosen] == first["mean"]
    assert [line["repetition"] for line in chosen] == [str(number) for number in range(8)]
    assert {float(line["norm"]) for line in chosen} == {first["norm"]}
    assert {(line["infinite"], line["undefined"]) for line in chosen} == {("inf", "nan")}


def test_threads_of_one_process_run_one_cell_at_a_time(monkeypatch):
    """Else the first that is done would give the others all threads, and their numbers would depend on it."""
    inside, most = [], []

    def busy(seed):
        inside.append(seed)
        limits = {pool["num_threads"] for pool in threadpool_info()}
        time.sleep(0.02)
        most.append(len(inside))
        inside.remove(seed)
        return {"threads": max(limits, default=1)}

    module = types.ModuleType("busy_tasks")
    module.busy = busy
    monkeypatch.setitem(sys.modules, "busy_tasks", module)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(run, [Cell.of("busy_tasks:busy", seed) for seed in range(8)]))
    assert max(most) == 1
    assert {number(one, "threads") for one in found} == {1}


def test_cells_never_share_a_stream():
    assert len({cell.entropy for cell in cells()}) == 24


@pytest.fixture
def cluster():
    """A Dask scheduler and two workers on loopback, each a process of its own."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
               "--no-dashboard"]  # fmt: skip
    scheduler = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    address = next("tcp://" + line.split("tcp://")[1].strip() for line in scheduler.stderr if "Scheduler at:" in line)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--nworkers", "1",
              "--no-dashboard", "--death-timeout", "60"]  # fmt: skip
    workers = [subprocess.Popen(worker, stderr=subprocess.DEVNULL, start_new_session=True) for _ in range(2)]
    yield address, workers
    for process in [*workers, scheduler]:
        process.kill()
        process.wait()
    scheduler.stderr.close()


@pytest.mark.minutes
@pytest.mark.filterwarnings("ignore")  # of Dask's own, about event loops
def test_on_a_cluster_that_loses_a_worker(tmp_path, uninterrupted, cluster):
    address, workers = cluster
    path = tmp_path / "cluster"

    def kill_one(done, total):
        if done == 5:
            os.killpg(workers[0].pid, signal.SIGKILL)

    assert sweep(cells(0.02), Store(path), scheduler=address, progress=kill_one) == 24
    assert bits(numbers(path, cells(0.02))) == bits(uninterrupted)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Cell.of("no_colon"),
        lambda: Cell.of("a:b", seed=-1),
        lambda: Cell.of("a:b", x=[1]),
        lambda: run(Cell.of("there_is_no_such_module:f")),
        lambda: run(Cell.of("tasks_of_a_test:nothing")),
        lambda: sweep([], Store(), jobs=0),
        lambda: sweep(cells(), Store(), scheduler="127.0.0.1"),
    ],
)
def test_refusals(call):
    with pytest.raises(InvalidValue):
        call()
