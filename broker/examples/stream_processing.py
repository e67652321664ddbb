"""Demo of the slides, stream processing: words are counted in a table, and each new count goes into TOPIC.counts.

What was read and what was written are one transaction, so every word counts once, whoever dies.
"""

from collections import Counter
from collections.abc import Sequence

from confluent_kafka import Consumer, Producer

from broker.examples.command_line import parse_options
from broker.examples.reading import after, read


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    server = {"bootstrap.servers": options.bootstrap_server}
    settings = {"group.id": options.group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({**server, **settings, "isolation.level": "read_committed"})
    producer = Producer({**server, "transactional.id": f"{options.group}-counts"})
    producer.init_transactions()
    consumer.subscribe([options.topic])
    counts: Counter[str] = Counter()  # lost with the process; a real one is read back from TOPIC.counts
    for message in read(consumer, options.count):
        producer.begin_transaction()
        for word in (message.value() or b"").decode().split():
            counts[word] += 1
            producer.produce(f"{options.topic}.counts", f"{counts[word]}", key=word)
        producer.send_offsets_to_transaction([after(message)], consumer.consumer_group_metadata())
        producer.commit_transaction()
    for word, count in sorted(counts.items()):
        print(f"{word}: {count}")
    consumer.close()


if __name__ == "__main__":
    main()
