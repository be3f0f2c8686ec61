"""Publication: certificates and their checker, other libraries' formats."""
