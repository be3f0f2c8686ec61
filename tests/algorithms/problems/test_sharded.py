"""Records over two and four devices of one process: the sums of one device, one noise, and bugs that are seen."""

import os
import subprocess
import sys
import textwrap

import pytest

from tests.algorithms.problems.lazy_jax import needs_jax

pytestmark = [pytest.mark.seconds, needs_jax]

BEGIN = """
import dataclasses
import jax, jax.numpy as jnp, numpy as np, pytest
from dpbounds.algorithms import StochasticGradientDescent
from dpbounds.algorithms.sampling import Poisson
from dpbounds.algorithms.problems import differentiable, sharded
from dpbounds.algorithms.problems.differentiable_losses.sharding import Sharded
from dpbounds.errors import BudgetExceeded, InvalidValue

rng = np.random.default_rng(0)
start = {"a": jnp.asarray(rng.standard_normal((5, 4)), jnp.float32), "b": jnp.asarray(np.ones((4, 3)), jnp.float32)}
features, labels = rng.standard_normal((300, 5)).astype(np.float32), rng.integers(0, 3, 300)

def loss(w, record):
    return -jax.nn.log_softmax(jnp.tanh(record[0] @ w["a"]) @ w["b"])[record[1]]

alone = differentiable(loss, start, (features, labels), clip="1/10", smoothness=2)
x = alone.initial_point

def apart(problem, rows):
    return np.linalg.norm(problem.summed_gradients(x, rows) - alone.summed_gradients(x, rows))
"""


def in_a_child(devices: int, script: str) -> None:
    """Run a script where JAX sees so many devices of the processor."""
    flags = f"--xla_force_host_platform_device_count={devices}"
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(script)],
        env=os.environ | {"XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.minutes
def test_sums_and_runs_are_those_of_one_device() -> None:
    in_a_child(
        4,
        """
        for devices in (2, 4):
            many = sharded(alone, jax.devices()[:devices])
            assert many.chunk == devices * alone.chunk
            for size in (1, 7, 33, 300):
                rows = np.arange(size)
                assert apart(many, rows) <= size * 0.1 * (4 * size + 16) * 2.0**-53
            y = x + 0.01
            changes = [each.summed_differences(y, x, np.arange(300)) for each in (alone, many)]
            assert np.abs(changes[0] - changes[1]).max() < 1e-14
            assert np.abs(alone.hessian(x[None]) - many.hessian(x[None])).max() < 1e-14
            used = many.compiled.made["gradients", many.compiled.lanes]
            assert "all-reduce" not in used.lower(
                [x.astype(np.float32)], [leaf[: many.chunk].repeat(2, 0)[: many.chunk] for leaf in many.leaves],
                np.zeros(devices, np.int32), np.ones(1)).compile().as_text()
        assert sharded(many, jax.devices()[:2]).chunk == 2 * alone.chunk  # not eight

        method = StochasticGradientDescent(5, 20, 1, Poisson("1/4"))
        one, four = (method.run(each, seed=1, repetitions=2, guarded=True) for each in (alone, many))
        assert np.abs(one.output - four.output).max() < 1e-6  # a step of 1e-16 may round a parameter to its neighbour
        assert one.ledger.releases == four.ledger.releases
        with pytest.raises(InvalidValue, match="each once"):
            sharded(alone, jax.devices()[:1] * 2)
        """,
    )


@pytest.mark.parametrize("bug", ["noise_on_every_shard", "every_device_has_all_rows", "a_shard_is_lost"])
def test_planted_bugs_are_seen(bug: str) -> None:
    """By the guards of a run, or as sums that are no longer those of one device."""
    in_a_child(
        2,
        f"""
        bug, own = "{bug}", Sharded._in_doubles
        draw = np.random.default_rng(3)

        def wrong(self, what, points, leaves, rows, limits, width, lanes):
            total, within = own(self, what, points, leaves, rows, limits, width, lanes)
            if bug == "noise_on_every_shard":
                return total + sum(draw.normal(0, 0.5, total.shape) for _ in range(2)), within
            if bug == "every_device_has_all_rows":
                return 2 * total, within
            return own(self, what, points, leaves, rows[::2], limits, width, lanes)

        Sharded._in_doubles = wrong
        many = sharded(alone)
        assert apart(many, np.arange(300)) > 1e-3
        if bug == "noise_on_every_shard":
            with pytest.raises(BudgetExceeded):
                StochasticGradientDescent(5, 20, 1, Poisson("1/4")).run(many, seed=1, repetitions=2, guarded=True)
        """,
    )


def test_devices_of_other_processes_are_refused() -> None:
    """Under ``jax.distributed`` all processes see all devices, and each has streams of noise of its own."""
    in_a_child(
        2,
        """
        from dpbounds.errors import UnsupportedMechanism

        jax.process_index = lambda: 1
        with pytest.raises(UnsupportedMechanism, match="noise of its own on the same sum"):
            sharded(alone)
        """,
    )
