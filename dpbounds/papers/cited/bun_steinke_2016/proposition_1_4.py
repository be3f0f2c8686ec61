r"""From pure privacy to zCDP: an $\varepsilon$-differentially private mechanism is $\frac{\varepsilon^2}{2}$-zCDP."""

from dpbounds.papers.cited.bun_steinke_2016 import PAPER
from dpbounds.theorems.language import Bound, Unit, q

THEOREM = PAPER.theorem(
    title="pure privacy implies zCDP",
    where="Section 1, Proposition 1.4 (proof: Proposition 3.3)",
    bounds="privacy, always",
    status="proved",
    parts=Bound(q.epsilon**2 / 2, "rho", "ρ of an ε-private mechanism", unit=Unit(samples=-2)),
    notes="""
    A mechanism whose losses span at most η, such as the exponential mechanism, is (η²/8)-zCDP: four times less noise
    than this proposition asks for.
    """,
)
