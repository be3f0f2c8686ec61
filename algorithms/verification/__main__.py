"""``python -m dpbounds.algorithms.verification`` writes the index of all studies."""

from dpbounds.algorithms.verification.catalogue import write_index

if __name__ == "__main__":
    write_index()
