"""The connect worker: sources outside Kafka become records of a topic, each sent on until it is acknowledged.

An ordinary client: imports only broker.common and broker.config, and talks to brokers through confluent-kafka.
"""
