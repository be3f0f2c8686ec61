r"""Theorem 3.4 again, as restated for its proof: basic composition, and a union bound over the failures of the two
algorithms, with $\psi$ in place of the initial gap of Lemma 3.3.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="Theorem 3.4, restated",
    where="Appendix C, Theorem C.1",
    bounds="sosp, upper, probability",
    status="disputed",
    relation="replace-one",
    relies_on="lowy-ullman-wright-2024/theorem-3.4",
    notes="The formulas are those of lowy-ullman-wright-2024/theorem-3.4, with its errata.",
)
