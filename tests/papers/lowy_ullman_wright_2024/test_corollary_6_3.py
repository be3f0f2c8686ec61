"""Corollary 6.3: it follows from Theorem 3.2 and Lemma 6.2, and that its example does not."""

import pytest
import sympy

from dpbounds.expressions.symbols import (
    delta,
    dimension,
    initial_gap,
    kl_constant,
    kl_exponent,
    lipschitz,
    pl_constant,
    smoothness,
)
from dpbounds.papers.lowy_ullman_wright_2024 import corollary_6_3, definition_6_1, lemma_6_2
from tests.papers.reference_formulas import evaluated

THIRD = sympy.Rational(1, 3)


def warm(excess):
    """Theorem 3.2's second term, over its first."""
    level = corollary_6_3.noise_level
    return (lipschitz * smoothness * excess) ** THIRD * level ** (2 * THIRD) / (lipschitz * level)


@pytest.mark.parametrize("exponent", ["1.1", "1.5", "2"])
def test_it_follows_from_theorem_3_2_and_lemma_6_2(exponent):
    values = {"k": sympy.Rational(exponent)}
    symbols = warm(lemma_6_2.rate).free_symbols
    draw = [sympy.Rational(k, 7) for k in (3, 20, 1, 40, 9, 2, 5, 30, 11)]
    point = {s: values.get(s.name, x) for s, x in zip(sorted(symbols, key=str), draw, strict=False)}
    point[delta] = sympy.Rational(1, 50)
    derived = sympy.N(warm(lemma_6_2.rate).subs(point))
    printed = sympy.N((corollary_6_3.rate / (lipschitz * corollary_6_3.noise_level) - 1).subs(point))
    assert printed / 2 <= derived <= printed  # √(1 + x) between (1 + √x)/√2 and 1 + √x, to the power k/3


def test_the_example_does_not_follow():
    # μ-PL, κ = L/μ = 1/A: the second term over the first tends to infinity with κ, like κ^(1/3)
    kappa = sympy.Symbol("kappa", positive=True)
    pl = {kl_exponent: 2, kl_constant: definition_6_1.of_pl}
    ratio = warm(lemma_6_2.rate).subs(pl)
    level = corollary_6_3.noise_level
    scale = sympy.simplify(ratio.subs(smoothness, kappa * pl_constant) ** 3 / level)
    assert sympy.simplify(scale - kappa * (kappa + 2) / 4) == 0  # so κ² <= 1/A is needed
    assert sympy.limit(scale / kappa, kappa, sympy.oo) == sympy.oo
    first = corollary_6_3.curvature.subs(pl).subs(smoothness, kappa * pl_constant)
    assert sympy.simplify(first**3 - kappa / 2) == 0  # the corollary's own first condition bounds κ
    assert initial_gap not in first.free_symbols


def test_the_claim_of_the_example_is_reached_by_restarting():
    # κ = 1/(A √(32J)) and more records: the restarted algorithm stays at a multiple of G √d/(n √ρ) that does not grow
    evaluate = evaluated("dpbounds/polyak-lojasiewicz-restarted-spider")
    ratios = []
    for n in (10**4, 10**6, 10**8):
        stages = 2 * len(str(n)) * 4
        smooth = int(n / (4 * (2 * stages * 10) ** 0.5))
        found = evaluate(
            "bound", G=1, d=10, n=n, rho=1, stages=stages, mu=1, Delta_F=1,
            T=4 * smooth, L=smooth,
        )  # fmt: skip
        assert found.applies is True
        ratios.append(found.value.upper / (10 * stages) ** 0.5 * n)
    assert max(ratios) < 3
    assert dimension.name == "dimension"
