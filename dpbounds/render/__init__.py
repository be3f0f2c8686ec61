"""Pages and tables made from the library."""
