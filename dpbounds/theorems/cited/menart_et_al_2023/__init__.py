"""Menart, Ullah, Arora, Bassily & Guzmán 2023: private optimisation under the KL condition; abstract and quotation."""
