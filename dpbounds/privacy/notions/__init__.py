"""Conversions between notions of privacy, and composition theorems."""
