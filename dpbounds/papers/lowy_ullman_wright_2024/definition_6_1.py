r"""A loss $g$ is $(\gamma, k)$-KL* on a set if $g(w) - \inf g \le \gamma^k |\nabla g(w)|^k$ for every $w$ in the set;
the infimum is over all of $R^d$. For $k = 2$ and $\gamma = 1/\sqrt{2\mu}$ it is the Polyak-Łojasiewicz inequality on
the set, $\mu$-PL*.
"""

from fractions import Fraction

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Parameter, Unit, q, sqrt

of_pl = 1 / sqrt(2 * q.mu)

THEOREM = PAPER.theorem(
    title="the Kurdyka-Łojasiewicz inequality on a set",
    where="Section 6, Definition 6.1",
    status="definition",
    assumptions="Kurdyka-Łojasiewicz, Polyak-Łojasiewicz",
    parts=Parameter(of_pl, "kl_constant", "γ of a μ-PL* loss, at k = 2", unit=Unit(Fraction(-1, 2), 1)),
    notes="""
    The unit of γ depends on k: γᵏ|∇g|ᵏ is a loss. The paper writes γ for a rate in Section 4 and k for a number of
    repetitions in Appendix D.
    """,
)
