r"""Let $W$ be compact, with a point $\tilde w \in W$ from which no point of $W$ is further than $D$, and whose
population excess risk is at most $G D d/(\varepsilon n)$. The $\varepsilon$-DP exponential mechanism over a net of $W$
returns with probability $1 - \zeta$ a point of population excess risk of order $G D \big(\frac{d}{\varepsilon n} +
\sqrt{d/n}\big)$, up to logarithms. Equation 3 bounds its empirical excess risk, equation 4 is the union bound over the
net of $N$ points: all empirical risks are within $p$ of the population risks but for probability
$2 N \exp(-n p^2/(2 G^2 D^2))$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, deviation
from dpbounds.privacy.mechanisms import Mechanism, PureDP
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.language import LOSS, PURE, Bound, Erratum, Numbers, Parameter, Privacy, Rate, exp, log, q, sqrt

rate = q.G * q.D * (q.d / (q.epsilon * q.n) + sqrt(q.d / q.n))
needed_deviation = q.G * q.D * sqrt(2 * log(8 * q.N / q.zeta) / q.n)
printed_deviation = q.G * q.D / sqrt(q.n) * sqrt(log(8 / q.zeta) + q.d)


def mechanism(at: Numbers) -> Mechanism:
    # ε-DP: W has diameter at most 2D, so replacing a record changes n times the risk by a function whose range over W
    # is at most 2G * 2D, and the scale is 4GD
    return PureDP(at[q.epsilon], relation=Relation.REPLACE_ONE)


THEOREM = PAPER.theorem(
    title="exponential mechanism for the population risk",
    where="Appendix E, Lemma E.3, equations 3 and 4",
    bounds="excess-population-risk, probability",
    status="repaired",
    assumptions="Lipschitz, i.i.d. records",
    parts=(
        Rate(rate, logs_hidden=True, bases="loss length"),
        Rate(
            q.G * q.D * q.d / (q.epsilon * q.n),
            "equation-3",
            "empirical excess risk, with probability 1 - ζ/2",
            logs_hidden=True,
        ),
        Bound(
            2 * q.N * exp(-q.n * deviation**2 / (2 * q.G**2 * q.D**2)),
            "equation-4",
            "probability that some net point's empirical risk is off by more than p",
            unit=PURE,
            bases="loss length",
        ),
        Parameter(
            needed_deviation,
            "deviation",
            "repaired: p at which the proof's 4N exp(-np²/(2G²D²)) is ζ/2",
            unit=LOSS,
            bases="loss length",
        ),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    errata=(
        Erratum(
            printed="p = (G D/√n) √(ln(8/ζ) + d) makes 4N exp(-np²/(2G²D²)) at most ζ/2 (in arXiv version 1)",
            right="p = G D √(2 ln(8N/ζ)/n), and ln N is of order d ln(εn/d), not d/2; at the printed p the failure "
            "bound exceeds 1",
            severity="constant",
            evidence="test_lemma_e_3.py::test_the_printed_deviation_is_too_small",
            where="Appendix E, end of the proof",
            survives="the lemma, whose order of growth hides the logarithm",
        ),
        Erratum(
            printed="f(w_j, x) lies in [-GD, GD] (in arXiv version 1)",
            right="f(w_j, x) - f(w̃, x) does; f itself may be shifted by any amount that depends on x",
            severity="harmless",
            evidence="test_lemma_e_3.py::test_losses_themselves_are_not_bounded",
            where="Appendix E, before equation 4",
            survives="all that follows, for the shifted losses, which have the same differences and gradients",
        ),
    ),
    notes="""
    - The proof applies equation 4 to the minimiser of F, which is not in the net, and equation 3 refers to the infimum
      over R^d of the empirical risk, of which nothing is assumed. Comparing with the net point nearest w̃ avoids both:
      lowy-ullman-wright-2024/lemma-e.3/explicit.
    - p < 1 is asked for and not needed; one event with 2N in place of 4N is enough.
    """,
)
