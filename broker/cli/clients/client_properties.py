"""Properties of Kafka's Java clients, as people have them in files, in the names that librdkafka knows. Pure.

Most are called the same in both. What only Java needs is left out, with a sentence for each; what neither table knows
is passed on, and librdkafka says whether it knows it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

#: Java's name → librdkafka's, where the value stays.
_RENAMED = {
    "auto.commit.enable": "enable.auto.commit",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.block.ms": "topic.metadata.propagation.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
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
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_JAAS_WORD = re.compile(r'(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')


class Translated(NamedTuple):
    """What librdkafka is given, and a sentence for each property that it is not."""

    config: dict[str, str]
    told: list[str]


def translate(properties: Mapping[str, str], *, of_consumer: bool = False) -> Translated:
    """Raises ValueError for a value that means nothing in either client."""
    config: dict[str, str] = {}
    told: list[str] = []
    for name, value in properties.items():
        if _is_of_java_only(name):
            told.append(f"{name} is of Java's clients only; it is left out.")
        elif name == "request.timeout.ms" and of_consumer:
            config["socket.timeout.ms"] = value
        elif name in _TRANSLATIONS:
            config.update(_TRANSLATIONS[name](value))
        elif name.startswith(("ssl.truststore.", "ssl.keystore.")):
            _translate_store(properties, name, config, told)
        else:
            config[_RENAMED.get(name, name)] = value
    return Translated(config, told)


def pair_as_typed(text: str) -> tuple[str, str]:
    """KEY=VALUE split at the first `=`; blanks of the value count: it may be a separator. Raises ValueError."""
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ValueError('write it as "key=value"')
    return key.strip(), value


def unescaped(properties: Mapping[str, str]) -> dict[str, str]:
    """Values of a properties file in which `\\t` is a tab, as Java reads it: separators are written so."""
    return {name: _ESCAPED.sub(_character, value) for name, value in properties.items()}


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)


def _is_of_java_only(name: str) -> bool:
    return any(name == each or (each[-1] == "." and name.startswith(each)) for each in _OF_JAVA_ONLY)


def _batch_size(value: str) -> dict[str, str]:
    """0 is Java's way to say that each record is a batch of its own."""
    return {"batch.size": value} if _number("batch.size", value) else {"batch.num.messages": "1"}


def _buffer_memory(value: str) -> dict[str, str]:
    return {"queue.buffering.max.kbytes": str(max(1, _number("buffer.memory", value) // 1024))}


def _compression(value: str) -> dict[str, str]:
    """`uncompressed` is what brokers say, `NoCompressionCodec` and numbers are of 0.8."""
    by_number = {"0": "none", "1": "gzip", "2": "snappy", "3": "lz4", "4": "zstd", "uncompressed": "none"}
    return {"compression.type": by_number.get(value, value)}


def _strategy(value: str) -> dict[str, str]:
    names = [each.strip() for each in value.split(",") if each.strip()]
    found = {_ASSIGNORS.get(each.rpartition(".")[2], each): None for each in names}
    if len(found) > 1:
        # librdkafka has either eager strategies or the cooperative one.
        found.pop("cooperative-sticky", None)
    return {"partition.assignment.strategy": ",".join(found)}


def _jaas(value: str) -> dict[str, str]:
    found = {name: re.sub(r"\\(.)", r"\1", text) for name, text in _JAAS_WORD.findall(value)}
    if len(found) != 2:
        raise ValueError('sasl.jaas.config must name username="…" and password="…"')
    return {f"sasl.{name}": text for name, text in found.items()}


def _identification(value: str) -> dict[str, str]:
    return {"ssl.endpoint.identification.algorithm": value or "none"}


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
    "sasl.jaas.config": _jaas,
    "ssl.endpoint.identification.algorithm": _identification,
}


def _translate_store(properties: Mapping[str, str], name: str, config: dict[str, str], told: list[str]) -> None:
    """Stores in PEM and PKCS#12 are read; those in Java's own format are not."""
    kind = properties.get(f"{name.rpartition('.')[0]}.type", "JKS").upper()
    if name.endswith(".type"):
        return
    if name.startswith("ssl.truststore.") and kind == "PEM":
        config.update({"ssl.ca.location": properties[name]} if name.endswith(".location") else {})
    elif name.startswith("ssl.keystore.") and kind == "PEM":
        config.update(
            {"ssl.certificate.location": properties[name], "ssl.key.location": properties[name]}
            if name.endswith(".location")
            else {}
        )
    elif name.startswith("ssl.keystore.") and kind == "PKCS12":
        config[name] = properties[name]
    else:
        told.append(f"{name}: a store of the type {kind} cannot be read (PEM can); it is left out.")
