"""Training on two workers that exchange sums by gloo: one Poisson sample, one noise, and every disagreement refused."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from opacus.distributed import DifferentiallyPrivateDistributedDataParallel as Parallel
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import distributed, nn
from torch.utils.data import DataLoader, TensorDataset

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.opacus import PrivacyEngine
from dpbounds.opacus.watching import Watch, own_generator
from dpbounds.opacus.workers import ShareSampler, Workers
from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
from dpbounds.privacy.publishing.interoperability import drawn_rate

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # what PyTorch and Opacus warn of is not ours
    pytest.mark.skipif(torch.cuda.is_available(), reason="processes are forked, which CUDA does not allow"),
]

RECORDS, PUBLIC, BATCH, C, Z = 61, 60, 12, 0.5, 1.25
STEPS = PUBLIC // BATCH
SECONDS = 120  # after which a process that waits for the other one is ended


class Setting:
    """One worker: an engine, and a linear model that it made private."""

    def __init__(self, size: int = BATCH, relation: str = "add-or-remove-one", **options: Any) -> None:
        torch.manual_seed(1)
        self.model: Any = Parallel(nn.Linear(3, 1))
        x = torch.randn(RECORDS, 3)
        records = TensorDataset(x, torch.arange(RECORDS).view(-1, 1) / 20)
        self.engine = PrivacyEngine(public_dataset_size=PUBLIC, relation=relation)
        self.private, self.optimizer, self.loader = self.engine.make_private(
            module=self.model,
            optimizer=torch.optim.SGD(self.model.parameters(), lr=0.01),
            data_loader=DataLoader(records, batch_size=size),
            **{"noise_multiplier": Z, "max_grad_norm": C, **options},
        )
        self.weight, self.bias = self.optimizer.params

    def by_hand(self, x: Any, y: Any) -> torch.Tensor:
        """The sum of clipped gradients of (w x + b - y)^2."""
        rest = (x @ self.weight.detach().T + self.bias.detach() - y) * 2
        rows = torch.cat([rest * x, rest], dim=1).double()
        return (rows * (C / rows.norm(dim=1, keepdim=True).clamp(min=C))).sum(0)

    def step(self, x: Any, y: Any) -> None:
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.private(x), y).backward()
        self.optimizer.step()

    def noisy(self) -> torch.Tensor:
        return torch.cat([each.grad.flatten() for each in (self.weight, self.bias)]) * self.optimizer.divisor


Program = Callable[[int], Any]


def _worker(rank: int, program: Program, folder: Path) -> None:
    distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    found = program(rank)
    (folder / f"{rank}.json").write_text(json.dumps(found), encoding="utf-8")
    distributed.barrier()
    distributed.destroy_process_group()


def together(program: Program, folder: Path) -> list[Any]:
    """Run a program on two workers, and return what each returned."""
    forks = multiprocessing.get_context("fork")
    running = [forks.Process(target=_worker, args=(rank, program, folder)) for rank in (0, 1)]
    for each in running:
        each.start()
    for each in running:
        each.join(SECONDS)
        each.kill()
    return [json.loads((folder / f"{rank}.json").read_text("utf-8")) for rank in (0, 1)]


def test_every_record_belongs_to_one_worker() -> None:
    for count in (1, 2, 3, 5):
        for records in (1, 2, 4, 5, 61):
            shares = [Workers(rank, count).share(records) for rank in range(count)]
            assert sorted(each for share in shares for each in share) == list(range(records))


@pytest.mark.parametrize("records", [1, 5])
def test_a_worker_draws_from_its_share_at_the_rate_of_all(records: int) -> None:
    drawn = torch.zeros(records)
    for rank in (0, 1):
        watch = Watch(set(), [], lambda _: None)
        sampler = ShareSampler(
            workers=Workers(rank, 2), num_samples=records, sample_rate=0.25, steps=400, generator=own_generator()
        )
        sampler.watch = watch
        for batch in sampler:
            assert all(each % 2 == rank for each in batch)
            assert watch.drawn.popleft() == (len(batch), 0.25)
            drawn[batch] += 1
    assert ((drawn / 400 - 0.25).abs() < 0.12).all()  # 5.5 standard deviations


def trained(rank: int) -> Any:
    setting = Setting()
    rows = []
    for x, y in setting.loader:
        expected, generator = setting.by_hand(x, y), setting.optimizer.generator.clone_state()
        setting.step(x, y)
        noise = [torch.normal(0.0, Z * C, (size,), generator=generator) for size in (3, 1)]
        rows.append(
            {
                "records": (y.flatten() * 20).round().int().tolist(),
                "sum": expected.tolist(),
                "noise": torch.cat(noise).tolist(),
                "noisy": setting.noisy().tolist(),
                "weight": setting.weight.flatten().tolist(),
            }
        )
    return rows, setting.engine.accountant.history, setting.engine.get_epsilon("1e-5")


@pytest.mark.seconds
def test_a_step_is_one_release_on_the_samples_of_both_workers(tmp_path: Path) -> None:
    first, second = together(trained, tmp_path)
    rate = 1 / STEPS
    for rows, history, spent in (first, second):
        assert len(rows) == STEPS
        assert history == [[Z, rate, STEPS]]
        assert spent == epsilon(PoissonSampled(Gaussian(Z), drawn_rate(rate)) ** STEPS, "1e-5").upper
    for mine, theirs in zip(first[0], second[0], strict=True):
        assert all(each % 2 == 0 for each in mine["records"])
        assert all(each % 2 == 1 for each in theirs["records"])
        sums = [torch.tensor(mine[name]).double() for name in ("sum", "noise")] + [torch.tensor(theirs["sum"])]
        assert float((sum(sums) - torch.tensor(mine["noisy"])).abs().max()) < 1e-4
        assert mine["noisy"] == theirs["noisy"]
        assert mine["weight"] == theirs["weight"]
    assert {each for row in first[0] + second[0] for each in row["records"]} <= set(range(RECORDS))


def split(rank: int) -> Any:
    setting = Setting(size=1, clipping="automatic", augmentations=2)  # so that most samples of one worker are empty
    with BatchMemoryManager(
        data_loader=setting.loader, max_physical_batch_size=1, optimizer=setting.optimizer
    ) as parts:
        for x, y in parts:
            setting.step(x, y)
    return len(setting.engine.accountant), setting.weight.flatten().tolist()


@pytest.mark.seconds
def test_empty_samples_are_steps_and_parts_may_differ_in_number(tmp_path: Path) -> None:
    first, second = together(split, tmp_path)
    assert first == second
    assert first[0] == PUBLIC


def another_norm(setting: Setting, rank: int) -> None:
    setting.optimizer.max_grad_norm = C * (1 + rank)


def another_noise(setting: Setting, rank: int) -> None:
    setting.optimizer.noise_multiplier = Z * (1 + rank)


def another_rate(setting: Setting, rank: int) -> None:
    setting.loader.batch_sampler.sample_rate = (1 + rank) / STEPS


def other_weights(setting: Setting, rank: int) -> None:
    setting.weight.data += rank * 1e-6


def other_rows(setting: Setting, rank: int) -> None:
    setting.step = lambda x, y, step=setting.step: step(x.repeat(1 + rank, 1), y.repeat(1 + rank, 1))  # type: ignore[method-assign]


DISAGREEING: dict[str, tuple[Callable[[Setting, int], None], str]] = {
    "clipping norm": (another_norm, "have to be the same"),
    "noise": (another_noise, "have to be the same"),
    "rate": (another_rate, "have to be the same"),
    "weights": (other_weights, "other weights"),
    "rows": (other_rows, "worker 1 of 2 refused the step"),
}


@pytest.mark.seconds
@pytest.mark.parametrize("kind", DISAGREEING)
def test_workers_that_disagree_release_nothing(kind: str, tmp_path: Path) -> None:
    change, reason = DISAGREEING[kind]

    def program(rank: int) -> Any:
        setting = Setting(size=PUBLIC // 2)
        before = setting.weight.detach().clone() + (rank * 1e-6 if kind == "weights" else 0)
        change(setting, rank)
        said = []
        try:
            setting.step(*next(iter(setting.loader)))
        except UnsupportedMechanism as error:
            said.append(str(error))
        try:
            setting.engine.get_epsilon("1e-5")
        except DpboundsError as error:
            said.append(str(error))
        return said, len(setting.engine.accountant), torch.equal(before, setting.weight)

    for said, count, unchanged in together(program, tmp_path):
        assert reason in said[0]
        assert "no guarantee" in said[1]
        assert count == 0
        assert unchanged


def refusals(rank: int) -> list[str]:
    generator = torch.Generator().manual_seed(3)
    settings: list[dict[str, Any]] = [{"clipping": "adaptive"}, {"grad_sample_mode": "ghost"}, {"generator": generator}]
    found = []
    for options in settings:
        plain = Parallel(nn.Linear(3, 1))
        more = {"target_unclipped_quantile": 0.5, "clipbound_learning_rate": 0.2, "max_clipbound": 4.0}
        more |= {"min_clipbound": 0.01, "unclipped_num_std": 2.0}
        loader = DataLoader(TensorDataset(torch.randn(9, 3)), batch_size=3, generator=options.pop("generator", None))
        try:
            PrivacyEngine(relation="replace-one").make_private(
                module=plain,
                optimizer=torch.optim.SGD(plain.parameters(), lr=0.1),
                data_loader=loader,
                noise_multiplier=1,
                max_grad_norm=1,
                **options,
                **(more if "clipping" in options else {}),
            )
        except (UnsupportedMechanism, InvalidValue) as error:
            found.append(str(error))
    plain = Parallel(nn.Linear(3, 1))
    try:
        PrivacyEngine(relation="replace-one", sampling="shuffled").make_private(
            module=plain,
            optimizer=torch.optim.SGD(plain.parameters(), lr=0.1),
            data_loader=DataLoader(TensorDataset(torch.randn(9, 3)), batch_size=3),
            noise_multiplier=1,
            max_grad_norm=1,
        )
    except UnsupportedMechanism as error:
        found.append(str(error))
    return found


@pytest.mark.seconds
def test_what_several_workers_do_not_support_is_refused(tmp_path: Path) -> None:
    expected = ("AdaptiveOptimizer is not supported", "GhostOptimizer is not", "draw the same positions", "'shuffled'")
    for found in together(refusals, tmp_path):
        assert len(found) == len(expected)
        assert all(part in said for part, said in zip(expected, found, strict=True))
