"""Names, event trees and an accountant that users of other libraries know.

What each name means here and there, and where the meanings differ, is in ``docs/names.md``.
"""

from dpbounds.privacy.publishing.interoperability.events import from_dp_event, to_dp_event
from dpbounds.privacy.publishing.interoperability.loss_distributions import (
    from_privacy_loss_distribution,
    to_privacy_loss_distribution,
)
from dpbounds.privacy.publishing.interoperability.noise_multiplier import get_noise_multiplier, steps_for_epochs
from dpbounds.privacy.publishing.interoperability.opacus_accountant import CertifiedAccountant, register_with_opacus
from dpbounds.privacy.publishing.interoperability.opacus_sampler import drawn_rate

__all__ = [
    "CertifiedAccountant",
    "drawn_rate",
    "from_dp_event",
    "from_privacy_loss_distribution",
    "get_noise_multiplier",
    "register_with_opacus",
    "steps_for_epochs",
    "to_dp_event",
    "to_privacy_loss_distribution",
]
