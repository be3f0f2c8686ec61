"""Lemma 4.5: with the explicit version below it up to a constant."""

import pytest

from tests.papers.twins import evaluated


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
