"""Properties of Kafka's Java clients, as people have them in files, in the names that librdkafka knows. Pure.

Most are called the same in both. What only Java needs is left out, with a sentence for each; what neither table knows
is passed on, and librdkafka says whether it knows it. What is of security is made elsewhere (`broker.client.security`).
"""

from collections.abc import Mapping
from typing import NamedTuple

from broker.client.security.properties import HEEDED

#: Java's name → librdkafka's, where the value stays.
_RENAMED = {
    "auto.commit.enable": "enable.auto.commit",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.block.ms": "topic.metadata.propagation.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}
#: What has no counterpart. Prefixes end in a dot.
_OF_JAVA_ONLY = (
    "auto.include.jmx.reporter",
    "consumer.timeout.ms",
    "default.api.timeout.ms",
    "exclude.internal.topics",
    "interceptor.classes",
    "key.deserializer",
    "key.serializer",
    "max.poll.records",
    "metadata.max.idle.ms",
    "metric.reporters",
    "metrics.",
    "partitioner.",
    "producer.type",
    "sasl.client.callback.handler.class",
    "sasl.login.",
    "security.providers",
    "serializer.class",
    "socket.connection.setup.timeout.max.ms",
    "ssl.enabled.protocols",
    "ssl.keymanager.algorithm",
    "ssl.protocol",
    "ssl.provider",
    "ssl.trustmanager.algorithm",
    "value.deserializer",
    "value.serializer",
    "zookeeper.",
)
_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "cooperative-sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


class Translated(NamedTuple):
    """What librdkafka is given, and a sentence for each property that it is not."""

    config: dict[str, str]
    notices: list[str]


def translate(properties: Mapping[str, str], *, of_consumer: bool = False) -> Translated:
    """Raises ValueError for a value that means nothing in either client."""
    config: dict[str, str] = {}
    notices: list[str] = []
    for name, value in properties.items():
        if name in HEEDED:
            continue
        if _is_of_java_only(name):
            notices.append(f"{name} is of Java's clients only; it is left out.")
        elif name == "request.timeout.ms" and of_consumer:
            config["socket.timeout.ms"] = value
        elif name in _TRANSLATIONS:
            config.update(_TRANSLATIONS[name](value))
        else:
            config[_RENAMED.get(name, name)] = value
    return Translated(config, notices)


def pair_as_typed(text: str) -> tuple[str, str]:
    """Split KEY=VALUE at the first `=`; blanks of the value count: it may be a separator. Raises ValueError."""
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ValueError('write it as "key=value"')
    return key.strip(), value


def _is_of_java_only(name: str) -> bool:
    return any(name == text or (text[-1] == "." and name.startswith(text)) for text in _OF_JAVA_ONLY)


def _batch_size(value: str) -> dict[str, str]:
    """Return librdkafka's batch setting; 0 is Java's way to say that each record is a batch of its own."""
    return {"batch.size": value} if _number("batch.size", value) else {"batch.num.messages": "1"}


def _buffer_memory(value: str) -> dict[str, str]:
    return {"queue.buffering.max.kbytes": str(max(1, _number("buffer.memory", value) // 1024))}


def _compression(value: str) -> dict[str, str]:
    """Return the codec; `uncompressed` is what brokers say, `NoCompressionCodec` and numbers are of Kafka 0.8."""
    by_number = {"0": "none", "1": "gzip", "2": "snappy", "3": "lz4", "4": "zstd", "uncompressed": "none"}
    return {"compression.type": by_number.get(value, value)}


def _strategy(value: str) -> dict[str, str]:
    names = [part.strip() for part in value.split(",") if part.strip()]
    assignors = {_ASSIGNORS.get(name.rpartition(".")[2], name): None for name in names}
    if len(assignors) > 1:
        # librdkafka has either eager strategies or the cooperative one.
        assignors.pop("cooperative-sticky", None)
    return {"partition.assignment.strategy": ",".join(assignors)}


def _number(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"{name}={value} is no number") from None


_TRANSLATIONS = {
    "batch.size": _batch_size,
    "buffer.memory": _buffer_memory,
    "compression.codec": _compression,
    "compression.type": _compression,
    "partition.assignment.strategy": _strategy,
}
