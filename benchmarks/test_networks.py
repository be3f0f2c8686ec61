"""Clipped sums of gradients side by side: by hand in JAX, by JAX-privacy, by Opacus; the same batch, network and type.

    pytest benchmarks/test_networks.py -m minutes -n 0 -s

prints medians of CPU milliseconds and ratios, of calls that take turns; then whole steps of DP-SGD (Poisson samples,
clipping, noise, descent). Nothing is asserted about time; that all find the same sum is.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbounds.algorithms import PrivateTraining
from dpbounds.algorithms.descents.private_training import GradientSteps
from dpbounds.algorithms.oracles import Poisson
from dpbounds.algorithms.problems import differentiable

jax = pytest.importorskip("jax")
jax_privacy = pytest.importorskip("jax_privacy")
torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")
jnp = jax.numpy
RUNS = 25


def _medians(
    calls: dict[str, Callable[[], Any]], rounds: int = RUNS, warm: bool = True
) -> dict[str, tuple[float, Any]]:
    """CPU milliseconds of each, and what it returns; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    values = {}
    for _ in range(1 + rounds):
        for name, call in calls.items():
            if warm:  # as in training: the turns of others leave nothing of it in the processor's caches
                call()
            began = time.process_time()
            values[name] = call()
            times[name].append(time.process_time() - began)
    return {name: (1e3 * statistics.median(own[1:]), values[name]) for name, own in times.items()}


def _perceptron(inputs: int, hidden: int, classes: int) -> tuple[Any, Any, Any]:
    """Parameters, and 4096 records."""
    rng = np.random.default_rng(0)
    parameters = {
        "a": jnp.asarray(rng.standard_normal((inputs, hidden)) / inputs**0.5, jnp.float32),
        "b": jnp.zeros(hidden, jnp.float32),
        "c": jnp.asarray(rng.standard_normal((hidden, classes)) / hidden**0.5, jnp.float32),
    }
    x = rng.standard_normal((4096, inputs)).astype(np.float32)
    return parameters, x, rng.integers(0, classes, 4096).astype(np.int32)


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


def _modelled(parameters: Any, rate: float = 0.0, noise: float = 0.0, batch: float = 1) -> tuple[Any, Any]:
    """The network in Opacus, and its optimiser."""
    a, b, c = (np.asarray(parameters[name]) for name in "abc")
    first, second = torch.nn.Linear(*a.shape), torch.nn.Linear(*c.shape, bias=False)
    with torch.no_grad():
        for to, values in ((first.weight, a.T), (first.bias, b), (second.weight, c.T)):
            to.copy_(torch.from_numpy(np.array(values)))
    model = opacus.GradSampleModule(torch.nn.Sequential(first, torch.nn.Tanh(), second), loss_reduction="sum")
    plain = torch.optim.SGD(model.parameters(), lr=rate)
    return model, opacus.optimizers.DPOptimizer(
        plain, noise_multiplier=noise, max_grad_norm=1.0, expected_batch_size=batch
    )


def _by_opacus(parameters: Any, x: Any, y: Any) -> Callable[[], Any]:
    model, optimiser = _modelled(parameters)
    inputs, labels = torch.from_numpy(x), torch.from_numpy(y).long()

    def step() -> Any:
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels, reduction="sum").backward()
        optimiser.clip_and_accumulate()
        sums = [each.summed_grad.numpy() for each in optimiser.params]
        return np.concatenate([sums[0].T.ravel(), sums[1].ravel(), sums[2].T.ravel()])

    return step


@pytest.mark.minutes
@pytest.mark.filterwarnings("ignore")  # of the peers'
@pytest.mark.parametrize(("inputs", "hidden", "classes"), [(20, 16, 2), (64, 64, 10), (100, 128, 10), (784, 256, 10)])
@pytest.mark.parametrize("size", [20, 256])
def test_clipped_sums(size: int, inputs: int, hidden: int, classes: int) -> None:
    parameters, x, y = _perceptron(inputs, hidden, classes)
    rows = np.sort(np.random.default_rng(1).choice(4096, size, replace=False))
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


@pytest.mark.minutes
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["digits-conv", "digits-attention", "photo-factors"])
@pytest.mark.parametrize("size", [20, 256])
def test_clipped_sums_of_other_models(size: int, name: str) -> None:
    from benchmarks.networks.cases import cases  # which imports JAX

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


# --- whole steps: a Poisson sample, its clipped sum, noise, descent


def _steps_here(parameters: Any, x: Any, y: Any, size: int, steps: int) -> Callable[[], Any]:
    problem = differentiable(_loss, parameters, (x, y), clip=1)
    training = PrivateTraining(1, steps, GradientSteps(0.1, 0.0), Poisson(Fraction(size, len(x))))
    return lambda: training.run(problem, seed=0).output[0]


def _steps_by_jax_privacy(parameters: Any, x: Any, y: Any, size: int, steps: int) -> Callable[[], Any]:
    gradients = jax_privacy.clipped_grad(_loss, l2_clip_norm=1.0, keep_batch_dim=False)
    adding = jax_privacy.noise_addition.gaussian_privatizer(stddev=1.0, prng_key=jax.random.key(0))
    width = math.ceil(size + 8 * size**0.5)
    strategy = jax_privacy.batch_selection.CyclicPoissonSampling(sampling_prob=size / len(x), iterations=steps)

    @jax.jit
    def step(w: Any, state: Any, rows: Any, there: Any) -> Any:
        noisy, after = adding.update(gradients(w, rows, is_padding_example=~there), state)
        return jax.tree.map(lambda own, by: own - 0.1 * by / size, w, noisy), after

    def run() -> Any:
        w, state = parameters, adding.init(parameters)
        for batch in strategy.batch_iterator(len(x), rng=0):
            filled = np.pad(batch.astype(np.int64), (0, width - len(batch)))
            w, state = step(w, state, (x[filled], y[filled]), np.arange(width) < len(batch))
        return jax.block_until_ready(w)

    return run


def _steps_by_opacus(parameters: Any, x: Any, y: Any, size: int, steps: int) -> Callable[[], Any]:
    inputs, labels, draw = torch.from_numpy(x), torch.from_numpy(y).long(), np.random.default_rng(0)
    model, optimiser = _modelled(parameters, 0.1, 1.0, size)

    def run() -> Any:
        for _ in range(steps):
            rows = torch.from_numpy(np.flatnonzero(draw.random(len(x)) < size / len(x)))
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[rows]), labels[rows], reduction="sum").backward()
            optimiser.step()

    return run


@pytest.mark.minutes
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(20, 16, 2), (64, 64, 10), (100, 128, 10)])
@pytest.mark.parametrize("size", [20, 256])
def test_whole_steps(size: int, shape: tuple[int, int, int]) -> None:
    parameters, x, y = _perceptron(*shape)
    made = {
        "dpbounds": (_steps_here, 200),
        "JAX-privacy": (_steps_by_jax_privacy, 200),
        "Opacus": (_steps_by_opacus, 20),
    }
    calls = {name: make(parameters, x, y, size, steps) for name, (make, steps) in made.items()}
    found = {name: took / made[name][1] for name, (took, _) in _medians(calls, 5, warm=False).items()}
    ours = found.pop("dpbounds")
    told = [f"{name} {each:.2f} ms, ratio {ours / each:.2f}" for name, each in found.items()]
    name = "-".join(map(str, shape))
    print(f"\n{name}, steps on {size}: dpbounds {ours:.2f} ms; " + "; ".join(told))


# --- the programme of `benchmarks.networks`


@pytest.mark.minutes
def test_candidates_release_the_same() -> None:
    from benchmarks.networks import methods, paid, sweep

    problem, budget = sweep.private_of("digits-mlp"), sweep.budget_of(4)
    for name in sweep.PAID_METHODS:
        made = [
            paid.noisy(methods.calibrated(name, sweep.settled(problem, each), budget, each), Fraction(2))
            for each in paid.candidates(name, 60)
        ]
        assert len({repr(one.planned) for one in made}) == 1


@pytest.mark.minutes
@pytest.mark.parametrize("case", ["digits-mlp", "covertype-mlp"])
def test_peers_train_the_same_network(case: str) -> None:
    from benchmarks.networks import peers, sweep

    own = sweep.cases()[case]()
    x, start = own.parts["test"][0], own.start(np.random.default_rng(0))
    twin = peers.reference_of(own)
    ours = np.stack([own.predict(start, row) for row in x[:20]])
    np.testing.assert_allclose(twin(torch.from_numpy(x[:20])).detach().numpy(), ours, atol=1e-5)
    back = peers.parameters_of(twin)
    assert all(np.array_equal(back[name], start[name]) for name in start)
