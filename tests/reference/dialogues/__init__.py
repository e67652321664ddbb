"""Dialogues with brokers: the same requests, as JSON, to one of ours and to one of Apache Kafka's."""
