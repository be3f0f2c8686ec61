"""Ledgers: every noisy release is recorded when it happens, and the privacy of all is computed together.

A ledger is that of *one* repetition of an algorithm. Repetitions (seeds) serve statistics; they share the noise levels
and therefore the ledger. Publishing the outputs of several repetitions on the same records costs more than the ledger
says: k of them are k ledgers one after the other.
"""

from dpbounds.algorithms.ledger.budget import PrivacyBudget, checked_budget
from dpbounds.algorithms.ledger.closed import Ledger, PlainDescent, WhichRelease
from dpbounds.algorithms.ledger.releases import DescribedRelease, Release
from dpbounds.algorithms.ledger.writing import BudgetedLedger, OpenLedger, Visits, chosen_as_it_goes

__all__ = [
    "BudgetedLedger",
    "DescribedRelease",
    "Ledger",
    "OpenLedger",
    "PlainDescent",
    "PrivacyBudget",
    "Release",
    "Visits",
    "WhichRelease",
    "checked_budget",
    "chosen_as_it_goes",
]
