"""``python -m dpbounds.theorems`` writes the index of all statements."""

from dpbounds.theorems.registry import write_index

if __name__ == "__main__":
    write_index()
