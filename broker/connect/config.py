"""The connect worker's properties file: keys of the worker, and `<connector>.<key>` for each name in `connectors`.

bootstrap.servers=127.0.0.1:9092
offset.storage.file.filename=data/connect/offsets.json
connectors=host-metrics,console-access
host-metrics.connector.class=HostMetricsSource
host-metrics.topic=host.metrics
console-access.connector.class=FileSource
console-access.file=data/logs/console-access.log
console-access.topic=console.access
console-access.json.key=path
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from broker.common.errors import StartupError
from broker.config.definition import REQUIRED, ConfigError, Key, parse_int, parse_list, read_values
from broker.config.properties import parse_properties
from broker.connect.file_source import POLL_BYTES_MAX, REST_MS, FileSource
from broker.connect.host_metrics import HostMetricsSource
from broker.connect.source import SourceConnector

WORKER_KEYS = (
    Key("bootstrap.servers", str, REQUIRED, "Brokers to ask for the cluster, host:port, comma separated."),
    Key("offset.storage.file.filename", str, REQUIRED, "The file that keeps how far each connector has got."),
    Key("connectors", parse_list, (), "Names of the connectors to run."),
    Key("client.id", str, "barnabas-connect", "What brokers call this client in their logs."),
    Key("client.config", str, "", "A file of Kafka's client properties, mode 600: how brokers are to be reached."),
    Key("topic.creation.default.partitions", parse_int, 1, "Partitions of a topic the worker creates.", at_least=1),
)
_EVERY_CONNECTOR = (
    Key("connector.class", str, REQUIRED, "Which source: FileSource or HostMetricsSource."),
    Key("topic", str, REQUIRED, "The topic its records go to."),
)
_FILE_KEYS = (
    Key("file", parse_list, REQUIRED, "Files to follow, comma separated."),
    Key("json.key", str, "", "Member of the line's JSON object that becomes the key; empty: the file's name."),
    Key("max.line.bytes", parse_int, 65_536, "A longer line comes in pieces.", at_least=1, at_most=POLL_BYTES_MAX // 2),
    Key("poll.interval.ms", parse_int, 250, "How often to look for new lines.", at_least=10),
    Key(
        "last.line.rest.ms",
        parse_int,
        REST_MS,
        "A last line without an end is taken when the file has not grown for so long; 0: never.",
        at_least=0,
    ),
)
_METRICS_KEYS = (Key("interval.ms", parse_int, 1_000, "Milliseconds between two measurements.", at_least=100),)


@dataclass(frozen=True)
class WorkerConfig:
    bootstrap_servers: str
    offset_file: str
    client_id: str
    client_config: str
    partitions: int
    connectors: dict[str, SourceConnector]


def read_worker_config(text: str) -> WorkerConfig:
    """The worker a properties file describes; StartupError with one sentence when it cannot be right."""
    texts = parse_properties(text)
    try:
        values = read_values(WORKER_KEYS, texts)
        connectors = {name: _connector(_under(name, texts)) for name in values["connectors"]}
        _refuse_unknown(texts, values["connectors"])
    except ConfigError as error:
        raise StartupError(str(error)) from None
    if not connectors:
        raise StartupError("connectors names no connector to run.")
    return WorkerConfig(
        values["bootstrap_servers"],
        values["offset_storage_file_filename"],
        values["client_id"],
        values["client_config"],
        values["topic_creation_default_partitions"],
        connectors,
    )


def _under(name: str, texts: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The keys of one connector, each with its full name for errors."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): (key, value) for key, value in texts.items() if key.startswith(prefix)}


def _connector(named: dict[str, tuple[str, str]]) -> SourceConnector:
    texts = {key: value for key, (_, value) in named.items()}
    common = read_values(_EVERY_CONNECTOR, texts)
    keys: tuple[Key, ...]
    build: Callable[[str, dict[str, Any]], SourceConnector]
    match common["connector_class"]:
        case "FileSource":
            keys, build = _FILE_KEYS, _file_source
        case "HostMetricsSource":
            keys, build = _METRICS_KEYS, _host_metrics
        case other:
            raise ConfigError(f"connector.class={other} must be FileSource or HostMetricsSource")
    known = {key.name for key in (*_EVERY_CONNECTOR, *keys)}
    for key, (full_name, _) in named.items():
        if key not in known:
            raise ConfigError(f"{full_name} is not a key of {common['connector_class']}")
    return build(common["topic"], read_values(keys, texts))


def _file_source(topic: str, values: dict[str, Any]) -> FileSource:
    if not values["file"]:
        raise ConfigError("file must name at least one file")
    return FileSource(
        topic,
        values["file"],
        values["json_key"],
        values["max_line_bytes"],
        values["poll_interval_ms"],
        values["last_line_rest_ms"],
    )


def _host_metrics(topic: str, values: dict[str, Any]) -> HostMetricsSource:
    return HostMetricsSource(topic, values["interval_ms"])


def _refuse_unknown(texts: dict[str, str], connectors: tuple[str, ...]) -> None:
    known = {key.name for key in WORKER_KEYS}
    for key in texts:
        if key not in known and not key.startswith(tuple(f"{name}." for name in connectors)):
            raise ConfigError(f"{key} belongs to no connector of connectors={','.join(connectors)}")
