"""Arora, Bassily, González, Guzmán, Menart & Ullah 2023: faster rates to stationary points; abstract and quotations."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/arora-et-al-2023", read="as quoted by another paper")
