r"""For a whole number $m \ge 1$ the regularised incomplete beta function is a finite sum: $I_z(a, m) = z^a
\sum_{k=0}^{m-1} \frac{(a)_k (1-z)^k}{k!}$ with $(a)_k = a(a+1)\cdots(a+k-1)$. The record has $m = 1, 2, 3$ and the
increment of each further term.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.theorems.language import COUNT, FRACTION, Bound, gamma

argument = PAPER.quantity("argument", "z", "z, up to where is integrated", domain=FRACTION)
parameter = PAPER.quantity("parameter", "a", "first parameter of the beta function")
terms = PAPER.quantity("terms", "m", "its second, a whole number", domain=COUNT)
rest = 1 - argument
rising = gamma(parameter + terms) / gamma(parameter)

THEOREM = PAPER.theorem(
    title="the incomplete beta function as a finite sum",
    where="Section IV.A.1, equation (8)",
    bounds="tight",
    status="proved",
    parts=(
        Bound(argument**parameter, "one-term", "I_z(a, 1)"),
        Bound(argument**parameter * (1 + parameter * (1 - argument)), "two-terms", "I_z(a, 2)"),
        Bound(
            argument**parameter * (1 + parameter * rest + parameter * (parameter + 1) * rest**2 / 2),
            "three-terms",
            "I_z(a, 3)",
            increasing_in=(argument,),
        ),
        Bound(
            argument**parameter * rising * (1 - argument) ** terms / gamma(terms + 1),
            "increment",
            "I_z(a, m + 1) - I_z(a, m), never negative",
        ),
    ),
    notes="""
    Quoted there from a collection of formulas. Induction: the derivative of z^a (1-z)^m (a)_m / m! is the difference
    of the two densities, and both sides vanish at z = 0.
    """,
)
