r"""There are constants $c_1, c_2, c_3$ such that for $0 < \varepsilon < c_1 T$, $0 < \delta < 1$ Algorithm 6 is
$(\varepsilon, \delta)$-DP with $\sigma_1^2 = c_2 G^2 T \ln(1/\delta)/(n\varepsilon)^2$ and $\sigma_2^2 = c_3 d L^2 T
\ln(1/\delta)/(n\varepsilon)^2$. With $T = O(\max(D^2 L B/\alpha^2, B \sqrt{\rho_H} D^6/(\Phi^3\alpha^{3/2})))$,
$\theta = \Phi\sqrt{\rho_H\alpha}/(2\rho_H D^3)$, $\eta = \alpha/(2D^2L)$ and $r = \Phi^2 \alpha/(72 D^3)$ it outputs,
with probability $1 - \xi - T/d^C$, an $\alpha$-SOSP in the set, if $n$ is at least of the order of the largest of
three terms (given below), in which $\Phi$ and logarithms are left out.
"""

from functools import partial

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import Erratum, Max, Numbers, Parameter, Privacy, Rate, Rational, log, q, sqrt

_QUARTER = Rational(1, 4)
private = sqrt(log(1 / q.delta)) / q.epsilon
chance = log(1 / q.zeta)
small = sqrt(q.d * q.L * q.B * chance) * private * q.G * q.rho_H**_QUARTER
hessians = q.d * sqrt(q.B * q.L**3) * private * q.D**5 * chance
sample_size = Max(
    q.D**7 * small / q.alpha**2, q.D**4 * small / q.alpha**2, hessians / (q.rho_H**_QUARTER * q.alpha ** Rational(3, 2))
)
first = q.D**2 * q.L * q.B / q.alpha**2
second = q.D**6 * q.B * sqrt(q.rho_H)
scale = q.B * q.L * sqrt(q.rho_H) * q.D**6


def mechanism(at: Numbers) -> Mechanism:
    each = Gaussian(at.down(sqrt(q.c * q.T * log(1 / q.delta)) / q.epsilon))
    return each ** (2 * at.count(q.T))


# only samples have units, see definition-10: α is a loss there, and the square root of ρα is none
parameter = partial(Parameter, bases="samples")

THEOREM = PAPER.theorem(
    title="second-order stationary points in a set",
    where="Section 5.2, Theorem 9",
    bounds="sample-size, probability",
    status="repaired",
    assumptions="smooth with Lipschitz Hessian, bounded set",
    parts=(
        Rate(sample_size, "sample_size", "how many records suffice", logs_hidden=True, hides="Phi"),
        parameter(
            Max(first, second / (q.Phi**3 * q.alpha ** Rational(3, 2))), "steps", "number of steps", up_to_constant=True
        ),
        parameter(
            scale / (q.Phi**3 * q.alpha**2),
            "combined_steps",
            "the larger form printed next to it, for D, L and ρ_H at least 1 (and α at most 1)",
            up_to_constant=True,
        ),
        parameter(q.alpha / (2 * q.D**2 * q.L), "first_order_share", "η: share of the way to the Frank-Wolfe point"),
        parameter(
            q.Phi * sqrt(q.alpha / q.rho_H) / (2 * q.D**3),
            "second_order_share",
            "θ: share of the way to the point of least curvature",
        ),
        parameter(q.Phi**2 * q.alpha / (72 * q.D**3), "slack", "r: how much slope the quadratic program allows"),
    ),
    privacy=Privacy(mechanism, "epsilon delta T c"),
    algorithm="wang-chen-xu-2019/algorithm-6",
    relies_on="wang-chen-xu-2019/lemma-1 cited/abadi-et-al-2016/theorem-1",
    errata=Erratum(
        printed="three terms in G, L, B, D, ρ_H and α, one in D⁷/α², one in D⁴/α², one in D⁵/α^(3/2)",
        right="no unit of α makes numbers of them: the definition compares α with changes of the loss, and √(ρ_H α) "
        "with changes of its slope, so that everything is tied to sets of diameter about 1 and constants of "
        "order 1. Two tolerances have units: theorem-9/explicit",
        severity="constant",
        evidence="test_theorem_9.py::test_no_unit_of_the_tolerance_makes_the_terms_numbers",
        survives="the powers of n, d and ε; and the statement with two tolerances, with constants",
    ),
    notes="""
    - Its range of ε is too wide, too; here c₂ = c₃ = 2(6 + 4√2) serve ε <= ln(1/δ): see the erratum of
      wang-xu-2019/theorem-1.
    - The text at hand is damaged here: it has θ = Φα/(2D³), r = Φ²Φα/(72ρD³), Φ <= 9/5. Read as Φ√(ρα)/(2ρD³) and
      Φ²ρα/(72ρD³), as the descent needs (second_order.md, section 4); an oracle's Φ is at most 1.
    - The three terms are what this descent needs with the combined T, up to Φ and logarithms: noise below r/D and α/D
      for the gradients and below Φ√(ρ_H α)/D² for the Hessians. With constants, and with units that fit:
      theorem-9/explicit.
    - p in the probability T/p^C is the dimension d.
    """,
)
