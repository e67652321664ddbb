"""Records that a sink cannot use, as they were read, into a topic of their own, with what went wrong as headers."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from broker.common.quiet_clients import with_quiet_logging
from broker.connect.api import ConfigDef, ConfigKey, ConfigType, ConnectError, Importance
from broker.connect.group.wire import Unit
from broker.connect.tasks.retriable import ClusterUnavailable, failure_of
from broker.connect.tasks.tolerance import RecordFailure
from broker.connect.traces import error_text, trace_of

_PREFIX = "errors.deadletterqueue."
KEYS = ConfigDef(
    ConfigKey(f"{_PREFIX}topic.name", ConfigType.STRING, "", Importance.MEDIUM, "Where records go that were given up."),
    ConfigKey(f"{_PREFIX}topic.replication.factor", ConfigType.SHORT, 3, Importance.MEDIUM, "Its copies."),
    ConfigKey(
        f"{_PREFIX}context.headers.enable", ConfigType.BOOLEAN, False, Importance.MEDIUM, "What went wrong, too."
    ),
)
_TIMEOUT_S = 30.0
_REPORTED = "__connect.errors."


class DeadLetters:
    def __init__(self, unit: Unit, props: Mapping[str, Any], producer: Mapping[str, Any], admin: Mapping[str, Any]):
        """Raises ConfigError, ConnectError if the topic cannot be made."""
        values = KEYS.parse(props)
        self._unit = unit
        self._props = props
        self._topic = values[f"{_PREFIX}topic.name"]
        self._has_context = values[f"{_PREFIX}context.headers.enable"]
        self._failure: ConnectError | None = None
        if self._topic:
            self._ensure(AdminClient(with_quiet_logging(admin)), values[f"{_PREFIX}topic.replication.factor"])
            self._producer = Producer(with_quiet_logging(producer))

    def _ensure(self, admin: AdminClient, replicas: int) -> None:
        try:
            if self._topic not in admin.list_topics(timeout=_TIMEOUT_S).topics:
                admin.create_topics([NewTopic(self._topic, 1, replicas)])[self._topic].result(_TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].name() != "TOPIC_ALREADY_EXISTS":
                raise failure_of(f"Could not make dead letter topic {self._topic}", error.args[0]) from None
        except TimeoutError:
            raise ClusterUnavailable(f"dead letter topic {self._topic} was not made in {_TIMEOUT_S:g} s") from None

    @property
    def has_topic(self) -> bool:
        return bool(self._topic)

    def send(self, message: Any, failure: RecordFailure) -> None:
        if not self._topic:
            return
        headers = list(message.headers() or ())
        if self._has_context:
            headers += self._context(message, failure)
        kind, timestamp = message.timestamp()
        named = {"timestamp": timestamp} if kind else {}
        self._producer.produce(
            self._topic, message.value(), message.key(), headers=headers, on_delivery=self._on_delivery, **named
        )

    def _context(self, message: Any, failure: RecordFailure) -> list[tuple[str, bytes]]:
        error = failure.error
        facts = {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "connector.name": self._unit.connector,
            "task.id": self._unit.task,
            "stage": failure.stage,
            "class.name": failure.executing,
            "exception.class.name": type(error).__qualname__,
            "exception.message": error_text(error),
            "exception.stacktrace": trace_of(error),
        }
        return [(f"{_REPORTED}{name}", str(value).encode()) for name, value in facts.items()]

    def _on_delivery(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._failure = failure_of(f"dead letters were not written to {self._topic}", error)

    def flush(self) -> None:
        """Flush all dead letters. Raises ConnectError: then the source offsets must not be committed."""
        if self._topic and self._producer.flush(_TIMEOUT_S):
            raise ClusterUnavailable(f"dead letters were not written to {self._topic} in {_TIMEOUT_S:g} s")
        if self._failure:
            raise self._failure

    def close(self) -> None:
        if self._topic:
            self._producer.flush(1)
