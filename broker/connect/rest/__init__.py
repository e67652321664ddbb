"""Kafka Connect's REST API: its paths, shapes and status codes."""
