"""Attacks: neighbouring datasets that are as far apart as the rules allow, and scores that distinguish their runs.

- ``neighbours``: the worst pairs
- ``transcripts``: what an algorithm released, heard at the oracles, and its likelihood under either dataset
- ``outputs``: likelihood ratios of what selections return
- ``betting``: a lower bound on ε that holds whenever one stops, and what it assumes
- ``experiments``: runs on both datasets, turned into a lower bound on ε and compared with the ledger and the claim
- ``selections``: AboveThreshold as printed and as repaired, on two vectors of answers
- ``canaries``: many records guessed in one run
- ``mutations``: deliberately broken copies, and whether they are caught

An audit says something about what happened often enough to be counted. Claims about rare events (δ = 1e-6, a failure
probability) are matters of exact computation, not of audits.
"""
