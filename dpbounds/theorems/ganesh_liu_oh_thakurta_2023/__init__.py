"""Ganesh, Liu, Oh & Thakurta 2023: private stationary points of first and second order, and excess risk by sampling.

The text read here is an extraction (LaTeX-like) of the version with appendices A-F. Subscripts D and P, root signs and
exponents may have been lost in it: where that could be, a record has a note, and nothing is called an error because of
it. Letters of print and the quantities that they stand for here: M ``smoothness``, ρ ``hessian_lipschitz``, B
``loss_range``, D ``diameter``, φ ``rho`` (a zCDP budget), ω ``failure_probability``, κ ``drift_threshold``, σ₁
``noise_stddev``, σ₂ ``difference_noise_stddev``, α ``stationarity``, η ``step_size``, C_LSI ``log_sobolev``; in
sections 3 and 4 also ζ₁, ζ₂ ``first_oracle_noise`` and ``second_oracle_noise``, γ ``gradient_accuracy``, Γ
``escape_steps``, b₁, b₂ ``first_batch`` and ``second_batch``, and T₁ ``fresh_estimates``.

Neighbours "differ in at most one element", which is replace-one; Section 4 computes with the sensitivity of a record
that is added or removed while n stays in the denominator (add-or-remove-one here). Where that matters, records say so.
"""
