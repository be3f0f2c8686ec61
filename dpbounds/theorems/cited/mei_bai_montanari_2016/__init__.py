"""Mei, Bai & Montanari 2016: the landscape of empirical risk; quoted by Wang & Xu 2019."""
