"""How δ(ε) of composed pairs is enclosed: closed forms, a contour integral, a lattice."""
