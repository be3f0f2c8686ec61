"""The engine against Opacus: every option and every sampler is refused, or accounted for what it really draws."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import opacus
import pytest
import torch
from opacus import optimizers, schedulers
from opacus.data_loader import DPDataLoader
from opacus.grad_sample import utils as grad_sample_utils
from opacus.utils import batch_memory_manager, uniform_sampler
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch.utils import data as torch_data

from dpbounds.algorithms.ledger import Ledger
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.opacus import PrivacyEngine
from dpbounds.opacus.clipping import OPTIMIZERS
from dpbounds.opacus.options import OPTIONS
from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import Composed, Gaussian, PoissonSampled
from dpbounds.privacy.publishing.certificates import check_certificate
from dpbounds.privacy.publishing.interoperability import drawn_rate, register_with_opacus

pytestmark = pytest.mark.filterwarnings("ignore")  # what PyTorch and Opacus warn of is not ours

RECORDS, PUBLIC, BATCH = 60, 70, 8
STEPS, DIVISOR = 9, 7  # ⌈70/8⌉ and ⌊70/9⌋; from the 60 records it would be 8 and 7


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(1)


def dataset(records: int = RECORDS) -> Any:
    return torch_data.TensorDataset(torch.randn(records, 3), torch.randn(records, 1))


def parts(**other: Any) -> dict[str, Any]:
    """A linear model, its optimiser and a loader, as ``make_private`` takes them."""
    model = torch.nn.Linear(3, 1)
    return {
        "module": model,
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.01),
        "data_loader": torch_data.DataLoader(dataset(), batch_size=BATCH),
        "noise_multiplier": 1.25,
        "max_grad_norm": 1.0,
        **other,
    }


def engine(**options: Any) -> PrivacyEngine:
    return PrivacyEngine(**{"public_dataset_size": PUBLIC, **options})


def train(made: Any, loader: Any = None, network: Any = None, scheduler: Any = None) -> None:
    """One pass, one step on each batch."""
    model, optimizer, criterion, own = made if len(made) == 4 else (*made[:2], torch.nn.functional.mse_loss, made[2])
    for x, y in own if loader is None else loader:
        criterion((network or model)(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        if scheduler is not None:
            scheduler.step()


def one_pass(z: float = 1.25, steps: int = STEPS) -> Any:
    return PoissonSampled(Gaussian(z), drawn_rate(1 / STEPS)) ** steps


# --- every option -----------------------------------------------------------------------------------------------------

MSE = torch.nn.MSELoss()
ADAPTIVE = {
    "clipping": "adaptive",
    "target_unclipped_quantile": 0.5,
    "clipbound_learning_rate": 0.2,
    "max_clipbound": 2.0,
    "min_clipbound": 0.1,
    "unclipped_num_std": 2.0,
}
ACCOUNTED: dict[str, list[dict[str, Any]]] = {
    "criterion": [{"criterion": MSE}],
    "noise_multiplier": [{"noise_multiplier": 2.5}],
    "max_grad_norm": [{"max_grad_norm": 0.5}],
    "batch_first": [{"batch_first": True}],
    "loss_reduction": [{"loss_reduction": "sum"}, {"loss_reduction": "mean"}],
    "poisson_sampling": [{"poisson_sampling": True}],
    "clipping": [{"clipping": "flat"}, {"clipping": "per_layer", "max_grad_norm": [1.0, 1.0]}, ADAPTIVE],
    "noise_generator": [{"noise_generator": "seeded"}],
    "grad_sample_mode": [
        {"grad_sample_mode": "hooks"},
        {"grad_sample_mode": "functorch"},
        {"grad_sample_mode": "ghost", "criterion": MSE},
    ],
    "wrap_model": [{"wrap_model": False}, {"wrap_model": False, "grad_sample_mode": "ghost", "criterion": MSE}],
    "rand_on_empty": [{"rand_on_empty": False}],
}
REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "noise_multiplier": [({"noise_multiplier": z}, "noise_multiplier") for z in (-1.0, math.nan, math.inf)],
    "max_grad_norm": [
        ({"max_grad_norm": 0.0}, "greater than 0"),
        ({"max_grad_norm": math.inf}, "max_grad_norm"),
        ({"max_grad_norm": [1.0, 1.0]}, "a number with clipping='flat'"),
        ({"clipping": "per_layer"}, "a list with 'per_layer'"),
    ],
    "loss_reduction": [({"criterion": torch.nn.MSELoss(reduction="sum")}, "as the criterion has it")],
    "poisson_sampling": [({"poisson_sampling": False}, "shuffled_epochs")],
    "clipping": [({"clipping": "new"}, "not supported")],
    "grad_sample_mode": [
        ({"grad_sample_mode": "ew"}, "empty sample"),
        ({"grad_sample_mode": "no_op"}, "cannot be seen"),
        ({"grad_sample_mode": "ghost_fsdp"}, "several workers"),
        ({"grad_sample_mode": "ghost_tp"}, "several workers"),
        ({"grad_sample_mode": "new"}, "not supported"),
    ],
    "rand_on_empty": [({"rand_on_empty": True}, "made-up record")],
    "unheard_of": [({"unheard_of": 1}, "unheard_of of Opacus is not supported")],
}
CASES_OF_THEIR_OWN = {"module", "optimizer", "data_loader"}  # tested below


def test_every_option_of_opacus_is_decided_about() -> None:
    """A new option of Opacus fails here until somebody has thought about it."""

    def names(function: Any) -> set[str]:
        kinds = inspect.signature(function).parameters
        return {name for name, each in kinds.items() if each.kind is not each.VAR_KEYWORD} - {"self"}

    theirs = names(opacus.PrivacyEngine.make_private)
    assert theirs == set(OPTIONS)
    assert theirs == set(ACCOUNTED) | set(REFUSED) - {"unheard_of"} | CASES_OF_THEIR_OWN
    budget = {"target_epsilon", "target_delta", "epochs"}
    assert names(opacus.PrivacyEngine.make_private_with_epsilon) - budget <= theirs - {"noise_multiplier"}
    assert names(opacus.PrivacyEngine.__init__) == {"accountant", "secure_mode"}


def test_every_mode_clipping_and_optimiser_is_decided_about() -> None:
    def named(variable: str, *functions: Any) -> set[str]:
        """What a variable is compared with in the source of functions."""
        found = set()
        for function in functions:
            for node in ast.walk(ast.parse(inspect.getsource(function))):
                if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == variable:
                    found |= {
                        each.value
                        for right in node.comparators
                        for each in ast.walk(right)
                        if isinstance(each, ast.Constant) and isinstance(each.value, str)
                    }
        return found

    def decided(option: str) -> set[str]:
        given = [case[option] for case in ACCOUNTED[option]] + [case[option] for case, _ in REFUSED[option]]
        return set(given) - {"new"}

    modes = named("grad_sample_mode", grad_sample_utils.get_gsm_class, grad_sample_utils.get_hooks_class)
    assert modes == decided("grad_sample_mode")
    assert named("clipping", optimizers.get_optimizer_class) == decided("clipping")
    theirs = {each for each in vars(optimizers).values() if isinstance(each, type)}
    refused = {"Distributed", "SimpleDistributed", "FSDP"}
    for each in theirs - set(OPTIMIZERS):
        assert any(each.__name__.startswith(prefix) for prefix in refused), each


@pytest.mark.one_in(8)
@pytest.mark.parametrize("given", [case for cases in ACCOUNTED.values() for case in cases], ids=str)
def test_what_is_accounted_is_accounted_at_the_rate_that_is_drawn(given: dict[str, Any]) -> None:
    if given.get("noise_generator"):
        given = {"noise_generator": torch.Generator().manual_seed(2)}
    mine, options = engine(), parts(**given)
    made = mine.make_private(**options)
    train(made, network=options["module"] if given.get("wrap_model") is False else None)
    train(made, network=options["module"] if given.get("wrap_model") is False else None)
    z = options["noise_multiplier"]
    assert mine.accountant.history == [(z, 1 / STEPS, 2 * STEPS)]
    assert made[1].expected_batch_size == DIVISOR
    assert mine.ledger().mechanism() == Composed(((PoissonSampled(Gaussian(z), drawn_rate(1 / STEPS)), 2 * STEPS),))
    assert drawn_rate(1 / STEPS) > Fraction(1, STEPS)
    assert mine.get_epsilon("1e-5") == epsilon(one_pass(z, 2 * STEPS), "1e-5").upper


@pytest.mark.parametrize(("given", "reason"), [case for cases in REFUSED.values() for case in cases], ids=str)
def test_what_is_refused_is_refused_in_one_line(given: dict[str, Any], reason: str) -> None:
    mine = engine()
    with pytest.raises((InvalidValue, UnsupportedMechanism), match=reason) as caught:
        mine.make_private(**parts(**given))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    budget = {name: value for name, value in parts(**given).items() if name != "noise_multiplier"}
    if "noise_multiplier" not in given:
        with pytest.raises((InvalidValue, UnsupportedMechanism), match=reason):
            mine.make_private_with_epsilon(**budget, target_epsilon=1, target_delta="1e-5", epochs=1)


def test_options_that_are_missing_are_named() -> None:
    with pytest.raises(InvalidValue, match="data_loader, max_grad_norm, module"):
        engine().make_private(noise_multiplier=1, optimizer=None)


# --- every sampler ----------------------------------------------------------------------------------------------------


def loaders() -> dict[type, tuple[Any, str]]:
    """For each sampler of PyTorch and Opacus a loader that uses it, and why it is refused ("" where it is not)."""
    records = dataset()
    thrown, own = "which would be thrown away", "batches of its own"

    def by(sampler: Any) -> Any:
        return torch_data.DataLoader(records, batch_size=BATCH, sampler=sampler)

    def batched(sampler: Any) -> Any:
        return torch_data.DataLoader(records, batch_sampler=sampler)

    poisson = uniform_sampler.UniformWithReplacementSampler(num_samples=RECORDS, sample_rate=0.1)
    return {
        torch_data.Sampler: (by(torch_data.Sampler()), thrown),
        torch_data.SequentialSampler: (torch_data.DataLoader(records, batch_size=BATCH), ""),
        torch_data.RandomSampler: (torch_data.DataLoader(records, batch_size=BATCH, shuffle=True), ""),
        torch_data.SubsetRandomSampler: (by(torch_data.SubsetRandomSampler(range(30))), "SubsetRandomSampler"),
        torch_data.WeightedRandomSampler: (
            by(torch_data.WeightedRandomSampler([1.0] * RECORDS, 16)),
            "WeightedRandomSampler",
        ),
        torch_data.DistributedSampler: (
            by(torch_data.DistributedSampler(records, num_replicas=2, rank=0)),
            "DistributedSampler",
        ),
        torch_data.BatchSampler: (batched([[0, 1], [2]]), own),
        uniform_sampler.UniformWithReplacementSampler: (batched(poisson), own),
        uniform_sampler.DistributedUniformWithReplacementSampler: (batched(None), "no batches"),  # needs workers
        batch_memory_manager.BatchSplittingSampler: (
            batched(batch_memory_manager.BatchSplittingSampler(sampler=poisson, max_batch_size=4, optimizer=None)),
            own,
        ),
    }


def test_every_sampler_is_decided_about() -> None:
    theirs = {
        each
        for module in (torch_data, uniform_sampler, batch_memory_manager)
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, torch_data.Sampler)
    }
    assert theirs == set(loaders())


@pytest.mark.parametrize("sampler", list(range(10)))
def test_a_sampler_is_refused_or_replaced_by_poisson_samples(sampler: int) -> None:
    kind, (loader, reason) = list(loaders().items())[sampler]
    mine = engine()
    if kind is uniform_sampler.DistributedUniformWithReplacementSampler:
        loader = torch_data.DataLoader(dataset(), batch_size=None)
    if reason:
        with pytest.raises(UnsupportedMechanism, match=reason):
            mine.make_private(**parts(data_loader=loader))
        return
    made = mine.make_private(**parts(data_loader=loader))
    train(made)
    assert isinstance(made[2].batch_sampler, uniform_sampler.UniformWithReplacementSampler)
    assert made[2].batch_sampler.sample_rate == 1 / STEPS
    assert mine.ledger().mechanism() == one_pass()


def test_other_loaders_that_are_refused() -> None:
    records, stream = dataset(), torch_data.ChainDataset([])
    cases = {
        "RandomSampler": torch_data.DataLoader(
            records, batch_size=BATCH, sampler=torch_data.RandomSampler(records, num_samples=20)
        ),
        "weights and numbers": torch_data.DataLoader(
            records, batch_size=BATCH, sampler=torch_data.RandomSampler(records, replacement=True)
        ),
        "private already": DPDataLoader(records, sample_rate=0.1),
        "stream": torch_data.DataLoader(stream, batch_size=BATCH),
    }
    for reason, loader in cases.items():
        with pytest.raises(UnsupportedMechanism, match=reason):
            engine().make_private(**parts(data_loader=loader))


def test_what_is_dropped_last_changes_the_number_of_steps_and_nothing_else() -> None:
    mine = engine()
    made = mine.make_private(**parts(data_loader=torch_data.DataLoader(dataset(), batch_size=BATCH, drop_last=True)))
    assert (len(made[2]), made[1].expected_batch_size) == (8, 8)
    with pytest.raises(InvalidValue, match="no batch would be left"):
        engine(public_dataset_size=7).make_private(
            **parts(data_loader=torch_data.DataLoader(dataset(), batch_size=BATCH, drop_last=True))
        )


# --- the number of records --------------------------------------------------------------------------------------------


def test_neighbours_share_rate_divisor_and_steps() -> None:
    """With Opacus they do not; with a public number they do, whatever the data; the document's formulas are Opacus'."""

    def constants(mine: Any, records: int, batch: int) -> tuple[int, float, int]:
        loader = torch_data.DataLoader(dataset(records), batch_size=batch)
        _, optimizer, made = mine.make_private(**parts(data_loader=loader))
        return len(made), made.sample_rate, optimizer.expected_batch_size

    differ = 0
    for records in (1, 8, 15, 16, 17, 62, 63):
        for batch in (1, 4, 8):
            steps = -(-records // batch)
            theirs = constants(opacus.PrivacyEngine(), records, batch)
            assert theirs == (steps, 1 / steps, records // steps)
            assert constants(engine(relation="replace-one", public_dataset_size=None), records, batch) == theirs
            differ += theirs != constants(opacus.PrivacyEngine(), records + 1, batch)
            public = {constants(engine(), each, batch) for each in (records, records + 1)}
            assert public == {(-(-PUBLIC // batch), 1 / -(-PUBLIC // batch), PUBLIC // -(-PUBLIC // batch))}
    assert differ > 8


def test_divisors_are_exact_where_opacus_rounds_to_zero() -> None:
    assert int(49 * (1 / 49)) == 0  # what Opacus divides by for 49 records, one by one
    made = engine(public_dataset_size=49).make_private(
        **parts(data_loader=torch_data.DataLoader(dataset(), batch_size=1))
    )
    assert made[1].expected_batch_size == 1


def test_add_or_remove_one_needs_a_public_number() -> None:
    with pytest.raises(InvalidValue, match=r"public_dataset_size must be .*, not None"):
        PrivacyEngine()
    mine = PrivacyEngine(relation="replace-one")
    made = mine.make_private(**parts())
    train(made)
    assert mine.accountant.history == [(1.25, 1 / 8, 8)]
    for kept in ("replace-one", "zero-out-one"):  # neighbours have as many records
        assert mine.get_epsilon("1e-5", kept) == epsilon(PoissonSampled(Gaussian(1.25), "1/8") ** 8, "1e-5", kept).upper
    assert mine.get_epsilon("1e-5", "zero-out-one") < mine.get_epsilon("1e-5")
    assert PrivacyEngine(relation="zero-out-one").accountant.public_dataset_size is None
    for ask in (mine.get_epsilon, mine.enclosure, mine.account, mine.statement, mine.certificate):
        with pytest.raises(InvalidValue, match="public number of records"):
            ask("1e-5", "add-or-remove-one")
    with pytest.raises(InvalidValue, match="public number of records"):
        mine.accountant.get_epsilon("1e-5", relation="add-or-remove-one")
    for bad in (0, 1.5, "many"):
        with pytest.raises(InvalidValue, match="public_dataset_size"):
            PrivacyEngine(public_dataset_size=bad)  # type: ignore[arg-type]


def test_options_of_the_engine() -> None:
    with pytest.raises(InvalidValue, match="torchcsprng"):
        engine(secure_mode=True)
    with pytest.raises(InvalidValue, match="use Opacus' own engine"):
        engine(accountant="rdp")
    with pytest.raises(InvalidValue, match="relation"):
        engine(relation="both")


# --- what is watched --------------------------------------------------------------------------------------------------


def test_a_step_without_a_batch_of_the_private_loader_is_refused() -> None:
    mine = engine()
    options = parts()
    made = mine.make_private(**options)
    before = [each.clone() for each in made[0].parameters()]
    with pytest.raises(UnsupportedMechanism, match="train on that loader"):
        train(made, options["data_loader"])
    assert mine.accountant.history == []
    assert all(
        torch.equal(old, new) for old, new in zip(before, made[0].parameters(), strict=True)
    )  # nothing was released


def test_empty_batches_are_steps_and_leaving_them_out_is_refused() -> None:
    def tiny(batches: int) -> Any:
        mine = engine(public_dataset_size=40)
        return mine, mine.make_private(**parts(data_loader=torch_data.DataLoader(dataset(3), batch_size=40 // batches)))

    mine, made = tiny(20)
    train(made)
    assert len(mine.accountant) == 20  # most of them empty
    mine, made = tiny(20)
    with pytest.raises(UnsupportedMechanism, match=r"empty ones too|telling|tells what was drawn"):
        train(made, ((x, y) for x, y in made[2] if len(x) > 0))


@pytest.mark.parametrize(("split", "workers"), [(False, 0), (False, 1), (True, 0)])
def test_a_batch_left_out_at_the_end_of_a_pass_is_refused(split: bool, workers: int) -> None:
    mine = engine()
    loader = torch_data.DataLoader(dataset(), batch_size=BATCH, num_workers=workers)
    made = mine.make_private(**parts(data_loader=loader))

    def all_but_the_last(batches: Any) -> Any:
        for number, batch in enumerate(batches, start=1):
            if number < STEPS:
                yield batch

    manager = BatchMemoryManager(data_loader=made[2], max_physical_batch_size=60, optimizer=made[1])
    with manager as whole, pytest.raises(UnsupportedMechanism, match="no step was taken"):
        train(made, all_but_the_last(whole if split else made[2]))


def test_a_pass_may_be_left_after_a_step_or_only_looked_at() -> None:
    mine = engine()
    made = mine.make_private(**parts())
    next(iter(made[2]))  # a look at the shapes, before the first step
    assert len(list(made[2])) == STEPS  # an evaluation, say
    train(made, [next(iter(made[2]))])
    train(made, itertools.islice(made[2], 2))
    assert len(list(made[2])) == STEPS
    train(made)
    assert len(mine.accountant) == 1 + 2 + STEPS


@pytest.mark.parametrize("twice", [False, True])
def test_gradients_that_are_not_one_for_each_record_are_refused(twice: bool) -> None:
    """Each record seen twice, or only half of them."""
    mine = engine()
    made = mine.make_private(**parts())
    changed = ((x.repeat(2, 1), y.repeat(2, 1)) if twice else (x[:1], y[:1]) for x, y in made[2])
    with pytest.raises(UnsupportedMechanism, match="each record needs one gradient"):
        train(made, changed)


def test_batches_summed_over_several_steps_are_refused() -> None:
    """By Opacus where it looks, and where steps are skipped by hand, as some training loops do, here."""
    mine = engine()
    model, optimizer, loader = mine.make_private(**parts())
    with pytest.raises(UnsupportedMechanism, match="each record needs one gradient"):  # noqa: PT012
        for number, (x, y) in enumerate(loader):
            optimizer.signal_skip_step(do_skip=number % 2 == 0)
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert mine.accountant.history == []


@pytest.mark.parametrize("mode", ["hooks", "ghost"])
@pytest.mark.parametrize("workers", [0, 1])
def test_batches_split_for_memory_are_one_step(mode: str, workers: int) -> None:
    mine = engine()
    loader = torch_data.DataLoader(dataset(), batch_size=35, num_workers=workers)
    made = mine.make_private(**parts(data_loader=loader, grad_sample_mode=mode, criterion=MSE))
    for _ in range(2):
        with BatchMemoryManager(data_loader=made[-1], max_physical_batch_size=4, optimizer=made[1]) as split:
            train(made, split)
    assert mine.accountant.history == [(1.25, 1 / 2, 4)]


def test_a_split_batch_that_was_left_in_the_middle_is_given_up() -> None:
    mine = engine()
    made = mine.make_private(**parts(data_loader=torch_data.DataLoader(dataset(), batch_size=35)))
    with BatchMemoryManager(data_loader=made[2], max_physical_batch_size=4, optimizer=made[1]) as split:
        batches = iter(split)
        train(made, [next(batches)])  # a part only, and one more that is drawn and not trained on
        next(batches)
        assert mine.accountant.history == []
        train(made, split)
    assert mine.accountant.history == [(1.25, 1 / 2, 2)]


def test_ghost_clipping_needs_the_criterion_that_was_returned() -> None:
    mine = engine()
    model, optimizer, _, loader = mine.make_private(**parts(grad_sample_mode="ghost", criterion=MSE))
    with pytest.raises(UnsupportedMechanism, match="not clipped"):
        train((model, optimizer, loader))


@pytest.mark.parametrize(
    "given",
    [
        {"grad_sample_mode": "ghost", "criterion": MSE},
        {"clipping": "per_layer", "max_grad_norm": [1.0, 1.0]},
    ],
)
def test_noise_for_less_than_what_was_clipped_to_is_refused(given: dict[str, Any]) -> None:
    mine = engine()
    made = mine.make_private(**parts(**given))
    scheduler = schedulers.ExponentialGradClip(made[1], gamma=0.5)
    with pytest.raises(UnsupportedMechanism, match="clipped to more than"):
        train(made, scheduler=scheduler)
    assert len(mine.accountant) == 1  # before the first change


def test_flat_clipping_norms_may_change_between_batches_only() -> None:
    mine = engine()
    made = mine.make_private(**parts())
    train(made, scheduler=schedulers.ExponentialGradClip(made[1], gamma=0.5))
    assert mine.ledger().mechanism() == one_pass()
    made = mine.make_private(**parts(data_loader=torch_data.DataLoader(mine.dataset, batch_size=35)))
    scheduler = schedulers.ExponentialGradClip(made[1], gamma=0.5)
    with (
        pytest.raises(UnsupportedMechanism, match="only between batches"),
        BatchMemoryManager(data_loader=made[2], max_physical_batch_size=4, optimizer=made[1]) as split,
    ):
        train(made, split, scheduler=scheduler)


def test_a_norm_over_layers_is_rounded_up() -> None:
    theirs = opacus.PrivacyEngine().make_private(**parts(clipping="per_layer", max_grad_norm=[1.0, 1.0]))[1]
    assert Fraction(theirs.max_grad_norm) ** 2 < 2
    mine = engine().make_private(**parts(clipping="per_layer", max_grad_norm=[1.0, 1.0]))[1]
    assert Fraction(mine.max_grad_norm) ** 2 >= 2 > Fraction(math.nextafter(mine.max_grad_norm, 0)) ** 2


def test_a_divisor_that_was_changed_is_refused() -> None:
    made = engine().make_private(**parts())
    made[1].expected_batch_size = 5
    with pytest.raises(InvalidValue, match="expected_batch_size"):
        train(made)


def test_other_hooks_do_not_take_the_accountants_place() -> None:
    mine, seen = engine(), []
    made = mine.make_private(**parts())
    made[1].attach_step_hook(seen.append)
    train(made)
    assert len(mine.accountant) == len(seen) == STEPS


def test_noise_schedules_are_accounted_step_by_step() -> None:
    mine = engine()
    made = mine.make_private(**parts())
    scheduler = schedulers.LambdaNoise(made[1], noise_lambda=lambda step: 1 + step // 5)
    train(made, scheduler=scheduler)
    assert mine.accountant.history == [(1.25, 1 / STEPS, 5), (2.5, 1 / STEPS, 4)]
    expected = Composed((*one_pass(1.25, 5).parts, *one_pass(2.5, 4).parts))
    assert mine.ledger().mechanism() == expected
    assert mine.get_epsilon("1e-5") == epsilon(expected, "1e-5").upper


def test_several_optimisers_draw_samples_of_their_own() -> None:
    mine, records = engine(), dataset()
    first = mine.make_private(**parts(data_loader=torch_data.DataLoader(records, batch_size=8)))
    second = mine.make_private(**parts(data_loader=torch_data.DataLoader(records, batch_size=8)))
    train(first)
    train(second)
    assert len(mine.accountant) == 2 * STEPS
    with pytest.raises(UnsupportedMechanism, match="train on that loader"):
        train(second, first[2])  # both would step on one sample
    with pytest.raises(UnsupportedMechanism, match="another dataset"):
        mine.make_private(**parts())


def test_two_generators_with_one_seed_are_refused() -> None:
    def seeded(seed: int) -> Any:
        return torch.Generator().manual_seed(seed)

    def made(of_samples: Any, of_noise: Any) -> Any:
        loader = torch_data.DataLoader(dataset(), batch_size=BATCH, generator=of_samples)
        return engine().make_private(**parts(data_loader=loader, noise_generator=of_noise))

    for samples, noise in ((3, 3), (3, 1), (1, 3), (None, 1)):  # 1 is the seed of PyTorch's own
        with pytest.raises(InvalidValue, match="one of its own"):
            made(None if samples is None else seeded(samples), seeded(noise))
    one = seeded(3)
    train(made(one, one))
    train(made(seeded(3), seeded(4)))


def test_a_generator_that_is_seeded_again_is_refused(tmp_path: Path) -> None:
    """Every epoch, as some do for the sake of repeatability, or after a checkpoint: the same samples and noise."""

    def made(mine: Any, samples: int, noise: int, records: Any) -> tuple[Any, Any, Any]:
        generators = [torch.Generator().manual_seed(seed) for seed in (samples, noise)]
        loader = torch_data.DataLoader(records, batch_size=BATCH, generator=generators[0])
        return mine.make_private(**parts(data_loader=loader, noise_generator=generators[1])), *generators

    records = dataset()
    for which in (0, 1):
        mine = engine()
        private, *generators = made(mine, 8, 9, records)
        train(private)
        generators[which].manual_seed(7)
        train(private)
        mine.save_checkpoint(path=tmp_path / "saved", module=private[0])
        generators[which].manual_seed((8, 9)[which])
        with pytest.raises(UnsupportedMechanism, match="seeded as before"):
            train(private)
        again = engine()
        private, *generators = made(again, *((8, 10), (10, 9))[which], records)
        again.load_checkpoint(path=tmp_path / "saved", module=private[0])
        with pytest.raises(UnsupportedMechanism, match="anew after a checkpoint"):
            train(private)
        generators[which].manual_seed(11)
        private[1].zero_grad()
        train(private)
        assert len(again.accountant) == 3 * STEPS


def test_other_kinds_of_numbers_are_noticed() -> None:
    made = engine().make_private(**parts())
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(UnsupportedMechanism, match="float64"):
            list(made[2])
    finally:
        torch.set_default_dtype(torch.float32)
    half = torch.nn.Linear(3, 1).to(torch.bfloat16)
    with pytest.raises(UnsupportedMechanism, match="bfloat16"):
        engine().make_private(**parts(module=half, optimizer=torch.optim.SGD(half.parameters(), lr=0.1)))


def test_other_wrappers_for_several_workers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from opacus.distributed import DifferentiallyPrivateDistributedDataParallel as Parallel

    class Reducing(torch.nn.parallel.DistributedDataParallel):
        def __init__(self, module: Any) -> None:
            torch.nn.Module.__init__(self)
            self.module = module

    monkeypatch.setattr(torch.distributed, "broadcast", lambda *_: None)
    for model in (Reducing(torch.nn.Linear(3, 1)), torch.nn.Sequential(Parallel(torch.nn.Linear(3, 1)))):
        with pytest.raises(UnsupportedMechanism, match="to train on several workers give the whole model"):
            engine().make_private(**parts(module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1)))


# --- budgets, reports, checkpoints ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"clipping": "per_layer", "max_grad_norm": [1.0, 1.0]}, ADAPTIVE], ids=str)
def test_noise_for_a_budget_comes_from_our_own_calibration(given: dict[str, Any]) -> None:
    mine = engine()
    options = parts(**given)
    del options["noise_multiplier"]
    made = mine.make_private_with_epsilon(**options, target_epsilon=2, target_delta="1e-5", epochs=2)
    for _ in range(2):
        train(made)
    spent = mine.enclosure("1e-5")
    assert spent.at_most(2)
    z = made[1].noise_multiplier
    assert not epsilon(one_pass(z * (1 - 1e-9), 2 * STEPS), "1e-5").at_most(2)


def test_a_budget_covers_what_was_spent_before() -> None:
    mine = engine()
    train(mine.make_private(**parts()))
    options = parts(data_loader=torch_data.DataLoader(mine.dataset, batch_size=BATCH))
    del options["noise_multiplier"]
    spent = mine.get_epsilon("1e-5")
    made = mine.make_private_with_epsilon(**options, target_epsilon=spent + 1, target_delta="1e-5", epochs=1)
    train(made)
    assert spent < mine.get_epsilon("1e-5") <= spent + 1
    with pytest.raises(InvalidValue, match="have spent it"):
        mine.make_private_with_epsilon(**options, target_epsilon=spent / 2, target_delta="1e-5", epochs=1)
    with pytest.raises(InvalidValue, match="epochs"):
        mine.make_private_with_epsilon(**options, target_epsilon=1, target_delta="1e-5", epochs=0)


@pytest.mark.seconds
def test_what_may_be_claimed() -> None:
    mine = engine()
    assert mine.get_epsilon("1e-5") == mine.enclosure("1e-5").upper == 0
    assert mine.ledger() == Ledger()
    with pytest.raises(InvalidValue, match="number of steps"):
        mine.statement("1e-5")
    train(mine.make_private(**parts()))
    for relation in ("add-or-remove-one", "replace-one"):
        proven = epsilon(one_pass(), "1e-5", relation)
        assert mine.enclosure("1e-5", relation) == proven
        assert mine.get_epsilon("1e-5", relation=relation) == proven.upper
        assert relation in mine.statement("1e-5", relation)
        assert check_certificate(json.loads(json.dumps(mine.certificate("1e-5", relation)))).holds
    assert mine.get_epsilon("1e-5") < mine.get_epsilon("1e-5", "replace-one")
    assert "public number 70" in mine.statement("1e-5")
    assert Ledger.from_json(mine.ledger().to_json()).spent("1e-5", "replace-one") == proven


def test_a_checkpoint_keeps_what_was_spent_and_what_is_public(tmp_path: Any) -> None:
    mine = engine()
    made = mine.make_private(**parts())
    train(made)
    saved = tmp_path / "checkpoint"
    mine.save_checkpoint(path=saved, module=made[0], optimizer=made[1])
    other = engine()
    again = other.make_private(**parts())
    other.load_checkpoint(path=saved, module=again[0], optimizer=again[1])
    train(again)
    assert other.accountant.history == [(1.25, 1 / STEPS, 2 * STEPS)]
    for different in (engine(public_dataset_size=71), PrivacyEngine(relation="replace-one")):
        with pytest.raises(InvalidValue, match="as it was when saved"):
            different.load_checkpoint(path=saved, module=made[0])
        assert len(different.accountant) == 0
    bare = {"history": [], "mechanism": "certified", "sampling": "poisson"}
    partly = mine.accountant.state_dict() | {"generator_states": None}
    for state in (bare, partly, {}):
        with pytest.raises(InvalidValue):
            engine().accountant.load_state_dict(state)


# --- the tutorial -----------------------------------------------------------------------------------------------------


@pytest.mark.seconds
def test_the_tutorial_shows_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "opacus.md").read_text(encoding="utf-8")
    code, *_ = re.findall(r"^```python\n(import json\n\nimport torch\n.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    printed: list[str] = []
    names: dict[str, Any] = {"print": lambda value: printed.append(str(value))}
    exec(code, names)  # noqa: S102
    shown, enclosure, statement = printed
    assert shown == "True"
    assert enclosure == str(names["engine"].enclosure("1e-5", "replace-one"))
    assert "-differentially private under add-or-remove-one" in statement
    assert check_certificate(tmp_path / "certificate.json").holds
    assert Ledger.from_json((tmp_path / "ledger.json").read_text(encoding="utf-8")) == names["engine"].ledger()


def test_opacus_own_engine_is_seen_to_shuffle_by_nobody_but_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was certified before: a shuffled loader, at the ε of Poisson samples."""
    from opacus.accountants import registry

    monkeypatch.setattr(registry, "_ACCOUNTANTS", dict(registry._ACCOUNTANTS))
    with pytest.raises(InvalidValue, match=r"sampling must be .*, not None"):
        register_with_opacus()
    with pytest.raises(ValueError, match="certified"):
        opacus.PrivacyEngine(accountant="certified")
    register_with_opacus(sampling="poisson")
    theirs = opacus.PrivacyEngine(accountant="certified")
    made = theirs.make_private(**parts())
    train(made)
    z, steps = 1.25, 8
    expected = PoissonSampled(Gaussian(z), drawn_rate(1 / steps)) ** steps
    assert theirs.get_epsilon("1e-5") == epsilon(expected, "1e-5").upper


@pytest.mark.seconds
def test_without_opacus_the_error_says_what_to_install() -> None:
    for missing in ("sys.modules['opacus'] = None", "import opacus; opacus.__version__ = '1.5.4'"):
        code = (
            f"import sys; {missing}\n"
            "import dpbounds.opacus\n"
            "try: dpbounds.opacus.PrivacyEngine\n"
            "except ModuleNotFoundError as error: print(error)"
        )
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "dpbounds.opacus needs Opacus 1.6 or later: pip install 'dpbounds[opacus]'\n"
