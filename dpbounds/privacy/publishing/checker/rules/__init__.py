"""Enclosures of δ of a composition: one file per rule of proof."""
