r"""If a record of $D$ is replaced by a fresh one $s'$, the expected generalisation error $E[F_P(A(D)) - F_D(A(D))]$
equals $E[f(A(D), s') - f(A(D'), s')]$: an algorithm whose output hardly depends on one record does not overfit
(quoted from Bousquet & Elisseeff 2002).
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    title="stability is generalisation",
    where="Section 5.1, Lemma 5.4",
    bounds="generalisation-gap, tight, expectation",
    status="proved",
    assumptions="i.i.d. records",
    notes="""
    - Proof: F_P(A(D)) is the mean of f(A(D), s'); s' in D' plays the part of the replaced record in D.
    - This is an identity; Lemma 5.5 bounds its right-hand side.
    """,
)
