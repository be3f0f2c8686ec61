"""DP-SGD of JAX-privacy and of Opacus at the same budget, with the settings that were chosen for DP-SGD here."""

from __future__ import annotations

import warnings
from typing import Any

import dp_accounting
import jax
import jax.numpy as jnp
import jax_privacy
import numpy as np
import opacus
import torch
from dp_accounting import pld
from jax_privacy import batch_selection, noise_addition

from tests.benchmarks.networks import methods
from tests.benchmarks.networks.cases import Case


def by_jax_privacy(case: Case, epsilon: int, steps: int, step_size: float, seed: int) -> tuple[Any, float]:
    """Parameters and noise multiplier; the multiplier by its own accountant's PLD."""
    x, y = case.parts["private"]
    rate = float(methods.batches_of(len(x)).sample_rate)
    z = dp_accounting.calibrate_dp_mechanism(
        pld.PLDAccountant,
        lambda noise: dp_accounting.SelfComposedDpEvent(
            dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise)), steps
        ),
        epsilon,
        float(methods.DELTA),
    )
    gradients = jax_privacy.clipped_grad(case.loss, l2_clip_norm=1.0, keep_batch_dim=False)
    adding = noise_addition.gaussian_privatizer(stddev=float(z), prng_key=jax.random.key(seed))
    w = case.start(np.random.default_rng(0))
    state = adding.init(w)

    @jax.jit
    def step(w: Any, state: Any, rows: Any, there: Any) -> Any:
        summed = gradients(w, rows, is_padding_example=~there)
        noisy, after = adding.update(summed, state)
        return jax.tree.map(lambda own, by: own - step_size * by / (rate * len(x)), w, noisy), after

    strategy = batch_selection.CyclicPoissonSampling(sampling_prob=rate, iterations=steps)
    width = int(2 * rate * len(x)) + 64
    for batch in strategy.batch_iterator(len(x), rng=seed):
        filled = np.pad(batch, (0, width - len(batch)))
        w, state = step(w, state, (x[filled], y[filled]), jnp.arange(width) < len(batch))
    return w, float(z)


def by_opacus(case: Case, epsilon: int, steps: int, step_size: float, seed: int) -> tuple[Any, float]:
    """The same of the multi-layer perceptron in PyTorch; the multiplier by its own prv."""
    x, y = case.parts["private"]
    rate = float(methods.batches_of(len(x)).sample_rate)
    z = opacus.accountants.utils.get_noise_multiplier(
        target_epsilon=epsilon, target_delta=float(methods.DELTA), sample_rate=rate, steps=steps, accountant="prv"
    )
    w = case.start(np.random.default_rng(0))
    first, second = torch.nn.Linear(*w["1"].shape), torch.nn.Linear(*w["2"].shape)
    with torch.no_grad():
        for layer, name in ((first, "1"), (second, "2")):
            layer.weight.copy_(torch.from_numpy(np.array(w[name]).T))
            layer.bias.copy_(torch.from_numpy(np.array(w["b" + name])))
    torch.manual_seed(seed)
    model = opacus.GradSampleModule(torch.nn.Sequential(first, torch.nn.Tanh(), second))
    optimiser = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=step_size),
        noise_multiplier=z,
        max_grad_norm=1.0,
        expected_batch_size=round(rate * len(x)),
    )
    drawn, labels = np.random.default_rng(seed), torch.from_numpy(y).long()
    for _ in range(steps):
        rows = torch.from_numpy(np.flatnonzero(drawn.random(len(x)) < rate))
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(torch.from_numpy(x)[rows]), labels[rows]).backward()
        optimiser.step()
    made = {"1": first.weight.T, "b1": first.bias, "2": second.weight.T, "b2": second.bias}
    return {name: jnp.asarray(value.detach().numpy()) for name, value in made.items()}, float(z)


def run_peers(names: tuple[str, ...], seeds: int) -> None:
    """Those cases whose DP-SGD is in the store."""
    import csv

    from tests.benchmarks.networks import sweep
    from tests.benchmarks.networks.cases import cases

    warnings.simplefilter("ignore")
    with sweep.STORE.open() as file:
        own = [row for row in csv.DictReader(file) if row["method"] == "dp-sgd" and row["seed"] == "0"]
    for row in own:
        if row["case"] not in names:
            continue
        case, epsilon = cases()[row["case"]](), int(row["epsilon"])
        settings = dict(each.split("=") for each in row["settings"].split())
        steps, step_size = int(settings["steps"]), float(settings["step_size"])
        for name, train in (("jax-privacy", by_jax_privacy), ("opacus", by_opacus)):
            if (row["case"], row["epsilon"], name) in sweep.done():
                continue
            if name == "opacus" and "mlp" not in row["case"]:
                continue
            lines = []
            for seed in range(seeds):
                w, z = train(case, epsilon, steps, step_size, seed)
                score, loss = case.measured(w, case.parts["test"])
                noise = z / float(methods.batches_of(int(row["n"])).sample_rate * int(row["n"]))
                lines.append((row["case"], row["n"], row["p"], epsilon, name, seed, f"{score:.4f}", f"{loss:.4f}"))
                lines[-1] += ("", f"{noise:.3g}", row["settings"], "")
            sweep.write(lines)
            print(row["case"], epsilon, name, np.mean([float(each[6]) for each in lines]), flush=True)
