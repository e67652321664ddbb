"""Kafka's three mirror connectors (KIP-382): records, consumers' offsets, and a beat that shows they live."""
