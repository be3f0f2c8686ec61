"""Liu & Talwar 2024: adaptive batches for private second-order stationary points; the abstract was read."""
