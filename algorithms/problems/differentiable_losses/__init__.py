"""Losses written in JAX: the problem, the programs that clip and sum, the margin that makes their bound exact."""
