"""Lower bounds on ε from the scores of canaries, which hold with a stated confidence.

The derivation and its assumptions are in ``audits.md``.
"""

from dpbounds.privacy.accountants.audits.scores import ScoreAudit, audit_scores

__all__ = ["ScoreAudit", "audit_scores"]
