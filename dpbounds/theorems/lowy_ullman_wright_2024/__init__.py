"""Lowy, Ullman & Wright 2024, version 1: warm starts for private stationary points."""
