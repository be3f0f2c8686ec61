"""Measurements against promises: checks, estimates, exponents, and the kinds of planned checks."""
