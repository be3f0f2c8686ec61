"""What others read: certificates and their checker, other libraries' formats."""
