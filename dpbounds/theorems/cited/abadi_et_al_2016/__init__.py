"""Abadi et al. 2016: deep learning with differential privacy, as quoted by three of the five papers."""
