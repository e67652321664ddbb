"""Connectors of a Kafka Connect: what runs, what failed and why, and every change of them by plan."""
