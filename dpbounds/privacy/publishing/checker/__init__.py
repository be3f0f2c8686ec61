"""The stand-alone checker, file by file; ``amalgamate`` writes them into one, ``standalone_checker.py``."""
