r"""Two datasets are neighbours if they differ in a single entry. The definition also has a largest distance $\Delta x$,
printed as $\max \|x - x'\|^2$ over $x \in S$, $x' \in S'$. All later formulas use the distance itself, not its square,
and between the gradients of the two records that differ: $\|\nabla\ell(w; z) - \nabla\ell(w; z')\| \le \Delta$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.theorems.language import Erratum

THEOREM = PAPER.theorem(
    title="neighbours, and how far they are apart",
    where="Section II, Definition 1 and equation (1); its second meaning is in Section IV.A",
    status="definition",
    relation="replace-one",
    assumptions="bounded gradient differences",
    errata=Erratum(
        printed="Δx is the largest squared distance",
        right="the largest distance: with its square equation (6) would promise 1/8 where two intervals of length 2 "
        "that are shifted by 1/2 differ by 1/4",
        severity="typo",
        evidence="test_definition_1.py::test_the_square_would_promise_too_little",
        where="equation (1)",
        survives="every later formula, which uses the distance",
    ),
    notes="""
    - The printed maximum runs over all pairs of an entry of S and one of S'. Under replace-one only the pair of records
      that differ matters. The distance of all pairs is an upper bound of theirs; under add-or-remove-one a random
      record needs it.
    - The symbol is used for distances of records first, and of their gradients from Section IV.A on.
    """,
)
