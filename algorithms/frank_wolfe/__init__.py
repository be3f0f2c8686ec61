"""Steps towards vertices: noisy gradients with a linear minimiser, or vertices that are drawn privately."""
