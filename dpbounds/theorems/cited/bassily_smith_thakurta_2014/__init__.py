"""Bassily, Smith & Thakurta 2014: private convex empirical risk minimisation, as quoted by two of the papers."""
