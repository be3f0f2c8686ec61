"""Enclosures of δ(ε) of composed pairs: closed forms, a contour integral, a lattice."""
