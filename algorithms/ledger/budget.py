"""Privacy budgets of runs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import promised_delta, promised_epsilon


@dataclass(frozen=True, slots=True)
class PrivacyBudget:
    """A privacy budget: ε at δ under a neighbouring relation, all exact."""

    epsilon: Fraction
    delta: Fraction
    relation: Relation

    @classmethod
    def of(cls, epsilon: ExactLike, delta: ExactLike, relation: str | Relation = Relation.REPLACE_ONE) -> PrivacyBudget:
        """Return the budget; ε > 0 and 0 < δ < 1, else ``InvalidValue``. It may be printed as it was typed.

        >>> print(PrivacyBudget.of(1, "1e-6"))
        epsilon = 1, delta = 1e-06, replace-one
        """
        budget = cls(promised_epsilon(epsilon), promised_delta(delta), as_relation(relation))
        if budget.epsilon <= 0:
            raise InvalidValue("epsilon", epsilon, "greater than 0")
        return budget

    def __str__(self) -> str:
        return f"epsilon = {float(self.epsilon):g}, delta = {float(self.delta):g}, {self.relation}"


def checked_budget(budget: PrivacyBudget | None) -> PrivacyBudget | None:
    """Return the budget, or raise ``InvalidValue`` where it is something else."""
    if budget is None or isinstance(budget, PrivacyBudget):
        return budget
    raise InvalidValue("budget", repr(budget), "a PrivacyBudget or None", "PrivacyBudget.of(epsilon, delta, relation)")
