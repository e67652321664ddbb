"""The Connect worker: sources outside Kafka become records of topics, and records of topics go to sinks.

An ordinary client: knows no room of a broker, and talks to brokers through confluent-kafka and `broker.client`.
"""
