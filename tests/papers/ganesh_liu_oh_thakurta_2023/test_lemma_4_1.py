"""Lemma 4.1: the explicit bound is below the printed one."""

from tests.papers.reference_formulas import evaluated

explicit = evaluated("ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit")


def test_it_is_more_accurate_than_the_printed_one():
    values = {"alpha": "0.01", "zeta": "0.05", "G": 1, "L": 2, "rho_H": 1, "n": 10_000}
    printed = evaluated("ganesh-liu-oh-thakurta-2023/lemma-4.1")
    for count in (1, 10, 10_000):
        # the printed one spends 2ε: compare at half its ε
        ours = explicit("bound", N=count, epsilon=1, **values).value.upper
        theirs = printed("bound", N=count, epsilon="0.5", **values).value.lower
        assert ours < theirs
