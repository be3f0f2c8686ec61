"""Budgets: calibration, filters, and the remaining budget."""
