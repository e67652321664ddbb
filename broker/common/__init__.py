"""Vocabulary shared by every room: types, errors, clocks, limits, logs, metrics. Imports nothing of the product."""
