"""Steps that look at noisy Hessians: towards points where the curvature is (almost) nowhere negative."""
