"""Requests whose work takes several stages, and what every request is handled with."""
