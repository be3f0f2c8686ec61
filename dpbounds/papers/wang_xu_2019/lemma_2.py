r"""Quoted from Abadi et al. 2016: with sampling probability $q = l/n$ and $T$ steps there are constants $c_1, c_2$ such
that for $\varepsilon < c_1 q^2 T$ stochastic gradient descent on batches of $l$ with Gaussian noise is
$(\varepsilon, \delta)$-DP for any $\delta > 0$ if its noise multiplier is at least
$c_2\, q \sqrt{T \ln(1/\delta)}/\varepsilon$.
"""

from dpbounds.papers.cited.abadi_et_al_2016 import theorem_1
from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="noise of private stochastic gradients",
    where="Preliminaries, Lemma 2",
    bounds="privacy, upper",
    status="proved",
    relation="add-or-remove-one",
    sampling="Poisson",
    parts=theorem_1.THEOREM.parts,
    privacy=theorem_1.THEOREM.privacy,
    relies_on="cited/abadi-et-al-2016/theorem-1",
    notes="""
    - Abadi et al. prove it for q < 1/(16σ) and a batch sampled record by record; the theorems here quote it at q = 1,
      outside that range. dpbounds.hidden_constant computes the c₂ that suffices.
    - The text at hand has noise of 'standard deviation (ε/n) σ', which may be a lost letter: the cited theorem uses a
      Gaussian of standard deviation Gσ on the batch sum.
    """,
)
