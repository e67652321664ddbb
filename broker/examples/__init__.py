"""Short programs that show how clients of Kafka are written: `python -m broker.examples.NAME --bootstrap-server …`.

Each is one pattern, to be read and copied, with confluent-kafka, against these brokers or any Apache Kafka.
"""
