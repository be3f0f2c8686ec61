"""What a cell of a sweep runs: plain functions from parameters and a seed to named numbers."""
