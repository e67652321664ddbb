"""`kafka-e2e-latency`: how long a record takes from a producer to a consumer, one after the other."""

import random
import time
from typing import TYPE_CHECKING, Any

from broker.cli.clients.figures import percentiles
from broker.cli.frame.connecting import client_config, security_of
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, UsageError
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.common.errors import ApiError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer

    from broker.client.security.properties import ClientSecurity

_USAGE = "USAGE: kafka-e2e-latency broker_list topic num_messages producer_acks message_size_bytes [properties_file]"
_TIMEOUT_S = 60.0
_SHOWN_EVERY = 1_000
_CREATE_TIMEOUT_MS = 60_000


def run(arguments: Arguments) -> None:
    servers, topic, count, acks, size, *rest = arguments.words
    if acks not in ("1", "all"):
        raise CommandError("Latency testing requires synchronous acknowledgement. Please use 1 or all")
    try:
        wanted, length = int(count), int(size)
        addresses = parse_bootstrap_servers(servers)
    except (ValueError, ApiError) as error:
        raise UsageError(f"{_USAGE}: {error}") from None
    if wanted < 1 or length < 0:
        raise UsageError(f"{_USAGE}: nothing is to be sent")
    config = client_config(rest[0] if rest else None)
    partitions = _partitions(addresses, topic, security_of(config))
    from broker.cli.clients.clients import as_command_errors, close, open_consumer, open_producer

    properties = {**config, "bootstrap.servers": servers}
    with as_command_errors():
        consumer = open_consumer(
            arguments, {**properties, "group.id": f"test-group-{random.randrange(10**9)}"},
            **{"enable.auto.commit": False, "fetch.wait.max.ms": 10},
        )  # fmt: skip
        try:
            producer = open_producer(arguments, {**properties, "acks": acks}, **{"linger.ms": 0})
            _place_at_end(consumer, topic, partitions)
            latencies_ms = _measured(producer, consumer, topic, wanted, length)
        finally:
            close(consumer)
    _print_latencies(latencies_ms)


def _partitions(addresses: tuple[tuple[str, int], ...], topic: str, security: "ClientSecurity | None") -> list[int]:
    """Return the topic's partitions; the topic is created if it is missing."""
    with ClusterConnections(addresses, client_id="kafka-e2e-latency", security=security) as cluster:
        (described,) = cluster.describe_topics([topic]).topics
        if described.partitions:
            return [partition.partition_index for partition in described.partitions]
        print(f'Topic "{topic}" does not exist. Will create topic with 1 partition(s) and replication factor = 1')
        _create(cluster, topic)
    return [0]


def _create(cluster: ClusterConnections, topic: str) -> None:
    from broker.cli.frame.answers import check
    from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest

    wanted = CreatableTopic(name=topic, num_partitions=1, replication_factor=1)
    (made,) = cluster.ask_controller(CreateTopicsRequest(topics=[wanted], timeout_ms=_CREATE_TIMEOUT_MS)).topics
    check(made.error_code, made.error_message)


def _place_at_end(consumer: "Consumer", topic: str, partitions: list[int]) -> None:
    """Place the consumer at the end by offset: the end that it looks up itself might be behind the first record."""
    from confluent_kafka import TopicPartition

    places = []
    for number in partitions:
        _first, end = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=_TIMEOUT_S)
        places.append(TopicPartition(topic, number, end))
    consumer.assign(places)


def _measured(producer: "Producer", consumer: "Consumer", topic: str, count: int, length: int) -> list[float]:
    latencies_ms = []
    for number in range(count):
        value = bytes(random.choices(range(ord("A"), ord("Z") + 1), k=length))
        began = time.monotonic()
        producer.produce(topic, value, on_delivery=_delivered)
        producer.flush()
        received = _received(consumer)
        latencies_ms.append((time.monotonic() - began) * 1000)
        if received != value:
            shown = received.decode(errors="replace")
            raise CommandError(f"The message read [{shown}] did not match the message sent [{value.decode()}]")
        if number % _SHOWN_EVERY == 0:
            print(f"{number}\t{latencies_ms[-1]}", flush=True)
    return latencies_ms


def _delivered(error: Any, _message: Any) -> None:
    from broker.cli.clients.clients import sentence

    if error is not None:
        raise CommandError(f"The record was not delivered: {sentence(error)}")


def _received(consumer: "Consumer") -> bytes:
    from broker.cli.clients.clients import sentence

    end = time.monotonic() + _TIMEOUT_S
    while (left := end - time.monotonic()) > 0:
        message = consumer.poll(min(left, 0.1))
        if message is None:
            continue
        error = message.error()
        if error is None:
            return message.value() or b""
        if error.fatal():
            raise CommandError(sentence(error))
    raise CommandError(f"poll() timed out before finding a result (timeout:[{_TIMEOUT_S * 1000:.0f}])")


def _print_latencies(latencies_ms: list[float]) -> None:
    print(f"Avg latency: {sum(latencies_ms) / len(latencies_ms):.4f} ms")
    half, most, nearly_all = percentiles([int(item) for item in latencies_ms], (0.5, 0.99, 0.999))
    print(f"Percentiles: 50th = {half}, 99th = {most}, 99.9th = {nearly_all}")


COMMAND = Command(
    name="kafka-e2e-latency",
    summary="Tell how long records take from a producer to a consumer.",
    run=run,
    words=("broker_list", "topic", "num_messages", "producer_acks", "message_size_bytes", "properties_file"),
    words_required=5,
    examples=(Example("kafka-e2e-latency localhost:9092 orders 1000 all 100", "a thousand records of 100 bytes"),),
)
