"""Asking brokers what only this product's brokers answer, from any process: blocking, with a deadline for everything.

Whatever every Kafka broker answers is asked with confluent-kafka instead.
"""
