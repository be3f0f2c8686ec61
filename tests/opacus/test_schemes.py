"""The engine on other draws than Poisson samples: loaders draw the law that is accounted, and nothing else passes."""

from __future__ import annotations

import itertools
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch.utils import data as torch_data

from dpbounds.algorithms.ledger import Ledger
from dpbounds.algorithms.sampling import Truncated
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.opacus import PrivacyEngine
from dpbounds.opacus.schemes import FIXED_SIZE, FRESH_BINS, KEPT_BINS, SCHEMES, SHUFFLED, TRUNCATED, SchemeSampler, Way
from dpbounds.privacy.accountants.certified import delta, epsilon
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    Gaussian,
    PoissonSampled,
    RandomlyAllocated,
    SampledWithoutReplacement,
    Shuffled,
    TruncatedPoisson,
    parts_of,
)
from dpbounds.privacy.publishing.certificates import check_certificate

pytestmark = pytest.mark.filterwarnings("ignore")  # what PyTorch and Opacus warn of is not ours

RECORDS, BATCH, STEPS = 60, 8, 8  # ⌈60/8⌉ = 8
Z = 4.0
OTHERS = tuple(name for name in SCHEMES if name != "poisson")
OF_TWO_PASSES = {
    TRUNCATED: TruncatedPoisson(Gaussian(Z), Fraction(1, STEPS), 12, RECORDS) ** (2 * STEPS),
    FIXED_SIZE: SampledWithoutReplacement(Gaussian(Z), RECORDS // STEPS, RECORDS) ** (2 * STEPS),
    SHUFFLED: Shuffled(Gaussian(Z), STEPS) ** 2,
    FRESH_BINS: BallsInBins(Gaussian(Z), STEPS, 2, redraw=True),
    KEPT_BINS: BallsInBins(Gaussian(Z), STEPS, 2, redraw=False),
}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(1)


def engine(name: str, **options: Any) -> PrivacyEngine:
    given = {"relation": "zero-out-one", "max_batch_size": 12 if name == TRUNCATED else None, **options}
    return PrivacyEngine(sampling=name, **given)


def parts(records: int = RECORDS, batch: int = BATCH, **other: Any) -> dict[str, Any]:
    model = torch.nn.Linear(3, 1)
    data = torch_data.TensorDataset(torch.randn(records, 3), torch.arange(float(records))[:, None])
    return {
        "module": model,
        "optimizer": torch.optim.SGD(model.parameters(), lr=1e-6),
        "data_loader": torch_data.DataLoader(data, batch_size=batch),
        "noise_multiplier": Z,
        "max_grad_norm": 1.0,
        **other,
    }


def step(made: Any, batch: Any) -> tuple[int, ...]:
    """One step; which records were in the batch."""
    x, y = batch
    torch.nn.functional.mse_loss(made[0](x), y).backward()
    made[1].step()
    made[1].zero_grad()
    return tuple(int(each) for each in y.flatten())


def one_pass(made: Any) -> list[tuple[int, ...]]:
    return [step(made, batch) for batch in made[2]]


@pytest.mark.parametrize("name", OTHERS)
def test_what_was_drawn_is_what_is_accounted(name: str) -> None:
    mine = engine(name)
    made = mine.make_private(**parts())
    passes = [one_pass(made), one_pass(made)]
    assert parts_of(mine.accountant.composition) == parts_of(OF_TWO_PASSES[name])
    assert Ledger.from_json(mine.ledger().to_json()).mechanism() == mine.ledger().mechanism()
    for batches in passes:
        assert len(batches) == STEPS
        records = Counter(itertools.chain(*batches))
        if name == TRUNCATED:
            assert max(map(len, batches)) <= 12
        elif name == FIXED_SIZE:
            assert {len(batch) for batch in batches} == {RECORDS // STEPS}
        else:
            assert set(records.values()) == {1}
            assert len(records) == (STEPS * (RECORDS // STEPS) if name == SHUFFLED else RECORDS)
    assert made[1].expected_batch_size == RECORDS // STEPS
    assert (passes[0] == passes[1]) is (name == KEPT_BINS)


def laws(name: str) -> dict[Any, float]:
    """Every pass of two steps over three records, and its chance, by enumeration."""
    n, m = 3, 2
    records = range(n)
    if name == SHUFFLED:
        return {((a,), (b,)): 1 / 6 for a, b in itertools.permutations(records, 2)}
    if name in (FRESH_BINS, KEPT_BINS):
        return {
            tuple(tuple(i for i in records if places[i] == j) for j in range(m)): 1 / m**n
            for places in itertools.product(range(m), repeat=n)
        }
    if name == FIXED_SIZE:
        return {((a,), (b,)): 1 / 9 for a in records for b in records}
    one: dict[Any, float] = Counter()
    for size in range(n + 1):
        for drawn in itertools.combinations(records, size):
            kept = list(itertools.combinations(drawn, min(size, 1)))
            for each in kept:
                one[each] += 1 / 2**n / len(kept)
    return {(a, b): one[a] * one[b] for a in one for b in one}


@pytest.mark.seconds
@pytest.mark.parametrize("name", OTHERS)
def test_passes_follow_their_law(name: str) -> None:
    law, runs = laws(name), 3000
    assert math.isclose(sum(law.values()), 1)
    mine = engine(name, **({"max_batch_size": 1} if name == TRUNCATED else {}))
    sampler = mine.make_private(**parts(3, 2))[2].batch_sampler
    seen: Counter[Any] = Counter()
    for _ in range(runs):
        seen[tuple(map(tuple, sampler._batches()))] += 1
        if name == KEPT_BINS:
            assert list(map(tuple, sampler._batches())) in [list(each) for each in seen]
            sampler = SchemeSampler(3, 2, sampler.scheme, mine.accountant, None)
    assert set(seen) <= set(law)
    for outcome, chance in law.items():
        assert abs(seen[outcome] - runs * chance) < 6 * (runs * chance) ** 0.5 + 6, outcome


@pytest.mark.seconds
@pytest.mark.parametrize("name", OTHERS)
def test_what_may_be_claimed(name: str) -> None:
    mine = engine(name)
    made = mine.make_private(**parts())
    one_pass(made)
    one_pass(made)
    proven = epsilon(OF_TWO_PASSES[name], "1e-5", "zero-out-one")
    assert mine.enclosure("1e-5") == proven
    assert mine.get_epsilon("1e-5") == proven.upper
    assert "seeded" in mine.statement("1e-5")
    assert check_certificate(json.loads(json.dumps(mine.certificate("1e-5")))).holds


def without_noise() -> dict[str, Any]:
    return {name: value for name, value in parts(batch=20).items() if name != "noise_multiplier"}


@pytest.mark.seconds
@pytest.mark.parametrize("name", [SHUFFLED, KEPT_BINS])
def test_noise_for_a_budget(name: str) -> None:
    mine = engine(name)
    made = mine.make_private_with_epsilon(**without_noise(), target_epsilon=2, target_delta="1e-5", epochs="3/2")
    one_pass(made)
    one_pass(made)
    past = mine.accountant.composition
    assert mine.get_epsilon("1e-5") <= 2  # not 2.00009, where δ at 2 is proven
    assert delta(past, epsilon=2, relation="zero-out-one").at_most(Fraction(1, 10**5))
    assert not delta(past, epsilon="1.9", relation="zero-out-one").at_most(Fraction(1, 10**5))


@pytest.fixture
def advice(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    """The warnings so far that compare with Poisson samples, of comparisons without haste; forgotten once read."""
    monkeypatch.setattr("dpbounds.opacus.engine._ADVICE_SECONDS", Fraction(10**6))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")

        def read() -> list[str]:
            said = [str(each.message) for each in found if "Poisson samples of the same" in str(each.message)]
            found.clear()
            return said

        yield read


@pytest.mark.seconds
def test_a_calibration_names_the_noise_of_poisson_samples_once(advice: Any) -> None:
    mine = engine(SHUFFLED, relation="replace-one")
    budget = {"target_epsilon": 2, "target_delta": "1e-5", "epochs": 2}
    made = mine.make_private_with_epsilon(**without_noise(), **budget)
    (said,) = advice()
    poisson = PrivacyEngine(relation="replace-one")
    assert said.endswith("PrivacyEngine(sampling='poisson', relation='replace-one')")
    least = poisson.make_private_with_epsilon(**without_noise(), **budget)[1].noise_multiplier
    named = Fraction(re.findall(r"noise multiplier ([0-9]+[.][0-9]+)", said)[1])
    assert least <= named < Fraction("1.001") * Fraction(least)
    assert named < Fraction(made[1].noise_multiplier) * Fraction(95, 100)
    one_pass(made)
    mine.statement("1e-5")
    assert not advice()


@pytest.mark.seconds
@pytest.mark.parametrize(("name", "noted"), [(SHUFFLED, True), (FRESH_BINS, False), (KEPT_BINS, True)])
def test_an_account_names_the_epsilon_of_poisson_samples_once(name: str, noted: bool, advice: Any) -> None:
    mine = engine(name)
    made = mine.make_private(**parts(noise_multiplier=2.0))
    for _ in range(3):
        one_pass(made)
    spent = mine.get_epsilon("1e-5")
    mine.get_epsilon("1e-5")
    said = advice()
    assert len(said) == noted
    if noted:
        numbers = [Fraction(each) for each in re.findall(r"epsilon ([0-9]+[.][0-9]+)", said[0])]
        expected = epsilon(PoissonSampled(Gaussian(2), Fraction(1, STEPS)) ** (3 * STEPS), "1e-5", "zero-out-one")
        assert spent <= numbers[0] < Fraction("1.001") * Fraction(spent)
        assert expected.exact_lower <= numbers[1] < Fraction("1.001") * expected.exact_upper


@pytest.mark.seconds
@pytest.mark.parametrize(("seconds", "noted"), [(Fraction(1, 10**9), False), (Fraction(10**6), True)])
def test_a_comparison_that_takes_too_long_says_nothing(
    seconds: Fraction, noted: bool, monkeypatch: pytest.MonkeyPatch, advice: Any
) -> None:
    monkeypatch.setattr("dpbounds.opacus.engine._ADVICE_SECONDS", seconds)
    made = (mine := engine(SHUFFLED)).make_private(**parts(noise_multiplier=2.0))
    one_pass(made)
    one_pass(made)
    assert mine.get_epsilon("1e-5") > 0
    assert len(advice()) == noted


def test_a_pass_that_is_left_early_counts_as_a_whole_one() -> None:
    mine = engine(SHUFFLED)
    made = mine.make_private(**parts())
    for number, batch in enumerate(made[2]):
        step(made, batch)
        if number == 2:
            break
    one_pass(made)
    assert parts_of(mine.accountant.composition) == ((Shuffled(Gaussian(Z), STEPS), 2),)


def test_noise_changes_between_passes_only() -> None:
    mine = engine(SHUFFLED)
    made = mine.make_private(**parts())
    one_pass(made)
    made[1].noise_multiplier = 2.0
    one_pass(made)
    assert mine.accountant.history == [(4.0, 1 / STEPS, 1), (2.0, 1 / STEPS, 1)]
    batches = iter(made[2])
    step(made, next(batches))
    made[1].noise_multiplier = 3.0
    with pytest.raises(UnsupportedMechanism, match="within a pass"):
        step(made, next(batches))
    kept = engine(KEPT_BINS)
    made = kept.make_private(**parts())
    one_pass(made)
    made[1].noise_multiplier = 2.0
    with pytest.raises(UnsupportedMechanism, match="one release, with one noise multiplier"):
        one_pass(made)


def test_passes_are_taken_in_turn() -> None:
    mine = engine(FRESH_BINS)
    options = parts()
    first = mine.make_private(**options)
    other = parts()
    other["data_loader"] = torch_data.DataLoader(options["data_loader"].dataset, batch_size=BATCH)
    second = mine.make_private(**other)
    one = iter(first[2])
    batch = next(one)
    two = iter(second[2])
    step(second, next(two))
    with pytest.raises(UnsupportedMechanism, match="in turn"):
        next(one)
    with pytest.raises(UnsupportedMechanism, match="in turn"):
        step(first, batch)


def test_a_second_pass_over_one_loader_ends_the_first() -> None:
    made = engine(SHUFFLED).make_private(**parts())
    one = iter(made[2])
    step(made, next(one))
    step(made, next(iter(made[2])))
    with pytest.raises(UnsupportedMechanism, match="in turn"):
        next(one)


def test_batches_may_be_split_for_memory() -> None:
    mine = engine(SHUFFLED)
    made = mine.make_private(**parts())
    with BatchMemoryManager(data_loader=made[2], max_physical_batch_size=3, optimizer=made[1]) as loader:
        for batch in loader:
            step(made, batch)
    assert mine.accountant.history == [(Z, 1 / STEPS, 1)]


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_keeps_what_was_spent_and_how_batches_were_drawn(name: str, tmp_path: Any) -> None:
    mine = engine(name)
    made = mine.make_private(**parts())
    one_pass(made)
    mine.save_checkpoint(path=tmp_path / "saved", module=made[0], optimizer=made[1])
    again = engine(name)
    fresh = again.make_private(**parts())
    for other in set(SCHEMES) - {name}:
        with pytest.raises(InvalidValue):
            engine(other).load_checkpoint(path=tmp_path / "saved", module=fresh[0])
    if name == KEPT_BINS:
        with pytest.raises(UnsupportedMechanism, match="a checkpoint does not store fixed bins"):
            again.load_checkpoint(path=tmp_path / "saved", module=fresh[0])
        return
    again.load_checkpoint(path=tmp_path / "saved", module=fresh[0], optimizer=fresh[1])
    torch.manual_seed(2)
    one_pass(fresh)
    assert parts_of(again.accountant.composition) == parts_of(OF_TWO_PASSES[name])
    smaller = engine(name)
    smaller.make_private(**parts(50))
    with pytest.raises(InvalidValue, match="as it was when saved"):
        smaller.load_checkpoint(path=tmp_path / "saved", module=fresh[0])


def test_what_has_no_account_is_refused() -> None:
    for name in (SHUFFLED, FIXED_SIZE):
        with pytest.raises(InvalidValue, match="public_dataset_size"):
            engine(name, public_dataset_size=70)
        shared = f"relation must be 'replace-one' or 'zero-out-one' with sampling='{name}', not add-or-remove-one"
        for size in (None, 70):  # a public number is not the way out
            with pytest.raises(InvalidValue, match=shared):
                engine(name, relation="add-or-remove-one", public_dataset_size=size)
        with pytest.raises(InvalidValue, match=shared):
            engine(name).get_epsilon("1e-5", "add-or-remove-one")
    with pytest.raises(InvalidValue, match="upper bound"):
        engine(TRUNCATED, relation="add-or-remove-one", public_dataset_size=50).make_private(**parts())
    bounded = engine(TRUNCATED, relation="add-or-remove-one", public_dataset_size=70)
    one_pass(bounded.make_private(**parts()))
    ((part, _),) = parts_of(bounded.accountant.composition)
    assert part == Truncated(Fraction(1, 9), 12, 70).sample(Gaussian(Z))
    with pytest.raises(InvalidValue, match="public bound"):
        bounded.get_epsilon("1e-5", "replace-one")
    kept = engine(KEPT_BINS)
    options = parts()
    kept.make_private(**options)
    with pytest.raises(UnsupportedMechanism, match="one loader"):
        kept.make_private(**{**parts(), "data_loader": torch_data.DataLoader(kept.dataset, batch_size=BATCH)})
    with pytest.raises(InvalidValue, match="sampling"):
        engine("importance")
    for name, most in ((TRUNCATED, None), (SHUFFLED, 12), ("poisson", 12), (TRUNCATED, 0)):
        with pytest.raises(InvalidValue, match="max_batch_size"):
            engine(name, max_batch_size=most)
    with pytest.raises(InvalidValue, match="sampling"):
        Way("nothing")


# --- Random allocation to several batches of a pass


def in_two_batches(**options: Any) -> PrivacyEngine:
    return engine(FRESH_BINS, participations=2, **options)


def test_records_in_two_batches_of_every_pass() -> None:
    mine = in_two_batches()
    made = mine.make_private(**parts())
    passes = [one_pass(made), one_pass(made)]
    assert passes[0] != passes[1]
    for batches in passes:
        assert len(batches) == 15  # ⌈2 * 60 / 8⌉
        assert all(len(set(batch)) == len(batch) for batch in batches)
        assert set(Counter(itertools.chain(*batches)).values()) == {2}
    assert made[1].expected_batch_size == 8
    assert parts_of(mine.accountant.composition) == ((RandomlyAllocated(Gaussian(Z), 15, 2), 2),)
    assert Ledger.from_json(mine.ledger().to_json()) == mine.ledger()


@pytest.mark.parametrize("bug", [None, "repetition", "one batch"])
def test_passes_over_two_batches_follow_their_law(bug: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two records, each in two of four batches: every pair of sets as often as any other; planted bugs are not."""
    if bug is not None:
        columns = 2 if bug == "repetition" else 1
        wrong = lambda scheme, n, source: np.stack([source.numbers(4, n) for _ in range(columns)], axis=1)  # noqa: E731
        monkeypatch.setattr(RandomlyAllocated, "deal", wrong)
    sampler = in_two_batches().make_private(**parts(2, 1))[2].batch_sampler
    pairs, runs = list(itertools.combinations(range(4), 2)), 1200
    seen: Counter[Any] = Counter()
    for _ in range(runs):
        batches = list(sampler._batches())
        seen[tuple(tuple(j for j, batch in enumerate(batches) for each in batch if each == i) for i in (0, 1))] += 1
    right = set(seen) == set(itertools.product(pairs, pairs))
    right = right and all(abs(count - runs / 36) < 6 * (runs / 36) ** 0.5 for count in seen.values())
    assert right is (bug is None)


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["zero-out-one", "add-or-remove-one"])
def test_what_may_be_claimed_of_two_batches_of_a_pass(relation: str) -> None:
    mine = in_two_batches(relation=relation, public_dataset_size=60 if relation == "add-or-remove-one" else None)
    one_pass(mine.make_private(**parts(batch=30)))
    assert mine.enclosure("1e-5") == epsilon(RandomlyAllocated(Gaussian(Z), 4, 2), "1e-5", relation)
    assert "seeded" in mine.statement("1e-5")
    assert check_certificate(json.loads(json.dumps(mine.certificate("1e-5")))).holds


def test_a_checkpoint_knows_in_how_many_batches_records_are(tmp_path: Any) -> None:
    mine, once = in_two_batches(), engine(FRESH_BINS)
    made = mine.make_private(**parts())
    one_pass(made)
    mine.save_checkpoint(path=tmp_path / "two", module=made[0], optimizer=made[1])
    with pytest.raises(InvalidValue, match="as it was when saved"):
        once.load_checkpoint(path=tmp_path / "two", module=once.make_private(**parts())[0])
    again = in_two_batches()
    fresh = again.make_private(**parts())
    again.load_checkpoint(path=tmp_path / "two", module=fresh[0], optimizer=fresh[1])
    torch.manual_seed(2)
    one_pass(fresh)
    assert parts_of(again.accountant.composition) == ((RandomlyAllocated(Gaussian(Z), 15, 2), 2),)
    old = engine(FRESH_BINS)
    one_pass(old.make_private(**parts()))
    state = old.accountant.state_dict()
    del state["way"]["participations"]  # type: ignore[attr-defined]  # as checkpoints were before there was a choice
    other = engine(FRESH_BINS)
    other.accountant.load_state_dict(state)
    assert other.accountant.composition == old.accountant.composition


def test_participations_that_are_not_drawn_are_refused() -> None:
    for name, times in ((SHUFFLED, 2), (KEPT_BINS, 2), ("poisson", 2), (FRESH_BINS, 0), (FRESH_BINS, "x")):
        with pytest.raises(InvalidValue, match="participations"):
            engine(name, participations=times)
    with pytest.raises(InvalidValue, match="participations"):  # two records, batches of four: one step
        in_two_batches().make_private(**parts(2, 4))


@pytest.mark.parametrize("bug", ["kept", "a share"])
def test_the_law_would_catch_a_loader_that_draws_otherwise(bug: str) -> None:
    """What the test of laws rests on: bins that are kept, or a record left out, are seen."""
    mine = engine(FRESH_BINS)
    sampler = mine.make_private(**parts(3, 2))[2].batch_sampler
    whole = list(sampler._batches())
    passes = {str(whole if bug == "kept" else list(sampler._batches())) for _ in range(40)}
    assert (len(passes) == 1) is (bug == "kept")
    law = laws(FRESH_BINS)
    assert (tuple(map(tuple, [batch[1:] for batch in whole])) in law) is False
