"""A partitioner of one's own: one large customer has the last partition alone, all others share the rest.

Without one, records of a key go to the partition of its hash: `murmur2_random` places them as Java clients do, where
librdkafka's default would not.
"""

from collections.abc import Sequence
from zlib import crc32

from confluent_kafka import Producer

from broker.examples.command_line import parse_options

LARGE = "large-customer"


def partition_of(key: str, partitions: int) -> int:
    if partitions == 1:
        return 0
    return partitions - 1 if key == LARGE else crc32(key.encode()) % (partitions - 1)


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    producer = Producer({"bootstrap.servers": options.bootstrap_server, "partitioner": "murmur2_random"})
    known = producer.list_topics(options.topic, timeout=10)
    partitions = len(known.topics[options.topic].partitions) or 1
    for number in range(options.count):
        key = LARGE if number % 2 else f"customer-{number}"
        chosen = partition_of(key, partitions)
        producer.produce(options.topic, f"order {number}", key=key, partition=chosen)
        print(f"{key} -> partition {chosen}")
    producer.flush()


if __name__ == "__main__":
    main()
