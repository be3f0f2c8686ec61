"""Dominating pairs of mechanisms: one release, samples, compositions."""
