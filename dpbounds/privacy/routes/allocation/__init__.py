"""Accounting of random allocation: the mean of many likelihood ratios, enclosed (``proof.md``)."""
