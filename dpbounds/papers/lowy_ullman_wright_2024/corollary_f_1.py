r"""Corollary 8.2 again, with its proof: Lemma 8.1 with the private algorithm of Corollary 4.3 for $M$."""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.papers.lowy_ullman_wright_2024.corollary_8_2 import rate, restored
from dpbounds.theorems.language import Rate

THEOREM = PAPER.theorem(
    title="population gradient of generalised linear models, restated",
    where="Appendix F, Corollary F.1",
    bounds="population-gradient-norm, expectation",
    status="claimed",
    assumptions="Lipschitz, smooth, generalised linear, i.i.d. records",
    parts=Rate(rate, logs_hidden=True, hides="G L D", restored=restored, bases="loss length"),
    relies_on="lowy-ullman-wright-2024/corollary-8.2",
    notes="A gap in its proof, and the repair, are with lowy-ullman-wright-2024/corollary-8.2.",
)
