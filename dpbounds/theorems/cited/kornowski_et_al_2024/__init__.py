"""Kornowski, Liu & Talwar 2024: private non-smooth, non-convex optimisation; the abstract was read."""
