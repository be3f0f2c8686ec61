"""Tightness of bounds: each with a problem on which the bounded quantity is computed with proof."""
