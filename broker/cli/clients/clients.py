"""Producers and consumers as commands open them: properties from everywhere, and errors as lines on stderr.

confluent-kafka takes a tenth of a second to import; commands import this where they need it.
"""

import re
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from broker.cli.clients.client_properties import translate
from broker.cli.frame.connecting import bootstrap_servers, client_config, security_of, typed_properties
from broker.cli.frame.declaration import Arguments, CommandError
from broker.client.cluster import parse_bootstrap_servers
from broker.client.security.errors import ClientConfigError
from broker.client.security.librdkafka import librdkafka_settings
from broker.common.errors import ApiError

_UNKNOWN = re.compile(r'No such configuration property: "([^"]+)"')
#: The same trouble is told again after so long: librdkafka reports each attempt.
_TOLD_AGAIN_AFTER_S = 30.0
_CLOSE_S = 5.0
#: Java's partitioner, so that a key lies where other producers put it; Java's 120 s instead of librdkafka's 300.
_OF_PRODUCERS = {
    "partitioner": "murmur2_random",
    "delivery.timeout.ms": "120000",
}
#: librdkafka wants deliveries to be over before their transaction is.
_OF_TRANSACTIONS = {"delivery.timeout.ms": "60000", "transaction.timeout.ms": "60000"}
#: Java's defaults; and librdkafka would look for new topics every 5 minutes, and rest for a second whenever it is ahead
#: of who reads.
_OF_CONSUMERS = {
    "fetch.queue.backoff.ms": "10",
    "allow.auto.create.topics": "true",
    "isolation.level": "read_uncommitted",
    "topic.metadata.refresh.interval.ms": "5000",
}


def log_line(level: str, text: str) -> None:
    """Write a line to stderr in log4j's format, as Kafka's tools do."""
    now = datetime.now().astimezone()
    print(f"[{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03}] {level} {text}", file=sys.stderr, flush=True)


def properties_of(arguments: Arguments, file_option: str, property_option: str) -> dict[str, str]:
    """Return the properties of the file and of the command line, which win. Raises CommandError."""
    pairs = arguments[property_option] if arguments.command.option(property_option) else ()
    return {**client_config(arguments[file_option]), **typed_properties(pairs)}


def open_producer(arguments: Arguments, properties: Mapping[str, str], **settings: Any) -> Producer:
    """Open a producer. `properties` have Java's names. Raises UsageError, CommandError."""
    defaults = {**_OF_PRODUCERS, **(_OF_TRANSACTIONS if {"transactional.id"} & {*properties, *settings} else {})}
    config = {**defaults, **_config(arguments, properties, of_consumer=False)}
    if "enable.idempotence" not in config:
        config["enable.idempotence"] = str(_may_be_idempotent(config)).lower()
    if {"delivery.timeout.ms", "message.timeout.ms"} <= config.keys():
        del config["delivery.timeout.ms"]
    producer: Producer = _open(Producer, arguments, {**config, **settings})
    return producer


def open_consumer(arguments: Arguments, properties: Mapping[str, str], **settings: Any) -> Consumer:
    """Open a consumer. `properties` have Java's names. Raises UsageError, CommandError."""
    config = {**_OF_CONSUMERS, **_config(arguments, properties, of_consumer=True)}
    if "metadata.max.age.ms" in properties:
        config["topic.metadata.refresh.interval.ms"] = properties["metadata.max.age.ms"]
    consumer: Consumer = _open(Consumer, arguments, {**config, **settings})
    return consumer


def next_messages(consumer: Consumer, wanted: int, wait_s: float) -> list[Any]:
    """Return the messages available at once; else wait up to `wait_s` for some. A signal ends the wait."""
    messages = consumer.consume(wanted, 0)
    if messages:
        return messages
    message = consumer.poll(wait_s)
    if message is None:
        return []
    return [message, *(consumer.consume(wanted - 1, 0) if wanted > 1 else ())]


def close(consumer: Consumer) -> None:
    """Commit and leave the group; waits for a broker for some seconds only."""
    closing = threading.Thread(target=_close, args=[consumer], daemon=True)
    closing.start()
    closing.join(_CLOSE_S)
    if closing.is_alive():
        log_line("WARN", "The group's coordinator does not answer: the member left without a LeaveGroup.")


def _close(consumer: Consumer) -> None:
    # What cannot be committed now is read again by whoever reads next.
    with suppress(KafkaException, CommandError):
        consumer.close()


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Turn librdkafka's exceptions into CommandErrors."""
    try:
        yield
    except KafkaException as error:
        raise CommandError(sentence(error.args[0])) from None
    except SystemError as error:
        # Reports of records were due behind the error that ends all: Python complains of those.
        if not isinstance(error.__cause__, KafkaException):
            raise
        raise CommandError(sentence(error.__cause__.args[0])) from None


def sentence(error: KafkaError) -> str:
    return f"{error.name().strip('_')}: {error.str()}"


def _config(arguments: Arguments, properties: Mapping[str, str], *, of_consumer: bool) -> dict[str, Any]:
    try:
        translated = translate(properties, of_consumer=of_consumer)
    except ValueError as error:
        raise CommandError(str(error)) from None
    security = _security(properties)
    for notice in translated.notices:
        print(f"{arguments.command.name}: {notice}", file=sys.stderr)
    servers = _servers(arguments, translated.config)
    if arguments.command.option("zookeeper") and arguments["zookeeper"] and not arguments["bootstrap-server"]:
        bootstrap = ",".join(f"{host}:{port}" for host, port in servers)
        print(
            f"The ZooKeeper at {arguments['zookeeper']} knows the brokers {bootstrap}; these are used.", file=sys.stderr
        )
    _check_names(servers)
    client_id = {"client.id": arguments.command.name.removeprefix("kafka-")}
    named = ",".join(f"{host}:{port}" for host, port in servers)
    return {**client_id, **translated.config, **security, "bootstrap.servers": named}


def _security(properties: Mapping[str, str]) -> dict[str, Any]:
    security = security_of(properties)
    if security is None:
        return {}
    try:
        return librdkafka_settings(security)
    except ClientConfigError as error:
        raise CommandError(f"{error}.") from None


def _servers(arguments: Arguments, config: dict[str, str]) -> tuple[tuple[str, int], ...]:
    """Return the servers as typed, else as the properties say."""
    named = config.pop("metadata.broker.list", None) or config.get("bootstrap.servers")
    options = [name for name in ("bootstrap-server", "zookeeper") if arguments.command.option(name)]
    if not named or any(arguments[name] for name in options):
        return bootstrap_servers(arguments)
    try:
        return parse_bootstrap_servers(named)
    except ApiError as error:
        raise CommandError(f"bootstrap.servers: {error}") from None


def _may_be_idempotent(config: Mapping[str, str]) -> bool:
    """Return whether the producer may be idempotent, as Java's since 3.0, unless a set property rules it out."""
    in_flight = config.get("max.in.flight.requests.per.connection", config.get("max.in.flight", "5"))
    acks = config.get("acks", config.get("request.required.acks", "all"))
    return acks in ("all", "-1") and config.get("retries") != "0" and in_flight in {"1", "2", "3", "4", "5"}


def _check_names(servers: tuple[tuple[str, int], ...]) -> None:
    """Require host names that resolve: librdkafka would try for ever."""
    for host, port in servers:
        try:
            socket.getaddrinfo(host, port)
        except OSError:
            continue
        return
    named = ", ".join(f"{host}:{port}" for host, port in servers)
    raise CommandError(f"No resolvable bootstrap urls given in bootstrap.servers: {named}")


def _open(kind: type, arguments: Arguments, config: dict[str, Any]) -> Any:
    """Open a librdkafka client; properties it does not know are left out with a warning."""
    config = {"log_level": 0, "error_cb": _Troubles(), **config}
    while True:
        try:
            return kind(config)
        except KafkaException as error:
            unknown = _UNKNOWN.search(str(error))
            if unknown is None or config.pop(unknown[1], None) is None:
                raise CommandError(sentence(error.args[0])) from None
            print(f"{arguments.command.name}: {unknown[1]} is not known here; it is left out.", file=sys.stderr)
        except (TypeError, ValueError) as error:
            raise CommandError(f"{arguments.command.name}: {error}") from None


class _Troubles:
    """librdkafka's error_cb: what ends by itself is told, what does not is raised out of the poll."""

    def __init__(self) -> None:
        self._told_at: dict[int, float] = {}

    def __call__(self, error: KafkaError) -> None:
        if error.fatal() or error.code() in (KafkaError._AUTHENTICATION, KafkaError._SSL):
            raise CommandError(sentence(error))
        now = time.monotonic()
        if now - self._told_at.get(error.code(), -_TOLD_AGAIN_AFTER_S) >= _TOLD_AGAIN_AFTER_S:
            self._told_at[error.code()] = now
            log_line("WARN", sentence(error))
