"""The accountant with Opacus' interface: by itself, with a stand-in for Opacus' registry, and with Opacus."""

from __future__ import annotations

import abc
import json
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import Composed, Gaussian, PoissonSampled
from dpbounds.privacy.publishing.interoperability import (
    CertifiedAccountant,
    drawn_rate,
    get_noise_multiplier,
    opacus_accountant,
    register_with_opacus,
)

ADD_OR_REMOVE = "add-or-remove-one"


def test_steps_are_written_down_as_opacus_does() -> None:
    accountant = CertifiedAccountant("poisson")
    assert (len(accountant), accountant.history, accountant.mechanism()) == (0, [], "certified")
    for z, rate in ((1.0, 0.01), (1.0, 0.01), (2.0, 0.01), (1.0, 0.01)):
        accountant.step(noise_multiplier=z, sample_rate=rate)
    assert accountant.history == [(1.0, 0.01, 2), (2.0, 0.01, 1), (1.0, 0.01, 1)]
    assert len(accountant) == 4
    assert accountant.composition == Composed(
        tuple((PoissonSampled(Gaussian(z), drawn_rate(0.01)), n) for z, n in ((1, 2), (2, 1), (1, 1)))
    )


def test_epsilon_is_the_proven_upper_end() -> None:
    accountant = CertifiedAccountant("poisson")
    assert accountant.get_epsilon(1e-5) == 0
    accountant.history = [(1.0, 0.01, 1000)]  # as Opacus' own calibration sets it
    found = accountant.get_epsilon(delta=1e-5, eps_error=0.01, alphas=[2.0])
    assert isinstance(found, float)
    proven = epsilon(PoissonSampled(Gaussian(1), drawn_rate(0.01)) ** 1000, 1e-5, ADD_OR_REMOVE)
    assert found == proven.upper
    assert Fraction(found) >= proven.exact_upper
    for bad in (0, 1, -1e-5, math.nan):
        with pytest.raises(InvalidValue, match="delta"):
            accountant.get_epsilon(bad)


def test_nothing_is_certified_unless_the_sampling_is_declared() -> None:
    for declared in (None, "shuffled", "", True):
        for certify in (CertifiedAccountant, register_with_opacus):
            with pytest.raises(InvalidValue, match=r"dpbounds\.opacus\.PrivacyEngine"):
                certify(declared)  # type: ignore[arg-type]


def test_the_rate_is_the_one_that_is_drawn_at() -> None:
    accountant = CertifiedAccountant("poisson")
    accountant.history = [(1.0, 1 / 24, 120)]
    asked, drawn = (epsilon(PoissonSampled(Gaussian(1), rate) ** 120, 1e-5) for rate in ("1/24", "699051/16777216"))
    assert asked.exact_upper < drawn.exact_lower
    assert accountant.get_epsilon(1e-5) == drawn.upper


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_one_history_is_proven_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = opacus_accountant.account
    monkeypatch.setattr(opacus_accountant, "account", lambda *a, **k: asked.append(a) or real(*a, **k))
    opacus_accountant._account.cache_clear()
    accountant = CertifiedAccountant("poisson")
    for steps in (7, 7, 8):
        accountant.history = [(3.0, 0.5, steps)]
        for delta in (1e-5, "0.00001", 1e-5, 1e-6):
            accountant.get_epsilon(delta)
        accountant.get_epsilon(1e-5, relation="replace-one")
    assert len(asked) == 2 * 3  # two histories; the double 1e-5 is promised as the decimal
    opacus_accountant._account.cache_clear()


def test_a_step_without_noise_costs_everything() -> None:
    accountant = CertifiedAccountant("poisson")
    accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    accountant.step(noise_multiplier=0.0, sample_rate=0.01)
    assert accountant.get_epsilon(1e-5) == math.inf
    with pytest.raises(InvalidValue, match="no noise"):
        _ = accountant.composition


@pytest.mark.parametrize(("z", "rate"), [(-1.0, 0.1), (math.nan, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, 1.01)])
def test_impossible_steps_are_refused_and_not_written_down(z: float, rate: float) -> None:
    accountant = CertifiedAccountant("poisson")
    with pytest.raises(InvalidValue):
        accountant.step(noise_multiplier=z, sample_rate=rate)
    assert accountant.history == []


def test_a_state_survives_json() -> None:
    accountant = CertifiedAccountant("poisson")
    for step in range(5):
        accountant.step(noise_multiplier=1.0 + step // 3, sample_rate=0.1)
    into: dict[str, object] = {"other": 1}
    assert accountant.state_dict(into) is into
    assert into["other"] == 1
    other = CertifiedAccountant("poisson")
    other.step(noise_multiplier=9.0, sample_rate=1.0)
    other.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
    assert other.history == accountant.history == [(1.0, 0.1, 3), (2.0, 0.1, 2)]
    other.step(noise_multiplier=2.0, sample_rate=0.1)
    assert accountant.history[-1][2] == 2


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"history": []},
        {"mechanism": "certified"},
        {"history": [], "mechanism": "rdp"},
        {"history": [], "mechanism": "certified"},  # as older versions wrote it
        {"history": [], "mechanism": "certified", "sampling": "shuffled"},
        {"history": 3, "mechanism": "certified", "sampling": "poisson"},
        {"history": [(1.0, 0.1)], "mechanism": "certified", "sampling": "poisson"},
        {"history": [(1.0, 0.0, 3)], "mechanism": "certified", "sampling": "poisson"},
        {"history": [(1.0, 0.1, 2.5)], "mechanism": "certified", "sampling": "poisson"},
    ],
)
def test_a_state_that_is_none_is_refused_and_changes_nothing(state: dict[str, object]) -> None:
    accountant = CertifiedAccountant("poisson")
    accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    with pytest.raises(InvalidValue):
        accountant.load_state_dict(state)
    assert accountant.history == [(1.0, 0.1, 1)]


def test_the_optimisers_hook_writes_steps_and_refuses_what_is_no_poisson_sample() -> None:
    accountant = CertifiedAccountant("poisson")
    hook = accountant.get_optimizer_hook_fn(sample_rate=0.25)
    hook(SimpleNamespace(noise_multiplier=1.5, accumulated_iterations=1))
    assert accountant.history == [(1.5, 0.25, 1)]
    with pytest.raises(UnsupportedMechanism, match="BatchMemoryManager"):
        hook(SimpleNamespace(noise_multiplier=1.5, accumulated_iterations=2))
    with pytest.raises(UnsupportedMechanism, match="adaptive clipping"):
        hook(SimpleNamespace(noise_multiplier=1.5, accumulated_iterations=1, unclipped_num_std=10.0))
    assert len(accountant) == 1


class FakeRegistry:
    """As much of ``opacus.accountants`` as registration needs."""

    def __init__(self) -> None:
        self.known: dict[str, type] = {}
        self.module = ModuleType("opacus.accountants")
        vars(self.module).update(
            IAccountant=abc.ABCMeta("IAccountant", (), {}),
            create_accountant=self.create,
            register_accountant=self.register,
        )

    def create(self, mechanism: str) -> object:
        if mechanism not in self.known:
            raise ValueError(mechanism)
        return self.known[mechanism]()

    def register(self, mechanism: str, accountant: type) -> None:
        if mechanism in self.known:
            raise ValueError(mechanism)
        self.known[mechanism] = accountant


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> FakeRegistry:
    fake = FakeRegistry()
    monkeypatch.setitem(sys.modules, "opacus", ModuleType("opacus"))
    monkeypatch.setitem(sys.modules, "opacus.accountants", fake.module)
    monkeypatch.setattr(opacus_accountant, "demand_known_sampler", lambda rate: None)  # there is none to look at
    return fake


def test_registration_is_done_once(registry: FakeRegistry) -> None:
    for _ in range(2):
        register_with_opacus("poisson")
    made = registry.known["certified"]()
    assert (type(made), made.sampling) == (CertifiedAccountant, "poisson")
    assert isinstance(CertifiedAccountant("poisson"), registry.module.IAccountant)


def test_a_name_that_is_taken_is_not_taken_over(registry: FakeRegistry) -> None:
    registry.known["certified"] = dict
    with pytest.raises(DpboundsError, match="already has another accountant"):
        register_with_opacus("poisson")


def test_without_opacus_or_its_registry_the_error_says_what_to_install(
    registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    del registry.module.register_accountant
    with pytest.raises(DpboundsError, match="newer"):
        register_with_opacus("poisson")
    monkeypatch.setitem(sys.modules, "opacus", None)
    monkeypatch.setitem(sys.modules, "opacus.accountants", None)
    with pytest.raises(DpboundsError, match=r"pip install 'dpbounds\[opacus\]'"):
        register_with_opacus("poisson")


# --- With Opacus ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # what PyTorch and Opacus warn of is not ours
class TestWithOpacus:
    """Skipped where Opacus is not installed."""

    @pytest.fixture(autouse=True)
    def _registered(self) -> Iterator[None]:
        pytest.importorskip("opacus")
        from opacus.accountants import registry

        known = dict(registry._ACCOUNTANTS)
        register_with_opacus("poisson")
        register_with_opacus("poisson")
        yield
        registry._ACCOUNTANTS.clear()
        registry._ACCOUNTANTS.update(known)

    def parts(self, batch_size: int = 8) -> dict[str, Any]:
        """A linear model, its optimiser, and a loader of 64 records."""
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1)
        data = torch.utils.data.TensorDataset(torch.randn(64, 3), torch.randn(64, 1))
        return {
            "module": model,
            "optimizer": torch.optim.SGD(model.parameters(), lr=0.01),
            "data_loader": torch.utils.data.DataLoader(data, batch_size=batch_size),
            "max_grad_norm": 1.0,
        }

    def train(self, model: Any, optimizer: Any, loader: Any, batches_per_step: int = 1) -> None:
        import torch

        for number, (x, y) in enumerate(loader, start=1):
            torch.nn.functional.mse_loss(model(x), y).backward()
            if number % batches_per_step == 0:
                optimizer.step()
                optimizer.zero_grad()

    def test_opacus_makes_one_by_its_name(self) -> None:
        from opacus.accountants import IAccountant, create_accountant

        accountant = create_accountant("certified")
        assert isinstance(accountant, CertifiedAccountant)
        assert isinstance(accountant, IAccountant)

    @pytest.mark.seconds
    def test_a_checkpoint_keeps_what_was_spent(self, tmp_path: Any) -> None:
        from opacus import PrivacyEngine

        engine = PrivacyEngine(accountant="certified")
        model, optimizer, loader = engine.make_private(**self.parts(), noise_multiplier=1.25)
        self.train(model, optimizer, loader)
        engine.save_checkpoint(path=tmp_path / "checkpoint", module=model)
        other = PrivacyEngine(accountant="certified")
        other.load_checkpoint(path=tmp_path / "checkpoint", module=model)
        assert other.accountant.history == engine.accountant.history == [(1.25, 1 / 8, 8)]

    def test_accumulated_batches_are_refused(self) -> None:
        from opacus import PrivacyEngine

        engine = PrivacyEngine(accountant="certified")
        model, optimizer, loader = engine.make_private(**self.parts(), noise_multiplier=1.0, poisson_sampling=False)
        with pytest.raises(UnsupportedMechanism, match="2 batches"):
            self.train(model, optimizer, loader, batches_per_step=2)

    def test_adaptive_clipping_is_refused(self) -> None:
        from opacus import PrivacyEngine

        engine = PrivacyEngine(accountant="certified")
        adaptive = {
            "clipping": "adaptive",
            "target_unclipped_quantile": 0.5,
            "clipbound_learning_rate": 0.2,
            "max_clipbound": 2.0,
            "min_clipbound": 0.1,
            "unclipped_num_std": 2.0,
        }
        model, optimizer, loader = engine.make_private(**self.parts(), noise_multiplier=1.0, **adaptive)
        with pytest.raises(UnsupportedMechanism, match="adaptive clipping"):
            self.train(model, optimizer, loader)

    @pytest.mark.seconds
    def test_opacus_calibrates_with_it_and_keeps_the_budget(self) -> None:
        from opacus import PrivacyEngine
        from opacus.accountants.utils import get_noise_multiplier as theirs

        engine = PrivacyEngine(accountant="certified")
        model, optimizer, loader = engine.make_private_with_epsilon(
            **self.parts(), target_epsilon=2.0, target_delta=1e-5, epochs=2
        )
        for _ in range(2):
            self.train(model, optimizer, loader)
        assert 1.98 < engine.get_epsilon(1e-5) <= 2
        budget = {"target_epsilon": 2.0, "target_delta": 1e-5, "sample_rate": 1 / 8, "steps": 16}
        mine = get_noise_multiplier(**budget)
        assert mine <= theirs(**budget, accountant="certified") <= mine * 1.02
