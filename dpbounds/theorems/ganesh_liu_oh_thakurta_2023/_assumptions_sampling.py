"""What sections 5 and D of this paper assume beyond the shared list."""

from dpbounds.theorems.assumptions import Assumption

LOG_SOBOLEV = Assumption("log-Sobolev", "each density that is sampled has Ent(f²) <= 2C E|∇f|² with one public C")
ORIGIN_IN_SET = Assumption("origin in the set", "0 lies in C, so that no point of C is longer than the diameter D")
NORMALISED_LOSS = Assumption("unit problem", "1-Lipschitz losses on the unit ball: G = 1, D = 2")
