r"""Under Assumption 1 the last iterate of DP-GLD has an expected excess population risk (3) of $O\big(e^{\kappa\beta}
\exp(-\tfrac{n^2\varepsilon^2}{\beta \ln(1/\delta) e^{\kappa\beta}}) + \tfrac{(n\varepsilon)^{5/2}}{\beta^{3/4}
T^{1/4} \ln^{5/4}(1/\delta)} + \tfrac{e^{\kappa\beta}}n + \tfrac{d \ln\beta}\beta\big)$, with $e^{\kappa\beta}$ for
the printed $\exp(O(\beta))$.

It takes an initial density that is bounded, positive and has $\int e^{\|w\|^2} p_0 < \infty$, $\beta \ge
\max(4/\lambda, d)$ and $T$ at least of the order of $(L + \lambda)^2 n^2 \varepsilon^2/(\lambda \beta \ln(1/\delta)
G^2)$. The excess empirical risk (4) is bounded without the third term. As $T \to \infty$ the first two terms are at
most of the order of $e^{\kappa\beta} \ln(1/\delta)/(n\varepsilon)^2$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, growth_rate
from dpbounds.theorems.language import Condition, Expr, Max, Parameter, Rate, Rational, exp, log, q

_growth = exp(growth_rate * q.beta)
_mixing = _growth * exp(-((q.n * q.epsilon) ** 2) / (q.beta * log(1 / q.delta) * _growth))
scale = q.beta ** Rational(3, 4) * q.T ** Rational(1, 4) * log(1 / q.delta) ** Rational(5, 4)
_discretisation = (q.n * q.epsilon) ** Rational(5, 2) / scale
_concentration = q.d * log(q.beta) / q.beta
fast = _growth * log(1 / q.delta) / (q.n * q.epsilon) ** 2


def least_steps() -> Expr:
    scale = q.regularisation * q.beta * log(1 / q.delta) * q.G**2
    return ((q.L + q.regularisation) * q.n * q.epsilon) ** 2 / scale


conditions = (Condition(q.beta >= Max(4 / q.regularisation, q.d), "assumed; λ = 2m for the dissipativity m"),)
long_enough = Condition(q.T >= least_steps(), "η at most of the order of λ/(L + λ)², up to a constant")

THEOREM = PAPER.theorem(
    title="excess risk of the last iterate of DP-GLD",
    where="Section 4, Theorem 2, equations (3) and (4)",
    bounds="excess-population-risk, expectation",
    status="claimed",
    assumptions="regularised Lipschitz loss, i.i.d. records",
    conditions=conditions,
    parts=(
        Rate(
            _mixing + _discretisation + _growth / q.n + _concentration,
            meaning="excess population risk (3)",
            hides="G L regularisation",
            conditions=long_enough,
        ),
        Rate(
            _mixing + _discretisation + _concentration,
            "empirical",
            "excess empirical risk (4)",
            hides="G L regularisation",
            conditions=long_enough,
        ),
        Rate(
            fast + _growth / q.n + _concentration,
            "many_steps",
            "excess population risk as T grows; for the empirical risk leave out exp(κβ)/n",
            hides="G L regularisation",
            increasing_in="d",
        ),
        Parameter(least_steps, "steps", "at least as many, up to a constant", up_to_constant=True),
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on="wang-chen-xu-2019/theorem-1 cited/raginsky-et-al-2017/proposition-8",
    notes="""
    - The proof is in a supplement that was not seen. The exponents are those that Raginsky et al. 2017 give: their
      discretisation error β^(1/2) η^(1/4) t at time t = ηT of the order of n²ε²/(β ln(1/δ)) is the second term, and η
      <= m/(4(L + λ)²) the condition on T.
    - exp(O(β)) occurs several times and need not be the same number; every term grows with κ, so that one κ, large
      enough, serves all.
    - β ln β and β >= d mix units: the loss is measured in a fixed unit here.
    """,
)
