"""Noise on the answer of a query: one file for each distribution."""
