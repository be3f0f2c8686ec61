"""Chien & Li 2024: the privacy loss of noisy SGD converges; the abstract was read."""
