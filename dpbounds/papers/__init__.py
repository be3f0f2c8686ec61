"""The papers: one statement per file, each with its derivation."""
