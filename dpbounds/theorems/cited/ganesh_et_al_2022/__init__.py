"""Ganesh, Thakurta & Upadhyay 2022: Langevin diffusion for private optimisation; quoted by Ganesh et al. 2023."""
