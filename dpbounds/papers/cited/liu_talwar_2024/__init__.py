"""Liu & Talwar 2024: adaptive batches for private second-order stationary points; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/liu-talwar-2024", relation=None, read="abstract only")
