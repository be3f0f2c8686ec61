"""Rényi divergences of dominating pairs, and the accounts that rest on them."""
