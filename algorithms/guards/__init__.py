"""Guards of runs: a count of answers; on request a replay check that has only the releases, and residual tests."""
