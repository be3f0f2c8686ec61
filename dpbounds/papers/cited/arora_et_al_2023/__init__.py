"""Arora, Bassily, González, Guzmán, Menart & Ullah 2023: faster rates to stationary points.

Theorems 3.1, 3.2 and 4.3 were read in a converted copy of the text, the others in the abstract and in quotations.
"""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/arora-et-al-2023", read="as quoted by another paper")
