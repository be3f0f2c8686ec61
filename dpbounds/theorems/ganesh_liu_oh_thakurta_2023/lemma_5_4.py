r"""If a record of $D$ is replaced by a fresh one $s'$, the expected generalisation error $E[F_P(A(D)) - F_D(A(D))]$
equals $E[f(A(D), s') - f(A(D'), s')]$: an algorithm whose output hardly depends on one record does not overfit
(quoted from Bousquet & Elisseeff 2002).
"""

from dpbounds.theorems.assumptions import SAMPLED_RECORDS
from dpbounds.theorems.record import Metric, Mode, Note, Side, Status, Theorem

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-5.4",
    title="stability is generalisation",
    statement=__doc__,
    where="Section 5.1, Lemma 5.4",
    metric=Metric.GENERALISATION_GAP,
    side=Side.TIGHT,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    assumptions=(SAMPLED_RECORDS,),
    notes=(
        Note("Proof: F_P(A(D)) is the mean of f(A(D), s'); s' in D' plays the part of the replaced record in D."),
        Note("An identity without a number of its own; Lemma 5.5 puts numbers to it."),
    ),
)
