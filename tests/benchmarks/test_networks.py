"""Clipped sums of gradients side by side: by hand in JAX, by JAX-privacy, by Opacus; the same batch, network and type.

    pytest tests/benchmarks/test_networks.py -m slow -n 0 -s

prints medians of CPU milliseconds and ratios, of calls that take turns. Nothing is asserted about time; that all find
the same sum is.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpbounds.algorithms.problems import differentiable

jax = pytest.importorskip("jax")
jax_privacy = pytest.importorskip("jax_privacy")
torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")
jnp = jax.numpy
RUNS = 25


def _medians(calls: dict[str, Callable[[], Any]]) -> dict[str, tuple[float, Any]]:
    """CPU milliseconds of each, and what it returns; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    values = {}
    for _ in range(1 + RUNS):
        for name, call in calls.items():
            began = time.process_time()
            values[name] = call()
            times[name].append(time.process_time() - began)
    return {name: (1e3 * statistics.median(own[1:]), values[name]) for name, own in times.items()}


def _compared(what: str, calls: dict[str, Callable[[], Any]], tolerance: float) -> None:
    found = _medians(calls)
    ours, value = found.pop("dpbounds")
    for _, other in found.values():
        assert np.abs(value - other).max() < tolerance
    told = [f"{name} {theirs:.2f} ms, ratio {ours / theirs:.2f}" for name, (theirs, _) in found.items()]
    print(f"\n{what}: dpbounds {ours:.2f} ms; " + "; ".join(told))


def _loss(w: Any, record: Any) -> Any:
    x, y = record
    return -jax.nn.log_softmax(jnp.tanh(x @ w["a"] + w["b"]) @ w["c"])[y]


def _by_hand(loss: Any, parameters: Any, x: Any, y: Any) -> Callable[[], Any]:
    @jax.jit
    def clipped(w: Any, x: Any, y: Any) -> Any:
        found = jax.vmap(jax.grad(loss), in_axes=(None, 0))(w, (x, y))
        squares = sum((each.reshape(len(each), -1) ** 2).sum(axis=1) for each in jax.tree.leaves(found))
        factor = jnp.minimum(1.0, 1 / jnp.sqrt(squares))
        return jnp.concatenate([jnp.tensordot(factor, each, 1).ravel() for each in jax.tree.leaves(found)])

    return lambda: np.asarray(clipped(parameters, x, y))


def _by_jax_privacy(loss: Any, parameters: Any, x: Any, y: Any) -> Callable[[], Any]:
    clipped = jax.jit(jax_privacy.clipped_grad(loss, l2_clip_norm=1.0, keep_batch_dim=False))
    return lambda: np.concatenate([np.asarray(each).ravel() for each in jax.tree.leaves(clipped(parameters, (x, y)))])


def _by_opacus(parameters: Any, x: Any, y: Any) -> Callable[[], Any]:
    a, b, c = (np.asarray(parameters[name]) for name in "abc")
    first, second = torch.nn.Linear(*a.shape), torch.nn.Linear(*c.shape, bias=False)
    with torch.no_grad():
        for to, values in ((first.weight, a.T), (first.bias, b), (second.weight, c.T)):
            to.copy_(torch.from_numpy(np.array(values)))
    model = opacus.GradSampleModule(torch.nn.Sequential(first, torch.nn.Tanh(), second), loss_reduction="sum")
    plain = torch.optim.SGD(model.parameters(), lr=0.0)
    optimiser = opacus.optimizers.DPOptimizer(plain, noise_multiplier=0.0, max_grad_norm=1.0, expected_batch_size=1)
    inputs, labels = torch.from_numpy(x), torch.from_numpy(y).long()

    def step() -> Any:
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels, reduction="sum").backward()
        optimiser.clip_and_accumulate()
        sums = [each.summed_grad.numpy() for each in optimiser.params]
        return np.concatenate([sums[0].T.ravel(), sums[1].ravel(), sums[2].T.ravel()])

    return step


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the peers'
@pytest.mark.parametrize(("inputs", "hidden", "classes"), [(20, 16, 2), (64, 64, 10), (100, 128, 10), (784, 256, 10)])
@pytest.mark.parametrize("size", [20, 256])
def test_clipped_sums(size: int, inputs: int, hidden: int, classes: int) -> None:
    rng = np.random.default_rng(0)
    parameters = {
        "a": jnp.asarray(rng.standard_normal((inputs, hidden)) / inputs**0.5, jnp.float32),
        "b": jnp.zeros(hidden, jnp.float32),
        "c": jnp.asarray(rng.standard_normal((hidden, classes)) / hidden**0.5, jnp.float32),
    }
    x = rng.standard_normal((4096, inputs)).astype(np.float32)
    y = rng.integers(0, classes, 4096).astype(np.int32)
    rows = np.sort(rng.choice(4096, size, replace=False))
    problem = differentiable(_loss, parameters, (x, y), clip=1)
    _compared(
        f"{inputs}-{hidden}-{classes}, batch of {size}",
        {
            "dpbounds": lambda: problem.summed_gradients(problem.initial_point, rows),
            "by hand": _by_hand(_loss, parameters, x[rows], y[rows]),
            "JAX-privacy": _by_jax_privacy(_loss, parameters, x[rows], y[rows]),
            "Opacus": _by_opacus(parameters, x[rows], y[rows]),
        },
        1e-4 * size,
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["digits-conv", "digits-attention", "photo-factors"])
@pytest.mark.parametrize("size", [20, 256])
def test_clipped_sums_of_other_models(size: int, name: str) -> None:
    from tests.benchmarks.networks.cases import cases  # which imports JAX

    case = cases()[name]()
    parameters, (x, y) = case.start(np.random.default_rng(0)), case.parts["private"]
    rows = np.sort(np.random.default_rng(0).choice(len(x), size, replace=False))
    problem = differentiable(case.loss, parameters, (x, y), clip=1)
    _compared(
        f"{name}, batch of {size}",
        {
            "dpbounds": lambda: problem.summed_gradients(problem.initial_point, rows),
            "by hand": _by_hand(case.loss, parameters, x[rows], y[rows]),
            "JAX-privacy": _by_jax_privacy(case.loss, parameters, x[rows], y[rows]),
        },
        1e-4 * size,
    )
