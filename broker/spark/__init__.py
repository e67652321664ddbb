"""Stream jobs on Spark: a Kafka source and sink for PySpark in Python, the driver process, and the jobs.

An ordinary client: imports only broker.common and broker.config, and talks to brokers through confluent-kafka.
"""
