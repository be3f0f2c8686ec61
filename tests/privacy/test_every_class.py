"""Every shape of mechanism by everything that asks for its classes of neighbours: the dearest class counts.

A record lies in one block of a partition, in one dataset or the other. Whatever is said of a mechanism must therefore
be at least what is said of each block run alone, and of each direction alone. Mechanisms and askers are enumerated from
the packages: a new one without an entry here fails.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

import dpbounds.privacy
from dpbounds.algorithms import ledger, ledger_format, planned, planning, sampling
from dpbounds.errors import DpboundsError
from dpbounds.privacy import mechanisms
from dpbounds.privacy.accountants import (
    attackers,
    groups as group_accounts,
    rounds,
    side_by_side as methods,
    trade_off,
    tuning,
)
from dpbounds.privacy.accountants.certified import account, delta, delta_curve, epsilon
from dpbounds.privacy.accountants.numbers_of_runs import RandomRuns
from dpbounds.privacy.budgets import calibration, filters, remaining, targets
from dpbounds.privacy.budgets.held import least_by_moments, proven_at_once
from dpbounds.privacy.domination import composition as domination
from dpbounds.privacy.mechanisms import Composed, InParallel, Mechanism, PoissonSampled
from dpbounds.privacy.mechanisms.descriptions import SAMPLINGS
from dpbounds.privacy.publishing import certificates
from dpbounds.privacy.publishing.interoperability.events import from_dp_event, to_dp_event
from dpbounds.privacy.publishing.interoperability.loss_distributions import to_privacy_loss_distribution
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi import accountant as renyi, concentrated_accounts
from dpbounds.privacy.values import Budget
from dpbounds.theorems import spending

AR, RE, ZO = Relation
EPSILON, DELTA = Fraction(1, 4), Fraction(1, 20)
ROUGH = 1e-2  # relative tolerance asked of accounts
SLACK = 1.03  # of two proven upper ends, and of searches

# --- Mechanisms: a strong and a weak one of each kind -----------------------------------------------------------------

LEAVES: dict[type[Mechanism], Callable[[Fraction, Relation], Mechanism]] = {  # from a factor on the noise
    mechanisms.Gaussian: lambda s, _: mechanisms.Gaussian(s),
    mechanisms.LastIterate: lambda s, _: mechanisms.LastIterate(
        mechanisms.Gaussian(s), batches=3, epochs=2, smoothness_step="0.1", order="shuffled"
    ),
    mechanisms.Laplace: lambda s, _: mechanisms.Laplace(s),
    mechanisms.UniformBall: lambda s, _: mechanisms.UniformBall(8 * s, 2),
    mechanisms.DiscreteLaplace: lambda s, _: mechanisms.DiscreteLaplace(s),
    mechanisms.Skellam: lambda s, _: mechanisms.Skellam(s * s, dimension=1),
    mechanisms.DiscreteGaussian: lambda s, _: mechanisms.DiscreteGaussian(s, dimension=1),
    mechanisms.MixtureOfGaussians: lambda s, _: mechanisms.MixtureOfGaussians(s, {0: "0.2", "0.5": "0.3", 1: "0.5"}),
    mechanisms.PermuteAndFlip: lambda s, declared: mechanisms.PermuteAndFlip(1 / s, relation=declared),
    mechanisms.RandomizedResponse: lambda s, _: mechanisms.RandomizedResponse(1 / s),
    mechanisms.ExponentialMechanism: lambda s, declared: mechanisms.ExponentialMechanism(1 / s, relation=declared),
    mechanisms.AboveThreshold: lambda s, declared: mechanisms.AboveThreshold(1 / s, relation=declared),
    mechanisms.PureDP: lambda s, declared: mechanisms.PureDP(1 / s, relation=declared),
    mechanisms.ApproximateDP: lambda s, declared: mechanisms.ApproximateDP(1 / s, DELTA / 8 / s, relation=declared),
    mechanisms.ZCDP: lambda s, declared: mechanisms.ZCDP(1 / s**2, relation=declared),
    mechanisms.RenyiDP: lambda s, declared: mechanisms.RenyiDP({2: 1 / s, 8: 3 / s}, relation=declared),
    mechanisms.GaussianDP: lambda s, declared: mechanisms.GaussianDP(1 / s, relation=declared),
    mechanisms.ProfileDP: lambda s, declared: mechanisms.ProfileDP({1 / s: DELTA / 8 / s}, relation=declared),
    mechanisms.MatrixMechanism: lambda s, _: mechanisms.MatrixMechanism(
        s, [[1], [-1, 1]], "fixed-order", separation=1, groups="content"
    ),
    mechanisms.TruncatedDiscreteLaplace: lambda s, _: mechanisms.TruncatedDiscreteLaplace(s, reach=20),
    mechanisms.TruncatedDiscreteGaussian: lambda s, _: mechanisms.TruncatedDiscreteGaussian(s, reach=12),
    mechanisms.NoiseInShares: lambda s, _: mechanisms.NoiseInShares("gaussian", s * s / 4, 5, colluding=1),
}


@dataclass(frozen=True)
class Case:
    """A mechanism, and what a record of each class meets of it, without blocks."""

    whole: Mechanism
    alone: tuple[Mechanism, ...]


def _beside(one: Case, other: Mechanism) -> Case:
    return Case(one.whole @ other, tuple(each @ other for each in one.alone))


def _blocks(weak: Mechanism, strong: Mechanism) -> Case:
    return Case(InParallel((weak, strong)), (weak, strong))


def _sampled(inner: Mechanism) -> Mechanism:
    return PoissonSampled(inner, "0.5")


SHAPES: dict[str, Callable[[Mechanism, Mechanism], Case]] = {
    "bare": lambda weak, strong: Case(strong, (strong,)),
    "weak block first": lambda weak, strong: _blocks(weak, strong),
    "strong block first": lambda weak, strong: _blocks(strong, weak),
    "blocks by index": lambda weak, strong: Case(InParallel((weak, strong), "index"), (weak, strong)),
    "by index, strong first": lambda weak, strong: Case(InParallel((strong, weak), "index"), (weak, strong)),
    "sampled": lambda weak, strong: Case(_sampled(strong), (_sampled(strong),)),
    "a fixed number": lambda weak, strong: Case(mechanisms.SampledWithoutReplacement(strong, 1, 4), ()),
    "shuffled": lambda weak, strong: Case(mechanisms.Shuffled(strong, 4), ()),
    "drawn": lambda weak, strong: Case(mechanisms.SampledWithReplacement(strong, 2, 4), ()),
    "cut": lambda weak, strong: Case(mechanisms.TruncatedPoisson(strong, "0.5", 2, 4), ()),
    "by user": lambda weak, strong: Case(mechanisms.PoissonByUser(strong, "0.5"), ()),
    "allocated": lambda weak, strong: Case(mechanisms.RandomlyAllocated(strong, 3), ()),
    "in bins": lambda weak, strong: Case(mechanisms.BallsInBins(strong, 2, 2, redraw=False), ()),
    "sampled blocks": lambda weak, strong: _blocks(_sampled(weak), _sampled(strong)),
    "a sample of blocks": lambda weak, strong: Case(
        _sampled(InParallel((weak, strong))), (_sampled(weak), _sampled(strong))
    ),
    "drawn blocks by index": lambda weak, strong: Case(
        InParallel(tuple(mechanisms.SampledWithoutReplacement(each, 1, 4) for each in (weak, strong)), "index"),
        tuple(mechanisms.SampledWithoutReplacement(each, 1, 4) for each in (weak, strong)),
    ),
    "nested": lambda weak, strong: Case(InParallel((weak, InParallel((weak, strong)))), (weak, strong)),
    "composed": lambda weak, strong: _beside(_blocks(weak, strong), mechanisms.Gaussian(8)),
    "twice": lambda weak, strong: Case(InParallel((weak, strong)) ** 2, (weak**2, strong**2)),
    "two partitions": lambda weak, strong: Case(
        InParallel((weak, strong)) @ InParallel((strong, weak)), (strong @ strong, weak @ weak, weak @ strong)
    ),
}
COMBINED = {InParallel, Composed, *SAMPLINGS.values()}


def _declared(shape: str, leaf: type[Mechanism], relation: Relation) -> Case:
    """With guarantees under add-or-remove-one where blocks or samples need them."""
    for declared in (relation, AR):
        case = SHAPES[shape](LEAVES[leaf](Fraction(10), declared), LEAVES[leaf](Fraction(1), declared))
        try:
            domination.neighbour_classes(case.whole, relation)
        except DpboundsError:
            continue
        return case
    return case


# --- Askers: each gives a number that is larger where more is spent ---------------------------------------------------

Number = Fraction | float
Asker = Callable[[Mechanism, Relation], Number]


def _louder(mechanism: Mechanism) -> Callable[[Fraction], Mechanism]:
    """From a noise multiplier to the mechanism beside as much noise: monotone in it."""
    return lambda z: mechanism @ mechanisms.Gaussian(z)


def _method(name: methods.Method, mechanism: Mechanism, relation: Relation) -> Number:
    found = methods.by_method(name, mechanism, delta=DELTA, relation=relation)
    assert found.enclosure is not None or found.value is not None
    return found.enclosure.exact_upper if found.enclosure is not None else found.value or 0.0


def _remaining(mechanism: Mechanism, relation: Relation) -> Number:
    return remaining.remaining(mechanism, 100, DELTA, relation).spent.enclosure.exact_upper


def _more_that_fit(mechanism: Mechanism, relation: Relation) -> Number:
    return -remaining.remaining(mechanism, 8, DELTA, relation).more


def _odometer(mechanism: Mechanism, relation: Relation) -> Number:
    return filters.Odometer.ladder(DELTA, relation, smallest_rho="0.01", rungs=4).spend(mechanism).spent()[0]


def _renyi_filter(mechanism: Mechanism, relation: Relation) -> Number:
    (cost,) = filters.RenyiFilter.for_target([2], 100, DELTA, relation).cost(mechanism)
    return cost


def _renyi_filter_spends(mechanism: Mechanism, relation: Relation) -> Number:
    budget = filters.RenyiFilter.for_target([2], 100, DELTA, relation)
    assert budget.admits(mechanism)
    return budget.spend(mechanism).spent[0]


def _certified(mechanism: Mechanism, relation: Relation) -> Number:
    found = account(mechanism, delta=DELTA, relation=relation)
    assert certificates.check_certificate(certificates.certificate(found)).holds
    return found.enclosure.exact_upper


def _by_ledger(mechanism: Mechanism, relation: Relation) -> Number:
    again = ledger.Ledger.from_json(ledger_format.write_releases(mechanism))
    assert again.mechanism() == Composed(mechanisms.parts_of(ledger_format.read_releases(again.to_json())))
    return again.spent(DELTA, relation).exact_upper


def _kept_by_ledger(mechanism: Mechanism, relation: Relation) -> Number:
    written = ledger.BudgetedLedger(filters.RenyiFilter.for_target([2], 100, DELTA, relation))
    written.release(mechanism)
    kept = written.privacy_filter
    assert isinstance(kept, filters.RenyiFilter)
    return kept.spent[0]


def _events(mechanism: Mechanism, relation: Relation) -> Number:
    return epsilon(
        from_dp_event(to_dp_event(mechanism, relation), relation), DELTA, relation, tolerance=ROUGH
    ).exact_upper


def _held_at_once(mechanism: Mechanism, relation: Relation) -> Number:
    found = proven_at_once(_louder(mechanism), Budget(Fraction(8), DELTA, relation), "noise").safe
    assert found is not None
    return found


def _written_losses(mechanism: Mechanism, relation: Relation) -> Number:
    written = to_privacy_loss_distribution(mechanism, relation, interval=0.25, tail="1e-2")
    return Fraction(float(written.get_delta_for_epsilon(0.5)))


ASKERS: dict[str, Asker] = {
    "accountants.certified.epsilon": lambda m, relation: epsilon(m, DELTA, relation, tolerance=ROUGH).exact_upper,
    "accountants.certified.delta": lambda m, relation: delta(m, EPSILON, relation, tolerance=ROUGH).exact_upper,
    "accountants.certified.account": lambda m, relation: (
        account(m, epsilon=0, relation=relation, tolerance=ROUGH).enclosure.exact_upper
    ),
    "budgets.calibration.calibrate": lambda m, relation: calibration.calibrate(_louder(m), 8, DELTA, relation).value,
    "budgets.calibration.sufficient_noise": lambda m, relation: calibration.sufficient_noise(
        _louder(m), Budget(Fraction(8), DELTA, relation)
    ),
    "renyi.concentrated_accounts.zcdp_rho": concentrated_accounts.zcdp_rho,
    "renyi.concentrated_accounts.zcdp_epsilon": lambda m, relation: (
        concentrated_accounts.zcdp_epsilon(m, DELTA, relation).exact_upper
    ),
    "renyi.concentrated_accounts.gdp_clt_epsilon": lambda m, relation: (
        concentrated_accounts.gdp_clt_epsilon(m, DELTA, relation).epsilon
    ),
    "budgets.filters.squared_shift": filters.squared_shift,
    "budgets.filters.zcdp_cost": filters.zcdp_cost,
    "budgets.filters.renyi_cost": lambda m, relation: filters.renyi_cost(m, Fraction(2), relation),
    "budgets.filters.ZCDPFilter.cost": lambda m, relation: filters.ZCDPFilter.of(100, relation).cost(m),
    "budgets.filters.GaussianFilter.cost": lambda m, relation: filters.GaussianFilter.of(100, relation).cost(m),
    "budgets.filters.RenyiFilter.cost": _renyi_filter,
    "budgets.filters.RenyiFilter.admits": _renyi_filter_spends,
    "budgets.filters.RenyiFilter.spend": _renyi_filter_spends,
    "budgets.filters.Odometer.spend": _odometer,
    "accountants.groups.group_account": lambda m, relation: (
        group_accounts.group_account(m, 2, epsilon=EPSILON, relation=relation).exact_upper
    ),
    "budgets.group_crossing.calibrated_for_groups": lambda m, relation: (
        calibration.calibrate(_louder(m), 8, DELTA, relation, group_size=2).value
    ),
    "publishing.interoperability.events.to_dp_event": _events,
    "accountants.side_by_side.by_method": lambda m, relation: _method("basic", m, relation),
    "accountants.side_by_side.all_methods": lambda m, relation: _method("rdp", m, relation),
    "budgets.held.least_by_moments": lambda m, relation: least_by_moments(
        _louder(m), Fraction(100), Budget(Fraction(20), DELTA, relation), "noise"
    ),
    "budgets.remaining.remaining": _remaining,
    "budgets.remaining.more": _more_that_fit,
    "renyi.accountant.renyi_curve": lambda m, relation: renyi.renyi_curve(m, relation).upper(2),
    "renyi.accountant.renyi_epsilon": lambda m, relation: renyi.renyi_epsilon(m, DELTA, relation).enclosure.exact_upper,
    "renyi.accountant.renyi_delta": lambda m, relation: renyi.renyi_delta(m, EPSILON, relation).enclosure.exact_upper,
    "budgets.targets.calibrate_to_curve": lambda m, relation: (
        targets.calibrate_to_curve(_louder(m), [(8, DELTA)], relation).value
    ),
    "budgets.targets.calibrate_to_total_variation": lambda m, relation: (
        targets.calibrate_to_total_variation(_louder(m), "0.99", relation).value
    ),
    "budgets.targets.calibrate_to_zcdp": lambda m, relation: targets.calibrate_to_zcdp(_louder(m), 20, relation),
    "budgets.targets.calibrate_by_renyi": lambda m, relation: targets.calibrate_by_renyi(
        _louder(m), 20, DELTA, relation
    ),
    "accountants.certified.delta_curve": lambda m, relation: (
        delta_curve(m, [0, 1], relation, tolerance=ROUGH)[1].exact_upper
    ),
    "accountants.attackers.largest_true_positive_rate": lambda m, relation: attackers.largest_true_positive_rate(
        m, Fraction(1, 10), relation
    ),
    "accountants.trade_off.TradeOff.of": lambda m, relation: (
        1 - trade_off.TradeOff.of(m, [0, 1], relation, tolerance=ROUGH)("0.1")
    ),
    "accountants.trade_off.membership_advantage": lambda m, relation: (
        trade_off.membership_advantage(m, relation, tolerance=ROUGH).exact_upper
    ),
    "accountants.tuning.tuned_fixed": lambda m, relation: tuning.tuned_fixed(m, 2, DELTA, relation).exact_upper,
    "accountants.tuning.tuned_epsilon": lambda m, relation: tuning.tuned_epsilon(m, RandomRuns("0.5"), DELTA, relation),
    "accountants.tuning.tuned_enclosure": lambda m, relation: (
        tuning.tuned_enclosure(m, RandomRuns("0.5"), DELTA, relation).exact_upper
    ),
    "publishing.certificates": _certified,
    "accountants.certified.epsilon at 0": lambda m, relation: epsilon(m, 0, relation).exact_upper,
    "spending.only_gaussians": lambda m, relation: -float(spending.only_gaussians(m, relation)),
    "ledger.closed.Ledger": _by_ledger,
    "ledger.writing.BudgetedLedger.release": _kept_by_ledger,
    "budgets.held.proven_at_once": _held_at_once,
    "accountants.tuning.tuned_guarantee": lambda m, relation: (
        epsilon(
            tuning.tuned_guarantee(m, RandomRuns("0.5"), relation, least_delta=DELTA / 10), DELTA, relation
        ).exact_upper
    ),
    "publishing.interoperability.loss_distributions.to_privacy_loss_distribution": _written_losses,
    "accountants.rounds.after_rounds": lambda m, relation: (
        rounds.after_rounds(m, [1], delta=DELTA, relation=relation, tolerance=ROUGH)[1].exact_upper
    ),
}

# --- The enumeration -------------------------------------------------------------------------------------------------

NO_NUMBER = {  # what takes a mechanism and does not say what it spends
    "domination.composition.neighbour_classes": "makes the classes",
    "mechanisms.bounds.classes_of": "makes the classes",
    "mechanisms.bounds.base_of": "makes the pair of one class",
    "mechanisms.bounds.single_pair": "makes the pair of one class",
    "mechanisms.bounds.classes_of_composition": "makes the classes",
    "mechanisms.bounds.classes_of_partition": "makes the classes",
    "mechanisms.bounds.grouped": "looks inside",
    "mechanisms.bounds.blocks_of": "looks inside",
    "mechanisms.demands.has": "looks inside",
    "mechanisms.demands.demand_no_fixed_size": "looks inside",
    "mechanisms.demands.demand_no_final_distance": "looks inside",
    "mechanisms.demands.demand_blind": "looks inside",
    "mechanisms.demands.demand_noise_on_sums": "looks inside",
    "mechanisms.demands.demand_no_blocks": "looks inside",
    "mechanisms.demands.demand_no_allocation": "looks inside",
    "mechanisms.schemes.fixed_size.zeroed": "makes the pair of one class",
    "mechanisms.schemes.streams.stream_steps": "makes the classes",
    "mechanisms.schemes.bins.bins_steps": "makes the classes",
    "mechanisms.schemes.bins.stride_of": "a choice, of which any is sound",
    "mechanisms.core.parts_of": "looks inside",
    "budgets.filters.PrivacyFilter.admits": "a protocol",
    "budgets.filters.PrivacyFilter.spend": "a protocol",
    "budgets.batch_room.least_max_batch_size": "a size, for one kind of sample: its answer holds for every class",
    "mechanisms.descriptions.described": "describes",
    "mechanisms.descriptions.written": "describes",
    "mechanisms.descriptions.digest": "describes",
    "mechanisms.descriptions.canonical": "describes",
    "publishing.certificates.releases.why_no_certificate": "looks at the kind",
    "publishing.certificates.releases.release_of": "writes it down",
    "publishing.statements.why_no_statement": "looks at the kind",
    "accountants.probable.sampled.mixture_of": "makes what is sampled",
    "accountants.probable.answers.probable_epsilon": "of two kinds without blocks, the largest shift of all classes",
    "accountants.probable.answers.probable_delta": "the same",
    "sampling.Bins.visited": "makes a mechanism of one",
    "sampling.Allocated.visited": "makes a mechanism of one",
    "ledger.writing.OpenLedger.visit": "writes it down",
    "sampling.Shuffle.visited": "makes a mechanism of one",
    "sampling.Cyclic.visited": "makes a mechanism of one",
    "sampling.Correlated.visited": "makes a mechanism of one",
    "sampling.Truncated.sample": "wraps",
    "ledger.writing.Visits.release": "writes it down",
    "sampling.Batch.sample": "wraps",
    "sampling.Poisson.sample": "wraps",
    "sampling.sampled": "wraps",
    "planned.demand_within_plan": "compares descriptions, and asks no classes",
    "ledger.closed.Ledger.check_plan": "compares descriptions, and asks no classes",
    "ledger.writing.OpenLedger.release": "writes down",
    "ledger_format.demand_one_size": "compares numbers of records",
    "ledger_format.write_releases": "writes down; what is read back is asked by ledger.closed.Ledger",
    "ledger_format.described_entry": "writes down",
    "planning.multiplier_within": "budgets.calibration.calibrate, rounded",
    "accountants.attackers.trade_off": "accountants.attackers.largest_true_positive_rate, from 1",
    "accountants.attackers.true_positive_rate": "accountants.attackers.largest_true_positive_rate, with a lower end",
    "accountants.attackers.reconstruction_risk": "accountants.attackers.true_positive_rate",
    "accountants.attackers.bayes_risk": "accountants.certified.delta",
    "accountants.gaussian_dp.gdp_parameter": "accountants.certified.delta_curve, and the full batch of each class",
    "accountants.gaussian_dp.largest_mu": "accountants.gaussian_dp.gdp_parameter, the upper end alone",
    "budgets.attacker_targets.calibrate_to_true_positive_rate": "a search by accountants.attackers.true_positive_rate",
    "accountants.trade_off.TradeOff.within": "accountants.certified.delta at several ε",
    "budgets.cheaper.cheaper_noise": "budgets.calibration.sufficient_noise of another scheme",
    "budgets.cheaper.cheaper_epsilon": "accountants.certified.account of another scheme",
    "budgets.attacker_targets.calibrate_to_gdp": "a search by accountants.gaussian_dp.gdp_parameter",
    "accountants.gaussian_dp.gdp_parameter_of_all_tests": "accountants.gaussian_dp.gdp_parameter, and a bound",
    "accountants.arrows.arrow_of": "a row of a table",
    "accountants.convert.convert": "the accountant of each notion: an entry of its own",
    "budgets.pure.calibrated_purely": "a search by accountants.groups.group_account",
    "accountants.groups.group_products": "accountants.groups.group_account, before any number",
    "publishing.certificates.writing.account_of_group": "accountants.groups.group_account, with what was asked",
    "accountants.groups.with_fewest": "makes a mechanism of one",
    "accountants.groups.is_attained": "whether accountants.groups.group_account is attained",
    "accountants.certified.account_at": "accountants.certified.account, for values that were checked",
    "renyi.accountant.converted": "renyi.accountant.renyi_epsilon and renyi_delta, for values that were checked",
    "budgets.held.improved": "renyi.accountant.converted",
    "budgets.calibration.calibrate_within": "budgets.calibration.calibrate, for values that were checked",
}
USERS = {  # modules that ask for classes; those of the command line ask only whether all are tight, and describe each
    *(
        "accountants.attackers",
        "accountants.certified",
        "accountants.convert",
        "accountants.gaussian_dp",
        "accountants.probable.sampled",
        "accountants.tuning",
        "budgets.attacker_targets",
        "budgets.calibration",
        "budgets.evidence",
        "budgets.group_crossing",
        "budgets.held",
        "budgets.targets",
        "publishing.certificates.checking",
        "publishing.certificates.claims",
        "publishing.hints",
        "publishing.kernel.checking",
        "publishing.kernel.writing",
        "renyi.concentrated_accounts",
        "budgets.filters",
        "accountants.groups",
        "renyi.accountant",
    ),
    *(
        "budgets.batch_room",
        "publishing.interoperability.events",
        "publishing.interoperability.loss_distributions",
        "publishing.interoperability.privacy_accountant",
        "spending",
        "cli.verbs.calibrate",
        "cli.answers.explanation",
        "cli.answers.methods",
    ),
}


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(dpbounds.privacy.__path__, "dpbounds.privacy."):
        if not found.name.endswith("opacus_accountant"):
            yield importlib.import_module(found.name)
    yield from (spending, ledger.closed, ledger.releases, ledger.writing, ledger_format, planned, planning, sampling)


def _short(name: str) -> str:
    for prefix in ("dpbounds.privacy.", "dpbounds.theorems.", "dpbounds.algorithms.", "dpbounds."):
        name = name.removeprefix(prefix)
    return name


def _takes_a_mechanism(function: object) -> bool:
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function):
        return False
    kinds = [str(parameter.annotation) for parameter in inspect.signature(function).parameters.values()]
    return any("Mechanism" in kind or kind == "Step" for kind in kinds)


def _askers() -> Iterator[str]:
    for module in _modules():
        for name, member in vars(module).items():
            if getattr(member, "__module__", None) != module.__name__ or name.startswith("_"):
                continue
            if _takes_a_mechanism(member):
                yield _short(f"{module.__name__}.{name}")
            elif inspect.isclass(member) and not issubclass(member, Mechanism):
                methods_of = (method for method, inner in vars(member).items() if _takes_a_mechanism(inner))
                yield from (
                    _short(f"{module.__name__}.{name}.{each}") for each in methods_of if not each.startswith("_")
                )


def test_every_asker_has_an_entry() -> None:
    assert set(_askers()) <= set(ASKERS) | set(NO_NUMBER)


def test_every_mechanism_has_an_entry() -> None:
    every = {getattr(mechanisms, name) for name in mechanisms.__all__} - {mechanisms.parts_of, Mechanism}
    assert every == set(LEAVES) | COMBINED
    used = {type(part) for shape in SHAPES for part in _declared(shape, mechanisms.Gaussian, AR).whole.nested()}
    assert used >= COMBINED


def test_nobody_else_asks_for_classes() -> None:
    importlib.import_module("dpbounds.cli.answers.explanation")
    users = {
        _short(name)
        for name, module in list(sys.modules.items())
        if name.startswith(("dpbounds.", "dpbounds.algorithms.")) and hasattr(module, "neighbour_classes")
    }
    assert users - {"domination.composition"} <= USERS


def test_classes_have_no_positions() -> None:
    classes = domination.neighbour_classes(SHAPES["composed"](*_pair(mechanisms.Gaussian)).whole, AR)
    for accident in (lambda: classes[0], lambda: len(classes), lambda: list(classes), lambda: classes.every()[0]):  # type: ignore[arg-type, call-overload, index]
        with pytest.raises(TypeError):
            accident()


# --- The dearest class counts ----------------------------------------------------------------------------------------


def _pair(leaf: type[Mechanism]) -> tuple[Mechanism, Mechanism]:
    return LEAVES[leaf](Fraction(10), AR), LEAVES[leaf](Fraction(1), AR)


def _asked(asker: str, mechanism: Mechanism, relation: Relation) -> Number | None:
    """The number; None where it is refused for a reason."""
    try:
        return ASKERS[asker](mechanism, relation)
    except DpboundsError:
        return None


def _at_least(found: Number, reference: Number) -> bool:
    return found == reference or float(found) >= float(reference) - (SLACK - 1) * abs(float(reference))


def _check(asker: str, case: Case, relation: Relation) -> bool:
    """Whether there was an answer; it is at least that for each class alone."""
    found = _asked(asker, case.whole, relation)
    if found is None:
        return False
    for each in case.alone:
        reference = _asked(asker, each, relation)
        assert reference is None or _at_least(found, reference), (asker, case.whole, each, relation)
    return True


BLOCKS = (
    ("bare", AR),
    ("weak block first", AR),
    ("strong block first", AR),
    ("blocks by index", RE),
    ("by index, strong first", RE),
    ("blocks by index", ZO),
    ("by index, strong first", ZO),
    ("drawn blocks by index", ZO),
    ("sampled", ZO),
)
SLOW = {
    "publishing.interoperability.loss_distributions.to_privacy_loss_distribution",
    *(
        "budgets.targets.calibrate_by_renyi",
        "budgets.held.least_by_moments",
        "budgets.remaining.remaining",
        "budgets.remaining.more",
    ),
    *(
        "publishing.interoperability.events.to_dp_event",
        "accountants.tuning.tuned_epsilon",
        "accountants.tuning.tuned_fixed",
        "accountants.tuning.tuned_guarantee",
    ),
    *("accountants.tuning.tuned_enclosure", "budgets.group_crossing.calibrated_for_groups"),
}


def _layer(asker: str) -> Any:
    if asker.startswith("budgets.remaining"):
        return pytest.mark.minutes
    return pytest.mark.seconds if asker in SLOW else ()


@pytest.mark.seconds_cases(
    "renyi.accountant.renyi_delta", "budgets.targets.calibrate_to_zcdp", "budgets.targets.calibrate_to_total_variation"
)
@pytest.mark.one_in(4)
@pytest.mark.parametrize("asker", [pytest.param(each, marks=_layer(each)) for each in ASKERS])
def test_the_worst_block_counts(asker: str) -> None:
    cases = [(_declared(shape, mechanisms.Gaussian, relation), relation) for shape, relation in BLOCKS]
    answered = [_check(asker, case, relation) for case, relation in cases]
    assert any(answered)


QUICK = (
    *(
        "accountants.certified.delta",
        "renyi.concentrated_accounts.zcdp_rho",
        "budgets.filters.squared_shift",
        "budgets.filters.zcdp_cost",
    ),
    *("budgets.filters.renyi_cost", "renyi.accountant.renyi_curve", "accountants.certified.epsilon at 0"),
)


@pytest.mark.seconds
@pytest.mark.parametrize("asker", QUICK)
@pytest.mark.minutes_cases("accountants.certified.delta", "accountants.certified.epsilon at 0")
def test_the_worst_block_counts_for_every_mechanism(asker: str) -> None:
    for leaf, (shape, relation) in itertools.product(LEAVES, BLOCKS):
        _check(asker, _declared(shape, leaf, relation), relation)


@pytest.mark.minutes
@pytest.mark.parametrize("asker", QUICK)
@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.__name__)
def test_the_worst_block_counts_in_every_shape(asker: str, leaf: type[Mechanism]) -> None:
    for shape, relation in itertools.product(SHAPES, Relation):
        _check(asker, _declared(shape, leaf, relation), relation)


ONE_CLASS_IS_NO_ANSWER = {
    "accountants.groups.group_account",
    "budgets.group_crossing.calibrated_for_groups",
    "publishing.certificates",
    "publishing.interoperability.loss_distributions.to_privacy_loss_distribution",
}  # a group's chain needs both directions, and so does the hull of a profile


# Askers take the classes from one function: each is asked of one shape, and some that are quick of all.
ONCE = [(asker, "weak block first") for asker in ASKERS if asker not in {*QUICK, *ONE_CLASS_IS_NO_ANSWER}]


@pytest.mark.minutes
@pytest.mark.parametrize(("asker", "shape"), [*itertools.product(QUICK, SHAPES), *ONCE])
def test_the_worst_class_counts(asker: str, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of all classes is what is said of the worst of them, asked one by one."""
    original = domination.neighbour_classes
    for leaf, relation in itertools.product((mechanisms.Gaussian, mechanisms.Laplace, mechanisms.PureDP), Relation):
        whole = _declared(shape, leaf, relation).whole
        found = _asked(asker, whole, relation)
        if found is None:
            continue
        try:
            keys = [key for each in original(whole, relation).every() for key in each.keys[:1]]
        except DpboundsError:  # what has no classes may still be answered: nothing better is found
            continue
        for key in keys:

            def only(
                mechanism: Mechanism, relation: Relation, key: domination.Key = key
            ) -> domination.NeighbourClasses:
                classes = original(mechanism, relation)
                one = classes.with_key(key)
                return classes if one is None else domination.NeighbourClasses((one,))

            with monkeypatch.context() as patch:
                for module in list(sys.modules.values()):
                    if getattr(module, "neighbour_classes", None) is original:
                        patch.setattr(module, "neighbour_classes", only)
                filters._divergence.cache_clear()
                reference = _asked(asker, whole, relation)
            filters._divergence.cache_clear()
            assert reference is None or _at_least(found, reference), (asker, whole, key, relation)
