"""The rest of a budget after some releases: the least noise of one more, and the number of further equal ones.

The accountant answers for releases that are fixed in advance. If outputs are seen before the next release or its noise
is chosen, use a filter (``filters.py``): this module is for planning in advance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from types import NoneType

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue, NotCertified, shortened
from dpbounds.expressions.exact import ExactLike, to_decimal
from dpbounds.expressions.time_limit import time_limited
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import Account, account_at
from dpbounds.privacy.budgets.calibration import Calibration, calibrate_within
from dpbounds.privacy.budgets.parameter import Solve
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, parts_of
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import Budget, demand_fields, practical_epsilon


@dataclass(frozen=True, slots=True, repr=False)
class Remaining(Displayed):
    """The spent part of a budget, and the releases that still fit.

    Attributes:
        spent: The account of the releases at the budget's δ; its upper bound counts.
        target_epsilon: The budget's ε.
        target_delta: The budget's δ.
        relation: The neighbouring relation.
        noise: The least noise multiplier of one more full-batch Gaussian release, proven to fit, next to one that is
            proven not to. None where no noise could be proven to fit.
        last: The kind of release that came last.
        more: Number of further releases of that kind that are proven to fit.
        too_many: Number that is proven not to fit: ``more`` + 1 where the analysis is tight, None where none is known.
        complete: False where a time limit ended the search.
    """

    spent: Account
    target_epsilon: Fraction
    target_delta: Fraction
    relation: Relation
    noise: Calibration | None
    last: Mechanism
    more: int
    too_many: int | None
    complete: bool = True

    def __post_init__(self) -> None:
        demand_fields(self, spent=Account, target_epsilon=Fraction, target_delta=Fraction, relation=Relation)
        demand_fields(self, noise=(Calibration, NoneType), last=Mechanism, more=int, too_many=(int, NoneType))
        demand_fields(self, complete=bool)

    def _sheet(self) -> Sheet:
        verdict = {True: "kept", False: "broken", None: "not decided"}[self.within]
        most = "" if self.too_many is None else f" ({self.too_many} do not fit)"
        noise = "none" if self.noise is None else f"noise multiplier {to_decimal(self.noise.value, 10, 'up')} or more"
        facts = (
            ("budget", f"epsilon {number(self.target_epsilon)}, delta {number(self.target_delta)}: {verdict}"),
            ("spent", f"epsilon {self.spent.enclosure.decimals(10)[1]} (proven, rounded up)"),
            ("relation", str(self.relation)),
            ("one more full-batch release", noise),
            ("more of the last kind", f"{self.more}{most}"),
            ("last kind", shortened(repr(self.last))),
            *(() if self.complete else (("time limit", "it ended the search: more may fit"),)),
        )
        return Sheet("what remains of a budget", facts)

    def __str__(self) -> str:
        return self._sheet().text()

    @property
    def within(self) -> bool | None:
        """Whether the budget is kept: proven (True), proven not to be (False), or neither (None)."""
        return self.spent.enclosure.at_most(self.target_epsilon)


@working(OUTER_PRECISION)
def remaining(
    mechanism: Mechanism,
    target_epsilon: ExactLike,
    target_delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    time_limit: ExactLike | None = None,
) -> Remaining:
    """Compare the loss of a mechanism with a budget, and find the releases that still fit.

    Arguments and errors as for :func:`dpbounds.privacy.budgets.calibration.calibrate`. The mechanism is the composition
    so far; further releases of the kind of its last part are counted.

    >>> left = remaining(Gaussian(20) ** 10, target_epsilon=1, target_delta="1e-6")
    >>> left.within, left.more, left.too_many
    (True, 12, 13)
    """
    budget = Budget.of(practical_epsilon(target_epsilon), target_delta, relation)
    with time_limited(time_limit) as limit:
        found = _found(mechanism, budget)
    return replace(found, complete=False) if limit.passed else found


def _found(mechanism: Mechanism, budget: Budget) -> Remaining:
    spent = account_at(mechanism, budget.at_delta, budget.relation)
    last, _ = parts_of(mechanism)[-1]

    def calibrated(factory: Callable[[Fraction], Mechanism], solve: Solve) -> Calibration | None:
        try:
            return calibrate_within(factory, budget, solve)
        except (InvalidValue, NotCertified):  # the targets are valid, so that it is the budget that is used up
            return None

    noise: Calibration | None = None
    more, too_many = 0, None if spent.enclosure.exact_lower <= budget.epsilon else 0
    if spent.enclosure.exact_upper <= budget.epsilon:
        noise = calibrated(lambda multiplier: mechanism @ Gaussian(multiplier), "noise")
        one_more = account_at(mechanism @ last, budget.at_delta, budget.relation).enclosure
        too_many = 1 if one_more.exact_lower > budget.epsilon else None
        if one_more.exact_upper <= budget.epsilon:
            count = calibrated(lambda copies: mechanism @ last ** int(copies), "steps")
            more = 1 if count is None else int(count.value)
            too_many = None if count is None or count.fails_at is None else int(count.fails_at)
    return Remaining(spent, budget.epsilon, budget.delta, budget.relation, noise, last, more, too_many)
