"""Tran & Cutkosky 2022: momentum aggregation for private non-convex ERM; the abstract was read."""
