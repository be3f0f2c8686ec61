r"""$(0, \delta)$-privacy: $|P(M(S) \in A) - P(M(S') \in A)| \le \delta$ for all neighbours and all events $A$. The
smallest such $\delta$ is the total variation distance of the two outputs; it gives $(\varepsilon, \delta)$-privacy for
every $\varepsilon \ge 0$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER

THEOREM = PAPER.theorem(
    title="privacy in total variation",
    where="Section II, Definition 3 and equation (3)",
    bounds="privacy",
    status="definition",
    relation="replace-one",
    notes="""
    - The absolute value adds nothing: the complement of an event gives the difference with the other sign.
    - Publishing one record in full, chosen at random out of N, satisfies it with δ = 1/N: only a δ far below 1/N
      excludes that.
    """,
)
