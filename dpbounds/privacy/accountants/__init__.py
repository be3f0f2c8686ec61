"""Accounts of a mechanism: certified, for groups, by other methods, as trade-off curves."""
