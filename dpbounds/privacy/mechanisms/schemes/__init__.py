"""Sampling schemes, with the mechanisms that run on their batches: one file for each family."""
