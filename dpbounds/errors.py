"""The exceptions of dpbounds: one base class, one class per thing that can go wrong."""


class DpboundsError(Exception):
    """Base of every error that dpbounds raises on purpose."""


class InvalidValue(DpboundsError, ValueError):
    """A value lies outside its domain; the message says which, what is allowed and what to do."""

    def __init__(self, name: str, value: object, allowed: str, advice: str = "") -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} = {value!s} is not allowed: {allowed}" + (f"; {advice}" if advice else ""))


class UnsupportedMechanism(DpboundsError):
    """No proven analysis is known here for this mechanism, sampling and relation, so none is returned."""


class NotCertified(DpboundsError):
    """The proof did not close within its limits (precision, work); nothing unproven is returned in its place."""


class CertificateError(DpboundsError):
    """A certificate is malformed, or what it claims could not be confirmed."""


class BudgetExceeded(DpboundsError):
    """A ledger shows more spent than was planned."""
