"""A package, so that its product ends with its last test."""
