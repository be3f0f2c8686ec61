r"""Two data sets are neighbours if they differ in a single entry. With them goes a largest distance $\Delta x$, printed
as $\max \|x - x'\|^2$ over $x \in S$, $x' \in S'$; what all later formulas use is the distance itself, not squared,
and between the gradients of the two records that differ: $\|\nabla\ell(w; z) - \nabla\ell(w; z')\| \le \Delta$.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GRADIENT_DISTANCE
from dpbounds.theorems.record import Erratum, Metric, Note, Severity, Status, Theorem

THEOREM = Theorem(
    id="tholeti-kalyani-2020/definition-1",
    title="neighbours, and how far they are apart",
    statement=__doc__,
    where="Section II, Definition 1 and equation (1); its second meaning is in Section IV.A",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    assumptions=(GRADIENT_DISTANCE,),
    errata=(
        Erratum(
            printed="Δx is the largest squared distance",
            right="the largest distance: with its square equation (6) would promise 1/8 where two intervals of length "
            "2 that are shifted by 1/2 differ by 1/4",
            severity=Severity.TYPO,
            evidence="test_definition_1.py::test_the_square_would_promise_too_little",
            where="equation (1)",
            survives="every later formula, which uses the distance",
        ),
    ),
    notes=(
        Note(
            "The printed maximum runs over all pairs of an entry of S and one of S'. The pair in which the two differ "
            "is what matters under replace-one; the distance of all pairs is an upper bound of it, and is what a "
            "random record needs under add-or-remove-one."
        ),
        Note("The symbol is used for distances of records first, and of their gradients from Section IV.A on."),
    ),
)
