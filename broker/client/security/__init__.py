"""What Kafka's client properties say of security, and what becomes of it: TLS, a login, settings of librdkafka.

Nothing here but `login` knows the protocol, so whoever has confluent-kafka for a client can use it, too.
"""
