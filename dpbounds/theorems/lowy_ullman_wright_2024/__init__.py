"""Lowy, Ullman & Wright 2024, "How to Make the Gradients Small Privately": warm starts for private stationary points.

What was read is version 1 (February 2024), in an abridged transcription of its source: definitions, statements,
formulas and the steps of proofs, not the running text, and of Figure 1 only the caption. Later versions were not
seen: an erratum is one "in version 1", and may have been repaired since.

Letters of print, and the quantities here: L is ``lipschitz`` (G), β ``smoothness`` (L), ρ ``hessian_lipschitz``
(ρ_H), D the ``diameter`` (of the set in Section 4; a bound on the initial distance in Section 5), ψ ``excess_risk``,
Δ̂ at w₀ ``initial_gap`` (Δ_F), ζ ``failure_probability``. The letter q is the ``anchor_period`` of Algorithm 1 and
the ``quasar_convexity`` of Section 5; γ is a rate in Section 4 and ``kl_constant`` in Section 6. In docstrings the
letters are those of the symbol table, and A stands for √(d ln(1/δ))/(εn).
"""
