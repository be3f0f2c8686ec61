"""Pairs of distributions that dominate a mechanism, and the law of their privacy loss."""
