"""Lemma 5.2: a spectral gap, which a log-Sobolev constant must respect."""

import numpy as np
import pytest


def poincare(density, width):
    """The Poincaré constant of a density on a grid with reflecting ends: at most the log-Sobolev constant."""
    edges = np.sqrt(density[1:] * density[:-1]) / width**2
    diagonal = (np.append(edges, 0) + np.insert(edges, 0, 0)) / density
    off = -edges / np.sqrt(density[1:] * density[:-1])
    values = np.linalg.eigvalsh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1))
    return 1 / values[1]


@pytest.mark.parametrize("beta", [1.0, 4.0, 8.0])
def test_a_well_in_the_middle_has_at_most_this_constant(beta):
    grid = np.linspace(-0.5, 0.5, 501)  # D = 1
    loss = np.maximum(0, 0.25 - np.abs(np.abs(grid) - 0.25))  # G = 1: two wells beside a barrier, three minima
    strength = 0.3
    found = poincare(np.exp(-beta * (-loss + strength / 2 * grid**2)), grid[1] - grid[0])
    assert found <= np.exp(beta) / (beta * strength)  # e^(βGD)/(βλ)
    # the loss itself has range 1/4 only: the first part, with densities before normalisation
    assert found <= np.exp(beta / 4) / (beta * strength)
