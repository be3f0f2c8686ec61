r"""A loss $g$ is $(\gamma, k)$-KL* on a set if $g(w) - \inf g \le \gamma^k |\nabla g(w)|^k$ for every $w$ in the set;
the infimum is over all of $R^d$. For $k = 2$ and $\gamma = 1/\sqrt{2\mu}$ it is the Polyak-Łojasiewicz inequality on
the set, $\mu$-PL*.
"""

from fractions import Fraction

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import Unit, pl_constant
from dpbounds.theorems.assumptions import KL, PL
from dpbounds.theorems.record import Metric, Note, Parameter, Status, Theorem


def of_pl() -> Expr:
    return 1 / sqrt(2 * pl_constant)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/definition-6.1",
    title="the Kurdyka-Łojasiewicz inequality on a set",
    statement=__doc__,
    where="Section 6, Definition 6.1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(KL, PL),
    parts=(
        Parameter(
            formula=of_pl,
            name="kl_constant",
            unit=Unit(Fraction(-1, 2), 1),
            meaning="γ of a μ-PL* loss, at k = 2",
            decreasing_in=(pl_constant,),
        ),
    ),
    notes=(
        Note(
            "The unit of γ depends on k: γᵏ|∇g|ᵏ is a loss. Print writes γ for a rate in Section 4 and k for a "
            "number of "
            "repetitions in Appendix D."
        ),
    ),
)
