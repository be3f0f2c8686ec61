"""``python -m algorithms.verification`` writes the index of all studies."""

from algorithms.verification.catalogue import write_index

if __name__ == "__main__":
    write_index()
