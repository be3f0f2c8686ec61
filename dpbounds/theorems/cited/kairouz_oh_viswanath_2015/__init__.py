"""Kairouz, Oh & Viswanath 2015: what any composition of (ε, δ)-private releases can leak, exactly."""
