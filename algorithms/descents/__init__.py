"""Steps along noisy gradients: projected, mirrored, Langevin, stochastic, with ball noise; baselines as printed."""
