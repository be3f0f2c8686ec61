"""Losses with their exact constants, constraint sets and data sets."""

from algorithms.problems.datasets import Dataset, breast_cancer, read_csv
from algorithms.problems.problem import MarginLoss, Problem
from algorithms.problems.sigmoid import SIGMOID, sigmoid_loss

__all__ = ["sigmoid_loss", "breast_cancer", "read_csv", "Problem", "MarginLoss", "Dataset", "SIGMOID"]
