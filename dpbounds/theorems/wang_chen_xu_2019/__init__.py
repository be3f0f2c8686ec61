"""Wang, Chen & Xu 2019: excess risk and second-order stationary points of private non-convex empirical risk.

The text read here is an extraction of the ICML 2019 version, without its supplement (where the proofs are): accents,
bars, roots and Greek letters are damaged in places, a record says so in a note, and nothing is called an error because
of it. Letters of print: L is the Lipschitz constant (G, ``lipschitz`` here), M the smoothness (L, ``smoothness`` here),
ρ the Lipschitz constant of the Hessian (ρ_H here; ρ is a zCDP budget), λ the regulariser, β in Section 4 the inverse
temperature, d the dimension, D the diameter. Neighbours differ in one entry (replace-one); n is public.
"""
