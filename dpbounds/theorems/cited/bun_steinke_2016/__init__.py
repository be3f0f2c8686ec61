"""Bun & Steinke 2016: zero-concentrated differential privacy, its conversions, and the Gaussian mechanism."""
