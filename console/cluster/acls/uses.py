"""What a kind of client needs, as rules: chosen by what it is, instead of operation by operation. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from console.kit.gateway.acls.interface import ANY_HOST, WILDCARD, AclRule
from console.kit.gateway.processes.stream_jobs import SINK_PREFIX, SINK_TOPIC

_KEPT = ("CREATE", "DESCRIBE_CONFIGS", "READ", "WRITE")

#: Field of the form → what was typed there.
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AclClient:
    """Principal, host, and the names it was given; `creates`: topics that are not there yet."""

    principal: str
    names: Names
    creates: bool = False
    host: str = ANY_HOST

    def rules(self, resource: str, field: str, *operations: str) -> Iterator[AclRule]:
        for name in names_in(self.names.get(field, "")):
            yield from self.on(resource, name, *operations)

    def on(self, resource: str, name: str, *operations: str) -> Iterator[AclRule]:
        """Yield rules on a resource: `orders.*` is whatever begins with `orders.`, `*` alone is every one."""
        is_prefix = name != WILDCARD and name.endswith(WILDCARD)
        pattern, own = ("PREFIXED", name.removesuffix(WILDCARD)) if is_prefix else ("LITERAL", name)
        for operation in operations:
            yield AclRule(resource, own, pattern, self.principal, "ALLOW", operation, self.host)


@dataclass(frozen=True, slots=True)
class AclUse:
    """`fields`: names that have to be given, in the order of the form."""

    label: str
    words: str
    fields: tuple[str, ...]
    rules: Callable[[AclClient], Iterable[AclRule]]


def names_in(text: str) -> list[str]:
    """Split names at commas: names of groups may have spaces."""
    return [name for part in text.split(",") if (name := part.strip())]


def _writes(client: AclClient) -> Iterator[AclRule]:
    yield from client.rules("TOPIC", "writes", *(("CREATE", "WRITE") if client.creates else ("WRITE",)))


def _reads(client: AclClient) -> Iterator[AclRule]:
    yield from client.rules("TOPIC", "reads", "READ")
    yield from client.rules("GROUP", "groups", "READ")


def _in_transactions(client: AclClient) -> Iterator[AclRule]:
    yield from _writes(client)
    yield from client.rules("TRANSACTIONAL_ID", "transactional_ids", "WRITE")


def _copies(client: AclClient) -> Iterator[AclRule]:
    yield from _reads(client)
    yield from _in_transactions(client)


def _works(client: AclClient) -> Iterator[AclRule]:
    yield from client.rules("TOPIC", "keeps", *_KEPT)
    yield from client.rules("GROUP", "groups", "READ")


def _streams(client: AclClient) -> Iterator[AclRule]:
    """Yield rules of a stream job; its sink keeps a ledger of what it wrote, for exactly once."""
    yield from client.rules("TOPIC", "reads", "READ")
    yield from _writes(client)
    yield from client.on("TOPIC", SINK_TOPIC, *_KEPT)
    yield from client.on("GROUP", f"{SINK_PREFIX}*", "READ")
    yield from client.on("TRANSACTIONAL_ID", f"{SINK_PREFIX}*", "WRITE")


def _kafka_streams(client: AclClient) -> Iterator[AclRule]:
    """Yield rules of a Kafka Streams application, whose internal topics, group and transactions are named after it."""
    yield from client.rules("TOPIC", "reads", "READ")
    yield from _writes(client)
    for application in names_in(client.names.get("application", "")):
        yield from client.on("TOPIC", f"{application}-*", "ALL")
        yield from client.on("GROUP", application, "READ")
        yield from client.on("TRANSACTIONAL_ID", f"{application}-*", "WRITE")


USES: Mapping[str, AclUse] = {
    "producer": AclUse("Producer", "writes to topics", ("writes",), _writes),
    "transactional-producer": AclUse(
        "Producer in transactions",
        "writes to topics, all or nothing",
        ("writes", "transactional_ids"),
        _in_transactions,
    ),
    "consumer": AclUse("Consumer", "reads topics in a group", ("reads", "groups"), _reads),
    "copier": AclUse(
        "Consumer that writes in transactions",
        "reads, and writes what comes of it, exactly once",
        ("reads", "groups", "writes", "transactional_ids"),
        _copies,
    ),
    "kafka-streams": AclUse(
        "Kafka Streams application", "named by its application.id", ("application", "reads", "writes"), _kafka_streams
    ),
    "stream-job": AclUse("Stream job on Spark", "of this console", ("reads", "writes"), _streams),
    "connect-worker": AclUse(
        "Connect worker", "keeps what it knows in three topics; its connectors need more", ("keeps", "groups"), _works
    ),
}
