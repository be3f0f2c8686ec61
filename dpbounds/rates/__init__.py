"""Comparison of rates: orders of growth as algebra, regions of the best results, and plans at given numbers.

On logarithmic axes an order of growth is a piecewise linear function, so the questions "where is this bound better?"
and "which power of n balances these terms?" have exact answers in rational numbers. Nothing here is plotted to be
read off.
"""
