"""`kafka-mirror-maker`: the first mirror: a group that reads topics of one cluster and writes them to another one.

Names stay; a record keeps its key, value, headers and timestamp, and goes where the target's partitioner puts its key.
A header more names the clusters it has been in, so that none comes back, whatever mirrors go there and back. At least
once: offsets are committed when all that was read before is acknowledged. `connect-mirror-maker` is the one
that keeps partitions and offsets.
"""

import re
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from broker.cli.clients.console_consumer_choices import reads_internal_topics
from broker.cli.clients.matching_topics import TopicPatternSubscription
from broker.cli.frame.answers import at_least_one, pattern
from broker.cli.frame.connecting import brokers_in_zookeeper, client_config
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.stopping import Stopping

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message, Producer

_AT_ONCE = 1_000
_POLL_S = 0.2
#: How long what was sent may take at the end; what is not acknowledged by then is read again by the next mirror.
_FLUSH_S = 30.0
_ASK_S = 5.0
_CLUSTERS_MAX = 100
Headers = list[tuple[str, bytes | None]]
#: Nothing is lost whatever happens to the target (Kafka's mirror sets them, too).
#: Ids of clusters with commas: where a record has been, and where it was brought.
CLUSTERS = "barnabas.mirror.clusters"
_OF_PRODUCER = {
    "acks": "all",
    "max.in.flight.requests.per.connection": "1",
    "delivery.timeout.ms": "2147483647",
    "linger.ms": "5",
}


def run(arguments: Arguments) -> int:
    wanted = _wanted(arguments)
    if not arguments["consumer.config"] or not arguments["producer.config"]:
        raise UsageError("--consumer.config and --producer.config must be specified")
    for name in ("message.handler", "consumer.rebalance.listener"):
        if arguments[name]:
            raise UsageError(f"--{name} names a class of Java, which cannot run here")
    streams = [
        _MirrorStream(arguments, wanted, path)
        for path in arguments["consumer.config"]
        for _ in range(arguments["num.streams"])
    ]
    with Stopping() as stopping:
        for stream in streams:
            stream.thread.start()
        while not stopping.is_requested and not any(stream.failure for stream in streams):
            time.sleep(_POLL_S)
        for stream in streams:
            stream.is_ending = True
        for stream in streams:
            stream.thread.join()
    failure = next((stream.failure for stream in streams if stream.failure), None)
    if failure:
        raise CommandError(f"Mirror maker thread exited abnormally, stopping the whole mirror maker. {failure}")
    return stopping.status


def _wanted(arguments: Arguments) -> re.Pattern[str]:
    include, exclude = arguments["include"], arguments["blacklist"]
    if bool(include) == bool(exclude):
        raise UsageError("Exactly one of --include and --blacklist is required.")
    if include:
        return pattern(include)
    names = exclude.replace(" ", "").split(",")
    if not all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names):
        raise UsageError("--blacklist takes names here; --include takes patterns")
    raise UsageError(f"--blacklist was removed in Kafka 2.0; say with --include which topics, not {', '.join(names)}")


class _MirrorStream:
    """A consumer and a producer of its own, on a thread of its own."""

    def __init__(self, arguments: Arguments, wanted: re.Pattern[str], path: str):
        self._arguments, self._wanted, self._path = arguments, wanted, path
        self._interval_s = arguments["offset.commit.interval.ms"] / 1000
        self._aborts = arguments["abort.on.send.failure"]
        self.is_ending = False
        self.failure: str | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        from broker.cli.clients.clients import as_command_errors, close

        try:
            with as_command_errors():
                consumer = self._consumer()
                try:
                    self._mirror(consumer, self._producer())
                finally:
                    close(consumer)
        except CommandError as error:
            self.failure = str(error)

    def _consumer(self) -> "Consumer":
        from broker.cli.clients.clients import open_consumer

        properties = _with_brokers(client_config(self._path))
        if not properties.get("group.id"):
            raise CommandError(f"{self._path} has no group.id, under which offsets are kept.")
        self._with_internal = reads_internal_topics(properties)
        settings = {"enable.auto.commit": False, "allow.auto.create.topics": False}
        return open_consumer(self._arguments, properties, **settings)

    def _producer(self) -> "Producer":
        from broker.cli.clients.clients import open_producer

        properties = _with_brokers(client_config(self._arguments["producer.config"]))
        return open_producer(self._arguments, {**_OF_PRODUCER, **properties})

    def _revoked(self, consumer: "Consumer", partitions: list[Any]) -> None:
        """Write and commit what was read before the partitions move to another consumer."""
        self._commit(consumer)

    def _mirror(self, consumer: "Consumer", producer: "Producer") -> None:
        from broker.cli.clients.clients import next_messages

        self._sending = producer
        self._clusters = [self._cluster_id(item) for item in (consumer, producer)]
        topics = TopicPatternSubscription(
            consumer, self._wanted, with_internal=self._with_internal, on_revoke=self._revoked
        )
        commit_at = time.monotonic() + self._interval_s
        while not self.is_ending and not self.failure:
            topics.follow()
            for message in next_messages(consumer, _AT_ONCE, _POLL_S):
                if message.error() is None:
                    self._send(producer, message)
            producer.poll(0)
            if time.monotonic() >= commit_at:
                self._commit(consumer)
                commit_at = time.monotonic() + self._interval_s
        if not self.failure:
            self._commit(consumer)

    def _cluster_id(self, client: "Consumer | Producer") -> str | None:
        """Waits for who does not answer."""
        from confluent_kafka import KafkaException

        while not self.is_ending:
            with suppress(KafkaException):
                cluster_id: str | None = client.list_topics(timeout=_ASK_S).cluster_id
                return cluster_id
        return None

    def _send(self, producer: "Producer", message: "Message") -> None:
        headers = with_clusters(cast(Headers, message.headers() or []), *self._clusters)
        if headers is None:
            return
        kind, timestamp_ms = message.timestamp()
        named: dict[str, Any] = {"timestamp": timestamp_ms} if kind and timestamp_ms >= 0 else {}
        if headers:
            named["headers"] = headers
        while not self.failure:
            try:
                producer.produce(message.topic(), message.value(), message.key(), on_delivery=self._delivered, **named)  # type: ignore[arg-type]  # it came from a topic
                return
            except BufferError:
                producer.poll(_POLL_S)

    def _delivered(self, error: "KafkaError | None", message: "Message") -> None:
        if error is None:
            return
        message_text = f"A record for {message.topic()} was not written: {error.str()}."
        if self._aborts:
            self.failure = self.failure or message_text
        else:
            from broker.cli.clients.clients import log_line

            log_line("ERROR", message_text)

    def _commit(self, consumer: "Consumer") -> None:
        """Commit only acknowledged records."""
        from confluent_kafka import KafkaError, KafkaException

        deadline = time.monotonic() + _FLUSH_S
        while self._sending.flush(_POLL_S) and not self.failure:
            if self.is_ending and time.monotonic() > deadline:
                self.failure = "The target does not acknowledge: what was read last is read again by the next mirror."
        if self.failure:
            return
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:
            # Nothing was read since; or the group has shared its partitions anew, and others read on from the last.
            if error.args[0].code() not in (
                KafkaError._NO_OFFSET,
                KafkaError.ILLEGAL_GENERATION,
                KafkaError.UNKNOWN_MEMBER_ID,
                KafkaError.REBALANCE_IN_PROGRESS,
            ):
                raise


def with_clusters(headers: Headers, source: str | None, target: str | None) -> Headers | None:
    """Return the headers for the copy of a record; None if the record has been in the target cluster. Pure."""
    if source is None or target is None:
        return headers
    been = [part for name, value in headers if name == CLUSTERS for part in (value or b"").decode("latin-1").split(",")]
    if target in been:
        return None
    kept = [(name, value) for name, value in headers if name != CLUSTERS]
    passed = [*(item for item in been if item != source), source, target][-_CLUSTERS_MAX:]
    return [*kept, (CLUSTERS, ",".join(passed).encode("latin-1"))]


def _with_brokers(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties with brokers; files of the first generation name ZooKeeper instead."""
    settings = dict(properties)
    connect = settings.pop("zookeeper.connect", None)
    if connect and not (settings.get("bootstrap.servers") or settings.get("metadata.broker.list")):
        settings["bootstrap.servers"] = ",".join(f"{host}:{port}" for host, port in brokers_in_zookeeper(connect))
    return settings


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("it must be true or false")
    return text.lower() == "true"


_OLD = "The only client there is now is the new one."
COMMAND = Command(
    name="kafka-mirror-maker",
    summary="Copy topics of one cluster into another one, under their names.",
    run=run,
    options=(
        Option("consumer.config", "How the source is read: properties with group.id.", "FILE", repeatable=True),
        Option("producer.config", "How the target is written.", "FILE"),
        Option("include", "Topics that are copied.", "REGEX", older=("whitelist",)),
        Option("blacklist", "Topics that are not copied.", "LIST"),
        Option("num.streams", "Consumers, each with a producer.", "N", parse=at_least_one, default=1),
        Option(
            "offset.commit.interval.ms", "How often offsets are committed.", "MS", parse=at_least_one, default=60_000
        ),
        Option(
            "abort.on.send.failure", "Whether a record that cannot be written ends the mirror.", "true|false",
            parse=_boolean, default=True,
        ),
        Option("message.handler", "A class of Java that changes records: refused.", "CLASS"),
        Option("message.handler.args", "Its arguments.", "TEXT"),
        Option("consumer.rebalance.listener", "A class of Java that hears of rebalances: refused.", "CLASS"),
        Option("rebalance.listener.args", "Its arguments.", "TEXT"),
        Option("new.consumer", "Once: not the consumer of 0.8.", without_effect=_OLD),
        Option("new.producer", "Once: not the producer of 0.8.", without_effect=_OLD),
        Option("num.producers", "Once: producers of all streams.", "N", without_effect="Each stream has its producer."),
        Option("queue.size", "Once: records in between.", "N", without_effect="There is no queue."),
    ),
    examples=(
        Example(
            "kafka-mirror-maker --consumer.config source.properties --producer.config target.properties "
            "--include 'orders.*'",
            "records of all topics that begin with orders, until Ctrl-C",
        ),
    ),
    notes=(
        "consumer.config: bootstrap.servers and group.id of the source; auto.offset.reset=earliest, or what was "
        "written before the mirror began is not copied. Two mirrors there and back make no loop: the header "
        f"{CLUSTERS} says where a record has been.",
    ),
)  # fmt: skip
