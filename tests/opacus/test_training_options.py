"""Clipping rules, augmented copies and split batches of the engine, against sums that are computed by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
import torch
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.opacus import PrivacyEngine
from dpbounds.opacus.clipping import multiplier_of_gradients
from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
from dpbounds.privacy.publishing.interoperability import drawn_rate

pytestmark = pytest.mark.filterwarnings("ignore")  # what PyTorch and Opacus warn of is not ours

RECORDS, BATCH, C, Z = 60, 12, 0.5, 1.25
STEPS = RECORDS // BATCH
ADAPTIVE = {
    "clipping": "adaptive",
    "target_unclipped_quantile": 0.5,
    "clipbound_learning_rate": 0.2,
    "max_clipbound": 4.0,
    "min_clipbound": 0.01,
    "unclipped_num_std": 2.0,
}
AUTOMATIC = {"clipping": "automatic", "stability": 0.05}


class Shifted(Dataset[Any]):
    """Records with a transform that differs at each reading; the label says which record it is."""

    def __len__(self) -> int:
        return RECORDS

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(index)
        x = torch.randn(3, generator=generator)
        return x + 0.3 * torch.randn(3), torch.tensor([float(index) / 20])


def plain_records() -> Any:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(RECORDS, 3, generator=generator)
    x[7] = 0.0
    return TensorDataset(x, torch.arange(RECORDS).view(-1, 1) / 20)


def private(records: Any = None, size: int = BATCH, **options: Any) -> tuple[PrivacyEngine, Any, Any, Any]:
    """An engine with a linear model, its optimiser and its loader."""
    torch.manual_seed(1)
    plain = nn.Linear(3, 1)
    engine = PrivacyEngine(public_dataset_size=RECORDS)
    made = engine.make_private(
        module=plain,
        optimizer=torch.optim.SGD(plain.parameters(), lr=0.01),
        data_loader=DataLoader(plain_records() if records is None else records, batch_size=size),
        **{"noise_multiplier": Z, "max_grad_norm": C, **options},
    )
    return engine, *made


@dataclass
class Step:
    """One step: gradients of all rows by hand, labels, the sum before noise, the clipping norm, gradients and noise.

    Attributes:
        gradients: Shape (rows, 4).
        labels: Shape (rows,).
        summed: The sum before noise, shape (4,).
        norm: The clipping norm of the step.
        noisy: The noisy sum, shape (4,).
        generator: The generator of noise as it was before the step.
    """

    gradients: torch.Tensor
    labels: torch.Tensor
    summed: torch.Tensor
    norm: float
    noisy: torch.Tensor
    generator: torch.Generator


def steps(model: Any, optimizer: Any, loader: Any) -> Iterator[Step]:
    """Train for a pass, with the gradients of the squared loss (w x + b - y)^2 written out."""
    weight, bias = optimizer.params
    rows: list[torch.Tensor] = []
    labels: list[torch.Tensor] = []
    found: list[tuple[torch.Tensor, torch.Tensor]] = []

    def hook(_: Any) -> None:
        sums = torch.cat([each.summed_grad.flatten() for each in (weight, bias)])
        noisy = torch.cat([each.grad.flatten() for each in (weight, bias)]) * optimizer.expected_batch_size
        found.append((sums.clone(), noisy.clone()))

    optimizer.attach_step_hook(hook)
    for x, y in loader:
        rest = (x @ weight.detach().T + bias.detach() - y) * 2
        rows.append(torch.cat([rest * x, rest], dim=1).double())
        labels.append(y.flatten())
        norm, generator = optimizer.max_grad_norm, optimizer.generator.clone_state()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        if found:
            yield Step(torch.cat(rows), torch.cat(labels), found[0][0], norm, found[0][1], generator)
            rows, labels = [], []
            found.clear()


def clipped(gradients: torch.Tensor, norm: float) -> torch.Tensor:
    lengths = gradients.norm(dim=1, keepdim=True)
    return gradients * (norm / lengths.clamp(min=norm))


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool((one.double() - other.double()).abs().max() <= 1e-4)


def spent(engine: PrivacyEngine, expected_steps: int = STEPS, size: int = BATCH) -> None:
    """The account is that of one Gaussian release on a Poisson sample for each step."""
    rate = size / RECORDS
    assert engine.accountant.history == [(Z, rate, expected_steps)]
    assert (
        engine.get_epsilon("1e-5")
        == epsilon(PoissonSampled(Gaussian(Z), drawn_rate(rate)) ** expected_steps, "1e-5").upper
    )


# --- gradient accumulation: one draw, split ---------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, AUTOMATIC, ADAPTIVE], ids=["flat", "automatic", "adaptive"])
def test_a_split_batch_is_one_release_on_the_batch_that_was_drawn(options: dict[str, Any]) -> None:
    engine, model, optimizer, loader = private(size=30, **options)
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=4, optimizer=optimizer) as split:
        done = list(steps(model, optimizer, split))
    assert len(done) == 2
    for step in done:
        assert len(step.gradients) > 4  # several parts
        if options == AUTOMATIC:
            lengths = step.gradients.norm(dim=1, keepdim=True)
            assert close(step.summed, (C * step.gradients / (lengths + 0.05)).sum(0))
        else:
            assert close(step.summed, clipped(step.gradients, step.norm).sum(0))
    spent(engine, 2, 30)


@pytest.mark.parametrize("name", ["num_microbatches", "microbatch_size"])
def test_microbatches_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(UnsupportedMechanism, match="twice the clipping norm"):
        private(**{name: 4})


@pytest.mark.parametrize("name", ["accumulation_steps", "gradient_accumulation_steps"])
def test_several_draws_for_one_step_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(UnsupportedMechanism, match="two of the batches of a step counts twice"):
        private(**{name: 2})


def test_the_clipped_mean_of_a_microbatch_moves_by_twice_the_norm() -> None:
    """The reason of the refusal, for one record of five that is replaced."""
    others = torch.tensor([[0.1, 0.0]] * 4)
    one, another = (torch.cat([others, torch.tensor([[end, 0.0]])]).mean(0, keepdim=True) for end in (1e3, -1e3))
    assert float((clipped(one, C) - clipped(another, C)).norm()) == pytest.approx(2 * C)


# --- automatic clipping -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hooks", "functorch"])
def test_automatic_clipping_scales_every_gradient(mode: str) -> None:
    engine, model, optimizer, loader = private(grad_sample_mode=mode, **AUTOMATIC)
    for step in steps(model, optimizer, loader):
        lengths = step.gradients.norm(dim=1, keepdim=True)
        assert close(step.summed, (C * step.gradients / (lengths + 0.05)).sum(0))
    spent(engine)


def contribution(optimizer: Any, model: Any, x: Any, y: Any) -> torch.Tensor:
    """The sum over one record, before noise; nothing is released."""
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.clip_and_accumulate()
    return torch.cat([each.summed_grad.flatten() for each in optimizer.params]).double()


def record(model: Any, size: float) -> tuple[torch.Tensor, torch.Tensor]:
    """A record whose gradient is (-2 size²) (1, 1, 1, 1/size)."""
    x = torch.full((1, 3), size)
    with torch.no_grad():
        return x, model(x) + size


SIZES = (0.0, 1e-30, 1e-9, 1e-3, 0.1, 0.25, 1.0, 1e4, 1e15, 1e30)


@pytest.mark.parametrize("stability", [0.01, 1e-300, 10])
@pytest.mark.parametrize("size", SIZES)
def test_automatic_clipping_bounds_the_contribution_of_every_record(size: float, stability: float) -> None:
    _, model, optimizer, _ = private(clipping="automatic", stability=stability)
    found = contribution(optimizer, model, *record(model, size))
    assert found.isfinite().all()
    assert float(found.norm()) <= C * (1 + 1e-6)


def test_the_stability_of_automatic_clipping_stays_positive() -> None:
    _, model, optimizer, loader = private(**AUTOMATIC)
    optimizer.stability = -1.0
    with pytest.raises(InvalidValue, match="stability must be greater than 0"):
        next(steps(model, optimizer, loader))


# --- augmented copies -------------------------------------------------------------------------------------------------


def means(step: Step, copies: int) -> torch.Tensor:
    """The mean gradient of each record, found by its label."""
    records = step.labels.unique()
    assert len(records) * copies == len(step.labels)
    return torch.stack([step.gradients[step.labels == each].mean(0) for each in records])


@pytest.mark.parametrize("options", [{}, AUTOMATIC, ADAPTIVE], ids=["flat", "automatic", "adaptive"])
def test_gradients_of_the_copies_of_a_record_are_averaged_before_they_are_clipped(options: dict[str, Any]) -> None:
    engine, model, optimizer, loader = private(Shifted(), augmentations=4, **options)
    assert optimizer.expected_batch_size == BATCH
    for step in steps(model, optimizer, loader):
        rows = means(step, 4)
        if options == AUTOMATIC:
            expected = C * rows / (rows.norm(dim=1, keepdim=True) + 0.05)
        else:
            expected = clipped(rows, step.norm)
        assert close(step.summed, expected.sum(0))
    spent(engine)


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.seconds)])
def test_copies_of_a_record_stay_together_when_a_batch_is_split(workers: int) -> None:
    torch.manual_seed(1)
    plain, engine = nn.Linear(3, 1), PrivacyEngine(public_dataset_size=RECORDS)
    model, optimizer, loader = engine.make_private(
        module=plain,
        optimizer=torch.optim.SGD(plain.parameters(), lr=0.01),
        data_loader=DataLoader(Shifted(), batch_size=30, num_workers=workers),
        noise_multiplier=Z,
        max_grad_norm=C,
        augmentations=3,
    )
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=5, optimizer=optimizer) as split:
        for step in steps(model, optimizer, split):
            assert close(step.summed, clipped(means(step, 3), C).sum(0))
    spent(engine, 2, 30)


def test_copies_may_be_clipped_layer_by_layer() -> None:
    _, model, optimizer, loader = private(Shifted(), augmentations=2, clipping="per_layer", max_grad_norm=[C, 2 * C])
    for step in steps(model, optimizer, loader):
        rows = means(step, 2)
        expected = torch.cat([clipped(rows[:, :3], C).sum(0), clipped(rows[:, 3:], 2 * C).sum(0)])
        assert close(step.summed, expected)


@pytest.mark.parametrize(
    "change", [lambda x: x[:-1], lambda x: torch.cat([x, x[:1]]), lambda x: x.repeat(2, 1), lambda x: x[::4]]
)
def test_rows_that_are_not_the_copies_of_all_records_are_refused(change: Any) -> None:
    engine, model, optimizer, loader = private(Shifted(), augmentations=4)
    with pytest.raises(
        UnsupportedMechanism, match=r"gradients are not 4 for each record|each record needs one gradient"
    ):
        list(steps(model, optimizer, ((change(x), change(y)) for x, y in loader)))
    assert engine.accountant.history == []


# --- what is computed from released weights ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hooks", "functorch", "ghost"])
def test_an_average_of_the_weights_follows_them(mode: str) -> None:
    """An exponential moving average is computed from released weights; its model runs in evaluation mode."""
    criterion = nn.MSELoss()
    options = {"grad_sample_mode": mode, **({"criterion": criterion} if mode == "ghost" else {})}
    engine, model, optimizer, *rest = private(**options)
    criterion = rest[0] if mode == "ghost" else criterion
    averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9)).eval()
    followed: list[torch.Tensor] = []
    for x, y in rest[-1]:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        averaged.update_parameters(model)
        now = torch.cat([each.detach().flatten() for each in optimizer.params])
        followed.append(0.9 * followed[-1] + 0.1 * now if followed else now)
        averaged(x)
    mine = torch.cat([each.detach().flatten() for each in averaged.module.parameters()])
    assert close(mine, followed[-1])
    assert not close(mine, now)
    spent(engine)


# --- adaptive clipping ------------------------------------------------------------------------------------------------


def signs(gradients: torch.Tensor, norm: float) -> float:
    """1/2 for each gradient that is not longer than the norm, -1/2 for each longer one, 0 for each that is 0."""
    lengths = gradients.norm(dim=1)
    return float((torch.where(lengths <= norm, 0.5, -0.5) * (lengths > 0)).sum())


@pytest.mark.parametrize("mode", ["hooks", "functorch"])
def test_adaptive_clipping_step_by_step(mode: str) -> None:
    """Sum, noise of gradients, noise of the count, and the next clipping norm, from the same generator."""
    options = {"noise_generator": torch.Generator().manual_seed(8), "grad_sample_mode": mode, **ADAPTIVE}
    engine, model, optimizer, loader = private(**options)
    multiplier = (Z**-2 - (2 * 2.0) ** -2) ** -0.5
    assert multiplier > Z
    norms = []
    for step in steps(model, optimizer, loader):
        assert close(step.summed, clipped(step.gradients, step.norm).sum(0))
        draws = [torch.normal(0.0, multiplier * step.norm, (size,), generator=step.generator) for size in (3, 1)]
        assert close(step.noisy - step.summed, torch.cat(draws))
        noise = float(torch.normal(0.0, 2.0, (1,), generator=step.generator, dtype=torch.float64))
        share = (signs(step.gradients, step.norm) + noise) / BATCH + 0.5
        following = step.norm * math.exp(-0.2 * (share - 0.5))
        assert optimizer.max_grad_norm == pytest.approx(min(max(following, 0.01), 4.0), rel=1e-9)
        norms.append(step.norm)
    assert len(set(norms)) == STEPS
    spent(engine)


def test_a_checkpoint_keeps_the_adapted_norm(tmp_path: Any) -> None:
    engine, model, optimizer, loader = private(**ADAPTIVE)
    list(steps(model, optimizer, loader))
    assert optimizer.max_grad_norm != C
    engine.save_checkpoint(path=tmp_path / "saved", module=model, optimizer=optimizer)
    again, fresh, other, _ = private(**ADAPTIVE)
    again.load_checkpoint(path=tmp_path / "saved", module=fresh, optimizer=other)
    assert other.max_grad_norm == optimizer.max_grad_norm
    _, _, flat, _ = private()
    flat.load_state_dict(optimizer.state_dict())  # its norm is fixed
    assert flat.max_grad_norm == C
    other.load_state_dict(flat.state_dict())
    assert other.max_grad_norm == optimizer.max_grad_norm


@pytest.mark.parametrize("norm", [0, -1.0, math.nan, math.inf])
def test_a_saved_norm_that_is_not_positive_is_refused(norm: float) -> None:
    _, _, optimizer, _ = private(**ADAPTIVE)
    with pytest.raises(InvalidValue, match="max_grad_norm"):
        optimizer.load_state_dict({**optimizer.state_dict(), "max_grad_norm": norm})
    assert optimizer.max_grad_norm == C


@pytest.mark.parametrize("size", SIZES)
def test_a_record_moves_gradients_and_count_together_by_at_most_one_unit(size: float) -> None:
    """In units of each noise, z times the contribution is in the unit ball; a long gradient is at its boundary."""
    _, model, optimizer, _ = private(**ADAPTIVE)
    moved = contribution(optimizer, model, *record(model, size))
    gradients = float(moved.norm()) / (multiplier_of_gradients(Z, 2) * C)
    count = optimizer.doubled_count / 2 / 2.0
    together = Z**2 * (gradients**2 + count**2)
    assert together <= 1 + 1e-6
    if 1 <= size < 1e20:  # the gradient of the largest one is not finite
        assert together >= 1 - 1e-5
    if size == 0:  # a record that is zeroed out
        assert together == 0


def test_a_record_that_is_not_finite_is_not_counted() -> None:
    _, model, optimizer, _ = private(**ADAPTIVE)
    moved = contribution(optimizer, model, torch.full((1, 3), math.nan), torch.zeros(1, 1))
    assert not moved.any()
    assert optimizer.doubled_count == 0


def test_the_noise_of_the_gradients_is_rounded_up() -> None:
    for z, s in ((1, 1), (Z, 2), (Fraction(1, 3), Fraction(1, 5)), (3, "1.6")):
        found = Fraction(multiplier_of_gradients(z, s))
        assert 1 / found**2 + 1 / (4 * Fraction(s) ** 2) <= 1 / Fraction(z) ** 2
    assert multiplier_of_gradients(0, 1) == 0


def test_a_count_that_spends_more_than_the_step_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"unclipped_num_std must be greater than 0\.625"):
        private(**{**ADAPTIVE, "unclipped_num_std": 0.625})
    engine, model, optimizer, loader = private(**ADAPTIVE)
    optimizer.noise_multiplier = 4.0  # a schedule of noise, say
    with pytest.raises(InvalidValue, match="greater than 2"):
        next(steps(model, optimizer, loader))
    assert engine.accountant.history == []


def test_the_count_of_a_batch_that_was_left_in_the_middle_is_given_up() -> None:
    _, model, optimizer, loader = private(size=30, noise_generator=torch.Generator().manual_seed(8), **ADAPTIVE)
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=4, optimizer=optimizer) as split:
        x, y = next(iter(split))
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()  # of a part
        assert optimizer.doubled_count
        step = next(steps(model, optimizer, split))
    torch.normal(0.0, 1.0, (3,), generator=step.generator)
    torch.normal(0.0, 1.0, (1,), generator=step.generator)
    noise = float(torch.normal(0.0, 2.0, (1,), generator=step.generator, dtype=torch.float64))
    share = (signs(step.gradients, C) + noise) / 30 + 0.5
    assert optimizer.max_grad_norm == pytest.approx(C * math.exp(-0.2 * (share - 0.5)), rel=1e-9)


def test_the_clipping_norm_stays_within_its_bounds() -> None:
    options = {**ADAPTIVE, "clipbound_learning_rate": 1e6, "min_clipbound": 0.25, "max_clipbound": 1.0}
    _, model, optimizer, loader = private(**options)
    for _ in steps(model, optimizer, loader):
        assert optimizer.max_grad_norm == pytest.approx(0.25) or optimizer.max_grad_norm == pytest.approx(1.0)


@pytest.mark.parametrize("sampling", ["shuffled", "random-allocation", "without-replacement", "truncated-poisson"])
def test_options_change_no_account_of_other_draws(sampling: str) -> None:
    histories = []
    for options in ({}, {**ADAPTIVE, "augmentations": 2}, {**AUTOMATIC, "augmentations": 2}):
        more = {"max_batch_size": RECORDS} if sampling == "truncated-poisson" else {}
        engine = PrivacyEngine(relation="replace-one", sampling=sampling, **more)
        plain = nn.Linear(3, 1)
        made = engine.make_private(
            module=plain,
            optimizer=torch.optim.SGD(plain.parameters(), lr=0.01),
            data_loader=DataLoader(Shifted(), batch_size=BATCH),
            **{"noise_multiplier": Z, "max_grad_norm": C, **options},
        )
        for step in steps(*made):
            copies = options.get("augmentations", 1)
            rows = means(step, copies)
            scaled = C * rows / (rows.norm(dim=1, keepdim=True) + 0.05)
            assert close(step.summed, (scaled if "stability" in options else clipped(rows, step.norm)).sum(0))
        histories.append(engine.accountant.history)
    assert histories[0] == histories[1] == histories[2]


# --- options that do not fit together ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"clipping": "automatic", "grad_sample_mode": "ghost"}, "no gradients of single records"),
        ({**ADAPTIVE, "grad_sample_mode": "ghost"}, "no gradients of single records"),
        ({"augmentations": 2, "grad_sample_mode": "ghost"}, "no gradients of single records"),
        ({"augmentations": 0}, "augmentations must be a positive whole number"),
        ({"stability": 0.1}, "'automatic' with the option stability"),
        ({"clipping": "automatic", "stability": 0}, "stability must be greater than 0"),
        ({"clipping": "automatic", "max_grad_norm": [1.0, 1.0]}, "max_grad_norm"),
        ({"clipping": "adaptive"}, "given with clipbound_learning_rate, max_clipbound"),
        ({"unclipped_num_std": 2}, "'adaptive' with the option unclipped_num_std"),
        ({**ADAPTIVE, "target_unclipped_quantile": 1}, "target_unclipped_quantile"),
        ({**ADAPTIVE, "min_clipbound": 4}, "greater than min_clipbound"),
        ({**ADAPTIVE, "clipbound_learning_rate": 0}, "clipbound_learning_rate"),
    ],
    ids=str,
)
def test_options_that_do_not_fit_together_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason) as caught:
        private(**options)
    assert "\n" not in str(caught.value)
