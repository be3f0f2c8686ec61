"""DP-SGD of JAX-privacy and of Opacus: the model, start, batches, steps, clipping and noise that DP-SGD has here."""

from __future__ import annotations

import math
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

from benchmarks.networks import methods, sweep
from benchmarks.networks.cases import Case


def trained(name: str, peer: str, epsilon: int, settings: methods.Settings, seeds: int) -> list[sweep.Measured]:
    """Runs at the noise that is certified for ε; what the peer's own accountant says of it stands in the settings."""
    case, problem = sweep.case_of(name), sweep.private_of(name)
    own: Any = methods.calibrated("dp-sgd", problem, sweep.budget_of(epsilon), settings)
    rate, z, steps = float(own.sampling.sample_rate), float(own.noise_multiplier), own.steps
    train, accounted = (_by_opacus, _prv) if peer == "opacus" else (_by_jax_privacy, _pld)
    told = f"{sweep.told(settings)} own_epsilon={accounted(z, rate, steps):.4f}"
    passes = methods.passes_of(own, problem.records)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers'
        for seed in range(seeds):
            w = train(case, z, rate, steps, settings["step_size"], seed)
            point = np.concatenate([np.asarray(each, dtype=np.float64).ravel() for each in jax.tree.leaves(w)])
            found.append(sweep.measured(name, point, float(epsilon), passes, told))
    return found


def _pld(z: float, rate: float, steps: int) -> float:
    accountant = pld.PLDAccountant()
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(z)), steps)
    return float(accountant.get_epsilon(float(methods.DELTA)))


def _prv(z: float, rate: float, steps: int) -> float:
    accountant = opacus.accountants.PRVAccountant()
    accountant.history = [(z, rate, steps)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(accountant.get_epsilon(float(methods.DELTA)))


def _by_jax_privacy(case: Case, z: float, rate: float, steps: int, step_size: float, seed: int) -> Any:
    x, y = case.parts["private"]
    gradients = jax_privacy.clipped_grad(case.loss, l2_clip_norm=1.0, keep_batch_dim=False)
    adding = noise_addition.gaussian_privatizer(stddev=z, prng_key=jax.random.key(seed))
    w = case.start(np.random.default_rng(0))
    state = adding.init(w)

    @jax.jit
    def step(w: Any, state: Any, rows: Any, there: Any) -> Any:
        noisy, after = adding.update(gradients(w, rows, is_padding_example=~there), state)
        return jax.tree.map(lambda own, by: own - step_size * by / (rate * len(x)), w, noisy), after

    strategy = batch_selection.CyclicPoissonSampling(sampling_prob=rate, iterations=steps)
    width = math.ceil(rate * len(x) + 8 * math.sqrt(rate * len(x)))
    for batch in strategy.batch_iterator(len(x), rng=seed):
        assert len(batch) <= width
        filled = np.pad(batch.astype(np.int64), (0, width - len(batch)))
        w, state = step(w, state, (x[filled], y[filled]), jnp.arange(width) < len(batch))
    return w


def _by_opacus(case: Case, z: float, rate: float, steps: int, step_size: float, seed: int) -> Any:
    x, y = case.parts["private"]
    torch.manual_seed(seed)
    plain = reference_of(case)
    model = opacus.GradSampleModule(plain, loss_reduction="sum")
    optimiser = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=step_size),
        noise_multiplier=z,
        max_grad_norm=1.0,
        expected_batch_size=rate * len(x),
    )
    inputs, labels, draw = torch.from_numpy(x), torch.from_numpy(y).long(), np.random.default_rng(seed)
    for _ in range(steps):
        rows = torch.from_numpy(np.flatnonzero(draw.random(len(x)) < rate))
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs[rows]), labels[rows], reduction="sum").backward()
        optimiser.step()
    return parameters_of(plain)


# --- the models in PyTorch, from the same start


class _Conv(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.last = torch.nn.Conv2d(1, 8, 3, stride=2, padding=1), torch.nn.Linear(128, 10)

    def forward(self, x: Any) -> Any:
        made = torch.tanh(self.patches(x.reshape(-1, 1, 8, 8)))
        return self.last(made.permute(0, 2, 3, 1).reshape(len(x), -1))


class _Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name, inputs in (("rows", 8), ("place", 8), ("q", 16), ("k", 16), ("v", 16)):
            setattr(self, name, torch.nn.Linear(inputs, 16, bias=False))
        self.last = torch.nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        places = torch.eye(8).expand(len(x), 8, 8)
        rows = self.rows(x.reshape(-1, 8, 8)) + self.place(places)
        weights = torch.softmax(self.q(rows) @ self.k(rows).transpose(1, 2) / 4, dim=2)
        return self.last(torch.tanh(rows + weights @ self.v(rows)).mean(dim=1))


def reference_of(case: Case) -> Any:
    """The case's network with the same parameters."""
    w = {name: torch.from_numpy(np.array(value)) for name, value in case.start(np.random.default_rng(0)).items()}
    made: Any
    if "q" in w:
        made = _Attention()
        own = {"rows": "in", "place": "place", "q": "q", "k": "k", "v": "v"}
        state = {f"{to}.weight": w[name].T for to, name in own.items()}
        state |= {"last.weight": w["out"].T, "last.bias": w["b"]}
    elif "1" in w and w["1"].shape == (9, 8):
        made = _Conv()
        state = {"patches.weight": w["1"].T.reshape(8, 1, 3, 3), "patches.bias": w["b1"]}
        state |= {"last.weight": w["2"].T, "last.bias": w["b2"]}
    else:
        made = torch.nn.Sequential(torch.nn.Linear(*w["1"].shape), torch.nn.Tanh(), torch.nn.Linear(*w["2"].shape))
        state = {"0.weight": w["1"].T, "0.bias": w["b1"], "2.weight": w["2"].T, "2.bias": w["b2"]}
    made.load_state_dict(state)
    return made


def parameters_of(made: Any) -> Any:
    """Its parameters under the case's names."""
    state = {name: value.detach().numpy() for name, value in made.state_dict().items()}
    if isinstance(made, _Attention):
        own = {"in": "rows", "place": "place", "q": "q", "k": "k", "v": "v", "out": "last"}
        found = {name: state[f"{of}.weight"].T for name, of in own.items()} | {"b": state["last.bias"]}
    elif isinstance(made, _Conv):
        found = {"1": state["patches.weight"].reshape(8, 9).T, "b1": state["patches.bias"]}
        found |= {"2": state["last.weight"].T, "b2": state["last.bias"]}
    else:
        found = {"1": state["0.weight"].T, "b1": state["0.bias"], "2": state["2.weight"].T, "b2": state["2.bias"]}
    return {name: jnp.asarray(value) for name, value in found.items()}
