"""Dwork & Roth 2014, the textbook: theorems that the five papers quote, with proofs that are standard."""
