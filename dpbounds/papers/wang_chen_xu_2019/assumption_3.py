r"""Assumption 3, robust regression: $f(w, (x, y)) = \psi(\langle x, w\rangle - y)$ with $\|x\|_2, \|w\|_2 \le 1$,
$|y| \le Y$; on $[-(1+Y), 1+Y]$ $\psi', \psi'' \le C_\psi$ (read: in absolute value), $\psi'$ is odd with $\psi'(s) >
0$ for $s > 0$; $y = \langle w^*, x\rangle + \xi$ with symmetric noise; and $h(s) = E\, \psi'(s + \xi)$ has $h'(0) >
c_\psi > 0$.

Its example is the biweight loss $\psi(s) = \frac{c^2}6 (1 - (1 - (s/c)^2)^3)$ for $|s| \le c$, constant beyond:
$\psi' = s (1 - (s/c)^2)^2$ has its maximum $16c/(25\sqrt5)$ at $s = c/\sqrt5$, and $|\psi''| \le 1$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, residual, tuning_constant
from dpbounds.theorems.language import Abs, Bound, Erratum, Piecewise, Rational, sqrt

inside = tuning_constant**2 / 6 * (1 - (1 - (residual / tuning_constant) ** 2) ** 3)

THEOREM = PAPER.theorem(
    title="robust regression with symmetric noise",
    where="Section 4, Assumption 3 and footnote 4",
    status="definition",
    assumptions="robust regression",
    parts=(
        Bound(
            Piecewise((inside, Abs(residual) <= tuning_constant), (tuning_constant**2 / 6, True)),
            "biweight",
            "the biweight loss of a residual, with tuning constant c",
            increasing_in=(tuning_constant,),
        ),
        Bound(
            Rational(16, 25) * tuning_constant / sqrt(5),
            "largest_influence",
            "maximum of |ψ'| of the biweight loss; |ψ''| is at most 1",
        ),
    ),
    errata=(
        Erratum(
            printed="max{ψ', ψ''} <= C_ψ",
            right="max{|ψ'|, |ψ''|} <= C_ψ: ψ'' may otherwise be as negative as it likes (ψ' is odd and needs no bars)",
            severity="typo",
            evidence="test_assumption_3.py::test_without_absolute_values_the_loss_is_not_smooth",
            survives="everything that is derived from |ψ''| <= C_ψ",
        ),
        Erratum(
            printed="the assumptions on ψ include the biweight loss",
            right="if c > 1 + Y: for smaller c, ψ' is 0 on [c, 1 + Y] and not positive",
            severity="constant",
            evidence="test_assumption_3.py::test_a_small_tuning_constant_is_excluded",
            where="the sentence before Assumption 3, and footnote 4",
            survives="the biweight loss with c > 1 + Y (at c = 1 + Y only the end point is 0)",
        ),
    ),
    notes="""
    - The condition h'(0) > 0 does not bound h away from 0, which Theorems 5 and 6 need: see theorem-5. For the biweight
      loss with c >= 1 + Y it is enough: with c = 1, h(s)/s = q₀ + q₁s² + s⁴ for q₀ = h'(0) = 1 - 6m₂ + 5m₄ and q₁ =
      10m₂ - 2 (moments of ξ), and q₁² - 4q₀ = 4(25m₂² - 4m₂ - 5m₄) <= 16m₂(5m₂ - 1) is negative for 0 < m₂ < 1/5, while
      for m₂ >= 1/5 (or 0) no term below s⁴ is negative, or h(s) = s(1 - s²)².
    - Footnote 4 mixes |t| and s; the prefactor is read as c²/6.
    """,
)
