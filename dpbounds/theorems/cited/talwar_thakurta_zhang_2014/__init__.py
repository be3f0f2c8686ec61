"""Talwar, Thakurta & Zhang 2014: private empirical risk minimisation and the geometry of the set."""
