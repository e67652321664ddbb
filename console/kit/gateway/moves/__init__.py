"""Moves of replicas between brokers and between directories."""
