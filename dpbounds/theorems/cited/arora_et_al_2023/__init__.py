"""Arora, Bassily, González, Guzmán, Menart & Ullah 2023: faster rates to stationary points; abstract and quotations."""
