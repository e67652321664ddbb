"""Key stores and trust stores in Kafka's words, for brokers and for clients. Knows only the base."""
