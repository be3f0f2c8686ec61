"""Records that stay in a file, and how much memory a sum takes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dpbounds.algorithms.problems import differentiable
from dpbounds.errors import InvalidValue
from tests.algorithms.problems.lazy_jax import jax, needs_jax

pytestmark = [pytest.mark.seconds, needs_jax]


def test_a_mapped_file_is_read_where_it_lies(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    rows.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", np.float32, "r", shape=(40, 3))

    def made(records):
        return differentiable(lambda w, z: jax.numpy.sum((w - z) ** 2), np.zeros(3, np.float32), records, clip=1)

    problem, copied = made(mapped), made(rows)
    assert problem.leaves[0] is mapped
    every, x = np.arange(40), problem.initial_point
    assert (problem.summed_gradients(x, every) == copied.summed_gradients(x, every)).all()
    with pytest.raises(InvalidValue, match="mode must be 'r'"):
        made(np.memmap(tmp_path / "rows", np.float32, "r+", shape=(40, 3)))


CHILD = """
import ctypes, gc, pathlib, re, sys
import jax, jax.numpy as jnp, numpy as np
from dpbounds.algorithms.problems import differentiable

def bytes_now(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text()).group(1))

rows = np.memmap(sys.argv[1], np.float32, "r", shape=(2000, 2000))
start = {"a": jnp.full((2000, 1000), 0.01, jnp.float32), "b": jnp.full((1000, 2), 0.01, jnp.float32)}
def loss(w, z):
    return -jax.nn.log_softmax(jnp.tanh(z @ w["a"]) @ w["b"])[0]

for limit in map(int, sys.argv[2:]):
    problem = differentiable(loss, start, rows, clip=1, memory_limit=limit, copies=True)
    x = problem.initial_point
    problem.summed_gradients(x, np.arange(40))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before, mapped = bytes_now("RssAnon"), bytes_now("RssFile") + bytes_now("RssShmem")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on
    problem.summed_gradients(x, np.arange(1000))
    print(limit, problem.chunk, problem.compiled.lanes, bytes_now("VmHWM") - mapped - before)
"""


@pytest.mark.minutes
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from Linux")
@pytest.mark.parametrize("given_back", [False, True])
def test_the_peak_of_memory_is_within_the_limit(tmp_path: Path, given_back: bool) -> None:
    """Many calls, one after the other. Where even one record hardly fits, if the allocator gives back what is freed."""
    np.random.default_rng(0).standard_normal((2000, 2000)).astype(np.float32).tofile(tmp_path / "rows")
    limits = [160 * 2**20, 2**28, *([130 * 2**20] if given_back else [])]
    command = [sys.executable, "-c", CHILD, str(tmp_path / "rows"), *map(str, limits)]
    env = os.environ | ({"MALLOC_MMAP_THRESHOLD_": "131072"} if given_back else {})
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    print(told)
    for line in told.splitlines():
        limit, _, _, used = map(int, line.split())
        assert used <= 1.1 * limit
    assert len(told.splitlines()) == len(limits)


MILLION = """
import pathlib, re, sys, time
import jax, jax.numpy as jnp, numpy as np
from dpbounds.algorithms import PrivateTraining, problems
from dpbounds.algorithms.descents.private_training import GradientSteps
from dpbounds.algorithms.oracles import Poisson

features = np.memmap(sys.argv[1], np.float32, "r", shape=(10**6, 100))
labels = np.fromfile(sys.argv[2], np.int32)
start = {"in": jax.random.normal(jax.random.key(0), (100, 64)) / 10, "bias": jnp.zeros(64), "out": jnp.zeros((64, 2))}

def loss(w, z):
    return -jax.nn.log_softmax(jnp.tanh(z[0] @ w["in"] + w["bias"]) @ w["out"])[z[1]]

began, cpu = time.time(), time.process_time()
problem = problems.differentiable(loss, start, (features, labels), clip=1)
training = PrivateTraining.calibrated(
    problem, 1, "1e-7", epochs=1, sampling=Poisson("1/1000"), optimiser=GradientSteps(2.0, 0.0))
run = training.run(problem)
w = problem.parameters(run.output[0])
right = float(jnp.mean((jnp.tanh(features[:20000] @ w["in"] + w["bias"]) @ w["out"]).argmax(axis=1) == labels[:20000]))
status = pathlib.Path("/proc/self/status").read_text()
peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", status).group(1))
print(float(run.spent.upper), training.steps, right, peak, time.time() - began, time.process_time() - cpu)
"""


@pytest.mark.minutes
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux")
def test_a_million_records_of_100_features_are_trained_on_from_their_file(tmp_path: Path) -> None:
    """One epoch of DP-SGD with a network of two layers: less than 4 GB; ``-s`` prints what it took."""
    rng = np.random.default_rng(0)
    direction, labels = rng.standard_normal(100), np.empty(10**6, np.int32)
    with (tmp_path / "features").open("wb") as file:
        for part in range(0, 10**6, 10**5):
            rows = rng.standard_normal((10**5, 100)).astype(np.float32)
            labels[part : part + 10**5] = rows @ direction > 0
            rows.tofile(file)
    labels.tofile(tmp_path / "labels")
    command = [sys.executable, "-c", MILLION, str(tmp_path / "features"), str(tmp_path / "labels")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent, steps, right, peak, wall, cpu = map(float, told.split())
    print(f"\n{steps:.0f} steps: {wall:.0f} s, {cpu:.0f} CPU s, {peak / 1e9:.2f} GB at most, right {right:.3f}")
    assert spent <= 1
    assert steps == 1000
    assert right > 0.85
    assert peak < 4e9
