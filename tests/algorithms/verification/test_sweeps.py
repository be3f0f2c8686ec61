"""Sweeps: the same numbers with any number of workers and on a cluster, and nothing lost or repeated by kills."""

import csv
import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from threadpoolctl import threadpool_info

from dpbounds.algorithms.verification.sweeping import store as stores
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
    return {"mean": samples.mean(axis=1), "norm": products.trace(), "infinite": np.inf}

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
from dpbounds.algorithms.verification.sweeping.cells import Cell
from dpbounds.algorithms.verification.sweeping.store import Store
from dpbounds.algorithms.verification.sweeping.sweeps import sweep

if __name__ == "__main__":
    with Store(sys.argv[1]) as store:
        sweep(map(Cell.from_key, sys.argv[3:]), store, jobs=int(sys.argv[2]))
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


def numbers(path):
    with Store(path) as store:
        return {row.result.key: row.result.numbers for row in store.rows()}


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.db") as store:
        yield store


@pytest.fixture
def uninterrupted(tmp_path):
    path = tmp_path / "whole.db"
    with Store(path) as store:
        assert sweep(cells(0.02), store) == 24
    return numbers(path)


@pytest.mark.one_in(4)
def test_numbers_do_not_depend_on_the_number_of_workers(tmp_path, uninterrupted):
    for jobs in (2, 4):
        path = tmp_path / f"{jobs}.db"
        with Store(path) as store:
            assert sweep([REFUSED[1], *cells(0.02)], store, jobs=jobs) == 25
            assert store.result(REFUSED[1]).refused == "too little noise\n5 x Gaussian"
        assert numbers(path) == uninterrupted | {REFUSED[1].key: {}}  # bit for bit


def test_what_is_there_is_not_run_again(store):
    assert sweep(cells()[:5], store) == 5
    seen = []
    assert sweep([*cells(), *cells()], store, progress=lambda done, total: seen.append((done, total))) == 19
    assert seen == [(number, 24) for number in range(6, 25)]
    assert sweep(cells(), store, jobs=2) == 0
    assert store.result(cells()[0]) is not None
    assert store.result(Cell.of("tasks_of_a_test:means", 99, size=1, spread=1.0)) is None


def started(path, jobs):
    keys = [cell.key for cell in cells(0.02)]
    command = [sys.executable, "-m", "sweep_of_a_test", str(path), str(jobs), *keys]
    return subprocess.Popen(command, start_new_session=True)


@pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.seconds), pytest.param(20, marks=pytest.mark.minutes)]
)
def test_killed_at_random_moments(tmp_path, uninterrupted, kills):
    path, draw = tmp_path / "killed.db", random.Random(kills)
    before = 0
    for kill in range(kills):
        process = started(path, 1 + kill % 2)
        time.sleep(draw.uniform(0.2, 2.5))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with Store(path) as store:
            found = len(store.keys())
        assert found >= before  # nothing is lost
        before = found
    process = started(path, 2)
    assert process.wait(timeout=120) == 0
    assert numbers(path) == uninterrupted


def test_a_failing_task_leaves_what_is_finished(store):
    with pytest.raises(ValueError, match="no such data"):
        sweep([*cells()[:2], Cell.of("tasks_of_a_test:broken")], store)
    assert len(store.keys()) == 2


def test_a_refused_run_is_a_result(tmp_path):
    path = tmp_path / "store.db"
    with Store(path) as store:
        assert sweep(REFUSED, store) == 3  # the others are run
    with Store(path) as store:
        assert sweep(REFUSED, store) == 0
        found = [store.result(cell) for cell in REFUSED]
        assert [one.refused for one in found] == [None, "too little noise\n5 x Gaussian", None]
        assert [dict(one.numbers) for one in found] == [{"size": 5}, {}, {"size": 500}]
        assert [row.result for row in store.rows()] == sorted(found, key=lambda one: one.key)
        with pytest.raises(BudgetExceeded, match="too little noise"):
            number(found[1], "size")
        # the first result stays, of whichever kind
        store.put(Result(found[1].key, {"size": 1.0}, 0.0))
        store.put(Result(found[0].key, {}, 0.0, refused="later"))
        assert [store.result(cell) for cell in REFUSED] == found
        assert store.to_csv(tmp_path / "store.csv") == 3


@pytest.mark.seconds
def test_what_nothing_could_be_proven_of_is_tried_again(tmp_path):
    path, proof = tmp_path / "store.db", tmp_path / "proof"
    sizes = [Cell.of("tasks_of_a_test:unproven", size=size, path=str(proof)) for size in (5, 50, 500)]
    for _ in range(2):
        with Store(path) as store:
            sweep(sizes, store, jobs=2)  # the others are run, and once
            found = [store.result(cell) for cell in sizes]
            assert [one.unproven for one in found] == [None, "the tail did not close\nwithin 10 digits", None]
            assert store.missing(sizes) == sizes[1:2]
            assert len(store.keys()) == len(list(store.rows())) == 2
            with pytest.raises(NotCertified, match="did not close"):
                number(found[1], "size")
    proof.touch()
    with Store(path) as store:
        assert sweep(sizes, store) == 1
        assert [number(store.result(cell), "size") for cell in sizes] == [5, 50, 500]
        store.put(Result(sizes[1].key, {}, 0.0, unproven="later"))
        assert store.missing(sizes) == []
        assert store.result(sizes[1]).unproven is None


def execute(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_foreign_file_is_refused_and_left_as_it_is(tmp_path):
    """Text, somebody's database (in two journal modes), a store of an earlier version."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "text.db").write_text("this is no database, and it is long enough to be taken for one" * 40)
    (folder / "short.db").write_text("x")
    for mode in ("delete", "wal"):
        execute(folder / f"{mode}.db", f"pragma journal_mode = {mode}", "create table cells (mine text)")
    Store(folder / "old.db").close()
    execute(folder / "old.db", "pragma journal_mode = delete", "pragma application_id = 0")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert len(before) == 5
    for path in before:
        with pytest.raises(InvalidValue, match="left as it is"):
            Store(path)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(InvalidValue, match="can be read"):
        Store(folder)


def test_an_empty_file_becomes_a_store_and_one_of_another_format_is_refused(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()
    for _ in range(2):
        with Store(path) as store:
            sweep(cells()[:1], store)
            assert len(store.keys()) == 1
    execute(path, "update about set value = '99' where name = 'format'")
    with pytest.raises(InvalidValue, match="this one has 99"):
        Store(path)


def test_rows_of_other_code_are_kept_and_not_used(tmp_path):
    path, few = tmp_path / "store.db", [*cells()[:3], REFUSED[1]]
    with Store(path, "before") as store:
        assert sweep(few, store) == 4
    with Store(path) as store:
        assert (store.code, store.set_aside) == (fingerprint(), 4)
        assert store.keys() == frozenset()
        assert store.missing(few) == few
        assert list(store.rows()) == []
        assert store.result(few[0]) is None
        store.put(Result(few[0].key, {"mean": 1.0}, 0.0))
        assert store.result(few[0]).numbers == {"mean": 1.0}
        assert store.to_csv(tmp_path / "store.csv") == 1
        assert sweep(few, store) == 3
    with Store(path, "before") as store:  # both stand beside each other, each with its first result
        assert (store.set_aside, len(store.keys())) == (4, 4)
        assert store.result(few[0]).numbers != {"mean": 1.0}
        assert sweep(few, store) == 0


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
    assert run_same(cell, fingerprint()).numbers == run(cell).numbers
    with pytest.raises(InvalidValue, match="install the same"):
        run_same(cell, "0" * 64)


def test_an_export(tmp_path, store):
    sweep(cells()[:3], store)
    assert store.to_csv(tmp_path / "store.csv") == 24
    with open(tmp_path / "store.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    first = run(cells()[0]).numbers
    chosen = [line for line in lines if (line["size"], line["spread"], line["seed"]) == ("5", "1.0", "0")]
    assert [float(line["mean"]) for line in chosen] == first["mean"]
    assert {float(line["norm"]) for line in chosen} == {first["norm"]}
    assert {line["infinite"] for line in chosen} == {"inf"}


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


def test_cells_never_share_a_stream_and_their_keys_give_them_back():
    assert len({cell.entropy for cell in cells()}) == 24
    assert [Cell.from_key(cell.key) for cell in cells()] == cells()


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
    path = tmp_path / "cluster.db"

    def kill_one(done, total):
        if done == 5:
            os.killpg(workers[0].pid, signal.SIGKILL)

    with Store(path) as store:
        assert sweep(cells(0.02), store, scheduler=address, progress=kill_one) == 24
    assert numbers(path) == uninterrupted


@pytest.mark.parametrize(
    "call",
    [
        lambda path: Cell.of("no_colon"),
        lambda path: Cell.of("a:b", seed=-1),
        lambda path: Cell.of("a:b", x=[1]),
        lambda path: run(Cell.of("there_is_no_such_module:f")),
        lambda path: run(Cell.of("tasks_of_a_test:nothing")),
        lambda path: sweep([], Store(":memory:"), jobs=0),
        lambda path: sweep(cells(), Store(":memory:"), scheduler="127.0.0.1"),
    ],
)
def test_refusals(call, tmp_path):
    with pytest.raises(InvalidValue):
        call(tmp_path)
