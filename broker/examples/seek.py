"""Reading from where one likes: the end of a partition but for a few records, and then from its beginning again."""

from collections.abc import Sequence

from confluent_kafka import Consumer, TopicPartition

from broker.examples.command_line import parse_options
from broker.examples.reading import read

_FROM_END = 2


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    settings = {"group.id": options.group, "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": options.bootstrap_server, **settings})
    partition = TopicPartition(options.topic, 0)
    first, end = consumer.get_watermark_offsets(partition, timeout=10)
    start = max(first, end - _FROM_END)
    consumer.assign([TopicPartition(options.topic, 0, start)])  # no group shares it out: it is taken
    for message in read(consumer, end - start):
        print(f"from the end: offset {message.offset()}: {(message.value() or b'').decode()}")
    consumer.seek(TopicPartition(options.topic, 0, first))
    for message in read(consumer, min(options.count, end - first)):
        print(f"from the beginning: offset {message.offset()}: {(message.value() or b'').decode()}")
    consumer.close()


if __name__ == "__main__":
    main()
