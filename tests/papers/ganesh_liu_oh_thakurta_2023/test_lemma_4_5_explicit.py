"""Lemma 4.5 with constants: against samples."""

import numpy as np

from tests.papers.twins import evaluated


def test_samples_stay_within():
    generator = np.random.default_rng(10)
    dimension, records, runs, omega = 6, 50, 800, 0.1
    signs = generator.choice((-1.0, 1.0), size=(runs, records, dimension))
    # gradients ±1/√d per coordinate: norm 1, mean 0; Hessians: diagonal ±1, mean 0
    norms = np.linalg.norm(signs.mean(axis=1) / np.sqrt(dimension), axis=1)
    operators = np.abs(signs.mean(axis=1)).max(axis=1)
    evaluate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-4.5/explicit")
    values = {"n": records, "zeta": "0.1"}
    gradient = evaluate("gradient", G=1, **values).value.upper
    hessian = evaluate("hessian", L=1, d=dimension, **values).value.upper
    assert ((norms > gradient) | (operators > hessian)).mean() <= omega
    assert norms.max() > 0.3 * gradient
    assert operators.max() > 0.3 * hessian
