"""Lemma 4.5: with the explicit version below it up to a constant. With constants: against samples."""

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated


@pytest.mark.parametrize("part", ["gradient", "hessian"])
def test_the_explicit_version_is_of_that_order(part):
    values = {"lipschitz" if part == "gradient" else "smoothness": 1}
    for dimension in (2, 1000):
        for records in (100, 10**6):
            for failure in ("0.1", "1e-6"):
                at = {"zeta": failure, "n": records, **values}
                rate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-4.5")(part, d=dimension, **at).value.lower
                ours = at if part == "gradient" else {**at, "d": dimension}
                explicit = evaluated("ganesh-liu-oh-thakurta-2023/lemma-4.5/explicit")(part, **ours).value.upper
                assert explicit <= 5 * rate


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
