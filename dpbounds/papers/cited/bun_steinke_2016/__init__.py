"""Bun & Steinke 2016: zero-concentrated differential privacy, its conversions, and the Gaussian mechanism."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/bun-steinke-2016", relation=None, read="as quoted by another paper")
