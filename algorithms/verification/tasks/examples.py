"""The small example of every algorithm: what it spends, and what an attack finds."""

from __future__ import annotations

from algorithms.ledger import PrivacyBudget
from algorithms.verification.attacks.experiments import audit_example
from algorithms.verification.examples import example
from dpbounds.privacy.relations import Relation

EPSILON, DELTA = "1", "1e-5"


def ledger(name: str, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """Some repetitions under each relation: the certified ε of either ledger, held against (1, 1e-5)."""
    spent = []
    for relation in Relation:
        algorithm, problem = example(name).calibrated(PrivacyBudget.of(EPSILON, DELTA, relation))
        run = algorithm.run(problem, seed=seed % 2**63, repetitions=repetitions)
        assert run.spent is not None
        spent.append(run.spent)
    return {"spent_lower": max(one.lower for one in spent), "spent_upper": max(one.upper for one in spent)}


def audit(name: str, runs: int, confidence: float, seed: int) -> dict[str, float]:
    """An attack on the worst neighbouring data sets: the ε that it proves, the certified upper end at the same δ."""
    budget = PrivacyBudget.of(EPSILON, DELTA)
    found = audit_example(name, budget, runs=runs, confidence=confidence, seed=seed % 2**63)
    return {"lower": found.audit.epsilon, "certified": found.certified}
