"""A package, so that its Spark ends with its last test."""
