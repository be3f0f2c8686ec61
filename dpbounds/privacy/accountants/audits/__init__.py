"""Lower bounds on ε from the scores of canaries, which hold with a stated confidence.

Derived in ``audits.md``, with what is assumed.
"""

from dpbounds.privacy.accountants.audits.scores import ScoreAudit, audit_scores

__all__ = ["ScoreAudit", "audit_scores"]
