"""Ganesh, Liu, Oh & Thakurta 2023: private second-order stationary points and excess risks without convexity."""
