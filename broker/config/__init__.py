"""Kafka's configuration names, types, defaults, ranges and meanings in tables; imports only broker.common."""
