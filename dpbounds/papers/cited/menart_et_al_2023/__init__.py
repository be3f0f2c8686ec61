"""Menart, Ullah, Arora, Bassily & Guzmán 2023: private optimisation under the KL condition; abstract and quotation."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/menart-et-al-2023", read="as quoted by another paper")
