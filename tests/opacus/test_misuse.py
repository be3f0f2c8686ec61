"""Misuse of the engine, as found in code of users or by attacks: refused, made harmless, or accounted as it is."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import dpbounds as dp
from dpbounds.algorithms.sampling import Truncated
from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.opacus import PrivacyEngine
from dpbounds.opacus.forward import Hook
from dpbounds.opacus.watching import own_generator
from dpbounds.privacy.publishing.interoperability import drawn_rate

pytestmark = pytest.mark.filterwarnings("ignore")  # what PyTorch and Opacus warn of is not ours

RECORDS, BATCH, C = 60, 12, 0.5
STEPS = RECORDS // BATCH
NAN, INF = math.nan, math.inf
MODES = ("hooks", "functorch", "ghost")


class Setting:
    """An engine, what it made private, and one pass over it.

    Attributes:
        engine: The engine.
        model: What was made of the model.
        optimizer: What was made of the optimiser.
        criterion: The loss, as it is to be used.
        loader: The loader that was returned.
        plain: The model that was given.
    """

    def __init__(
        self,
        plain: nn.Module | None = None,
        *,
        sampling: str = "poisson",
        criterion: Any = None,
        mode: str = "hooks",
        values: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        workers: int = 0,
        collate: Any = None,
        relation: str = "zero-out-one",
        noise_generator: Any = None,
        generator: Any = None,
        z: float = 1.0,
        **options: Any,
    ) -> None:
        torch.manual_seed(1)
        self.plain = nn.Linear(5, 2) if plain is None else plain
        x = torch.randn(RECORDS, 5) if values is None else values
        y = (torch.arange(RECORDS) % 2) if labels is None else labels
        more = {"max_batch_size": RECORDS} if sampling == "truncated-poisson" else {}
        self.engine = PrivacyEngine(relation=relation, sampling=sampling, **more)
        self.criterion = nn.CrossEntropyLoss() if criterion is None else criterion
        loader = DataLoader(
            TensorDataset(x, y), batch_size=BATCH, num_workers=workers, collate_fn=collate, generator=generator
        )
        given = {"criterion": self.criterion} if mode == "ghost" else {}
        made = self.engine.make_private(
            module=self.plain,
            optimizer=torch.optim.SGD(self.plain.parameters(), lr=0.1),
            data_loader=loader,
            noise_multiplier=z,
            grad_sample_mode=mode,
            noise_generator=noise_generator,
            **given,
            **{"max_grad_norm": C, **options},
        )
        self.model, self.optimizer, self.loader = made[0], made[1], made[-1]
        if mode == "ghost":
            self.criterion = made[2]

    def backward(self, x: Any, y: Any) -> None:
        self.optimizer.zero_grad()
        self.criterion(self.model(x), y).backward()

    def step(self, x: Any, y: Any) -> None:
        self.backward(x, y)
        self.optimizer.step()

    def train(self, batches: Any = None) -> None:
        for x, y in self.loader if batches is None else batches:
            self.step(x, y)

    def clipped_sum(self, x: Any, y: Any) -> torch.Tensor:
        """The sum of clipped gradients of a batch, before noise; nothing is released."""
        for parameter in self.optimizer.params:
            parameter.summed_grad = None
        self.backward(x, y)
        if hasattr(self.model, "get_clipping_coef"):
            return torch.cat([parameter.grad.flatten() for parameter in self.optimizer.params]).clone()
        self.optimizer.clip_and_accumulate()
        found = torch.cat([parameter.summed_grad.flatten() for parameter in self.optimizer.params]).clone()
        self.optimizer.zero_grad()
        return found

    def finite(self) -> bool:
        return all(bool(parameter.isfinite().all()) for parameter in self.plain.parameters())

    def history(self) -> list[tuple[float, float, int]]:
        return self.engine.accountant.history


# --- records whose gradients are not finite -----------------------------------------------------------------------


def deep(last: int = 2) -> nn.Module:
    return nn.Sequential(nn.Linear(5, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, last))


class Root(nn.Module):
    """Has an infinite derivative at 0 between two trained layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(5, 4, bias=False), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x).abs().sqrt())


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        from opacus.layers import DPLSTM

        self.lstm, self.last = DPLSTM(1, 3, batch_first=True), nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.lstm(x.unsqueeze(-1))[0][:, -1])


BAD = {
    "missing value": (NAN, deep, None),
    "infinite value": (INF, deep, None),
    "negative infinity": (-INF, deep, None),
    "overflow in a layer": (3e38, deep, None),
    "overflow in the norm": (1e30, lambda: nn.Linear(5, 2), None),
    "infinite derivative": (0.0, Root, None),
    "loss of a missing label": (None, lambda: nn.Linear(5, 1), nn.MSELoss()),
    "recurrent layer": (NAN, Recurrent, None),
}


@pytest.mark.parametrize("clipping", ["hooks", "functorch", "ghost", "per_layer"])
@pytest.mark.parametrize("kind", BAD)
def test_a_record_that_is_not_finite_adds_nothing(kind: str, clipping: str) -> None:
    """The sum stays finite, and is that of the other records alone: the bad record moves it by at most C."""
    value, model, criterion = BAD[kind]
    torch.manual_seed(2)
    plain = model()
    number = len(list(plain.parameters()))
    given = {"mode": clipping}
    if clipping == "per_layer":
        given = {"clipping": clipping, "max_grad_norm": [C / number**0.5] * number}
    setting = Setting(plain, criterion=criterion, **given)
    x, y = torch.randn(BATCH, 5), torch.arange(BATCH) % 2 if criterion is None else torch.randn(BATCH, 1)
    bad_x, bad_y, others = x.clone(), y.clone(), torch.arange(BATCH) != 3
    if value is None:
        bad_y[3] = NAN
    else:
        bad_x[3] = value
    sums = [setting.clipped_sum(*batch) for batch in ((bad_x, bad_y), (x[others], y[others]))]
    assert sums[0].isfinite().all()
    moved = float((sums[0] - sums[1]).norm())
    assert moved <= C * (1 + 1e-5)
    if kind in ("missing value", "infinite value", "loss of a missing label", "recurrent layer"):
        assert moved <= 1e-5


@pytest.mark.seconds
@pytest.mark.parametrize("sampling", ["poisson", "shuffled", "truncated-poisson", "random-allocation"])
@pytest.mark.parametrize("mode", MODES)
def test_a_model_stays_finite_beside_a_missing_value(mode: str, sampling: str) -> None:
    values = torch.randn(RECORDS, 5)
    values[0, 0] = NAN
    setting = Setting(deep(), mode=mode, sampling=sampling, values=values)
    for _ in range(3):
        setting.train()
    assert setting.finite()
    assert setting.engine.get_epsilon(1e-5) < INF


def test_gradients_in_low_precision_are_clipped_in_that_of_the_parameters() -> None:
    """Norms of bfloat16 numbers are wrong by half a percent; those of the same numbers in float32 are not."""
    setting = Setting(nn.Linear(500, 2), values=torch.randn(RECORDS, 500))
    for _ in range(8):  # one norm in two is rounded upwards
        x, y = torch.randn(1, 500), torch.zeros(1, dtype=torch.int64)
        with torch.autocast("cpu", torch.bfloat16):
            found = setting.clipped_sum(x, y)
        assert float(found.double().norm()) <= C * (1 + 1e-6)


# --- layers and losses that mix records ---------------------------------------------------------------------------


def frozen(layer: nn.Module) -> nn.Module:
    for parameter in layer.parameters():
        parameter.requires_grad = False
    return layer


class Instance(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(5, 6), layer, nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.norm(self.first(x).view(-1, 2, 3)).view(-1, 6))


MIXING: dict[str, Callable[[], nn.Module]] = {
    "batch norm without parameters": lambda: nn.BatchNorm1d(4, affine=False),
    "frozen batch norm": lambda: frozen(nn.BatchNorm1d(4)),
    "batch norm without statistics": lambda: nn.BatchNorm1d(4, affine=False, track_running_stats=False),
    "batch norm without statistics, evaluating": lambda: nn.BatchNorm1d(
        4, affine=False, track_running_stats=False
    ).eval(),
    "synchronised batch norm": lambda: nn.SyncBatchNorm(4, affine=False),
    "lazy batch norm": lambda: nn.LazyBatchNorm1d(affine=False),
}


@pytest.mark.parametrize("kind", MIXING)
def test_layers_that_mix_are_refused_by_type(kind: str) -> None:
    with pytest.raises(UnsupportedMechanism, match=r"layer 1: .*BatchNorm.* mixes"):
        Setting(nn.Sequential(nn.Linear(5, 4), MIXING[kind](), nn.Linear(4, 2)))


def test_instance_norm_with_statistics_is_refused() -> None:
    with pytest.raises(UnsupportedMechanism, match="publishes statistics"):
        Setting(Instance(nn.InstanceNorm1d(2, track_running_stats=True)))
    setting = Setting(Instance(nn.InstanceNorm1d(2)))
    setting.train()
    assert len(setting.engine.accountant) == STEPS


def test_a_batch_norm_in_evaluation_mode_is_a_fixed_map_and_may_not_wake_up() -> None:
    norm = frozen(nn.BatchNorm1d(4))
    plain = nn.Sequential(nn.Linear(5, 4), norm, nn.Linear(4, 2))
    plain.train()
    norm.eval()
    setting = Setting(plain)
    setting.train()
    assert norm.num_batches_tracked == 0
    setting.model.train()
    with pytest.raises(UnsupportedMechanism, match="training mode mixes"):
        setting.train()


class Buffered(nn.Module):
    """A layer with a buffer that a forward pass changes, in one of several ways."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.last = way, nn.Linear(5, 2)
        self.register_buffer("kept", torch.zeros(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and len(x):
            seen = x.detach().mean(0)
            if self.way == "in place":
                self.kept.mul_(0.9).add_(seen)
            elif self.way == "replaced":
                self.kept = seen
            elif self.way == "by data":
                self.kept.data.copy_(seen)
        return self.last(x)


@pytest.mark.parametrize("way", ["in place", "replaced", "by data"])
def test_a_buffer_that_changes_is_refused_and_the_run_has_no_guarantee(way: str) -> None:
    setting = Setting(Buffered(way))
    with pytest.raises(UnsupportedMechanism, match="buffer kept changed"):
        setting.train()
    for question in (lambda: setting.engine.get_epsilon(1e-5), setting.engine.ledger):
        with pytest.raises(UnsupportedMechanism, match="no guarantee"):
            question()


class Mixing(nn.Module):
    """A layer of one's own that mixes records, in one of several ways."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.first, self.last = way, nn.Linear(5, 4), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x)
        if len(h) == 0:
            return self.last(h)
        match self.way:
            case "mean":
                h = h - h.mean(0)
            case "attention over the batch":
                h = torch.softmax(h @ h.T, 1) @ h
            case "neighbour":
                h = h + h.roll(1, 0)
            case "largest":
                h = h / h.abs().max()
            case "mixup":
                h = 0.7 * h + 0.3 * h.flip(0)
        return self.last(h)


@pytest.mark.parametrize("way", ["mean", "attention over the batch", "neighbour", "largest", "mixup"])
@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_layers_of_ones_own_that_mix_are_seen_on_the_run(way: str, mode: str) -> None:
    setting = Setting(Mixing(way), mode=mode)
    with pytest.raises(UnsupportedMechanism, match="rest of its batch is left out"):
        setting.train()
    with pytest.raises(UnsupportedMechanism, match="no guarantee"):
        setting.engine.get_epsilon(1e-5)


LOSSES: dict[str, Callable[[], Any]] = {
    "class weights": lambda: nn.CrossEntropyLoss(weight=torch.tensor([1e-4, 1.0])),
    "ignored class": lambda: nn.CrossEntropyLoss(ignore_index=0),
}


@pytest.mark.parametrize("kind", ["class weights", "ignored class"])
def test_a_loss_that_divides_by_what_others_have_is_seen(kind: str) -> None:
    setting = Setting(criterion=LOSSES[kind]())
    with pytest.raises(UnsupportedMechanism, match="class weights or ignore_index"):
        setting.train()


@pytest.mark.parametrize("kind", ["class weights", "ignored class"])
def test_with_ghost_clipping_these_losses_are_those_of_single_records(kind: str) -> None:
    setting = Setting(criterion=LOSSES[kind](), mode="ghost")
    setting.train()
    assert len(setting.engine.accountant) == STEPS


def test_a_statement_says_what_was_tested_and_what_was_not() -> None:
    setting = Setting()
    setting.train()
    assert "and that of its loss on" in setting.engine.statement(1e-5)
    setting = Setting(criterion=lambda out, y: nn.functional.cross_entropy(out, y))
    setting.train()
    assert "not a module of torch.nn, that is assumed" in setting.engine.statement(1e-5)

    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = nn.Linear(5, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(nn.functional.dropout(x, 0.5, self.training))

    setting = Setting(Noisy())
    setting.train()
    assert "not possible to test" in setting.engine.statement(1e-5)


def test_dropout_does_not_look_like_mixing_and_tests_draw_nothing_from_the_users_generator() -> None:
    plain = nn.Sequential(nn.Linear(5, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    setting = Setting(plain)
    states = []
    plain.register_forward_pre_hook(lambda *_: states.append(torch.get_rng_state()))
    setting.train()
    assert setting.history() == [(1.0, 1 / STEPS, STEPS)]
    assert plain[1].training


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("weights", [None, torch.tensor([1e-4, 1.0])])
def test_losses_are_tested_however_they_are_given_their_arguments(weights: Any, named: bool) -> None:
    loss = nn.CrossEntropyLoss(weight=weights)

    def criterion(out: torch.Tensor, y: torch.Tensor) -> Any:
        return loss(input=out, target=y) if named else loss(out, target=y)

    setting = Setting(criterion=criterion)
    if weights is None:
        setting.train()
        assert "and that of its loss on" in setting.engine.statement(1e-5)
    else:
        with pytest.raises(UnsupportedMechanism, match="class weights or ignore_index"):
            setting.train()


def test_low_precision_does_not_look_like_mixing() -> None:
    layers = [layer for _ in range(6) for layer in (nn.Linear(5, 5), nn.GELU())]
    setting = Setting(nn.Sequential(*layers, nn.Linear(5, 2)))
    for x, y in setting.loader:
        setting.optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = setting.criterion(setting.model(x), y)
        loss.backward()
        setting.optimizer.step()
    assert "and that of its loss on" in setting.engine.statement(1e-5)


def pickled(model: nn.Module) -> Any:
    return pickle.loads(pickle.dumps(model))  # noqa: S301 (what was written a moment ago)


@pytest.mark.parametrize(
    ("mode", "copied"),
    [
        *((mode, copy.deepcopy) for mode in MODES),
        *((mode, pickled) for mode in MODES if mode != "functorch"),  # of which Opacus keeps local functions
    ],
)
def test_a_copy_of_the_model_is_not_watched(mode: str, copied: Any) -> None:
    """An average of models, say: it may be evaluated, and nothing that it does concerns the run."""
    setting = Setting(deep(), mode=mode)
    other = copied(setting.plain)
    setting.train()
    with torch.no_grad():
        other(torch.full((3, 5), NAN))
    setting.train()
    assert setting.history() == [(1.0, 1 / STEPS, 2 * STEPS)]
    watching = [each for layer in other.modules() for each in layer._forward_pre_hooks.values()]
    assert watching
    assert all(each() is None for each in watching if isinstance(each, Hook))


def test_a_parameter_may_be_a_single_number() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(1.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.scale

    setting = Setting(nn.Sequential(nn.Linear(5, 2), Scaled()))
    setting.train()
    assert setting.finite()


# --- samples, rates and batches -----------------------------------------------------------------------------------


def test_a_rate_that_is_changed_is_accounted_as_it_is_drawn() -> None:
    setting = Setting(relation="zero-out-one")
    setting.train()
    setting.loader.batch_sampler.sample_rate = 0.9
    setting.train()
    assert setting.history() == [(1.0, 1 / STEPS, STEPS), (1.0, 0.9, STEPS)]
    both = (dp.PoissonSampled(dp.Gaussian(1), drawn_rate(1 / STEPS)) ** STEPS) @ (
        dp.PoissonSampled(dp.Gaussian(1), drawn_rate(0.9)) ** STEPS
    )
    assert setting.engine.get_epsilon(1e-5) == dp.epsilon(both, 1e-5, "zero-out-one").upper
    batches = iter(setting.loader)
    setting.train([next(batches)])
    setting.loader.batch_sampler.sample_rate = 0.5
    setting.train([next(batches)])
    assert setting.history()[-2:] == [(1.0, 0.9, STEPS + 1), (1.0, 0.5, 1)]


@pytest.mark.parametrize(
    ("sampling", "name", "value"),
    [
        ("truncated-poisson", "scheme", Truncated(Fraction(9, 10), RECORDS, RECORDS)),
        ("shuffled", "steps", 2),
        ("random-allocation", "steps", 2),
        ("balls-in-bins", "num_samples", 30),
        ("without-replacement", "sample_rate", 0.9),
        ("shuffled", "accounting", None),
    ],
)
def test_what_a_sampler_draws_cannot_be_changed(sampling: str, name: str, value: Any) -> None:
    setting = Setting(sampling=sampling)
    with pytest.raises(UnsupportedMechanism, match=f"{name} of a sampler was changed"):
        setattr(setting.loader.batch_sampler, name, value)
    setting.train()


def reused(setting: Setting) -> None:
    first = None
    for batch in setting.loader:
        first = batch if first is None else first
        setting.step(*first)


@pytest.mark.parametrize("sampling", ["shuffled", "without-replacement", "random-allocation"])
def test_a_batch_that_is_stepped_on_twice_is_refused(sampling: str) -> None:
    with pytest.raises(UnsupportedMechanism, match=r"stepped on before|each record needs one gradient"):
        reused(Setting(sampling=sampling))


def test_a_constant_second_input_is_no_batch() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = nn.Linear(5, 2)

        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.last(x * mask)

    setting, mask = Setting(Masked(), sampling="shuffled"), torch.ones(5)
    for x, y in setting.loader:
        setting.optimizer.zero_grad()
        setting.criterion(setting.model(x, mask), y).backward()
        setting.optimizer.step()
    assert len(setting.engine.accountant) == 1  # pass


def test_a_buffer_that_batches_are_copied_into_is_no_repetition() -> None:
    setting, place = Setting(sampling="shuffled"), torch.empty(BATCH, 5)
    for x, y in setting.loader:
        place.copy_(x)
        setting.step(place, y)
    assert len(setting.engine.accountant) == 1


@pytest.mark.parametrize("look", [lambda x: len(x) < BATCH, lambda x: float(x.sum()) < 0])
def test_a_pass_that_is_left_in_view_of_a_batch_is_refused(look: Any) -> None:
    setting = Setting()

    def run() -> None:
        for _ in range(20):
            for x, y in setting.loader:
                if look(x):
                    break
                setting.step(x, y)

    with pytest.raises(UnsupportedMechanism, match=r"before a step on it|no step was taken"):
        run()
    with pytest.raises(UnsupportedMechanism, match="no guarantee"):
        setting.engine.get_epsilon(1e-5)


def test_batches_that_are_chosen_by_size_are_refused() -> None:
    setting = Setting()
    with pytest.raises(UnsupportedMechanism, match=r"each record needs one gradient|no step was taken"):
        setting.train((x, y) for x, y in setting.loader if len(x) >= BATCH)


def test_a_pass_may_be_cut_by_a_public_number() -> None:
    setting = Setting()
    for _ in range(3):
        setting.train(itertools.islice(setting.loader, 2))
    assert setting.history() == [(1.0, 1 / STEPS, 6)]


def test_another_loader_of_the_same_records_is_refused() -> None:
    setting = Setting()
    with pytest.raises(UnsupportedMechanism, match="without a batch of the loader"):
        setting.train(DataLoader(setting.loader.dataset, batch_size=BATCH))


def test_a_collate_function_that_leaves_records_out_is_seen_by_their_number() -> None:
    def half(rows: Any) -> Any:
        x, y = torch.utils.data.default_collate(rows)
        return x[: len(x) // 2], y[: len(x) // 2]

    setting = Setting(collate=half, sampling="shuffled")
    with pytest.raises(UnsupportedMechanism, match="each record needs one gradient"):
        setting.train()


@pytest.mark.parametrize("skipped", [0, 1, 2])
def test_parts_of_a_split_batch_that_are_left_out_are_seen(skipped: int) -> None:
    setting = Setting(sampling="shuffled")
    with (
        BatchMemoryManager(data_loader=setting.loader, max_physical_batch_size=4, optimizer=setting.optimizer) as split,
        pytest.raises(UnsupportedMechanism),
    ):
        setting.train(batch for number, batch in enumerate(split) if number % 3 != skipped)


def test_gradients_of_two_batches_in_one_step_are_refused() -> None:
    setting = Setting()

    def run() -> None:
        for number, (x, y) in enumerate(setting.loader):
            setting.criterion(setting.model(x), y).backward()
            if number % 2:
                setting.optimizer.step()
                setting.optimizer.zero_grad()

    with pytest.raises((DpboundsError, ValueError)):
        run()
    assert setting.history() == []


def test_a_record_that_is_seen_twice_is_refused() -> None:
    setting = Setting()
    with pytest.raises(UnsupportedMechanism, match="each record needs one gradient"):
        setting.train((x.repeat(2, 1), y.repeat(2)) for x, y in setting.loader)


# --- noise --------------------------------------------------------------------------------------------------------


def noises(setting: Setting, before_each: Callable[[], object]) -> list[torch.Tensor]:
    """The noise of each step of a pass."""
    found = []
    for x, y in setting.loader:
        before_each()
        setting.step(x, y)
        first = setting.optimizer.params[0]
        found.append((first.grad * setting.optimizer.expected_batch_size - first.summed_grad).clone())
    return found


def test_seeding_pytorch_in_a_loop_changes_no_noise_and_no_sample() -> None:
    setting = Setting()
    found = noises(setting, lambda: torch.manual_seed(0))
    assert all(float((a - b).abs().max()) > 1e-3 for a, b in itertools.combinations(found, 2))


@pytest.mark.parametrize("which", ["noise", "samples"])
def test_a_generator_of_ones_own_that_is_seeded_in_a_loop_is_refused(which: str) -> None:
    one = torch.Generator().manual_seed(5)
    setting = Setting(**({"noise_generator": one} if which == "noise" else {"generator": one}))
    with pytest.raises(UnsupportedMechanism, match="seeded as before"):
        noises(setting, lambda: one.manual_seed(6))


def test_a_generator_that_is_put_in_place_of_another_is_looked_at() -> None:
    setting = Setting()

    def replace() -> None:
        setting.optimizer.generator = torch.Generator().manual_seed(7)

    with pytest.raises(UnsupportedMechanism, match="seeded as before"):
        noises(setting, replace)
    setting = Setting()
    setting.train()
    setting.loader.batch_sampler.generator = setting.optimizer.generator.clone_state()
    with pytest.raises(UnsupportedMechanism, match="seeded as before"):
        setting.train()  # the samples come from the numbers that the next noise would come from


def test_a_generator_with_a_seed_that_everybody_knows_is_refused() -> None:
    for name in ("generator", "noise_generator"):
        with pytest.raises(InvalidValue, match="everybody knows"):
            Setting(**{name: torch.Generator()})


def test_generators_of_the_engine_have_more_bits_than_a_seed() -> None:
    one = own_generator()
    seeded = torch.Generator().manual_seed(one.initial_seed())
    assert not torch.equal(torch.rand(9, generator=one), torch.rand(9, generator=seeded))
    assert not torch.equal(torch.rand(9, generator=one), torch.rand(9, generator=own_generator()))


def test_two_runs_without_seeds_have_different_noise() -> None:
    """PyTorch's own generator starts from the same seed in every process."""
    found = []
    for _ in range(2):
        setting = Setting()
        torch.default_generator.manual_seed(torch.Generator().initial_seed())
        found.append(noises(setting, lambda: None)[0])
    assert float((found[0] - found[1]).abs().max()) > 1e-3


@pytest.mark.parametrize("z", [-1.0, NAN])
def test_noise_that_is_none_is_refused_in_the_middle(z: float) -> None:
    setting = Setting()
    batches = iter(setting.loader)
    setting.train([next(batches)])
    setting.optimizer.noise_multiplier = z
    with pytest.raises((DpboundsError, RuntimeError, ValueError)):
        setting.train(batches)
    assert setting.history() == [(1.0, 1 / STEPS, 1)]


def test_steps_without_noise_cost_infinity() -> None:
    setting = Setting(z=0.0)
    setting.train()
    assert setting.engine.get_epsilon(1e-5) == INF


def test_noise_that_changes_is_accounted_step_by_step() -> None:
    setting = Setting()
    for number, (x, y) in enumerate(setting.loader):
        setting.optimizer.noise_multiplier = 1.0 + number // 3
        setting.step(x, y)
    assert setting.history() == [(1.0, 1 / STEPS, 3), (2.0, 1 / STEPS, 2)]


# --- what is stepped on -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_parameter_that_is_frozen_before_the_step_gets_no_raw_gradient(mode: str) -> None:
    setting = Setting(deep(), mode=mode)
    batches = iter(setting.loader)
    setting.train([next(batches)])
    setting.backward(*next(batches))
    setting.plain[0].weight.requires_grad = False
    before = setting.plain[0].weight.detach().clone()
    with pytest.raises((DpboundsError, ValueError)):
        setting.optimizer.step()
    assert torch.equal(setting.plain[0].weight, before)


def test_layers_may_be_frozen_between_passes() -> None:
    setting = Setting(deep())
    setting.train()
    setting.optimizer.zero_grad()
    before = setting.plain[0].weight.detach().clone()
    for parameter in setting.plain[0].parameters():
        parameter.requires_grad = False
    setting.train()
    assert torch.equal(setting.plain[0].weight, before)
    assert setting.history() == [(1.0, 1 / STEPS, 2 * STEPS)]


def given_optimizer(setting: Setting) -> None:
    for x, y in setting.loader:
        setting.model.zero_grad()
        setting.criterion(setting.model(x), y).backward()
        setting.optimizer.original_optimizer.step()


def given_optimizer_first(setting: Setting) -> None:
    for x, y in setting.loader:
        setting.backward(x, y)
        setting.optimizer.original_optimizer.step()
        setting.optimizer.step()


def another_of_all_parameters(setting: Setting) -> None:
    other = torch.optim.Adam(setting.plain.parameters())
    for x, y in setting.loader:
        setting.backward(x, y)
        other.step()
        setting.optimizer.step()


def two_backward_passes(setting: Setting) -> None:
    batches = iter(setting.loader)
    setting.train([next(batches)])
    x, y = next(batches)
    for parameter in setting.plain.parameters():
        parameter.grad_sample = None
    setting.criterion(setting.model(x), y).backward()
    setting.optimizer.original_optimizer.step()


def closure(setting: Setting) -> None:
    for x, y in setting.loader:

        def loss(x: Any = x, y: Any = y) -> float:
            setting.backward(x, y)
            return 0.0

        setting.optimizer.original_optimizer.step(loss)


def frozen_as_a_whole(setting: Setting) -> None:
    setting.backward(*next(iter(setting.loader)))
    for parameter in setting.plain.parameters():
        parameter.requires_grad = False
    setting.optimizer.step()


RAW = (
    given_optimizer,
    given_optimizer_first,
    another_of_all_parameters,
    two_backward_passes,
    closure,
    frozen_as_a_whole,
)


@pytest.mark.parametrize("misuse", RAW)
@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_no_optimiser_steps_on_a_gradient_without_noise(misuse: Callable[[Setting], None], mode: str) -> None:
    setting = Setting(deep(), mode=mode)
    moved: list[torch.Tensor] = []

    def run() -> None:
        before = [each.detach().clone() for each in setting.plain.parameters()]
        try:
            misuse(setting)
        finally:
            moved.extend(after.detach() - each for after, each in zip(setting.plain.parameters(), before, strict=True))

    with pytest.raises((DpboundsError, ValueError, IndexError)):
        run()
    if not setting.history():
        assert not any(bool(each.any()) for each in moved)


def test_a_second_optimiser_for_the_other_layers_is_refused() -> None:
    """A plain one: those layers would be trained without noise."""
    torch.manual_seed(1)
    plain = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 2))
    other = torch.optim.SGD(plain[0].parameters(), lr=0.1)
    before = plain[0].weight.detach().clone()
    model, optimizer, loader = PrivacyEngine(relation="zero-out-one").make_private(
        module=plain,
        optimizer=torch.optim.SGD(plain[1].parameters(), lr=0.1),
        data_loader=DataLoader(TensorDataset(torch.randn(RECORDS, 5), torch.arange(RECORDS) % 2), batch_size=BATCH),
        noise_multiplier=1.0,
        max_grad_norm=C,
    )
    x, y = next(iter(loader))
    model.zero_grad()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    with pytest.raises(UnsupportedMechanism, match="step on gradients without noise"):
        other.step()
    assert torch.equal(plain[0].weight, before)


def test_a_layer_that_is_trained_from_now_on_is_watched() -> None:
    plain = deep()
    frozen(plain[0])
    setting = Setting(plain)
    setting.train()
    setting.optimizer.zero_grad()
    for parameter in plain[0].parameters():
        parameter.requires_grad = True
    x, y = next(iter(setting.loader))
    setting.criterion(setting.model(x), y).backward()
    with pytest.raises(UnsupportedMechanism, match="step on gradients without noise"):
        torch.optim.SGD(plain[0].parameters(), lr=0.1).step()


def test_noisy_gradients_and_other_models_are_free() -> None:
    """What noise was added to may be stepped on again; another model may be trained on public data."""
    setting = Setting(deep())
    for x, y in setting.loader:
        setting.step(x, y)
        setting.optimizer.original_optimizer.step()
    public = deep()
    public.load_state_dict(setting.plain.state_dict())
    other = torch.optim.SGD(public.parameters(), lr=0.1)
    public(torch.randn(3, 5)).sum().backward()
    other.step()
    assert setting.history() == [(1.0, 1 / STEPS, STEPS)]


@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_a_loop_of_ones_own_is_accounted_where_noise_is_added(mode: str) -> None:
    """Noisy gradients are there from then on, whether or not a step is taken on them."""
    setting = Setting(mode=mode)
    for x, y in setting.loader:
        setting.backward(x, y)
        setting.optimizer.accumulate() if mode == "ghost" else setting.optimizer.clip_and_accumulate()
        setting.optimizer.add_noise()
        assert len(setting.engine.accountant)
        setting.optimizer.scale_grad()
        setting.optimizer.original_optimizer.step()
    assert setting.history() == [(1.0, 1 / STEPS, STEPS)]


def test_a_hook_that_is_put_in_place_of_another_does_not_stop_the_accountant() -> None:
    setting, seen = Setting(), []
    setting.optimizer.step_hook = None
    setting.train()
    setting.optimizer.attach_step_hook(seen.append)
    setting.train()
    assert setting.history() == [(1.0, 1 / STEPS, 2 * STEPS)]
    assert len(seen) == STEPS


def scaled(parameter: Any) -> None:
    parameter.summed_grad *= 100


def exchanged(parameter: Any) -> None:
    parameter.summed_grad = 100 * parameter.summed_grad


@pytest.mark.parametrize("change", [scaled, exchanged])
@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_a_sum_that_is_changed_before_its_noise_is_refused(change: Callable[[Any], None], mode: str) -> None:
    setting = Setting(mode=mode)
    setting.backward(*next(iter(setting.loader)))
    setting.optimizer.accumulate() if mode == "ghost" else setting.optimizer.clip_and_accumulate()
    for parameter in setting.optimizer.params:
        change(parameter)
    with pytest.raises(UnsupportedMechanism, match="changed after clipping"):
        setting.optimizer.add_noise()
    assert setting.history() == []


# --- a model that evaluates, with layers that train ---------------------------------------------------------------


def head_trains(setting: Setting) -> None:
    """The usual fine-tuning: all in evaluation mode, and then some layers are trained."""
    setting.plain.eval()
    for layer in setting.plain.children():
        layer.train()


def test_layers_that_train_inside_a_model_that_evaluates_are_looked_at() -> None:
    norm = frozen(nn.BatchNorm1d(4)).eval()
    setting = Setting(nn.Sequential(nn.Linear(5, 4), norm, nn.Linear(4, 2)))
    head_trains(setting)
    with pytest.raises(UnsupportedMechanism, match="training mode mixes"):
        setting.train()
    setting = Setting(Mixing("mean"))
    head_trains(setting)
    with pytest.raises(UnsupportedMechanism, match="rest of its batch is left out"):
        setting.train()
    setting = Setting(deep(), sampling="shuffled")
    head_trains(setting)
    with pytest.raises(UnsupportedMechanism, match="stepped on before"):
        reused(setting)


def test_a_model_that_evaluates_is_not_looked_at() -> None:
    setting = Setting(Mixing("mean"))
    setting.plain.eval()
    setting.model(torch.randn(BATCH, 5))
    assert setting.history() == []


def test_a_parameter_of_another_model_in_the_optimiser_is_refused() -> None:
    setting = Setting()
    other = nn.Linear(2, 2)
    setting.optimizer.original_optimizer.add_param_group({"params": other.parameters()})

    def run() -> None:
        for x, y in setting.loader:
            setting.optimizer.zero_grad()
            setting.criterion(other(setting.model(x)), y).backward()
            setting.optimizer.step()

    with pytest.raises((DpboundsError, ValueError, AttributeError)):
        run()
    assert setting.history() == []


def test_a_divisor_that_is_the_size_of_the_sample_is_refused() -> None:
    setting = Setting()

    def run() -> None:
        for x, y in setting.loader:
            setting.optimizer.expected_batch_size = len(x)
            setting.step(x, y)

    with pytest.raises(InvalidValue, match="expected_batch_size"):
        run()


@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_a_clipping_norm_that_is_raised_before_the_step_has_noise_to_match(mode: str) -> None:
    setting = Setting(mode=mode)
    batches = iter(setting.loader)
    setting.backward(*next(batches))
    setting.optimizer.max_grad_norm = 2 * C
    setting.optimizer.step()
    assert setting.history() == [(1.0, 1 / STEPS, 1)]  # more noise than the clipping asked for
    setting.backward(*next(batches))
    setting.optimizer.max_grad_norm = C / 100
    if mode == "ghost":
        with pytest.raises(UnsupportedMechanism, match="clipped to more than"):
            setting.optimizer.step()
    else:
        setting.optimizer.step()  # clipped at the step itself
        assert float(setting.optimizer.params[0].summed_grad.norm()) <= RECORDS * C / 100


def test_steps_without_a_backward_pass_are_refused() -> None:
    setting = Setting()
    x, y = next(iter(setting.loader))
    setting.step(x, y)
    with pytest.raises((DpboundsError, ValueError)):
        setting.optimizer.step()
    assert setting.history() == [(1.0, 1 / STEPS, 1)]


def test_a_refusal_stays_with_the_checkpoint(tmp_path: Any) -> None:
    setting = Setting(Buffered("in place"))
    with pytest.raises(UnsupportedMechanism):
        setting.train()
    setting.engine.save_checkpoint(path=tmp_path / "saved", module=setting.model)
    other = Setting(Buffered("none"))
    other.engine.load_checkpoint(path=tmp_path / "saved", module=other.model)
    with pytest.raises(UnsupportedMechanism, match="no guarantee"):
        other.engine.get_epsilon(1e-5)


def test_warnings_are_not_hidden() -> None:
    """The filter above is for other libraries: the engine itself warns of nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module="dpbounds")
        Setting().train()
