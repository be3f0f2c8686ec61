r"""For $\varepsilon, \delta < \frac12$ one sample of $\pi \propto e^{-\beta(F_D + \frac\mu2\|w\|^2)}$ with $\beta =
O\big(\frac{\varepsilon \ln(nd)}{GD\sqrt{\ln(1/\delta)}}\big)$ and $\mu = \frac d{D^2\beta}$ is $(\varepsilon,
\delta)$-DP, with expected excess empirical and population risks $O\big(GD \frac{d \ln\ln n
\sqrt{\ln(1/\delta)}}{\varepsilon \ln(nd)}\big)$. Neither smoothness nor convexity of the losses is assumed.
"""

from fractions import Fraction

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, temperature_constant
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Condition, Erratum, Numbers, Parameter, Privacy, Rate, Rational, log, q, sqrt

logs = log(log(q.n)) * sqrt(log(1 / q.delta)) / log(q.n * q.d)
span = temperature_constant * q.epsilon * log(q.n * q.d) / sqrt(log(1 / q.delta))
temperature = span / (q.G * q.D)


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor) / at.count(q.n)
    return ExponentialMechanism(share * at.up(span), relation=at.relation)


small_budget = (
    Condition(q.epsilon < Rational(1, 2), "stated range"),
    Condition(q.delta < Rational(1, 2), "stated range"),
)
excess_risk = Rate(
    q.G * q.D * q.d * logs / q.epsilon,
    meaning="excess risk, empirical and population",
    conditions=Condition(q.n >= 16, "ln ln n is at least 1"),
    bases="loss length",
    increasing_in="G D d",
    decreasing_in="epsilon delta",
)

THEOREM = PAPER.theorem(
    title="excess risk in polynomial time",
    where="Section 5.1, Theorem 5.6; proof in Appendix D.2",
    bounds="excess-population-risk, expectation",
    status="proved",
    assumptions="Lipschitz, bounded set, origin in the set, i.i.d. records",
    conditions=small_budget,
    parts=(
        excess_risk,
        Parameter(
            temperature,
            "inverse_temperature",
            "β; the paper does not state c",
            up_to_constant=True,
            conditions=Condition(temperature_constant <= Rational(3, 10), "(ε, δ)-DP by the printed route, always"),
            bases="loss length",
        ),
        Parameter(q.d / (q.D**2 * q.beta), "regularisation", "μ, at that β"),
    ),
    privacy=Privacy(mechanism, (q.epsilon, q.delta, q.n, q.d, temperature_constant)),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.1 ganesh-liu-oh-thakurta-2023/lemma-5.2 "
    "ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit ganesh-liu-oh-thakurta-2023/lemma-5.5",
    superseded_by="ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit",
    errata=(
        Erratum(
            printed="generalisation error O(GD ε ln(n)/(n^{1-c} d √ln(1/δ)))",
            right="O(GD ε ln(nd)/((nd)^{1-c} √ln(1/δ))): the exponential contributes (nd)^c, not n^c",
            severity="typo",
            evidence="test_theorem_5_6.py::test_the_exponential_is_a_power_of_nd",
            where="Appendix D.2, last display",
            survives="the conclusion: either is dominated by the empirical risk",
        ),
        Erratum(
            printed="O(d √ln(1/δ)/(ε ln(nd))) with reference to Theorem 5.6",
            right="the theorem (and Table 1) have a factor ln ln n, too",
            severity="typo",
            evidence="test_theorem_5_6.py::test_the_introduction_lacks_a_logarithm",
            where="Section 1.1, paragraph on excess risk",
            survives="Theorem 5.6 as stated in Section 5.1",
        ),
    ),
    notes="""
    - `spent` accounts for the sample as a pure mechanism, whose loss has range 2βGD/n.
    - The proof through the log-Sobolev inequality is valid for every c <= 3/10, all n and d. As a pure mechanism β may
      be nε/(2GD), so 1/ε and √ln(1/δ) are not forced: see theorem-5.6/explicit.
    - With c = 3/10 the bound with constants exceeds GD until ln(nd) is several times d √ln(1/δ)/ε.
    - Lemma 5.3 is used without its missing 1 + and outside βGD > d; the repaired lemma gives the same rate.
    - D.2 bounds the privacy loss '<= 1 and hence': <= ε is needed, and is what holds. It also says that the empirical
      risk is 'dominated'; it is the dominating term. min over x* in D is over the set.
    - The rate that is improved on is printed with √ln(1/δ) in Section 1.1 and with ln(1/δ) in Section 5.1.
    - The set must contain the origin (or the regulariser be centred in it); the paper does not say so.
    """,
)
