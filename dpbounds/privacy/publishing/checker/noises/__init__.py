"""Kinds of noise: one file per family."""
