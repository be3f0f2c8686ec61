"""Which pairs dominate a mechanism: one release, samples, compositions."""
