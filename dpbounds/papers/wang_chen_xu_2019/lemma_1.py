r"""Quoted from Abadi et al. 2016: with sampling probability $q = l/n$ and $T$ steps there are constants $c_1, c_2$
such that for $\varepsilon < c_1 q^2 T$ private stochastic gradient descent on batches of $l$, with Gaussian noise of
standard deviation $G\sigma$ on the batch's sum, is $(\varepsilon, \delta)$-DP for any $\delta > 0$ if $\sigma \ge
c_2\, q \sqrt{T \ln(1/\delta)}/\varepsilon$.
"""

from dpbounds.papers.cited.abadi_et_al_2016 import theorem_1
from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.papers.wang_xu_2019 import lemma_2
from dpbounds.theorems.language import SAMPLES, Parameter

THEOREM = PAPER.same_as(
    lemma_2.THEOREM,
    where="Preliminaries, Lemma 1",
    assumptions="Lipschitz",
    parts=Parameter(
        theorem_1.noise,
        "noise_multiplier",
        "σ, per unit of the Lipschitz constant; c stands for c₂",
        unit=SAMPLES,
        up_to_constant=True,
    ),
    notes="""
    Abadi et al. prove it for q < 1/(16σ), a batch sampled record by record, and neighbours that differ by one record
    added or removed; Theorems 1, 5, 7 and 9 use it at q = 1, outside that range, and for a replaced record. See
    wang-xu-2019/lemma-2 and, for q = 1, wang-xu-2019/theorem-1/explicit.
    """,
)
