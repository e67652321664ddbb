"""The `kafka.*` options, in the names of Java's clients, as far as they mean something to ours.

Spark's own connector refuses the few that would change what is read or written; so does this one. Tuning of a client
that is built otherwise is accepted and has no effect; a name no Kafka client knows is warned of, as Java's clients do.

Options are in a query's plan, and so in Spark's event log and on its pages. No secret is taken from them:
`kafka.client.config` names the file of Kafka's client properties that has it, which every process reads for itself.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.security.errors import ClientConfigError
from broker.client.security.file import CONFIG_VARIABLE, read_own_properties
from broker.client.security.properties import HEEDED, ClientSecurity, is_secret, read_security
from broker.common.errors import ApiError
from broker.common.logs import logger

_PREFIX = "kafka."
_FETCH_BYTES = 4 * 1024 * 1024

_REFUSED_BY_SOURCE = {
    "auto.offset.reset": "a query keeps its own offsets; set startingOffsets to say where a new one begins",
    "key.deserializer": "keys are always bytes; decode the column with DataFrame operations",
    "value.deserializer": "values are always bytes; decode the column with DataFrame operations",
    "enable.auto.commit": "a query keeps its own offsets",
    "interceptor.classes": "an interceptor could change what is read",
}
_REFUSED_BY_SINK = {
    "key.serializer": "keys are always bytes or text; encode the column with DataFrame operations",
    "value.serializer": "values are always bytes or text; encode the column with DataFrame operations",
    "interceptor.classes": "an interceptor could change what is written",
    "transactional.id": "the sink names its transactions after the query and its tasks",
    "enable.idempotence": "the sink is always idempotent",
}
#: Prefixes and names of options for parts of a client that ours does not have.
_WITHOUT_EFFECT = (
    "receive.buffer", "send.buffer", "reconnect.", "retry.", "metadata.", "metric", "session.timeout", "heartbeat.",
    "max.poll", "group.", "partition.assignment", "allow.auto", "check.crcs", "client.dns", "client.rack",
    "connections.max", "default.api", "exclude.internal", "fetch.min", "socket.", "batch.size", "buffer.memory",
    "linger.ms", "max.block", "delivery.timeout", "max.in.flight", "retries", "acks", "max.request", "partitioner",
    "broker.", "queued.", "log.", "statistics.", "message.timeout", "enable.metrics", "auto.include",
)  # fmt: skip

_log = logger("broker.spark.options")


class ClientSettings(NamedTuple):
    """How to reach a cluster, and how to read from it. Travels in plans: no secret is in it."""

    bootstrap_servers: tuple[tuple[str, int], ...]
    client_id: str = "barnabas-spark"
    committed_only: bool = True
    request_timeout_ms: int = 10_000
    fetch_max_wait_ms: int = 500
    fetch_bytes: int = _FETCH_BYTES
    transaction_timeout_ms: int = 900_000
    compression: str = "none"
    #: A path, and what was said of security besides it.
    client_config: str = ""
    security: tuple[tuple[str, str], ...] = ()


_clusters: dict[ClientSettings, ClusterConnections] = {}


def cluster_of(client: ClientSettings) -> ClusterConnections:
    """Return this process's connections to a cluster: Spark's workers run task after task. For one thread."""
    if client not in _clusters:
        _clusters[client] = ClusterConnections(
            client.bootstrap_servers,
            timeout_s=client.request_timeout_ms / 1000,
            client_id=client.client_id,
            security=security_of(client),
        )
    return _clusters[client]


def security_of(client: ClientSettings) -> ClientSecurity:
    """Return the security settings of the file and the options, which win. Raises ClientConfigError."""
    return read_security({**read_own_properties(client.client_config), **dict(client.security)})


def read_source_settings(options: Mapping[str, str]) -> ClientSettings:
    """Raises ValueError that names the option."""
    return _read(options, _REFUSED_BY_SOURCE)


def read_sink_settings(options: Mapping[str, str]) -> ClientSettings:
    """Raises ValueError that names the option."""
    return _read(options, _REFUSED_BY_SINK)


def _read(options: Mapping[str, str], refused: Mapping[str, str]) -> ClientSettings:
    given = {name.lower()[len(_PREFIX) :]: text for name, text in options.items() if name.lower().startswith(_PREFIX)}
    for name, why in refused.items():
        if name in given:
            raise ValueError(f"Kafka option '{name}' is not supported: {why}")
    settings: dict[str, Any] = {"bootstrap_servers": _servers(given.pop("bootstrap.servers", ""))}
    for name, text in given.items():
        match name:
            case "isolation.level":
                level = one_of(name, text, ("read_committed", "read_uncommitted"))
                settings["committed_only"] = level == "read_committed"
            case "request.timeout.ms" | "fetch.max.wait.ms" | "transaction.timeout.ms":
                settings[name.replace(".", "_")] = positive(name, text)
            case "max.partition.fetch.bytes" | "fetch.max.bytes":
                settings["fetch_bytes"] = min(positive(name, text), settings.get("fetch_bytes", 32 << 20))
            case "client.id":
                settings["client_id"] = text
            case "compression.type":
                settings["compression"] = one_of(name, text, ("none", "gzip", "snappy", "lz4", "zstd"))
            case "client.config":
                settings["client_config"] = text.strip()
            case _ if is_secret(name):
                raise ValueError(
                    f"option kafka.{name} would be written into the query's plan; put it into a file of mode 600 and "
                    "name that in kafka.client.config"
                )
            case _ if name in HEEDED:
                settings["security"] = (*settings.get("security", ()), (name, text))
            case _ if not name.startswith(_WITHOUT_EFFECT):
                _log.warning("kafka option has no effect", option=f"kafka.{name}")
    settings.setdefault("client_config", os.environ.get(CONFIG_VARIABLE, ""))
    client = ClientSettings(**settings)
    try:
        security_of(client)
    except ClientConfigError as error:
        raise ValueError(f"option kafka.client.config: {error}") from None
    return client


def positive(name: str, text: str) -> int:
    """ValueError unless `text` is a whole number above 0."""
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"option {name}: {text!r} is not a whole number") from None
    if number < 1:
        raise ValueError(f"option {name} must be positive, not {text}")
    return number


def one_of(name: str, text: str, choices: tuple[str, ...]) -> str:
    """Return the choice that `text` names, whatever its case; else ValueError."""
    if text.strip().lower() not in choices:
        raise ValueError(f"option {name}: {text!r} is none of {', '.join(choices)}")
    return text.strip().lower()


def _servers(text: str) -> tuple[tuple[str, int], ...]:
    try:
        servers = parse_bootstrap_servers(text)
    except ApiError as error:
        raise ValueError(f"option kafka.bootstrap.servers: {error.message}") from None
    if not servers:
        raise ValueError("option kafka.bootstrap.servers must be specified: host:port, comma separated")
    return servers
