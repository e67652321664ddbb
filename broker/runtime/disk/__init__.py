"""File work that the loop must not wait for."""
